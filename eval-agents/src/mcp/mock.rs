//! What answers in one conversation, and the conversations that are open, by their tokens.

use std::collections::BTreeMap;
use std::sync::Arc;

use eval_core::format::Value;
use eval_core::tools::GoldenTools;
use eval_support::mutex::Mutex;

use super::declarations;

/// What answers behind a token.
#[derive(Clone)]
pub(super) struct Mock {
    pub(super) tools: GoldenTools,
    /// The answer to `tools/list`.
    pub(super) declared: Arc<Vec<Value>>,
}

pub(super) static MOCKS: Mutex<BTreeMap<String, Mock>> = Mutex::new(BTreeMap::new());

impl Mock {
    pub(super) fn new(tools: GoldenTools) -> Self {
        let declared = Arc::new(declarations::of(&tools));
        Self { tools, declared }
    }
}
