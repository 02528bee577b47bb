//! What commands print, and how they end.

pub(crate) mod again;
mod answer;
mod error;
pub(crate) mod foreign;
pub(crate) mod json;
mod outcome;
pub(crate) mod shell;
pub(crate) mod style;
pub(crate) mod time;
pub(crate) mod width;
pub(crate) mod words;

pub(crate) use answer::{Answer, Format};
pub(crate) use error::CommandError;
pub(crate) use outcome::Outcome;
