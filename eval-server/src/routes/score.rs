//! Scoring turns with criteria.

use axum::response::Response;
use eval_core::metric::BoxMetric;
use eval_core::report::{CaseReport, MetricOutcome, Role, ScoredMetric, Transcript, TurnRecord};
use eval_core::{Criterion, EvalCase, EvalConfig, EvalRunner, Invocation, Score, TurnAggregation};
use eval_format::config::check_config;
use eval_format::metric::{Need, metric};
use eval_format::problem::{JsonPath, PathSegment, Positions};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::access::{Access, Needs};
use crate::answer::{self, Envelope};
use crate::app::{Call, Shared, Thread};
use crate::body::Received;
use crate::refusal::{FieldError, Refusal, Refused};
use crate::work::{at_once, complete};

/// Turns, and what they are scored with.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScoreRequest<'b> {
    /// The turns that took place, each an invocation as eval sets have it.
    #[serde(borrow)]
    #[schema(value_type = Vec<Object>)]
    actual: Vec<&'b RawValue>,
    /// The turns that are expected, one for each of `actual`. Without them, a metric that compares is refused.
    #[serde(borrow, default)]
    #[schema(value_type = Option<Vec<Object>>)]
    expected: Option<Vec<&'b RawValue>>,
    /// The criteria, as `test_config.json` has them: a threshold or an object for each metric.
    #[serde(borrow)]
    #[schema(value_type = Object)]
    criteria: &'b RawValue,
    /// `mean` (the default) or `every_turn`.
    gate: Option<String>,
}

/// The result of scoring turns.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ScoreAnswer {
    /// Whether the verdict is `passed`.
    passed: bool,
    /// `passed`, `failed`, `error`, `not_evaluated` or `skipped`.
    verdict: &'static str,
    /// The reason for a verdict other than passed and failed.
    reason: Option<String>,
    /// The metrics, in the order of the criteria; those that only inform are behind them.
    metrics: Vec<ScoredEntry>,
}

/// The scores of a metric.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ScoredEntry {
    metric_name: String,
    /// The mean over the turns, as ADK computes it; null if there is none.
    score: Option<f64>,
    threshold: Option<f64>,
    /// `at_least` or `at_most`; null if the metric only informs.
    direction: Option<&'static str>,
    verdict: &'static str,
    /// The reason for a status other than passed and failed.
    reason: Option<String>,
    /// One score for each turn, or one for all of them.
    scores: Vec<TurnScore>,
}

/// The score of a turn.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TurnScore {
    score: Option<f64>,
    /// The reason for a missing score.
    reason: Option<String>,
    notes: Vec<String>,
}

/// Scores turns with criteria. Criteria that ask a judge need the token.
#[utoipa::path(
    post,
    path = "/api/v1/score",
    request_body(content = ScoreRequest, content_type = "application/json"),
    responses((status = 200, body = Envelope<ScoreAnswer>), (status = 401, body = Refused))
)]
pub(crate) async fn score(Call { app, caller, request }: Call) -> Result<Response, Refusal> {
    let own = Shared::clone(&app);
    let read = move |received: &Received| {
        let read = read(&received.bytes, &own.options.metrics)?;
        if !read.own.is_empty() || read.config.criteria.iter().any(|(name, _)| is_judged(name)) {
            Access::check(caller, Needs::Token)?;
        }
        Ok(read)
    };
    let received = app.receive(request).await?;
    if !received.is_small() {
        let both = move |received: Received| scored(&received, read(&received)?);
        return app.compute_with(received, Thread::Own, both).await;
    }
    // Small bodies are not packed.
    let read = at_once(|| read(&received))??;
    let is_slow = received.bytes.len() > QUADRATIC_BODY_BYTES
        && read.config.criteria.iter().any(|(name, criterion)| is_quadratic(name, criterion));
    let thread = if is_slow || !read.own.is_empty() { Thread::Own } else { Thread::for_caller(caller) };
    app.compute_with(received, thread, move |received| scored(&received, read)).await
}

fn scored(received: &Received, Read { case, actual, config, gate, own }: Read) -> Result<Response, Refusal> {
    let runner = EvalRunner::new().config(config).gate(gate).__stop_at(received.wanted.flag());
    let runner = own.into_iter().fold(runner, |runner, (name, metric)| runner.metric(name, metric));
    let report = complete(runner.score_case(&case, vec![actual])).map_err(|error| {
        Refusal::value(&["body".into(), "criteria".into()], error.to_string(), &Value::Null)
    })?;
    Ok(answer::data(ScoreAnswer::new(&report)))
}

