//! Helpers of the tests that need a report.

pub(crate) mod strategies;
