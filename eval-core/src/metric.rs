//! Metrics that score cases: the built-in ones, and metrics of your own.
#![cfg_attr(
    any(not(doctest), all(feature = "judges", feature = "macros")),
    doc = crate::pages::page!("../docs/metrics.md")
)]

// A built-in metric is a struct in a file of its own below `built_in`: its documentation, its algorithm and its unit
// tests. The list of `built_in.rs` has all of them; names, ranges and criterion keys are data in
// `eval_format::metric::METRICS`, which configs are checked against.

mod built_in;
mod command;
mod custom;
pub(crate) mod input;
pub(crate) mod loosened;
pub(crate) mod loosening;
pub(crate) mod metric_trait;
pub(crate) mod scores;
#[cfg(test)]
mod tests;

#[cfg(fuzzing)]
pub(crate) use built_in::similarity_of_texts;
pub(crate) use built_in::{ANSWER_DEMANDS, FINAL_SESSION_STATE_MATCH, built_in};
pub(crate) use command::with_commands;
pub use command::{CommandMetric, commands_of};
pub use custom::MetricFn;
pub(crate) use custom::of_function;
pub(crate) use input::MetricInput;
pub use loosened::LoosenedPoint;
pub(crate) use loosening::Loosening;
pub use metric_trait::BoxMetric;
pub(crate) use metric_trait::{MakeMetric, Metric};
pub use scores::RubricScore;
pub(crate) use scores::{Score, Scores};

/// The arithmetic of the built-in metrics, for reports of their results and for metrics of one's own.
pub mod arithmetic {
    pub use super::built_in::{INVOCATION_DURATION, TOKEN_USAGE};
    pub use super::scores::Pool;
    pub use crate::score::align::{Pair, align, comparison};
    pub use crate::score::equality::values_equal;
    pub use crate::score::mean;
    pub use crate::score::responses::Answered;
    pub use crate::score::ruled::{RuledCalls, call_names};
    pub use crate::score::usage::{Durations, TokenUsage};
}
