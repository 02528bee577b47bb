//! Helpers shared by the unit tests of several modules.

#[cfg(feature = "judges")]
pub(crate) mod adk;
mod ready;

pub(crate) use ready::ready;
