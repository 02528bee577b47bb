//! The listing as JSON.

use serde::Serialize;

use super::listed::{ListedCase, ListedSet, Listing};
use crate::output::Outcome;

/// What `--format json` prints. Fields may be added; no field is removed or changes its meaning.
#[derive(Debug, Serialize)]
pub(super) struct Document<'a> {
    command: &'static str,
    outcome: Outcome,
    sets: Vec<SetEntry<'a>>,
    not_listed: Vec<NotListed<'a>>,
}

#[derive(Debug, Serialize)]
struct SetEntry<'a> {
    file: &'a str,
    eval_set_id: &'a str,
    cases: Vec<CaseEntry<'a>>,
}

#[derive(Debug, Serialize)]
struct CaseEntry<'a> {
    eval_id: &'a str,
    turns: usize,
    scenario: bool,
    tools: &'a [String],
    /// What marks a draft; `null` for a case that is none.
    draft: Option<serde_json::Value>,
}

#[derive(Debug, Serialize)]
struct NotListed<'a> {
    message: &'a str,
    help: &'a str,
}

impl<'a> Document<'a> {
    pub(super) fn of(listing: &'a Listing) -> Self {
        let errors = listing.errors.iter();
        Self {
            command: "list",
            outcome: listing.outcome(),
            sets: listing.sets.iter().map(SetEntry::of).collect(),
            not_listed: errors
                .map(|error| NotListed { message: &error.message, help: &error.help })
                .collect(),
        }
    }
}

impl<'a> SetEntry<'a> {
    fn of(set: &'a ListedSet) -> Self {
        Self {
            file: &set.file,
            eval_set_id: &set.eval_set_id,
            cases: set.cases.iter().map(CaseEntry::of).collect(),
        }
    }
}

impl<'a> CaseEntry<'a> {
    fn of(case: &'a ListedCase) -> Self {
        Self {
            eval_id: &case.eval_id,
            turns: case.turns,
            scenario: case.scenario,
            tools: &case.tools,
            draft: case.draft.as_ref().map(serde_json::Value::from),
        }
    }
}
