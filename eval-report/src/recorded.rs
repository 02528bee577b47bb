//! Recorded runs: the choice of a run, the results of its tests, and the totals.

mod cases;
mod failed_reads;
mod folder;
mod freshness;
mod incomplete;
mod lacking;
mod loosened;
mod model_calls;
mod problems;
mod results;
mod run;
mod test;
mod totals;
mod usage;

pub use cases::{Cases, Found};
pub use failed_reads::{FailedReads, HowCalls};
pub use folder::{
    id_of_reviewed, id_of_suspects, is_of_gate, near, new_root, own_run, own_runs, prune, root,
    run_of_suspects,
};
pub use freshness::added_cases;
pub use lacking::Lacking;
pub use loosened::AppliedRule;
pub use model_calls::ModelCalls;
pub use problems::{DOUBTFUL_RUN, Problem, gaps};
pub use results::{RunResults, doubts_about_build};
pub use run::{LoadedRun, WhichRun, run_folder};
pub use test::{CaseLocation, Retry, RunCounts, State, TestResult, headline};
pub use totals::{PassEstimates, Totals};
pub use usage::{RunUsage, cost, cost_of_all, prices};
