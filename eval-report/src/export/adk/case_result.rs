//! ADK's `EvalCaseResult`: one run of one case.

use std::collections::HashMap;

use eval_core::Score;
use eval_core::metric::RubricScore;
use eval_core::metric::arithmetic::{Durations, INVOCATION_DURATION, TOKEN_USAGE, TokenUsage, mean};
use eval_core::report::{CaseReport, MetricOutcome, RunReport, ScoredMetric, TurnRecord};
use eval_format::{Criterion, Invocation, Map, Value};

use super::scored::{AdkScore, ExportedMetric, ExportedRun};
use super::session;

pub(super) fn value(case: &CaseReport, scored: &ExportedRun<'_>) -> Value {
    let run = &*scored.run;
    let session = &run.transcript.session;
    let eval_set_id = case.eval_set_id.as_deref().unwrap_or_default();
    Value::from(Map::from([
        // Deprecated in ADK and still written.
        ("eval_set_file", Value::from(eval_set_id)),
        ("eval_set_id", Value::from(eval_set_id)),
        ("eval_id", Value::from(case.eval_id())),
        ("final_eval_status", Value::from(scored.status.number())),
        ("eval_metric_results", Value::Null),
        ("overall_eval_metric_results", overall(scored, run)),
        ("eval_metric_result_per_invocation", per_invocation(scored, case, run)),
        ("session_id", Value::from(session.session_id.as_str())),
        ("session_details", session::details(run, scored.error.as_ref())),
        ("user_id", Value::from(user_id(case, run))),
    ]))
}

/// The user of the session that took place, or was planned.
fn user_id<'a>(case: &'a CaseReport, run: &'a RunReport) -> Option<&'a str> {
    let input = case.case.session_input.as_ref().map(|input| input.user_id.as_str());
    [Some(run.transcript.session.user_id.as_str()), input].into_iter().flatten().find(|id| !id.is_empty())
}

fn overall(scored: &ExportedRun<'_>, run: &RunReport) -> Value {
    let turns = || run.transcript.turns.iter().map(|turn| &turn.invocation);
    let result = |metric: &ExportedMetric<'_>| {
        let rubrics = rubrics_together(metric.turns.iter().map(|turn| turn.rubrics));
        let details = details(metric, rubrics, turns, |durations| Durations::mean(&durations));
        metric_result(metric, None, metric.overall, details)
    };
    Value::Array(scored.metrics.iter().map(result).collect())
}

fn per_invocation(scored: &ExportedRun<'_>, case: &CaseReport, run: &RunReport) -> Value {
    let turn = |(at, turn): (usize, &TurnRecord)| {
        let results = scored.metrics.iter().filter_map(|metric| {
            // The mean of a run is rounded to milliseconds, a turn is not.
            let only = |durations: Vec<Durations>| durations.first().copied().unwrap_or_default();
            let scored = metric.turns.get(at)?;
            let rubrics = rubrics_of_turn(scored.rubrics);
            let details = details(metric, rubrics, || std::iter::once(scored.actual), only);
            Some(metric_result(metric, Some(at), scored.score, details))
        });
        let expected = case.case.conversation.get(at);
        Value::from(Map::from([
            ("actual_invocation", turn.invocation.to_full_value()),
            ("expected_invocation", Value::from(expected.map(Invocation::to_full_value))),
            ("eval_metric_results", Value::Array(results.collect())),
        ]))
    };
    Value::Array(run.transcript.turns.iter().enumerate().map(turn).collect())
}

/// The result of a metric on a turn, or on the whole run.
fn metric_result(
    exported: &ExportedMetric<'_>,
    turn: Option<usize>,
    scored: AdkScore,
    details: Value,
) -> Value {
    let metric = exported.metric;
    let mut criterion = metric.criterion.as_ref().and_then(criterion);
    if let (Some(fields), Some(scored)) = (&mut criterion, exported.scored) {
        fields.extend(loosened(scored, turn));
    }
    Value::from(Map::from([
        ("metric_name", Value::from(metric.name.as_str())),
        ("threshold", Value::from(metric.threshold())),
        ("criterion", Value::from(criterion)),
        ("custom_function_path", Value::Null),
        ("score", Value::from(scored.score)),
        ("eval_status", Value::from(scored.status.number())),
        ("details", details),
    ]))
}

/// ADK's `BaseCriterion`, which keeps the keys it does not know.
///
/// `None` if the threshold is not finite: ADK would refuse the file.
fn criterion(criterion: &Criterion) -> Option<Map> {
    const INTERMEDIATE: &str = "include_intermediate_responses_in_final";
    const OWN: [&str; 3] = ["threshold", INTERMEDIATE, "includeIntermediateResponsesInFinal"];
    if !criterion.threshold.is_finite() {
        return None;
    }
    let intermediate = criterion.get(INTERMEDIATE).and_then(Value::as_bool).unwrap_or(false);
    let mut fields = Map::from([
        ("threshold", Value::from(criterion.threshold)),
        (INTERMEDIATE, Value::from(intermediate)),
    ]);
    let options = criterion.options.iter().filter(|(key, _)| !OWN.contains(key));
    fields.extend(options.map(|(key, value)| (key, value.clone())));
    Some(fields)
}

