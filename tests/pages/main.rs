//! Pages and comments: their links, their words, and the tests and variables that they name.

mod green;
mod links;
#[cfg(unix)]
mod release;
mod variables;
mod words;
