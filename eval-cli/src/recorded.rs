//! Recorded runs: which one a command is about, what became of each of its tests, and the totals.

mod cases;
mod checkout;
mod counts;
mod currency;
mod folder;
mod gaps;
mod prices;
mod results;
mod run;
mod state;
mod test;
mod totals;
mod usage;

pub(crate) use cases::{Cases, Found};
pub(crate) use checkout::{Changes, revisions};
pub(crate) use counts::RunCounts;
pub(crate) use folder::{near, new_root, prune};
pub(crate) use gaps::{gaps, has_gaps};
pub(crate) use prices::cost;
pub(crate) use results::RunResults;
#[cfg(feature = "store")]
pub(crate) use run::run_folder;
pub(crate) use run::{LoadedRun, RunArgs};
pub(crate) use state::State;
pub(crate) use test::{CaseLocation, Retry, TestResult, headline};
pub(crate) use totals::OverCases;
pub(crate) use usage::Usage;
