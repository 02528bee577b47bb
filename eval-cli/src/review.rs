//! Review of failed cases and of drafts, without a terminal: the queue, the changes, and the bytes of each choice.

mod change;
mod choice;
#[cfg(feature = "serve")]
mod chosen;
mod edit;
mod forecast;
mod item;
mod judged;
mod lines;
mod loosen;
mod merge;
mod queue;
mod warnings;

pub(crate) use change::{GoldenChange, Part};
pub(crate) use choice::{Choice, below, is_divided};
pub(crate) use edit::{Hunk, Written, as_shown};
pub(crate) use forecast::Forecast;
pub(crate) use item::{Item, NotOffered, Offer};
pub(crate) use judged::judge_lines;
pub(crate) use lines::{CallLine, arguments};
pub(crate) use queue::Queue;
pub(crate) use warnings::Warning;
