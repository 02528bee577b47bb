//! The rules of tokens and scores once more, in the simplest form, however slow it is.

pub(crate) mod overlap;
pub(crate) mod words;
