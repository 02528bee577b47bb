//! What cases are checked against.

use crate::config::EvalConfig;
use crate::options::Gate;

/// What the cases of a set are scored with.
pub(super) struct Scope<'a> {
    pub(super) config: &'a EvalConfig,
    /// The custom metrics that exist in Rust.
    pub(super) answered: &'a [&'a str],
    pub(super) gate: Gate,
}
