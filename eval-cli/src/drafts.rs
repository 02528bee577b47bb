//! Drafts that commands make, written into a set.

mod added;
mod set;

pub(crate) use added::Added;
pub(crate) use set::Destination;
