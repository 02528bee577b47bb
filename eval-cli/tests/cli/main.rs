//! Runs the program on folders of files, and checks its output, its exit code, and the files that it leaves.

mod broken;
mod check;
#[cfg(unix)]
mod commands;
mod complete;
mod doors;
mod doors_table;
mod edit;
mod faults;
#[cfg(not(any(feature = "https", feature = "model-judge", feature = "serve", feature = "store")))]
mod features;
mod fix;
mod fmt;
mod folder;
mod foreign;
mod gate;
mod golden_tools;
mod goldens;
mod import;
mod journal;
mod json_schemas;
mod junit;
#[cfg(unix)]
mod kills;
mod limits;
mod loosened;
mod matrix;
mod mcp;
mod metrics;
mod migrate;
mod models;
mod new;
mod new_golden;
mod page;
mod page_since;
#[cfg(unix)]
mod pasted;
mod plan;
mod program;
mod programs;
#[cfg(unix)]
mod python;
mod record;
mod record_url;
mod refusals;
mod report;
mod rerun;
mod rescore;
mod review;
#[cfg(unix)]
mod review_ends;
mod review_not_offered;
#[cfg(unix)]
mod review_typed;
mod run;
mod run_judges;
mod run_limits;
mod run_price;
mod same_scores;
mod schema;
#[cfg(all(feature = "serve", unix))]
mod serve;
#[cfg(all(feature = "serve", unix))]
mod serve_pages;
#[cfg(all(feature = "serve", unix))]
mod serve_review;
#[cfg(all(feature = "store", unix))]
mod store;
#[cfg(all(feature = "store", unix))]
mod store_faults;
#[cfg(unix)]
mod table;
mod tags;
mod target;
mod traces;
mod whole_page;
mod whose;
