//! The arithmetic of the metrics, as pure functions.
//!
//! The results of ADK's metrics are equal to google-adk 2.13.0 and its dependency `rouge-score` to the last
//! bit, except for the characters that [`tokenize`] names. Any other difference is a bug of this module;
//! `tests/adk/compare.py` compares both on random input.

pub(crate) mod align;
pub(crate) mod assign;
pub(crate) mod common_subsequence;
mod edit_distance;
pub(crate) mod equality;
mod exact_sum;
pub mod mean;
pub(crate) mod pairing;
pub(crate) mod porter;
pub(crate) mod responses;
pub(crate) mod rouge;
pub(crate) mod ruled;
pub(crate) mod similarity;
pub(crate) mod tokenize;
pub(crate) mod trajectory;
pub(crate) mod usage;

#[cfg(test)]
mod tests;
