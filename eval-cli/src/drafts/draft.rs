//! A draft of a set.

use std::path::PathBuf;

use eval_format::EvalCase;

/// A draft of a set, as it was read.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) path: PathBuf,
    pub(crate) case: EvalCase,
}
