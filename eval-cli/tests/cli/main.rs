//! Runs the program on folders of files, and checks its output, its exit code, and the files that it leaves.

mod broken;
mod check;
mod complete;
mod fix;
mod fmt;
mod folder;
mod foreign;
mod journal;
mod junit;
mod limits;
mod metrics;
mod migrate;
mod new;
mod plan;
mod programs;
mod report;
mod rerun;
mod rescore;
mod run;
mod same_scores;
mod schema;
#[cfg(all(feature = "serve", unix))]
mod serve;
mod traces;
