//! The rules that hold for every input: one module for each fuzz target, whose `check` panics if a rule is broken.
//!
//! `README.md` says how to run them.

pub mod configs;
mod json;
mod naive;
pub mod names;
mod problems;
pub mod protocol;
pub mod sets;
mod similarity;
pub mod words;
