//! ADK's `EvalCaseResult`: one run of one case.

use eval_format::{Criterion, Invocation, Map, Value};

use super::null::or_null;
use super::scored::{AdkScore, ExportedMetric, ExportedRun};
use super::{rubrics, session};
use eval_core::metric::arithmetic::{Durations, INVOCATION_DURATION, TOKEN_USAGE, TokenUsage};
use eval_core::report::TurnRecord;
use eval_core::report::{CaseReport, MetricReport, RunReport};

/// The run with every field of ADK's.
pub(super) fn value(case: &CaseReport, run: &RunReport) -> Value {
    let scored = ExportedRun::new(case, run);
    let session = &run.transcript.session;
    let eval_set_id = case.eval_set_id.as_deref().unwrap_or_default();
    Value::from(Map::from([
        // Deprecated in ADK and still written.
        ("eval_set_file", Value::from(eval_set_id)),
        ("eval_set_id", Value::from(eval_set_id)),
        ("eval_id", Value::from(case.eval_id())),
        ("final_eval_status", Value::from(scored.status.number())),
        ("eval_metric_results", Value::Null),
        ("overall_eval_metric_results", overall(&scored, run)),
        ("eval_metric_result_per_invocation", per_invocation(&scored, case, run)),
        ("session_id", Value::from(session.session_id.as_str())),
        ("session_details", session::details(run)),
        ("user_id", or_null(user_id(case, run))),
    ]))
}

/// Whose session it was, or was to be.
fn user_id<'a>(case: &'a CaseReport, run: &'a RunReport) -> Option<&'a str> {
    let input = case.case.session_input.as_ref().map(|input| input.user_id.as_str());
    [Some(run.transcript.session.user_id.as_str()), input].into_iter().flatten().find(|id| !id.is_empty())
}

fn overall(scored: &ExportedRun<'_>, run: &RunReport) -> Value {
    let turns = || run.transcript.turns.iter().map(|turn| &turn.invocation);
    let result = |metric: &ExportedMetric<'_>| {
        let rubrics = rubrics::together(metric.turns.iter().map(|turn| turn.rubrics));
        let details = details(metric, rubrics, turns, |durations| Durations::mean(&durations));
        metric_result(metric.metric, metric.overall, details)
    };
    Value::Array(scored.metrics.iter().map(result).collect())
}

fn per_invocation(scored: &ExportedRun<'_>, case: &CaseReport, run: &RunReport) -> Value {
    let turn = |(at, turn): (usize, &TurnRecord)| {
        let results = scored.metrics.iter().filter_map(|metric| {
            // The mean of a run is rounded to milliseconds, a turn is not.
            let only = |durations: Vec<Durations>| durations.first().copied().unwrap_or_default();
            let scored = metric.turns.get(at)?;
            let rubrics = rubrics::of_turn(scored.rubrics);
            let details = details(metric, rubrics, || std::iter::once(scored.actual), only);
            Some(metric_result(metric.metric, scored.score, details))
        });
        let expected = case.case.conversation.get(at);
        Value::from(Map::from([
            ("actual_invocation", turn.invocation.to_full_value()),
            ("expected_invocation", or_null(expected.map(Invocation::to_full_value))),
            ("eval_metric_results", Value::Array(results.collect())),
        ]))
    };
    Value::Array(run.transcript.turns.iter().enumerate().map(turn).collect())
}

/// ADK's `EvalMetricResult`.
fn metric_result(metric: &MetricReport, scored: AdkScore, details: Value) -> Value {
    Value::from(Map::from([
        ("metric_name", Value::from(metric.name.as_str())),
        ("threshold", or_null(metric.threshold())),
        ("criterion", or_null(metric.criterion.as_ref().and_then(criterion))),
        ("custom_function_path", Value::Null),
        ("score", or_null(scored.score)),
        ("eval_status", Value::from(scored.status.number())),
        ("details", details),
    ]))
}

/// ADK's `BaseCriterion`, which keeps the keys it does not know.
///
/// `None` where the threshold is a number that JSON has no text for: ADK would refuse the file.
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

/// ADK's breakdown of the metrics that have one, over these turns.
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
        ("token_usage_details", or_null(informs(TOKEN_USAGE).then(tokens))),
        ("duration_details", or_null(informs(INVOCATION_DURATION).then(seconds))),
    ]))
}

fn token_usage(tokens: &TokenUsage<f64>) -> Map {
    Map::from([
        ("total_tokens", or_null(tokens.total)),
        ("input_tokens", or_null(tokens.input)),
        ("prompt_tokens", or_null(tokens.prompt)),
        ("cached_tokens", or_null(tokens.cached)),
        ("tool_use_tokens", or_null(tokens.tool_use)),
        ("output_tokens", or_null(tokens.output)),
        ("candidates_tokens", or_null(tokens.candidates)),
        ("reasoning_tokens", or_null(tokens.reasoning)),
    ])
}

fn durations(seconds: &Durations) -> Map {
    Map::from([
        ("total_seconds", or_null(seconds.total)),
        ("model_seconds", or_null(seconds.model)),
        ("tool_seconds", or_null(seconds.tool)),
        ("framework_seconds", or_null(seconds.framework)),
    ])
}
