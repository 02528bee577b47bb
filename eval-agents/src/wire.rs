//! ADK's types as they travel: JSON with keys in camelCase, or in `snake_case` from some senders.
//!
//! Servers are of other versions than this crate, so keys that are unknown are no error: they are listed, and whoever reads
//! names them. What has the wrong type is an error, and so is what the reader of files refuses: a key that stands twice or in
//! two spellings, and one that looks like a key that is read.

mod details;
mod event;
mod keys;
mod message;
mod read;

pub(crate) use details::details;
pub(crate) use event::{ReadEvent, event};
pub(crate) use message::content;
pub(crate) use read::{Reader, parse};
