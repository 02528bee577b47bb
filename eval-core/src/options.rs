//! How often a case runs and what it takes to pass.

pub use eval_format::options::{Gate, Pass};
