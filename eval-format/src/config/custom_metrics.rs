//! Custom metrics: their names, and the check that each declared one has a program or a function in Rust, and is used.

use std::collections::{HashMap, HashSet};

use eval_support::spelling::is_misspelling;

use super::criterion::Criterion;
use super::metric_command::{self, MetricCommand};
use crate::metric::Bound;
use crate::metric::fields::DIRECTION;
use crate::names::module_name;
use crate::problem::{Problem, ProblemCode, shown};
use crate::schema::{CUSTOM_METRIC, Place, opening};
use crate::syntax::{Entry, Node};

/// The names of custom metrics: those that exist in Rust and those that the config declares.
pub(super) struct CustomNames<'n> {
    pub(super) answered: &'n [&'n str],
    pub(super) declared: HashSet<&'n str>,
}

impl CustomNames<'_> {
    pub(super) fn contains(&self, name: &str) -> bool {
        self.answered.contains(&name) || self.declared.contains(name)
    }
}

pub(super) fn answer(name: &str) -> String {
    let identifier = module_name(name);
    let argument = format!("`metrics({identifier} = path::to::function)`");
    if identifier == name {
        format!("name it in the attribute, {argument}, or give it to `EvalRunner::metric`")
    } else {
        format!(
            "give it to `EvalRunner::metric`, or rename it to the identifier `{identifier}` and add {argument}"
        )
    }
}

pub(super) fn check(
    entry: &Entry<'_>,
    criteria: &[Entry<'_>],
    read: &[(String, Criterion)],
    answered: &[&str],
    problems: &mut Vec<Problem>,
) {
    let place = &Place::Key(&Place::Root, &entry.key);
    let criteria: HashMap<&str, &Entry<'_>> =
        criteria.iter().map(|entry| (entry.key.as_ref(), entry)).collect();
    for entry in entry.value.object().unwrap_or_default() {
        let name = entry.key.as_ref();
        let place = &Place::Key(place, name);
        let is_answered = answered.contains(&name);
        let keys = entry.value.object();
        let command = keys.and_then(|keys| CUSTOM_METRIC.entry(keys, "command"));
        if let Some(keys) = keys {
            metric_command::check(keys, place, problems);
            if command.is_none() && CUSTOM_METRIC.entry(keys, "code_config").is_none() {
                // A misspelt key is a problem of its own.
                problems.extend((!is_code_misspelt(keys)).then(|| without_code(&entry.value, place)));
                continue;
            }
        }
        match command {
            Some(command) if is_answered => problems.push(never_started(command, name, place)),
            None if !is_answered => problems.push(unanswered(entry, place)),
            _ => {}
        }
        match criteria.get(name) {
            None => problems.push(never_runs(entry, place)),
            // agentevals' programs score higher if they are better.
            Some(criterion)
                if is_answered && command.is_none() && criterion.value.get(DIRECTION.name).is_none() =>
            {
                problems.push(without_direction(criterion));
            }
            Some(criterion) if command.is_some() && !is_answered => {
                let read = read.iter().find(|(of, read)| of == name && read.threshold.is_finite());
                problems.extend(read.and_then(|(_, read)| checks_nothing(criterion, read.bound())));
            }
            Some(_) => {}
        }
    }
}

fn is_code_misspelt(keys: &[Entry<'_>]) -> bool {
    keys.iter().any(|entry| ["code_config", "command"].iter().any(|key| is_misspelling(&entry.key, key)))
}

fn without_code(node: &Node<'_>, place: &Place<'_>) -> Problem {
    place
        .error(ProblemCode::MissingKey, opening(node), "the custom metric has no `code_config` and no `command`".to_owned())
        .label("nothing computes it")
        .help(
            "let a program compute it, `\"command\": [\"metrics/brevity.py\"]`, or name its function as ADK does, \
             `\"code_config\": {\"name\": \"my_metrics.brevity\"}`, and write it in Rust",
        )
}

/// The problem of a criterion without `direction`. ADK infers it from the statuses of the Python function.
fn without_direction(criterion: &Entry<'_>) -> Problem {
    let name = &shown(&criterion.key);
    let message = format!("the criterion of the custom metric `{name}` does not say which scores pass");
    Place::Key(&Place::Key(&Place::Root, "criteria"), name)
        .error_at_key(ProblemCode::MissingKey, criterion, message)
        .label("ADK takes it from the statuses of the Python function, which is not run")
        .help(format!(
            "write `\"{name}\": {{\"threshold\": .., \"direction\": \"at_least\"}}`, or `\"at_most\"` if lower is better; ADK \
             passes over the key"
        ))
}

/// The problem of a program's criterion that no score from 0 to 1 misses.
fn checks_nothing(criterion: &Entry<'_>, bound: Bound) -> Option<Problem> {
    let name = criterion.key.as_ref();
    let message = MetricCommand::checks_nothing(name, bound)?;
    let place = &Place::Key(&Place::Key(&Place::Root, "criteria"), name);
    let problem = place.error(ProblemCode::NothingChecked, criterion.value.range.clone(), message);
    Some(problem.label("every score of the program passes").help("choose one that a score can miss"))
}

fn unanswered(entry: &Entry<'_>, place: &Place<'_>) -> Problem {
    let function = entry.value.get("code_config").or_else(|| entry.value.get("codeConfig"));
    let function = function.and_then(|entry| entry.value.get("name")?.value.string());
    let label = match function {
        Some(name) => format!("the Python function `{}` is not run", shown(name)),
        None => "its Python function is not run".to_owned(),
    };
    let name = &shown(&entry.key);
    let message = format!("custom metric `{name}` has no function in Rust");
    place.error_at_key(ProblemCode::UnansweredCustomMetric, entry, message).label(label).help(format!(
        "write it in Rust and {}; or let a program compute it: `\"command\": [\"metrics/{}.py\"]`",
        answer(name),
        module_name(name)
    ))
}

/// The warning about a program in whose place a function in Rust is called.
fn never_started(command: &Entry<'_>, name: &str, place: &Place<'_>) -> Problem {
    let message = format!("custom metric `{}` exists in Rust, so its program is not started", shown(name));
    Place::Key(place, "command")
        .warning_at_key(ProblemCode::IgnoredKey, command, message)
        .label("not started")
        .help("remove it, or do not name the metric in Rust")
}

fn never_runs(entry: &Entry<'_>, place: &Place<'_>) -> Problem {
    let name = &shown(&entry.key);
    let message = format!("custom metric `{name}` is not in `criteria`, so it never runs");
    place
        .warning_at_key(ProblemCode::IgnoredKey, entry, message)
        .label("declared and not used")
        .help(format!(r#"give it a threshold: `"criteria": {{"{name}": 0.5}}`"#))
}
