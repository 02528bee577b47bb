//! Recorded tests, scored again without their agents.

mod score;
mod selection;

pub(crate) use score::{Now, RescoredCase, RescoredRun, against, all};
pub(crate) use selection::Selection;
