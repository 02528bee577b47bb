//! The judges of a set: the number of their questions, and obstacles to answers.

use std::collections::HashSet;
use std::path::Path;

use eval_core::judge::{Judge, JudgeClient, JudgeMode, ScriptedJudge, check_judge_model};
use eval_format::metric::{METRICS, Need, metric};
use eval_format::recording::check_recording;
use eval_format::{Criterion, EvalCase};
use eval_support::command;
use eval_support::untrusted::one_line;
use eval_support::variables;
use eval_support::words::count;
use serde::Serialize;

use super::set::{SIMULATED_USER, Set};
use crate::files::read;

/// A metric of a set that asks a judge, or the simulated user.
#[derive(Debug, Serialize)]
pub(super) struct Judged {
    /// The name of the metric; [`SIMULATED_USER`] for the simulated user.
    #[serde(rename = "metric")]
    pub(super) name: String,
    pub(super) model: String,
    pub(super) samples: u32,
    /// The questions of all runs. Each sample is one.
    pub(super) questions: usize,
    /// Whether the number of questions is an estimate, since the last run does not tell it.
    #[serde(rename = "estimated")]
    pub(super) is_estimate: bool,
    /// The number of cases with a recorded answer, out of `cases`.
    #[serde(rename = "recorded_cases")]
    pub(super) recorded: usize,
    pub(super) cases: usize,
    #[serde(rename = "missing")]
    pub(super) obstacle: Option<String>,
}

pub(super) fn find(set: &Set, mode: Option<JudgeMode>) -> Vec<Judged> {
    let planner = Planner { set, mode, recorded: RecordedQuestions::read(&set.recording) };
    let metrics = set.criteria.iter().filter_map(|(name, criterion)| planner.metric(name, criterion));
    planner.simulated_user().into_iter().chain(metrics).collect()
}

struct Planner<'s> {
    set: &'s Set,
    mode: Option<JudgeMode>,
    recorded: RecordedQuestions,
}

impl Planner<'_> {
    /// The plan of a metric. `None` if it asks no judge, or applies to no case.
    fn metric(&self, name: &str, criterion: &Criterion) -> Option<Judged> {
        let metric = metric(name).filter(|metric| metric.needs.contains(&Need::Judge))?;
        let asking: Vec<&EvalCase> =
            self.set.cases.iter().filter(|case| metric.missing_in(case).is_none()).collect();
        if asking.is_empty() {
            return None;
        }
        let judging = JudgeClient::new(ScriptedJudge::new([""; 0]).boxed(), criterion);
        let samples = judging.samples();
        let turns = asking.iter().map(|case| self.set.runs_of(case) * case.conversation.len().max(1));
        let estimate = turns.sum::<usize>().saturating_mul(usize::try_from(samples).unwrap_or(usize::MAX));
        let model = judging.request("", "", 0).model;
        Some(self.judged(name, model, samples, estimate, &asking))
    }

    /// The plan of the simulated user. It has no criterion, but its model is asked like a judge.
    fn simulated_user(&self) -> Option<Judged> {
        let has_scenario = |case: &&EvalCase| case.conversation_scenario.is_some();
        let asking: Vec<&EvalCase> = self.set.cases.iter().filter(has_scenario).collect();
        if asking.is_empty() {
            return None;
        }
        let before = self.set.last.as_ref().and_then(|last| last.asked.get(SIMULATED_USER));
        let model = before.map_or(&self.set.simulator_model, |asked| &asked.model);
        let estimate = asking.iter().map(|case| self.set.runs_of(case) * ESTIMATED_TURNS).sum();
        Some(self.judged(SIMULATED_USER, model.to_owned(), 1, estimate, &asking))
    }

    fn judged(
        &self,
        name: &str,
        model: String,
        samples: u32,
        estimate: usize,
        asking: &[&EvalCase],
    ) -> Judged {
        let override_model = std::env::var(variables::JUDGE_MODEL).ok().filter(|model| !model.is_empty());
        let model = override_model.unwrap_or(model);
        let before = self.set.asked_before(name);
        let recorded = asking.iter().filter(|case| self.recorded.has(name, &case.eval_id)).count();
        let cases = asking.len();
        let obstacle = match self.mode {
            Some(JudgeMode::Live) => cannot_ask(&model),
            Some(JudgeMode::Record) if recorded < cases => cannot_ask(&model),
            _ if recorded == cases || self.set.answered_offline(name) => None,
            _ => Some(self.recorded.lacks(cases - recorded, cases)),
        };
        Judged {
            name: name.to_owned(),
            model,
            samples,
            questions: before.unwrap_or(estimate),
            is_estimate: before.is_none(),
            recorded,
            cases,
            obstacle,
        }
    }
}

/// The estimated number of turns of a simulated conversation, which is not known in advance. Each turn is one
/// question to the model.
const ESTIMATED_TURNS: usize = 5;

fn cannot_ask(model: &str) -> Option<String> {
    check_judge_model(model).err().map(|error| error.to_string())
}

#[derive(Debug)]
pub(super) struct RecordedQuestions {
    /// The path of the recording, as messages show it.
    shown: String,
    /// The metric and the case of each question, or the reason why there are none.
    asked: Result<HashSet<(String, String)>, String>,
}

impl RecordedQuestions {
    pub(super) fn read(path: &Path) -> Self {
        let shown = one_line(&path.display().to_string());
        let recorded = read(path).map(|bytes| check_recording("", &bytes).into_result());
        let asked = match recorded {
            Err(_) => {
                Err(format!("there is no recording `{shown}`; a run with `EVALSET_JUDGE=record` makes it"))
            }
            Ok(Err(_)) => Err(format!("`{shown}` has problems; `{} check` shows them", command::name())),
            Ok(Ok(recording)) => {
                // A prompt without a name belongs to no metric.
                let named =
                    recording.questions().iter().filter_map(|it| Some((it.template.as_deref()?, &it.cases)));
                let questions = named.flat_map(|(template, cases)| {
                    let metric = asker(template);
                    cases.iter().map(|case| (metric.to_owned(), case.clone()))
                });
                Ok(questions.collect())
            }
        };
        Self { shown, asked }
    }

    pub(super) fn has(&self, metric: &str, case: &str) -> bool {
        let question = (metric.to_owned(), case.to_owned());
        self.asked.as_ref().is_ok_and(|asked| asked.contains(&question))
    }

    pub(super) fn lacks(&self, missing: usize, cases: usize) -> String {
        let (shown, cases) = (&self.shown, count(cases, "case"));
        let lacks = format!("`{shown}` holds no answer for {missing}/{cases}");
        let why = self.asked.as_ref().err().cloned();
        why.unwrap_or_else(|| format!("{lacks}; a run with `EVALSET_JUDGE=record` adds them"))
    }
}

/// The metric or simulated user that asks with a prompt. The name of a prompt begins with the name of its metric.
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
