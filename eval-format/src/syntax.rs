//! A tree of JSON values with their ranges in the text, and its parser.
//!
//! Numbers are kept as text, and strings without escapes are borrowed from the text, so the tree costs about what
//! `serde_json::Value` costs. The parser accepts the JSON that pydantic accepts: `NaN` and the infinities as numbers,
//! up to 200 levels of nesting. Duplicate keys are the exception: pydantic keeps the last value, and here they are
//! errors. The tests compare this with jiter, pydantic's own parser. As a dependency jiter would be a fifth of what a
//! user's clean build compiles.

mod node;
pub(crate) mod overflow;
mod parse;
mod scan;
mod string;
mod syntax_error;

pub(crate) use node::{Entry, Kind, Node, to_map};
pub(crate) use parse::parse;
pub(crate) use syntax_error::MAX_DIGITS;

#[cfg(test)]
mod tests;
