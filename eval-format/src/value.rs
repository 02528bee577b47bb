//! JSON values: ordered objects, integers of any size, correctly rounded floats.

mod convert;
mod number;
mod serde;
mod text;
mod tree;

pub use number::Number;
pub(crate) use text::to_pretty;
#[doc(hidden)]
pub use text::{needs_escape, write_string};
pub use tree::{Entries, Map, Value};
