//! What the unit tests of several modules share.

#[cfg(feature = "judges")]
pub(crate) mod adk;
mod ready;

pub(crate) use ready::ready;
