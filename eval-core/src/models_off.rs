//! The module `models` of a build without the feature `models`: no call of a model is recorded or replayed.
//!
//! It has the names that modules above use. A set with recordings does not compile in such a build, and a variable that asks
//! for them is an error.
#![expect(
    clippy::unused_self,
    clippy::needless_pass_by_value,
    reason = "the feature `models` has these functions"
)]

use std::future::{Ready, ready};
use std::path::Path;
use std::time::Duration;

use eval_format::EvalCase;
use eval_support::variables::MODELS;

use crate::model_use::{ModelsEnded, PlannedRuns};

#[derive(Clone, Debug)]
pub(crate) enum ModelCalls {}

pub(crate) struct Miss {
    pub(crate) turn: usize,
    pub(crate) message: String,
}

impl ModelCalls {
    pub(crate) fn begin_turn(&self, _: &str) {}

    pub(crate) fn end_turn(&self) {}

    pub(crate) fn misses(&self) -> Vec<Miss> {
        match *self {}
    }

    pub(crate) fn waited(&self) -> (Duration, bool) {
        match *self {}
    }

    pub(crate) fn halted(&self) -> Ready<()> {
        match *self {}
    }
}

pub(crate) fn end(models: ModelCalls, _: bool) -> Ready<ModelsEnded> {
    match models {}
}

#[derive(Clone, Debug)]
#[expect(dead_code, reason = "no command records calls in this build")]
pub(crate) enum Command {
    Program { file: String, again: Vec<String> },
    Unknown,
}

const ADD_IT: &str = "and eval-core is built without recorded calls of models: add the feature `models`, or `record-models`, to \
                      its line in `Cargo.toml`";

#[derive(Clone, Debug, Default)]
pub(crate) struct Models(());

/// Whether the tests of a set read the recordings that were compiled in: there are none.
pub(crate) fn replays() -> bool {
    true
}

impl Models {
    pub(crate) fn beside(_: Option<&Path>, _: Command, _: PlannedRuns) -> Result<Self, String> {
        Self::checked()
    }

    /// Fails if a variable asks for recordings.
    pub(crate) fn checked() -> Result<Self, String> {
        match std::env::var(MODELS) {
            Ok(mode) if !mode.is_empty() && mode != "live" => {
                Err(format!("`{MODELS}` is `{mode}`, {ADD_IT}"))
            }
            _ => Ok(Self(())),
        }
    }

    /// Fails if the case has faults of models, which would not happen.
    pub(crate) fn open(&self, case: &EvalCase, _: usize) -> Ready<Result<Option<ModelCalls>, String>> {
        ready(self.unasked(case).map(|()| None))
    }

    /// Fails if the case has faults of models, which would not happen.
    pub(crate) fn unasked(&self, case: &EvalCase) -> Result<(), String> {
        match case.extra.get(EvalCase::MODELS_KEY) {
            None => Ok(()),
            Some(_) => {
                let key = EvalCase::MODELS_KEY;
                Err(format!("case `{}` has faults of models (`{key}`), {ADD_IT}", case.eval_id))
            }
        }
    }
}
