//! Recorded runs: which one a command is about, what became of each of its tests, and the totals.

mod again;
mod cases;
mod checkout;
mod counts;
mod currency;
mod folder;
mod gaps;
mod prices;
mod problems;
mod results;
mod run;
mod state;
mod test;
mod totals;
mod usage;

pub use cases::{Cases, Found};
pub use checkout::{Changes, revisions};
pub use counts::RunCounts;
pub use currency::added_cases;
pub use folder::{near, new_root, own_runs, prune, root, whose_in};
pub use gaps::gaps;
pub use prices::cost;
pub use problems::Problem;
pub use results::RunResults;
pub use run::run_folder;
pub use run::{LoadedRun, WhichRun};
pub use state::State;
pub use test::{CaseLocation, Retry, TestResult, headline};
pub use totals::{OverCases, Totals};
pub use usage::Usage;
