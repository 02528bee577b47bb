//! Text for people and programs: words, times, styles, JSON, and how a command ended.

pub mod again;
mod error;
pub mod json;
mod outcome;
mod read;
pub mod style;
pub mod time;
pub mod width;

pub use error::CommandError;
pub use outcome::Outcome;
pub use read::{read, unreadable};
