//! JSON values: ordered objects, integers of any size, correctly rounded floats.

mod convert;
mod number;
mod serde;
mod text;
mod tree;

pub use number::Number;
pub(crate) use text::to_pretty;
#[cfg(feature = "edit")]
pub(crate) use text::{Layout, Lines, print};
#[doc(hidden)]
pub use text::{needs_escape, write_string};
pub use tree::{Entries, Map, Value};
