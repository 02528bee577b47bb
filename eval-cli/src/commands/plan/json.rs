//! The plan as JSON.

use std::collections::BTreeMap;

use serde::Serialize;

use super::judges::Judged;
use super::planned::{Plan, PlannedSet};
use crate::output::Outcome;

/// What `--format json` prints. Fields may be added; no field is removed or changes its meaning.
#[derive(Debug, Serialize)]
pub(super) struct Document<'p> {
    command: &'static str,
    outcome: Outcome,
    run: Option<&'p str>,
    sets: Vec<Entry<'p>>,
    not_planned: Vec<NotPlanned<'p>>,
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
struct NotPlanned<'p> {
    message: &'p str,
    help: &'p str,
}

#[derive(Debug, Serialize)]
struct Entry<'p> {
    file: String,
    cases: usize,
    runs: usize,
    in_last_run: bool,
    metrics: Vec<&'p str>,
    judged: Vec<JudgedEntry<'p>>,
    /// How many of what the cases expect and no metric reads: `tool_responses`, `rubrics` and so on.
    not_compared: BTreeMap<&'static str, usize>,
    agent_tokens: Option<i64>,
    judge_tokens: Option<i64>,
}

#[derive(Debug, Serialize)]
struct JudgedEntry<'p> {
    metric: &'p str,
    model: &'p str,
    samples: u32,
    questions: usize,
    estimated: bool,
    recorded_cases: usize,
    cases: usize,
    missing: Option<&'p str>,
}

impl<'p> Document<'p> {
    pub(super) fn of(plan: &'p Plan) -> Self {
        let errors = plan.errors.iter();
        Self {
            command: "plan",
            outcome: plan.outcome(),
            run: plan.run.as_deref(),
            sets: plan.sets.iter().map(Entry::of).collect(),
            not_planned: errors
                .map(|error| NotPlanned { message: &error.message, help: &error.help })
                .collect(),
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
            judged: planned.judged.iter().map(JudgedEntry::of).collect(),
            not_compared: set.not_compared().counts().collect(),
            agent_tokens: set.agent_tokens().map(number),
            judge_tokens: set.judge_tokens().map(number),
        }
    }
}

impl<'p> JudgedEntry<'p> {
    fn of(judged: &'p Judged) -> Self {
        Self {
            metric: &judged.name,
            model: &judged.model,
            samples: judged.samples,
            questions: judged.questions,
            estimated: judged.is_estimate,
            recorded_cases: judged.recorded,
            cases: judged.cases,
            missing: judged.obstacle.as_deref(),
        }
    }
}
