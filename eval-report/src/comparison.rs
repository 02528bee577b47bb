//! Two builds compared: each case in one category, and the decision of a gate.

mod category;
mod compared;
mod gated;
mod html;
mod pair;
mod power;
mod said;
mod scores;
mod variants;

pub use category::Category;
pub use compared::{ComparedCase, Comparison};
pub use gated::{GateOptions, Gated};
pub use html::html;
pub use pair::MetricChange;
pub use power::Power;
pub use said::{annotations, categories, gate_text, markdown};
pub use scores::{ScoreChange, ScoreLimit, score_limit, score_notes};
pub use variants::{Difference, VariantCase, VariantTable, VariantTotals};

#[cfg(test)]
mod tests;
