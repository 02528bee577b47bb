//! Results of scoring traces, in the form that agentevals has.

use std::collections::BTreeSet;
use std::time::Duration;

use eval_agents::traces::{ToolCall, Turn, Usage};
use eval_core::Score;
use eval_core::metric::RubricScore;
use eval_core::metric::arithmetic::mean::exact;
use eval_core::report::TurnVerdict;
use eval_format::{FunctionCall, Invocation, Map, Value};
use serde::Serialize;
use utoipa::ToSchema;

use super::evaluate_request::Evaluator;
use crate::display;

/// The results of all traces.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunResult {
    /// Whether each case of the set has traces, and each trace passed each of its metrics. It is this service's own.
    pub(super) passed: bool,
    pub(super) trace_results: Vec<TraceResult>,
    /// The errors beside the results: cases without a trace, and traces without a case.
    pub(super) errors: Vec<String>,
    pub(super) performance_metrics: RunPerformance,
    /// Always null: nothing is kept.
    #[schema(value_type = Option<String>)]
    pub(super) run_id: Option<()>,
}

/// The result of a trace, or of a conversation over several traces.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TraceResult {
    pub(super) trace_id: String,
    pub(super) num_invocations: usize,
    pub(super) metric_results: MetricResults,
    /// The gaps of the traces.
    pub(super) conversion_warnings: Vec<String>,
    pub(super) performance_metrics: Performance,
    pub(super) agent_name: Option<String>,
    pub(super) trace_ids: Vec<String>,
    pub(super) conversation_id: Option<String>,
    pub(super) group_key: String,
    pub(super) eval_case_id: Option<String>,
    /// The rule that found the case: `eval_case_id`, `key`, `user_text` or `single_case`.
    pub(super) eval_case_match: Option<&'static str>,
    pub(super) turn_refs: Vec<TurnRef>,
}

/// The source of a turn.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TurnRef {
    pub(super) trace_id: String,
    pub(super) span_id: String,
}

/// One result for each metric of the request, in its order, then one for the demands of the case. It can be made in no other
/// way, so that no metric is left out.
#[derive(Debug, Serialize, ToSchema)]
#[serde(transparent)]
pub(crate) struct MetricResults(Vec<MetricResult>);

impl MetricResults {
    pub(super) fn of_each(evaluators: &[Evaluator], score: impl FnMut(&Evaluator) -> MetricResult) -> Self {
        Self(evaluators.iter().map(score).collect())
    }

    /// A trace without turns has one result for all metrics, as in agentevals.
    pub(super) fn of_no_turns() -> Self {
        let error = "No invocations extracted from trace.";
        Self(vec![MetricResult { error_type: None, ..MetricResult::unscored("(all)", error, "TraceError") }])
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &MetricResult> {
        self.0.iter()
    }

    /// The results with untrusted text as it is shown.
    pub(super) fn into_shown(self) -> impl Iterator<Item = MetricResult> {
        self.0.into_iter().map(MetricResult::shown)
    }
}

/// The status of a metric or a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum EvalStatus {
    Passed,
    Failed,
    #[default]
    NotEvaluated,
}

/// The result of a metric.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MetricResult {
    pub(super) metric_name: String,
    /// Null if there is none; then `error` says why.
    pub(super) score: Option<f64>,
    /// The score in few digits, on its side of the threshold. It is this service's own.
    pub(super) score_shown: Option<String>,
    pub(super) eval_status: EvalStatus,
    pub(super) per_invocation_scores: Vec<Option<f64>>,
    pub(super) per_invocation_statuses: Vec<EvalStatus>,
    /// The verdicts on the turns. agentevals has no status for a turn of which nothing is expected.
    #[serde(skip)]
    pub(super) turns: Vec<TurnVerdict>,
    /// The reason for a missing score.
    pub(super) error: Option<String>,
    /// A word for what failed.
    pub(super) error_type: Option<&'static str>,
    pub(super) details: Option<Details>,
    pub(super) duration_ms: Option<f64>,
}

