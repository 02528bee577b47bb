//! Drafts: those that commands make, written into a set, and those of a set that wait for somebody to accept them.

mod added;
mod decide;
mod draft;
mod set;
mod shown;

pub(crate) use added::Added;
pub(crate) use decide::accept;
#[cfg(feature = "serve")]
pub(crate) use decide::reject;
pub(crate) use draft::Draft;
pub(crate) use set::Destination;
pub(crate) use shown::text as shown;
#[cfg(feature = "serve")]
pub(crate) use shown::{Part, parts};