/// The keys of a criterion for a metric under the rules of a case: ADK's own score, and what was loosened. None without
/// rules.
fn loosened(scored: &ScoredMetric, turn: Option<usize>) -> Vec<(&'static str, Value)> {
    let points = scored.loosened().filter(|(number, _)| turn.is_none_or(|turn| *number == turn + 1));
    let points: Vec<Value> = points
        .map(|(number, point)| {
            Value::from(Map::from([
                ("turn", Value::from(number as u64)),
                ("call", Value::from(point.call.as_deref())),
                ("path", Value::from(point.path.as_deref())),
                ("matcher", Value::from(point.matcher.as_str())),
                ("needed", Value::from(point.needed)),
            ]))
        })
        .collect();
    if points.is_empty() {
        return Vec::new();
    }
    let of_turn = |turn: usize| match &scored.outcome {
        MetricOutcome::Scored(scores) => scores.scores().get(turn).and_then(Score::literal),
        _ => None,
    };
    let literal = turn.map_or_else(|| scored.literal_score(), of_turn);
    vec![("literal_score", Value::from(literal)), ("loosened", Value::Array(points))]
}

/// ADK's details of a metric over these turns: rubrics, and breakdowns of tokens and durations.
fn details<'t, Turns: Iterator<Item = &'t Invocation>>(
    metric: &ExportedMetric<'_>,
    rubrics: Value,
    turns: impl Fn() -> Turns,
    together: impl Fn(Vec<Durations>) -> Durations,
) -> Value {
    let informs = |name| metric.metric.name == name && metric.metric.criterion.is_none();
    let tokens = || token_usage(&TokenUsage::mean(&turns().map(TokenUsage::of_turn).collect::<Vec<_>>()));
    let seconds = || durations(&together(turns().map(Durations::of_turn).collect()));
    Value::from(Map::from([
        ("rubric_scores", rubrics),
        ("token_usage_details", Value::from(informs(TOKEN_USAGE).then(tokens))),
        ("duration_details", Value::from(informs(INVOCATION_DURATION).then(seconds))),
    ]))
}

fn token_usage(tokens: &TokenUsage<f64>) -> Map {
    Map::from([
        ("total_tokens", Value::from(tokens.total)),
        ("input_tokens", Value::from(tokens.input)),
        ("prompt_tokens", Value::from(tokens.prompt)),
        ("cached_tokens", Value::from(tokens.cached)),
        ("tool_use_tokens", Value::from(tokens.tool_use)),
        ("output_tokens", Value::from(tokens.output)),
        ("candidates_tokens", Value::from(tokens.candidates)),
        ("reasoning_tokens", Value::from(tokens.reasoning)),
    ])
}

fn durations(seconds: &Durations) -> Map {
    Map::from([
        ("total_seconds", Value::from(seconds.total)),
        ("model_seconds", Value::from(seconds.model)),
        ("tool_seconds", Value::from(seconds.tool)),
        ("framework_seconds", Value::from(seconds.framework)),
    ])
}

/// The text in place of the reasons of several turns.
const REASON_OF_SEVERAL_TURNS: &str = "the mean over the turns, which have the reasons";

/// The rubrics of a turn; `null` where it was not judged by any.
fn rubrics_of_turn(found: &[RubricScore]) -> Value {
    array(found.iter().map(|found| rubric(&found.rubric_id, found.rationale.as_deref(), found.score)))
}

/// Each rubric with its mean over the turns that it was judged in.
fn rubrics_together<'a>(turns: impl Iterator<Item = &'a [RubricScore]>) -> Value {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut rubrics: Vec<(&str, Vec<f64>)> = Vec::new();
    for found in turns.flatten() {
        let id = found.rubric_id.as_str();
        let at = *places.entry(id).or_insert_with(|| {
            rubrics.push((id, Vec::new()));
            rubrics.len() - 1
        });
        rubrics[at].1.extend(found.score);
    }
    array(rubrics.iter().map(|(id, scores)| rubric(id, Some(REASON_OF_SEVERAL_TURNS), mean::exact(scores))))
}

fn rubric(id: &str, rationale: Option<&str>, score: Option<f64>) -> Value {
    Value::from(Map::from([
        ("rubric_id", Value::from(id)),
        ("rationale", Value::from(rationale)),
        ("score", Value::from(score)),
    ]))
}

fn array(values: impl Iterator<Item = Value>) -> Value {
    let values: Vec<Value> = values.collect();
    if values.is_empty() { Value::Null } else { Value::Array(values) }
}

#[cfg(test)]
mod rubrics_tests {
    use super::*;

    #[test]
    fn rubrics_are_put_together_by_their_ids() {
        let found = |id: &str, passed| RubricScore::new(id, passed);
        let turns = [
            vec![found("a", Some(true)).rationale("fine"), found("b", None)],
            vec![found("a", Some(false)), found("c", Some(true))],
            vec![],
        ];
        let turns: Vec<&[RubricScore]> = turns.iter().map(Vec::as_slice).collect();
        assert_eq!(
            rubrics_of_turn(turns[0]).to_string(),
            r#"[{"rubric_id":"a","rationale":"fine","score":1.0},{"rubric_id":"b","rationale":null,"score":null}]"#
        );
        let scores: Vec<String> = rubrics_together(turns.iter().copied())
            .as_array()
            .unwrap_or_default()
            .iter()
            .map(|rubric| format!("{} {}", rubric["rubric_id"], rubric["score"]))
            .collect();
        assert_eq!(scores, [r#""a" 0.5"#, r#""b" null"#, r#""c" 1.0"#]);
        assert!(rubrics_of_turn(turns[2]).is_null() && rubrics_together(std::iter::empty()).is_null());
    }
}