/// Bodies up to this size are scored on the connection's thread, even with quadratic metrics.
const QUADRATIC_BODY_BYTES: usize = 4 << 10;

/// Whether a metric takes quadratic time.
fn is_quadratic(name: &str, criterion: &Criterion) -> bool {
    metric(name).is_some_and(|info| info.is_quadratic(criterion))
}

struct Read {
    case: EvalCase,
    actual: Transcript,
    config: EvalConfig,
    gate: TurnAggregation,
    /// The metrics of the criteria that the operator of the service added.
    own: Vec<(String, BoxMetric)>,
}

const CRITERIA_PREFIX: &str = "{\"criteria\":";

fn read(bytes: &[u8], own: &[(String, BoxMetric)]) -> Result<Read, Refusal> {
    let text = str::from_utf8(bytes).map_err(|_| Refusal::bad("the body is not UTF-8"))?;
    let request: ScoreRequest<'_> =
        serde_json::from_str(text).map_err(|error| Refusal::no_json(bytes, &error))?;
    let mut wrong = Vec::new();
    let mut turns = |name: &'static str, raw: &[&RawValue]| -> Vec<Invocation> {
        let mut turns = Vec::with_capacity(raw.len());
        for (at, raw) in raw.iter().enumerate() {
            match Invocation::parse(raw.get()) {
                Ok(turn) => turns.push(turn),
                Err(problems) => {
                    let of = problems.iter().filter(|problem| problem.is_error());
                    wrong.extend(of.take(MAX_ERRORS).map(|problem| {
                        let loc = loc(&["body".into(), name.into(), at.into()], &problem.path);
                        (offset(text, raw) + problem.range.start, loc, problem.message.clone())
                    }));
                }
            }
        }
        turns
    };
    let actual = turns("actual", &request.actual);
    let expected = request.expected.as_ref().map(|expected| turns("expected", expected));
    // Criteria are all that a request can configure: no key of it names a program.
    let names: Vec<&str> = own.iter().map(|(name, _)| name.as_str()).collect();
    let config =
        check_config("criteria", format!("{CRITERIA_PREFIX}{}}}", request.criteria.get()).as_bytes(), &names);
    for problem in config.problems.iter().filter(|problem| problem.is_error()).take(MAX_ERRORS) {
        let start =
            offset(text, request.criteria) + problem.range.start.saturating_sub(CRITERIA_PREFIX.len());
        wrong.push((start, loc(&["body".into()], &problem.path), problem.message.clone()));
    }
    let positions = Positions::from_offsets(text, wrong.iter().map(|(start, ..)| *start).collect());
    let told = wrong.into_iter().map(|(start, loc, message)| {
        let at = positions.get(start);
        let message = format!("{}:{}: {message}", at.line, at.column);
        FieldError::new("value_error", &loc, message, &Value::Null)
    });
    let mut errors: Vec<FieldError> = told.collect();
    if errors.is_empty()
        && let Some((field, message)) = mismatch(&actual, expected.as_deref(), config.config.as_ref(), &names)
    {
        errors.push(FieldError::new("value_error", &["body".into(), field.into()], message, &Value::Null));
    }
    let gate = request.gate.as_deref().map_or(Ok(TurnAggregation::Mean), str::parse);
    if let Err(error) = &gate {
        let (loc, given) = (["body".into(), "gate".into()], request.gate.as_deref().into());
        errors.push(FieldError::new("value_error", &loc, error.to_string(), &given));
    }
    let (Some(config), Ok(gate), true) = (config.config, gate, errors.is_empty()) else {
        return Err(Refusal::fields(errors));
    };
    // Without `expected`, the expected turns hold the user's messages only.
    let unexpecting =
        || actual.iter().map(|turn| Invocation::new(turn.user_content.clone())).collect::<Vec<_>>();
    let expected = expected.unwrap_or_else(unexpecting);
    let case = expected.into_iter().fold(EvalCase::new("score"), EvalCase::turn);
    let record = |invocation| TurnRecord { invocation, ..TurnRecord::default() };
    let turns = actual.into_iter().map(record).collect();
    let own = own.iter().filter(|(name, _)| config.criterion(name).is_some()).cloned().collect();
    Ok(Read { case, actual: Transcript { turns, ..Transcript::default() }, config, gate, own })
}

