//! Recorded tests, scored again without their agents.

mod score;
mod selection;

pub(crate) use score::{Now, RescoredCase, RescoredRun, all, forecast, one};
pub(crate) use selection::Selection;
