//! Which judges a set asks, how often, and whether they can answer.

use std::collections::HashSet;
use std::fs;

use eval_core::judge::{Judge, JudgeMode, Judging, Scripted, check_judge_model};
use eval_format::{Criterion, EvalCase, METRICS, Need, Recording, metric};

use super::known::{SIMULATED_USER, Set};
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
    let judged = set
        .criteria
        .iter()
        .filter(|(name, _)| metric(name).is_some_and(|metric| metric.needs.contains(&Need::Judge)));
    let metrics = judged.filter_map(|(name, criterion)| {
        let asking: Vec<&EvalCase> = set.cases.iter().filter(|case| applies(name, case)).collect();
        (!asking.is_empty()).then(|| metric_of(set, name, criterion, &asking, &recording, mode))
    });
    simulated_user(set, &recording, mode).into_iter().chain(metrics).collect()
}

fn applies(name: &str, case: &EvalCase) -> bool {
    metric(name).is_some_and(|metric| metric.missing_in(case).is_none())
}

fn metric_of(
    set: &Set,
    name: &str,
    criterion: &Criterion,
    asking: &[&EvalCase],
    recording: &Recorded,
    mode: Option<JudgeMode>,
) -> Judged {
    let judging = Judging::new(Scripted::new([""; 0]).boxed(), criterion);
    let samples = judging.samples();
    let runs_and_turns = asking.iter().map(|case| set.runs_of(case) * case.conversation.len().max(1));
    let estimate =
        runs_and_turns.sum::<usize>().saturating_mul(usize::try_from(samples).unwrap_or(usize::MAX));
    let model = judging.request("", "", 0).model;
    Judged { samples, ..judged(set, name, model, asking, estimate, recording, mode) }
}

/// A model that plays the user asks for nothing, but is asked as judges are.
fn simulated_user(set: &Set, recording: &Recorded, mode: Option<JudgeMode>) -> Option<Judged> {
    let asking: Vec<&EvalCase> =
        set.cases.iter().filter(|case| case.conversation_scenario.is_some()).collect();
    let model = set.model_before(SIMULATED_USER).unwrap_or_else(|| set.simulator_model.clone());
    // It says something after each turn, and nobody knows how many there will be.
    let estimate = asking.iter().map(|case| set.runs_of(case) * SOME_TURNS).sum();
    (!asking.is_empty()).then(|| judged(set, SIMULATED_USER, model, &asking, estimate, recording, mode))
}

/// The turns of a simulated conversation that has not run yet.
const SOME_TURNS: usize = 5;

fn judged(
    set: &Set,
    name: &str,
    model: String,
    asking: &[&EvalCase],
    estimate: usize,
    recording: &Recorded,
    mode: Option<JudgeMode>,
) -> Judged {
    let instead = std::env::var("EVALSET_JUDGE_MODEL").ok().filter(|model| !model.is_empty());
    let model = instead.unwrap_or(model);
    let before = set.asked_before(name);
    let recorded = asking.iter().filter(|case| recording.has(name, &case.eval_id)).count();
    let cases = asking.len();
    let obstacle = match mode {
        Some(JudgeMode::Live) => unaskable(&model),
        Some(JudgeMode::Record) if recorded < cases => unaskable(&model),
        _ if recorded == cases || set.answered_offline(name) => None,
        _ => Some(recording.lacks(cases - recorded, cases)),
    };
    Judged {
        name: name.to_owned(),
        model,
        samples: 1,
        questions: before.unwrap_or(estimate),
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
                        let metric = asker(&question.template).to_owned();
                        question.cases.iter().map(move |case| (metric.clone(), case.clone()))
                    });
                    pairs.collect()
                })
            }
            Err(_) => Err(format!("there is no recording `{shown}`")),
        };
        Self { shown, asked }
    }

    /// Whether something is recorded that a metric asks about a case.
    fn has(&self, metric: &str, case: &str) -> bool {
        self.asked.as_ref().is_ok_and(|asked| asked.contains(&(metric.to_owned(), case.to_owned())))
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

/// Who asks with a prompt: it is named after the metric, whose prompts may be several.
fn asker(template: &str) -> &str {
    let names = METRICS.iter().map(|metric| metric.name).chain([SIMULATED_USER]);
    names.filter(|name| template.starts_with(name)).max_by_key(|name| name.len()).unwrap_or(template)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_that_of_the_metric_it_is_named_after() {
        for (template, expected) in [
            ("safety_v1/1", "safety_v1"),
            ("hallucinations_v1_segment/1", "hallucinations_v1"),
            ("user_simulator_custom/1", "user_simulator"),
            ("polite/1", "polite/1"),
        ] {
            assert_eq!(asker(template), expected);
        }
    }
}
