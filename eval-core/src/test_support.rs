//! What the unit tests of several modules share.

pub(crate) mod adk;
mod ready;

pub(crate) use ready::ready;
