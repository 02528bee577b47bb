//! The same rules once more, written as they are told and as slow as that is.

pub(crate) mod overlap;
pub(crate) mod words;
