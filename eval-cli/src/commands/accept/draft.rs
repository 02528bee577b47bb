//! A draft of a set.

use std::path::PathBuf;

use eval_format::EvalCase;

/// A draft of a set, as it was read.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) path: PathBuf,
    pub(super) case: EvalCase,
}
