//! The plan as JSON.

use std::collections::BTreeMap;

use serde::Serialize;

use super::judges::Judged;
use super::planned::{Plan, PlannedSet};
use crate::output::CommandError;

/// What `--format json` prints. Fields may be added; no field is removed or changes its meaning.
#[derive(Debug, Serialize)]
pub(super) struct Fields<'p> {
    run: Option<&'p str>,
    sets: Vec<Entry<'p>>,
    not_planned: &'p [CommandError],
    summary: Summary,
}

#[derive(Debug, Serialize)]
struct Summary {
    sets: usize,
    cases: usize,
    runs: usize,
    questions: usize,
}

#[derive(Debug, Serialize)]
struct Entry<'p> {
    file: String,
    cases: usize,
    runs: usize,
    in_last_run: bool,
    metrics: Vec<&'p str>,
    judged: &'p [Judged],
    /// How many of what the cases expect and no metric reads: `tool_responses`, `rubrics` and so on.
    not_compared: BTreeMap<&'static str, usize>,
    agent_tokens: Option<i64>,
    judge_tokens: Option<i64>,
}

impl<'p> Fields<'p> {
    pub(super) fn of(plan: &'p Plan) -> Self {
        Self {
            run: plan.run.as_deref(),
            sets: plan.sets.iter().map(Entry::of).collect(),
            not_planned: &plan.errors,
            summary: Summary {
                sets: plan.sets.len(),
                cases: plan.cases(),
                runs: plan.runs(),
                questions: plan.questions(),
            },
        }
    }
}

impl<'p> Entry<'p> {
    fn of(planned: &'p PlannedSet) -> Self {
        let set = &planned.set;
        let number = |tokens: i128| i64::try_from(tokens).unwrap_or(i64::MAX);
        Self {
            file: set.path.display().to_string(),
            cases: set.cases.len(),
            runs: set.runs(),
            in_last_run: set.last.is_some(),
            metrics: set.criteria.keys().map(String::as_str).collect(),
            judged: &planned.judged,
            not_compared: set.not_compared().counts().collect(),
            agent_tokens: set.agent_tokens().map(number),
            judge_tokens: set.judge_tokens().map(number),
        }
    }
}