impl MetricResult {
    /// A metric that has no score, and why.
    pub(super) fn unscored(name: &str, error: impl Into<String>, kind: &'static str) -> Self {
        Self {
            metric_name: name.to_owned(),
            error: Some(error.into()),
            error_type: Some(kind),
            ..Self::default()
        }
    }

    /// The reason for a missing score, if it is an error.
    pub(super) fn why_unscored(&self) -> Option<&str> {
        self.error.as_deref().filter(|_| self.eval_status == EvalStatus::NotEvaluated)
    }

    /// The result with untrusted text as it is shown.
    fn shown(mut self) -> Self {
        self.error = self.error.as_deref().map(display::line);
        if let Some(details) = &mut self.details {
            details.reason = details.reason.as_deref().map(display::line);
            details.notes = display::lines(&details.notes);
            let of_turns =
                details.per_invocation.iter_mut().flatten().flat_map(|turn| &mut turn.rubric_scores);
            for rubric in of_turns {
                rubric.rationale = rubric.rationale.as_deref().map(display::line);
            }
            for turn in details.comparisons.iter_mut().flatten() {
                for call in turn.expected.iter_mut().chain(&mut turn.actual) {
                    *call = display::value(call);
                }
            }
        }
        self
    }
}

/// More about a score.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Details {
    /// The tool calls of each turn, for metrics of trajectories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) comparisons: Option<Vec<ComparedCalls>>,
    /// The reason why it was not scored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    /// A judge's findings on the rubrics of each turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) per_invocation: Option<Vec<TurnRubrics>>,
    /// The mean of each rubric over the turns that it was judged in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) overall_rubric_scores: Option<Vec<RubricResult>>,
    /// Remarks on the scores.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) notes: Vec<String>,
}

/// The rubrics of a turn.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TurnRubrics {
    pub(super) invocation_id: String,
    pub(super) rubric_scores: Vec<RubricResult>,
}

/// A judge's finding on a rubric.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RubricResult {
    pub(super) rubric_id: String,
    pub(super) score: Option<f64>,
    pub(super) rationale: Option<String>,
}

impl RubricResult {
    /// The rubrics of turns, and of all of them together.
    pub(super) fn of_turns<'s>(
        turns: impl Iterator<Item = (&'s Turn, &'s Score)>,
    ) -> (Vec<TurnRubrics>, Vec<Self>) {
        let (mut of_turns, mut all): (Vec<TurnRubrics>, Vec<(String, Vec<f64>)>) = Default::default();
        let own = |RubricScore { rubric_id, score, rationale, .. }| Self { rubric_id, score, rationale };
        for (turn, score) in turns {
            for found in score.rubrics() {
                match all.iter_mut().find(|(id, _)| *id == found.rubric_id) {
                    Some((_, scores)) => scores.extend(found.score),
                    None => all.push((found.rubric_id.clone(), found.score.into_iter().collect())),
                }
            }
            let rubric_scores = score.rubrics().iter().cloned().map(own).collect();
            of_turns.push(TurnRubrics { invocation_id: turn.span_id.clone(), rubric_scores });
        }
        let mean = |(rubric_id, scores): (String, Vec<f64>)| Self {
            rubric_id,
            score: exact(&scores),
            rationale: None,
        };
        (of_turns, all.into_iter().map(mean).collect())
    }
}

/// The tool calls of a turn.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ComparedCalls {
    invocation_id: String,
    #[schema(value_type = Vec<Object>)]
    expected: Vec<Value>,
    #[schema(value_type = Vec<Object>)]
    actual: Vec<Value>,
    matched: bool,
}

impl ComparedCalls {
    pub(super) fn new(expected: &Invocation, actual: &Turn, matched: bool) -> Self {
        let of_call = |call: &FunctionCall| {
            let mut entry = Map::new();
            entry.insert("name", call.name.as_deref());
            entry.insert("args", call.args.clone());
            Value::from(entry)
        };
        let made = |call: &ToolCall| of_call(&call.to_function_call());
        Self {
            invocation_id: actual.span_id.clone(),
            expected: expected.tool_calls().map(of_call).collect(),
            actual: actual.calls.iter().map(made).collect(),
            matched,
        }
    }
}