/// The reason why the turns that took place cannot be scored beside the expected ones, and the field with the error.
fn mismatch(
    actual: &[Invocation],
    expected: Option<&[Invocation]>,
    config: Option<&EvalConfig>,
    own: &[&str],
) -> Option<(&'static str, String)> {
    if actual.is_empty() {
        return Some(("actual", "it has no turn, so that there is nothing to score".to_owned()));
    }
    let Some(expected) = expected else {
        let needs = |name: &str| {
            !own.contains(&name) && metric(name).is_some_and(|info| info.needs.contains(&Need::Expectation))
        };
        let name = config?.criteria.iter().map(|(name, _)| name).find(|name| needs(name))?;
        return Some(("expected", format!("it is missing, and `{name}` compares with what is expected")));
    };
    (expected.len() != actual.len()).then(|| {
        let (wanted, took) = (expected.len(), actual.len());
        (
            "expected",
            format!("its length is {wanted}, and the length of `actual` is {took}: each turn needs an expected turn"),
        )
    })
}

const MAX_ERRORS: usize = 20;

fn offset(text: &str, part: &RawValue) -> usize {
    part.get().as_ptr().addr().saturating_sub(text.as_ptr().addr())
}

fn loc(before: &[Value], path: &JsonPath) -> Vec<Value> {
    let steps = path.steps().iter().map(|step| match step {
        PathSegment::Key(key) => key.as_str().into(),
        PathSegment::Index(at) => (*at).into(),
    });
    before.iter().cloned().chain(steps).collect()
}

impl ScoreAnswer {
    fn new(report: &CaseReport) -> Self {
        let run = report.runs.first();
        let metrics = report.metrics.iter().map(|metric| {
            let scored = run.and_then(|run| run.metric(&metric.name));
            ScoredEntry {
                metric_name: metric.name.clone(),
                score: scored.and_then(overall),
                threshold: metric.threshold(),
                direction: metric.bound().map(|bound| bound.direction.as_str()),
                verdict: metric.verdict.name(),
                reason: metric.verdict.reason().map(str::to_owned),
                scores: scored
                    .map(|scored| scores(scored).iter().map(TurnScore::new).collect())
                    .unwrap_or_default(),
            }
        });
        Self {
            passed: report.verdict.passed(),
            verdict: report.verdict.name(),
            reason: report.verdict.reason().map(str::to_owned),
            metrics: metrics.collect(),
        }
    }
}

impl TurnScore {
    fn new(score: &Score) -> Self {
        let reason = score.reason().or_else(|| score.why_left_out());
        Self { score: score.value(), reason: reason.map(str::to_owned), notes: score.notes().to_vec() }
    }
}

pub(crate) fn is_judged(name: &str) -> bool {
    metric(name).is_some_and(|info| info.needs.contains(&Need::Judge))
}

pub(crate) fn scores(metric: &ScoredMetric) -> &[Score] {
    match &metric.outcome {
        MetricOutcome::Scored(scores) => scores.scores(),
        _ => &[],
    }
}

pub(crate) fn overall(metric: &ScoredMetric) -> Option<f64> {
    match &metric.outcome {
        MetricOutcome::Scored(scores) => scores.overall(),
        _ => None,
    }
}

pub(crate) fn kind_of_error(role: Role) -> &'static str {
    match role {
        // The trace plays the agent.
        Role::Agent => "TraceError",
        Role::Judge => "JudgeError",
        Role::Metric => "MetricError",
        _ => "HarnessError",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_compares_all_with_all_is_not_computed_at_once() {
        for (criteria, long) in [
            (r#"{"response_similarity": {"threshold": 1, "algorithm": "levenshtein"}}"#, true),
            (r#"{"response_similarity": {"threshold": 1, "algorithm": "rouge_l"}}"#, true),
            (r#"{"response_similarity": {"threshold": 1, "algorithm": "jaccard"}}"#, false),
            (
                r#"{"tool_trajectory_avg_score": {"threshold": 1, "match_type": "ANY_ORDER", "args_match": "subset"}}"#,
                true,
            ),
            (r#"{"tool_trajectory_avg_score": 1, "response_match_score": 0.8}"#, false),
            (r#"{"response_match_score": 0.8, "trajectory_match_ratio": 1}"#, true),
        ] {
            let turns = r#"[{"user_content": {"parts": [{"text": "a"}]}}]"#;
            let body = format!("{{\"actual\": {turns}, \"expected\": {turns}, \"criteria\": {criteria}}}");
            let Ok(read) = read(body.as_bytes(), &[]) else { panic!("{body}") };
            assert_eq!(
                read.config.criteria.iter().any(|(name, it)| is_quadratic(name, it)),
                long,
                "{criteria}"
            );
        }
    }
}
