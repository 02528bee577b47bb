//! Review of failed cases and of drafts, without a terminal: the queue, the changes, and the bytes of each choice.

mod change;
mod choice;
#[cfg(feature = "serve")]
mod chosen;
mod edit;
mod forecast;
mod item;
mod lines;
mod loosen;
mod merge;
mod queue;
mod warnings;

pub(crate) use change::{Change, Part};
pub(crate) use choice::{Choice, below, is_divided};
pub(crate) use edit::{Hunk, Written};
pub(crate) use forecast::Forecast;
pub(crate) use item::{Item, Offer};
pub(crate) use lines::{Line, arguments};
pub(crate) use queue::Queue;
pub(crate) use warnings::Warning;
