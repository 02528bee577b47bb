//! What the unit tests of several modules share.

#[cfg(any(feature = "judges", feature = "reports"))]
pub(crate) mod adk;
mod ready;

pub(crate) use ready::ready;
