//! ADK's result of an eval set: what google-adk saves after a run, loads and shows.

mod case_result;
mod eval_set_result;
mod scored;
mod session;

pub use eval_set_result::EvalSetResult;
pub(super) use eval_set_result::of_report;
pub(super) use scored::{ExportedMetric, ExportedRun, ExportedTurn, Status, why};
