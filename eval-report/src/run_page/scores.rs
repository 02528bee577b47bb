//! Scores, and the models that they come from.

use std::collections::{BTreeMap, BTreeSet};

use eval_core::report::{MetricOutcome, Role, ScoredMetric, short};
use eval_core::{Score, Scores};
use eval_format::metric::{self, MetricInfo, Subject};
use eval_format::{Bound, Direction, EvalCase, Value};
use eval_support::untrusted;

use crate::journal::Evaluation;
use crate::page::{JudgedRubric, RunScore, TurnScore, line, text};
use crate::recorded::{RunResults, TestResult};

pub(super) fn agent_models(results: &RunResults<'_>) -> BTreeSet<String> {
    let evaluations = results.tests.iter().flat_map(|test| &test.attempt.evaluations);
    evaluations.flat_map(|it| it.ran.transcript.model_names()).map(line).collect()
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
pub(super) struct ScoresByTurn {
    bounds: BTreeMap<String, Bound>,
    rubrics: BTreeMap<String, String>,
}

impl ScoresByTurn {
    pub(super) fn new(test: &TestResult<'_>, case: Option<&EvalCase>) -> Self {
        let bounds = test.metrics().iter().filter_map(|it| Some((it.name.clone(), it.bound()?)));
        let of_case = case.into_iter().flat_map(|case| {
            let of_turns = case.conversation.iter().filter_map(|turn| turn.rubrics.as_ref());
            case.rubrics.iter().chain(of_turns).flatten()
        });
        let rubrics =
            of_case.filter_map(|rubric| Some((rubric.rubric_id.clone(), rubric.text_property.clone()?)));
        let of_config =
            test.deciding().filter_map(|metric| metric.criterion.as_ref()?.get("rubrics")?.as_array());
        let of_config = of_config.flatten().filter_map(rubric_of_config);
        Self { bounds: bounds.collect(), rubrics: of_config.chain(rubrics).collect() }
    }

    pub(super) fn of_run(&self, evaluation: &Evaluation) -> Vec<RunScore> {
        let metrics = evaluation.scored.iter().flat_map(|scored| &scored.metrics);
        metrics.map(|metric| self.run_score(metric)).collect()
    }

    fn run_score(&self, metric: &ScoredMetric) -> RunScore {
        let (score, reason, whole) = match &metric.outcome {
            MetricOutcome::Scored(scores) => {
                let reason = scores.scores().iter().find_map(Score::reason).map(line);
                let whole = scores.is_whole_run().then(|| self.score(metric, scores, 0)).flatten();
                (scores.overall(), reason, whole)
            }
            // An error that names no turn belongs to the whole run.
            MetricOutcome::Error { role, message } if turn_of(message).is_none() => {
                (None, None, Some(self.error(&metric.name, metric.verdict.name(), *role, message)))
            }
            other => (None, why(other), None),
        };
        let bound = self.bounds.get(&metric.name).copied();
        RunScore {
            metric: line(&metric.name),
            state: metric.verdict.name(),
            score: score.map(|score| shown(&metric.name, score, bound)),
            threshold: bound.map(needed),
            reason,
            whole,
        }
    }

    pub(super) fn of_turn(&self, evaluation: &Evaluation, at: usize) -> Vec<TurnScore> {
        let metrics = evaluation.scored.iter().flat_map(|scored| &scored.metrics);
        let scores = metrics.filter_map(|metric| match &metric.outcome {
            MetricOutcome::Scored(scores) if !scores.is_whole_run() => self.score(metric, scores, at),
            MetricOutcome::Scored(_) => None,
            MetricOutcome::Error { role, message } if turn_of(message) == Some(at + 1) => {
                Some(self.error(&metric.name, metric.verdict.name(), *role, message))
            }
            MetricOutcome::Error { .. } => {
                Some(self.without_a_score(&metric.name, metric.verdict.name(), None))
            }
            other => Some(self.without_a_score(&metric.name, metric.verdict.name(), why(other))),
        });
        scores.collect()
    }

    /// The error of a metric: its headline, and the lines below it.
    fn error(&self, metric: &str, state: &'static str, role: Role, message: &str) -> TurnScore {
        let reason = line(&format!("{role} error: {}", untrusted::headline(message)));
        let below = Some(untrusted::below_headline(message)).filter(|below| !below.trim().is_empty());
        TurnScore {
            notes: below.map(text).into_iter().collect(),
            ..self.without_a_score(metric, state, Some(reason))
        }
    }

    fn without_a_score(&self, metric: &str, state: &'static str, reason: Option<String>) -> TurnScore {
        TurnScore {
            metric: line(metric),
            state,
            threshold: self.bounds.get(metric).copied().map(needed),
            reason,
            ..TurnScore::default()
        }
    }

    fn score(&self, metric: &ScoredMetric, scores: &Scores, at: usize) -> Option<TurnScore> {
        let score = scores.scores().get(at)?;
        let bound = self.bounds.get(&metric.name).copied();
        let rubrics = score.rubrics().iter().map(|rubric| JudgedRubric {
            turn: None,
            id: line(&rubric.rubric_id),
            score: rubric.score.filter(|score| score.is_finite()),
            text: self.rubrics.get(&rubric.rubric_id).map(|it| text(it)),
            rationale: rubric.rationale.as_deref().map(text),
        });
        Some(TurnScore {
            metric: line(&metric.name),
            state: metric.turns.get(at)?.name(),
            score: score.value().map(|score| shown(&metric.name, score, bound)),
            threshold: bound.map(needed),
            reason: score.reason().or_else(|| score.why_left_out()).map(line),
            notes: score.notes().iter().map(|note| text(note)).collect(),
            rubrics: rubrics.collect(),
        })
    }
}

/// A score as the page has it. What a turn took is a number of things, or has its unit: `3`, `0.25 s`.
pub(super) fn shown(metric: &str, score: f64, bound: Option<Bound>) -> String {
    let said = short(score, bound);
    let is_taken = |info: &&MetricInfo| bound.is_none() && info.compares == Subject::Nothing;
    let Some(info) = metric::metric(metric).filter(is_taken) else { return said };
    let number = said.strip_suffix(".0").unwrap_or(&said);
    info.unit.map_or_else(|| number.to_owned(), |unit| format!("{number} {unit}"))
}

/// The scores that meet a bound: `≥ 0.8`.
pub(super) fn needed(bound: Bound) -> String {
    let sign = if bound.direction == Direction::AtLeast { '≥' } else { '≤' };
    format!("{sign} {}", bound.threshold)
}

/// The threshold that a score misses: ` < 0.95`. Empty if it is met.
pub(super) fn missed(score: f64, bound: Option<Bound>) -> String {
    let missed = bound.filter(|bound| !bound.is_met(score));
    let sign = |bound: Bound| if bound.direction == Direction::AtLeast { '<' } else { '>' };
    missed.map(|bound| format!(" {} {}", sign(bound), bound.threshold)).unwrap_or_default()
}

fn rubric_of_config(rubric: &Value) -> Option<(String, String)> {
    let text = rubric.as_object()?.get("rubric_content")?.as_object()?.get("text_property")?;
    let id = rubric.as_object()?.get("rubric_id")?;
    Some((id.as_str()?.to_owned(), text.as_str()?.to_owned()))
}

/// The turn that the error of a metric names first, from 1: `turn 2: not recorded: ..`.
fn turn_of(message: &str) -> Option<usize> {
    message.strip_prefix("turn ")?.split_once(": ")?.0.parse().ok()
}

fn why(outcome: &MetricOutcome) -> Option<String> {
    outcome.reason().map(|reason| line(&untrusted::headline(&reason)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_has_the_sign_of_its_direction() {
        assert_eq!(
            (needed(Bound::at_least(0.8)), needed(Bound::at_most(5.0))),
            ("≥ 0.8".to_owned(), "≤ 5".to_owned())
        );
    }

    #[test]
    fn what_a_turn_took_is_counted_or_has_its_unit() {
        for (metric, score, bound, said) in [
            ("tool_call_count_v1", 3.0, None, "3"),
            ("token_usage_v1", 12.5, None, "12.5"),
            ("invocation_duration_v1", 0.25, None, "0.25 s"),
            ("invocation_duration_v1", 2.0, Some(Bound::at_most(1.0)), "2.0"),
            ("response_match_score", 1.0, None, "1.0"),
            ("of_the_user", 1.0, None, "1.0"),
        ] {
            assert_eq!(shown(metric, score, bound), said, "{metric}");
        }
    }

    #[test]
    fn a_score_that_misses_its_threshold_is_beside_it() {
        for (score, bound, said) in [
            (0.94, Some(Bound::at_least(0.95)), " < 0.95"),
            (7.0, Some(Bound::at_most(5.0)), " > 5"),
            (0.95, Some(Bound::at_least(0.95)), ""),
            (0.1, None, ""),
        ] {
            assert_eq!(missed(score, bound), said);
        }
    }

    #[test]
    fn the_text_of_a_rubric_is_found_in_a_criterion() {
        let of = |text: &str| rubric_of_config(&Value::parse(text).unwrap());
        let whole = r#"{"rubric_id": "kind", "rubric_content": {"text_property": "It is kind."}}"#;
        assert_eq!(of(whole), Some(("kind".to_owned(), "It is kind.".to_owned())));
        for part in [r#"{"rubric_id": "kind"}"#, r#"{"rubric_content": {"text_property": "x"}}"#, "5"] {
            assert_eq!(of(part), None, "{part}");
        }
    }

    #[test]
    fn an_error_names_the_turn_that_it_is_shown_at() {
        for (message, turn) in [
            ("turn 2: not recorded: `x`", Some(2)),
            ("turn 2 of run 3: x", None),
            ("turn x: y", None),
            ("not recorded: turn 2: x", None),
        ] {
            assert_eq!(turn_of(message), turn, "{message}");
        }
        let known = ScoresByTurn { bounds: BTreeMap::new(), rubrics: BTreeMap::new() };
        let shown = known.error("m", "error", Role::Judge, "turn 2: not recorded: `x`\n  - a\n  + b");
        assert_eq!(shown.reason.as_deref(), Some("judge error: turn 2: not recorded: `x`"));
        assert_eq!(shown.notes, [text("  - a\n  + b")]);
    }

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
