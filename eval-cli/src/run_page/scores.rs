//! Scores, and the models that they come from.

use std::collections::{BTreeMap, BTreeSet};

use eval_core::Score;
use eval_core::journal::{Evaluation, JudgeUse, RecordedMetric};
use eval_core::report::MetricOutcome;
use eval_format::{EvalCase, Value};

use crate::output::words::count;
use crate::page::{Judge, JudgedRubric, Question, RunScore, TurnScore, line, text};
use crate::recorded::{RunResults, TestResult};

/// The versions of models that the agents' events name.
pub(super) fn agent_models(results: &RunResults<'_>) -> BTreeSet<String> {
    let evaluations = results.tests.iter().flat_map(|test| &test.attempt.evaluations);
    let events = evaluations.flat_map(|it| &it.ran.transcript.turns).flat_map(|turn| &turn.events);
    events.filter_map(|event| event.model_version.as_deref()).map(line).collect()
}

pub(super) fn judge_models(results: &RunResults<'_>) -> BTreeSet<String> {
    let evaluations = results.tests.iter().flat_map(|test| &test.attempt.evaluations);
    let judges = evaluations.flat_map(|it| {
        it.scored
            .iter()
            .flat_map(|scored| &scored.metrics)
            .flat_map(|metric| &metric.judge)
            .chain(&it.ran.simulator)
    });
    judges.map(|judge| line(&judge.model)).collect()
}

/// The thresholds of a case, by metric, and the texts of its rubrics, by id.
pub(super) struct Known {
    thresholds: BTreeMap<String, f64>,
    rubrics: BTreeMap<String, String>,
}

impl Known {
    pub(super) fn of(test: &TestResult<'_>, case: Option<&EvalCase>) -> Self {
        let thresholds = test.metrics().iter().filter_map(|it| Some((it.name.clone(), it.threshold()?)));
        let of_case = case.into_iter().flat_map(|case| {
            let of_turns = case.conversation.iter().filter_map(|turn| turn.rubrics.as_ref());
            case.rubrics.iter().chain(of_turns).flatten()
        });
        let rubrics =
            of_case.filter_map(|rubric| Some((rubric.rubric_id.clone(), rubric.text_property.clone()?)));
        let of_config =
            test.gating().filter_map(|metric| metric.criterion.as_ref()?.get("rubrics")?.as_array());
        let of_config = of_config.flatten().filter_map(rubric_of_config);
        Self { thresholds: thresholds.collect(), rubrics: of_config.chain(rubrics).collect() }
    }

    /// Each metric on a run.
    pub(super) fn of_run(&self, evaluation: &Evaluation) -> Vec<RunScore> {
        let metrics = evaluation.scored.iter().flat_map(|scored| &scored.metrics);
        metrics.map(|metric| self.run_score(metric)).collect()
    }

    fn run_score(&self, metric: &RecordedMetric) -> RunScore {
        let (score, reason, whole) = match &metric.outcome {
            MetricOutcome::Scored(scores) => {
                let reason = scores.scores().iter().find_map(Score::reason).map(line);
                let whole = scores.scores().first().filter(|_| scores.is_whole_run());
                (scores.overall(), reason, whole.map(|score| self.score(&metric.name, score)))
            }
            other => (None, why(other), None),
        };
        RunScore {
            metric: line(&metric.name),
            score: score.filter(|score| score.is_finite()),
            threshold: self.thresholds.get(&metric.name).copied(),
            reason,
            whole,
        }
    }

    /// Each metric that scores turns, on this turn.
    pub(super) fn of_turn(&self, evaluation: &Evaluation, at: usize) -> Vec<TurnScore> {
        let metrics = evaluation.scored.iter().flat_map(|scored| &scored.metrics);
        let scores = metrics.filter_map(|metric| match &metric.outcome {
            MetricOutcome::Scored(scores) if !scores.is_whole_run() => {
                Some(self.score(&metric.name, scores.scores().get(at)?))
            }
            MetricOutcome::Scored(_) => None,
            other => Some(TurnScore {
                metric: line(&metric.name),
                score: None,
                threshold: self.thresholds.get(&metric.name).copied(),
                reason: why(other),
                notes: Vec::new(),
                rubrics: Vec::new(),
            }),
        });
        scores.collect()
    }

    fn score(&self, metric: &str, score: &Score) -> TurnScore {
        let rubrics = score.rubrics().iter().map(|rubric| JudgedRubric {
            id: line(&rubric.rubric_id),
            score: rubric.score.filter(|score| score.is_finite()),
            text: self.rubrics.get(&rubric.rubric_id).map(|it| text(it)),
            rationale: rubric.rationale.as_deref().map(text),
        });
        TurnScore {
            metric: line(metric),
            score: score.value().filter(|score| score.is_finite()),
            threshold: self.thresholds.get(metric).copied(),
            reason: score.reason().or_else(|| score.why_left_out()).map(line),
            notes: score.notes().iter().map(|note| text(note)).collect(),
            rubrics: rubrics.collect(),
        }
    }
}

/// The id and the text of a rubric that a criterion has.
fn rubric_of_config(rubric: &Value) -> Option<(String, String)> {
    let text = rubric.as_object()?.get("rubric_content")?.as_object()?.get("text_property")?;
    let id = rubric.as_object()?.get("rubric_id")?;
    Some((id.as_str()?.to_owned(), text.as_str()?.to_owned()))
}

/// Why a metric has no scores.
fn why(outcome: &MetricOutcome) -> Option<String> {
    match outcome {
        MetricOutcome::Skipped(reason) | MetricOutcome::Unjudged(reason) => Some(line(reason)),
        MetricOutcome::Error { role, message } => Some(line(&format!("{role} error: {message}"))),
        _ => None,
    }
}

/// What judges were asked in a run.
pub(super) fn judges(evaluation: &Evaluation) -> Vec<Judge> {
    let of_metrics = evaluation.scored.iter().flat_map(|scored| &scored.metrics);
    let of_metrics =
        of_metrics.flat_map(|metric| metric.judge.iter().map(|judge| (metric.name.as_str(), judge)));
    let of_user = evaluation.ran.simulator.iter().map(|judge| ("playing the user", judge));
    of_metrics.chain(of_user).map(|(purpose, judge)| shown(purpose, judge)).collect()
}

fn shown(purpose: &str, judge: &JudgeUse) -> Judge {
    let mut asked = count(judge.asked, "question");
    if let Some(replayed) = judge.replayed.filter(|replayed| *replayed > 0) {
        asked.push_str(&format!(", {replayed} answered from the recording"));
    }
    if judge.failed > 0 {
        asked.push_str(&format!(", {} without an answer", judge.failed));
    }
    let questions = judge.questions.iter().map(|it| Question {
        template: it.template.as_deref().map(line),
        prompt: text(&it.prompt),
        answers: it.answers.iter().map(|answer| text(answer)).collect(),
    });
    Judge { purpose: line(purpose), model: line(&judge.model), asked, questions: questions.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_rubric_comes_from_the_criterion() {
        for (rubric, expected) in [
            (
                r#"{"rubric_id": "a", "rubric_content": {"text_property": "Is short."}}"#,
                Some(("a", "Is short.")),
            ),
            (r#"{"rubric_id": "a", "rubric_content": {}}"#, None),
            (r#""a""#, None),
        ] {
            let found = rubric_of_config(&Value::parse(rubric).unwrap());
            assert_eq!(found.as_ref().map(|(id, text)| (id.as_str(), text.as_str())), expected, "{rubric}");
        }
    }
}
