//! The arithmetic: what the metrics compute, those with ADK's names to the last bit of ADK's.
//!
//! Everything here is a pure function of its arguments. Where google-adk 2.13.0 (or, for ROUGE, the
//! package `rouge-score`) and this module differ, this module is wrong; `tests/adk/compare.py` runs
//! both on random input.

pub(crate) mod align;
pub(crate) mod assign;
pub(crate) mod common_subsequence;
pub(crate) mod equality;
mod exact_sum;
pub(crate) mod mean;
pub(crate) mod porter;
pub(crate) mod rouge;
pub(crate) mod similarity;
pub(crate) mod tokenize;
pub(crate) mod trajectory;
pub(crate) mod usage;

#[cfg(test)]
mod tests;
