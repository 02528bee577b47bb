//! ADK's types as they travel: JSON with keys in camelCase, or in `snake_case` from some senders.
//!
//! What is unknown is passed over, as servers are of other versions than this crate. What has the wrong type is an error.

mod details;
mod event;
mod keys;
mod message;
mod read;

pub(crate) use details::details;
pub(crate) use event::event;
pub(crate) use message::content;
pub(crate) use read::Reader;
