//! The arithmetic of the metrics, as pure functions.
//!
//! What ADK's metrics compute is equal to google-adk 2.13.0, and to its dependency `rouge-score`, to the last bit, but for
//! the characters that [`tokenize`] names. If the two differ elsewhere, this module is wrong; `tests/adk/compare.py`
//! compares both on random input.

pub(crate) mod align;
pub(crate) mod assign;
pub(crate) mod common_subsequence;
mod edit_distance;
pub(crate) mod equality;
mod exact_sum;
pub mod mean;
pub(crate) mod porter;
pub(crate) mod responses;
pub(crate) mod rouge;
pub(crate) mod similarity;
pub(crate) mod tokenize;
pub(crate) mod trajectory;
pub(crate) mod usage;

#[cfg(test)]
mod tests;
