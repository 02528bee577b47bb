//! JSON values: ordered objects, integers of any size, correctly rounded floats.

mod convert;
mod equality;
mod number;
mod serde;
mod text;
mod tree;

pub use number::Number;
#[cfg(feature = "edit")]
pub(crate) use text::Lines;
pub use text::write_string;
pub(crate) use text::{Layout, plain_len, print, to_pretty};
pub use tree::{Entries, Map, Value};
