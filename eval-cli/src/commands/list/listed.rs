//! The cases of a set, as they are listed.

use std::path::MAIN_SEPARATOR;

use eval_format::{EvalCase, SetEditor, Value};
use serde::{Serialize, Serializer};

use crate::edited::SelectedSet;
use crate::output::{CommandError, Outcome};

/// What is listed, and an error for each path or set that cannot be.
#[derive(Debug, Serialize)]
pub(super) struct Listing {
    pub(super) sets: Vec<ListedSet>,
    #[serde(rename = "not_listed")]
    pub(super) errors: Vec<CommandError>,
}

impl Listing {
    pub(super) fn outcome(&self) -> Outcome {
        if self.errors.is_empty() { Outcome::Passed } else { Outcome::Unmeasurable }
    }
}

/// A set and the cases of it that are listed.
#[derive(Debug, Serialize)]
pub(super) struct ListedSet {
    pub(super) file: String,
    pub(super) eval_set_id: String,
    /// How many cases the set has, and how many of them are drafts.
    #[serde(skip)]
    pub(super) all: usize,
    #[serde(skip)]
    pub(super) drafts: usize,
    pub(super) cases: Vec<ListedCase>,
}

/// What is listed of a case. Fields may be added to its JSON; no field is removed or changes its meaning.
#[derive(Debug, Serialize)]
pub(super) struct ListedCase {
    pub(super) eval_id: String,
    pub(super) turns: usize,
    /// Whether a simulated user follows a scenario, in place of turns.
    pub(super) scenario: bool,
    /// The tools that are expected to be called, each once, in the order of their first call.
    pub(super) tools: Vec<String>,
    /// What marks a draft.
    #[serde(serialize_with = "as_json")]
    pub(super) draft: Option<Value>,
}

/// A value of a set with the keys in the order of their names.
#[expect(clippy::ref_option, reason = "serde gives references")]
fn as_json<S: Serializer>(value: &Option<Value>, serializer: S) -> Result<S::Ok, S::Error> {
    value.as_ref().map(serde_json::Value::from).serialize(serializer)
}

impl ListedSet {
    pub(super) fn of(selected: &SelectedSet, set: &SetEditor, drafts_only: bool) -> Self {
        let is_meant = |id: &String| selected.cases.as_ref().is_none_or(|ids| ids.contains(id));
        let listed = set.cases().filter(|case| is_meant(&case.eval_id));
        let listed = listed.filter(|case| !drafts_only || case.draft().is_some());
        Self {
            file: selected.path.display().to_string().replace(MAIN_SEPARATOR, "/"),
            eval_set_id: set.eval_set_id().to_owned(),
            all: set.cases().len(),
            drafts: set.drafts().count(),
            cases: listed.map(ListedCase::of).collect(),
        }
    }
}

impl ListedCase {
    fn of(case: &EvalCase) -> Self {
        let mut tools: Vec<String> = Vec::new();
        let calls = case.conversation.iter().flat_map(eval_format::Invocation::tool_calls);
        for name in calls.filter_map(|call| call.name.as_ref()) {
            if !tools.contains(name) {
                tools.push(name.clone());
            }
        }
        Self {
            eval_id: case.eval_id.clone(),
            turns: case.conversation.len(),
            scenario: case.conversation_scenario.is_some(),
            tools,
            draft: case.draft().cloned(),
        }
    }
}
