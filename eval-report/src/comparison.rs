//! Two builds compared: each case in one category, and the decision of a gate.

mod category;
mod compared;
mod gated;
mod html;
mod pair;
mod power;
mod said;
mod variants;

pub use category::Category;
pub use compared::{ComparedCase, Comparison};
pub use gated::{GateOptions, Gated};
pub(crate) use gated::{passes, regressions};
pub use html::html;
pub use pair::{MetricChange, incomparable};
pub use power::Power;
pub use said::{annotations, categories, gate_text, markdown};
pub use variants::{Difference, VariantCase, VariantTable, VariantTotals};

#[cfg(test)]
mod tests;
