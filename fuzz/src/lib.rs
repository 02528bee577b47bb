//! What has to hold for every input. One module for each fuzz target, whose `check` panics where a
//! rule does not hold; `README.md` says how to run them.

pub mod configs;
mod json;
mod naive;
pub mod names;
mod problems;
pub mod sets;
mod similarity;
pub mod words;