/// Time and tokens of a trace.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Performance {
    latency: Latency,
    tokens: TraceTokens,
    counts: Counts,
    models: BTreeSet<String>,
    tool_names: BTreeSet<String>,
}

/// The latency of turns, model calls and tool calls, in milliseconds. Calls without times in the trace are left out.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Latency {
    overall: Summary,
    llm_calls: Summary,
    tool_executions: Summary,
}

/// Some numbers in a few. All are 0 where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, ToSchema)]
struct Summary {
    min: f64,
    median: f64,
    max: f64,
    count: usize,
    p50: f64,
    p95: f64,
    p99: f64,
}

impl Summary {
    fn new(numbers: impl Iterator<Item = f64>) -> Self {
        let mut all: Vec<f64> = numbers.collect();
        all.sort_by(f64::total_cmp);
        let count = all.len();
        let (Some(&min), Some(&max)) = (all.first(), all.last()) else { return Self::default() };
        let median = f64::midpoint(all[(count - 1) / 2], all[count / 2]);
        // The percentile by index, as agentevals computes it, without interpolation.
        let at = |hundredths: usize| all[count * hundredths / 100];
        Self { min, median, max, count, p50: median, p95: at(95), p99: at(99) }
    }

    fn of_times(times: impl Iterator<Item = Duration>) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "a call does not take months")]
        Self::new(times.map(|time| time.as_nanos() as f64 / 1e6))
    }
}

/// Tokens of all model calls. Tokens that are not recorded count as 0.
#[derive(Clone, Copy, Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "they are the names of the JSON")]
struct Tokens {
    total_prompt: u64,
    total_output: u64,
    total: u64,
    cache_creation_tokens: u64,
    cache_read_tokens: u64,
}

impl Tokens {
    fn new(usage: Usage) -> Self {
        let [total_prompt, total_output, cache_creation_tokens, cache_read_tokens] =
            [usage.input_tokens, usage.output_tokens, usage.cache_write_tokens, usage.cache_read_tokens]
                .map(Option::unwrap_or_default);
        let total = total_prompt.saturating_add(total_output);
        Self { total_prompt, total_output, total, cache_creation_tokens, cache_read_tokens }
    }

    fn sum(all: impl Iterator<Item = Self>) -> Self {
        all.fold(Self::default(), |sum, more| Self {
            total_prompt: sum.total_prompt.saturating_add(more.total_prompt),
            total_output: sum.total_output.saturating_add(more.total_output),
            total: sum.total.saturating_add(more.total),
            cache_creation_tokens: sum.cache_creation_tokens.saturating_add(more.cache_creation_tokens),
            cache_read_tokens: sum.cache_read_tokens.saturating_add(more.cache_read_tokens),
        })
    }
}

/// The tokens of a trace.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct TraceTokens {
    #[serde(flatten)]
    sum: Tokens,
    /// The tokens of single model calls, where they are recorded.
    per_llm_call: Summary,
}

#[expect(clippy::cast_precision_loss, reason = "a call takes fewer than 2^53 tokens")]
fn tokens_of(usage: Usage) -> f64 {
    usage.input_tokens.unwrap_or_default().saturating_add(usage.output_tokens.unwrap_or_default()) as f64
}

/// The counts of calls.
#[derive(Clone, Copy, Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Counts {
    llm_calls: usize,
    tool_calls: usize,
    invocations: usize,
}

/// Time and tokens of all traces.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RunPerformance {
    tokens: Tokens,
    models: BTreeSet<String>,
    trace_count: usize,
}

