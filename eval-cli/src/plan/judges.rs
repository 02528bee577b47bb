//! Which judges a set asks, how often, and whether they can answer.

use std::collections::HashSet;
use std::fs;

use eval_core::{Criterion, Judge, JudgeMode, Judging, Scripted, check_judge_model};
use eval_format::{EvalCase, Need, Recording, metric};

use super::known::Set;
use crate::show::one_line;
use crate::words::count;

/// A metric of a set that asks a judge.
#[derive(Debug)]
pub(super) struct Judged {
    /// The metric, or who else asks: the simulated user.
    pub(super) name: String,
    pub(super) model: String,
    /// How often each question is asked.
    pub(super) samples: u32,
    /// Questions of all runs, samples counted one by one.
    pub(super) questions: usize,
    /// Whether so many were asked in the last run; else it is an estimate.
    pub(super) is_known: bool,
    /// Cases for which an answer is recorded, of those that ask.
    pub(super) recorded: usize,
    pub(super) cases: usize,
    /// Why it cannot be answered.
    pub(super) obstacle: Option<String>,
}

/// The judged metrics of a set, and the simulated user where a case has one.
pub(super) fn of(set: &Set, mode: Option<JudgeMode>) -> Vec<Judged> {
    let recording = Recorded::read(set);
    let judged = set.criteria.iter().filter(|(name, _)| {
        metric(name).is_some_and(|metric| metric.available && metric.needs.contains(&Need::Judge))
    });
    judged
        .filter_map(|(name, criterion)| {
            let asking: Vec<&EvalCase> = set.cases.iter().filter(|case| applies(name, case)).collect();
            (!asking.is_empty()).then(|| one(set, name, criterion, &asking, &recording, mode))
        })
        .collect()
}

fn applies(name: &str, case: &EvalCase) -> bool {
    metric(name).is_some_and(|metric| metric.missing_in(case).is_none())
}

fn one(
    set: &Set,
    name: &str,
    criterion: &Criterion,
    asking: &[&EvalCase],
    recording: &Recorded,
    mode: Option<JudgeMode>,
) -> Judged {
    let judging = Judging::new(Scripted::new([""; 0]).boxed(), criterion);
    let model = std::env::var("EVALSET_JUDGE_MODEL").ok().filter(|model| !model.is_empty());
    let model = model.unwrap_or_else(|| judging.request("", "", 0).model);
    let samples = judging.samples();
    let estimate = || {
        let turns = |case: &EvalCase| case.conversation.len().max(1);
        let each = asking.iter().map(|case| set.runs_of(case) * turns(case));
        each.sum::<usize>() * usize::try_from(samples).unwrap_or(usize::MAX)
    };
    let before = set.asked_before(name);
    let recorded = asking.iter().filter(|case| recording.has(name, &case.eval_id)).count();
    let cases = asking.len();
    let obstacle = match mode {
        Some(JudgeMode::Live) => unaskable(&model),
        Some(JudgeMode::Record) if recorded == cases => None,
        Some(JudgeMode::Record) => unaskable(&model),
        _ if recorded == cases => None,
        _ => Some(recording.lacks(cases - recorded, cases)),
    };
    Judged {
        name: name.to_owned(),
        model,
        samples,
        questions: before.unwrap_or_else(estimate),
        is_known: before.is_some(),
        recorded,
        cases,
        obstacle,
    }
}

fn unaskable(model: &str) -> Option<String> {
    check_judge_model(model).err().map(|error| error.to_string())
}

/// What is recorded for a set.
#[derive(Debug)]
struct Recorded {
    shown: String,
    /// Metric and case of each question that is recorded.
    asked: Result<HashSet<(String, String)>, String>,
}

impl Recorded {
    fn read(set: &Set) -> Self {
        let shown = one_line(&set.recording.display().to_string());
        let asked = match fs::read_to_string(&set.recording) {
            Ok(text) => {
                Recording::parse(&text).map_err(|_| format!("`{shown}` has problems")).map(|recording| {
                    let pairs = recording.questions().iter().flat_map(|question| {
                        let metric = question.template.split('/').next().unwrap_or_default().to_owned();
                        question.cases.iter().map(move |case| (metric.clone(), case.clone()))
                    });
                    pairs.collect()
                })
            }
            Err(_) => Err(format!("there is no recording `{shown}`")),
        };
        Self { shown, asked }
    }

    /// Whether something is recorded that a metric asks about a case. A metric may have several prompts, which begin
    /// with its name.
    fn has(&self, metric: &str, case: &str) -> bool {
        let Ok(asked) = &self.asked else { return false };
        asked.contains(&(metric.to_owned(), case.to_owned()))
            || asked.iter().any(|(template, of)| of == case && template.starts_with(metric))
    }

    fn lacks(&self, missing: usize, cases: usize) -> String {
        match &self.asked {
            Err(why) => format!("{why}; `EVALSET_JUDGE=record` makes it"),
            Ok(_) => format!(
                "`{}` holds no answer for {missing}/{}; `EVALSET_JUDGE=record` adds them",
                self.shown,
                count(cases, "case")
            ),
        }
    }
}
