//! The plan: sets, and what they ask judges.

use eval_core::judge::JudgeMode;

use super::judges::Judged;
use super::set::Set;
use crate::output::{CommandError, Outcome};

/// What is planned.
#[derive(Debug)]
pub(super) struct Plan {
    /// `EVALSET_JUDGE`, if it is set.
    pub(super) mode: Option<JudgeMode>,
    pub(super) sets: Vec<PlannedSet>,
    /// An error for each path or set that cannot be planned.
    pub(super) errors: Vec<CommandError>,
    /// The last run, if there is one.
    pub(super) run: Option<String>,
}

/// A set, and what it asks judges.
#[derive(Debug)]
pub(super) struct PlannedSet {
    pub(super) set: Set,
    pub(super) judged: Vec<Judged>,
}

impl Plan {
    pub(super) fn outcome(&self) -> Outcome {
        let obstacles = self.sets.iter().flat_map(|set| &set.judged).any(|judged| judged.obstacle.is_some());
        if obstacles || !self.errors.is_empty() { Outcome::Unmeasurable } else { Outcome::Passed }
    }

    pub(super) fn cases(&self) -> usize {
        self.sets.iter().map(|planned| planned.set.cases.len()).sum()
    }

    pub(super) fn runs(&self) -> usize {
        self.sets.iter().map(|planned| planned.set.runs()).sum()
    }

    pub(super) fn questions(&self) -> usize {
        self.sets.iter().flat_map(|set| &set.judged).map(|judged| judged.questions).sum()
    }
}