impl Performance {
    pub(super) fn new(turns: &[Turn]) -> Self {
        let tokens = Tokens::sum(turns.iter().map(|turn| Tokens::new(turn.usage)));
        let calls = || turns.iter().flat_map(|turn| &turn.calls);
        let model_calls = || turns.iter().flat_map(|turn| &turn.model_calls);
        let counted = model_calls().map(|call| call.usage);
        let counted = counted.filter(|it| it.input_tokens.is_some() || it.output_tokens.is_some());
        Self {
            latency: Latency {
                overall: Summary::of_times(turns.iter().filter_map(Turn::duration)),
                llm_calls: Summary::of_times(model_calls().filter_map(|call| call.duration)),
                tool_executions: Summary::of_times(calls().filter_map(|call| call.duration)),
            },
            tokens: TraceTokens { sum: tokens, per_llm_call: Summary::new(counted.map(tokens_of)) },
            counts: Counts {
                llm_calls: model_calls().count(),
                tool_calls: calls().count(),
                invocations: turns.len(),
            },
            models: model_calls().filter_map(|call| call.model.clone()).collect(),
            tool_names: calls().map(|call| call.name.clone()).collect(),
        }
    }
}

impl RunPerformance {
    pub(super) fn new(results: &[TraceResult]) -> Self {
        let tokens = Tokens::sum(results.iter().map(|result| result.performance_metrics.tokens.sum));
        let models = results.iter().flat_map(|result| result.performance_metrics.models.clone());
        Self { tokens, models: models.collect(), trace_count: results.len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_summed_up_as_agentevals_does() {
        let of = |numbers: &[f64]| Summary::new(numbers.iter().copied());
        assert_eq!(of(&[]), Summary::default());
        let one = Summary { min: 9.0, median: 9.0, max: 9.0, count: 1, p50: 9.0, p95: 9.0, p99: 9.0 };
        assert_eq!(of(&[9.0]), one);
        let two = of(&[68.0, 19.0]);
        assert_eq!((two.min, two.median, two.p95, two.max), (19.0, 43.5, 68.0, 68.0));
        let all: Vec<f64> = (0..200).map(f64::from).collect();
        assert_eq!((of(&all).p50, of(&all).p95, of(&all).p99), (99.5, 190.0, 198.0));
    }

    #[test]
    fn rubrics_stand_by_turn_and_with_their_means() {
        let span = |id: u32| {
            format!(
                r#"{{"traceId": "{id:032x}", "spanId": "{id:016x}", "name": "chat", "attributes": {{
                    "gen_ai.operation.name": "chat", "gen_ai.conversation.id": "c",
                    "gen_ai.input.messages": "[{{\"role\": \"user\", \"parts\": [{{\"type\": \"text\", \"content\": \"{id}\"}}]}}]",
                    "gen_ai.output.messages": "[{{\"role\": \"assistant\", \"parts\": [{{\"type\": \"text\", \"content\": \"b\"}}]}}]"}}}}"#
            )
        };
        let text = format!("[{},{}]", span(1), span(2));
        let traces = eval_agents::traces::Traces::from_texts([text.as_bytes()]).unwrap();
        let turns = &traces.conversations()[0].turns;
        let found = |a: Option<bool>, b: bool| {
            Score::from(1.0).with_rubrics(vec![RubricScore::new("a", a), RubricScore::new("b", Some(b))])
        };
        let scores = [found(Some(true), true), found(None, false)];
        let (of_turns, all) = RubricResult::of_turns(turns.iter().zip(&scores));
        let json = serde_json::to_value((of_turns, all)).unwrap();
        let rubric = |id: &str, score: Option<f64>| serde_json::json!({ "rubricId": id, "score": score, "rationale": null });
        let expected = serde_json::json!([
            [
                { "invocationId": "0000000000000001", "rubricScores": [rubric("a", Some(1.0)), rubric("b", Some(1.0))] },
                { "invocationId": "0000000000000002", "rubricScores": [rubric("a", None), rubric("b", Some(0.0))] }
            ],
            [rubric("a", Some(1.0)), rubric("b", Some(0.5))]
        ]);
        assert_eq!(json, expected);
    }
}
