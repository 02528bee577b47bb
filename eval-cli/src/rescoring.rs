//! Recorded tests, scored again without their agents.

mod score;
mod selection;

pub(crate) use score::{Now, RescoredCase, RescoredRun, against, all, one};
pub(crate) use selection::Selection;
