//! The built-in metrics: their names, ranges, needs and the keys of their criteria.
//!
//! ```
//! use eval_format::metric::{METRICS, metric};
//!
//! let rubrics: Vec<_> = METRICS.iter().filter(|info| info.rubric_type().is_some()).collect();
//! assert_eq!(rubrics.len(), 3);
//! assert!(metric("safety_v1").is_some());
//! ```
//!
//! Configs are checked against this list. A metric that is not in it must be a custom metric. A key that a metric does
//! not list is refused in its criterion.

pub(crate) mod bound;
pub(crate) mod choices;
pub(crate) mod fields;
mod info;
mod list;

pub(crate) use bound::Bound;
pub use bound::MetricArgument;
pub(crate) use choices::{ArgsMatch, Direction, MatchType, Similarity};
pub use fields::{CriterionField, FieldKind};
pub(crate) use info::{FreeTurns, Quadratic};
pub use info::{MetricCategory, MetricGroup, MetricInfo, Need, Subject};
pub(crate) use list::{ANSWER_DEMANDS, FINAL_SESSION_STATE_MATCH, TRAJECTORY_QUALITY, rubric_types};
pub use list::{METRICS, metric};

#[cfg(test)]
mod tests;
