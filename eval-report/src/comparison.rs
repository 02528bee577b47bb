//! Two builds compared: each case in one category, and the decision of a gate.
//!
//! A [`Side`] is a build: a baseline, a report, or a recorded run. A [`Diff`] has two sides with each case in a [`Category`].
//! [`Diff::gate`] decides whether the later one shows a drop, as `cargo evalset gate` does: with two tests that together call at most
//! 5% of builds in which nothing changed a regression. The trait [`Compare`] begins with a report.

mod card;
mod category;
mod compared;
mod diff;
mod gated;
mod html;
mod pair;
mod power;
mod said;
mod scores;
mod side;
mod variants;

pub use category::Category;
pub use compared::{ComparedCase, Comparison};
pub use diff::{Compare, Diff};
pub use gated::Gated;
pub(crate) use gated::{passes, regressions, shown as p_value};
pub use pair::MetricChange;
pub use power::Power;
pub use side::Side;

pub use crate::decide::gate::GateVerdict;
pub use crate::decide::usage::UsageRatio;

#[doc(hidden)]
pub use card::Card;
#[doc(hidden)]
pub use category::METRIC_FELL;
#[doc(hidden)]
pub use gated::{GateOptions, shown as short_p};
#[doc(hidden)]
pub use html::html;
#[doc(hidden)]
pub use said::{annotations, gate_text, markdown};
#[doc(hidden)]
pub use scores::{ScoreChange, ScoreLimit, score_limit, score_notes};
#[doc(hidden)]
pub use variants::{Difference, VariantCase, VariantTable, VariantTotals};

#[cfg(test)]
mod tests;
