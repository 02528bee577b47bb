//! The output of a failing test: what failed, its place in the JSON, the numbers, the turns, the commands.
//!
//! One failing case takes at most about 40 lines. Long texts and long lists are truncated, and say by how much.

mod differ;
mod hints;
mod lines;
mod table;
mod text;
mod trajectory;
mod turns;

use eval_format::metric::{Need, Subject, metric};

pub use hints::reads_the_golden;
#[cfg(any(feature = "judges", feature = "models"))]
pub(crate) use text::rerun_command;
pub use text::texts;
pub(crate) use text::{Print, failing, harness, headline, passing, reason, skipped, stale};

/// Whether a metric reads the expectations of a case. Metrics of users may.
fn reads_expectations(name: &str) -> bool {
    metric(name).is_none_or(|info| match info.compares {
        Subject::Response => info.reads_expected_answer(),
        _ => info.needs.contains(&Need::Expectation),
    })
}
