//! Scoring traces with an eval set.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{Extension, Request, State};
use axum::response::Response;
use eval_agents::TraceAgent;
use eval_agents::traces::{Conversation, MatchedBy, Traces};
use eval_core::report::{CaseReport, ScoredMetric};
use eval_core::{EvalCase, EvalRunner, EvalSet, Invocation, Score, Verdict};
use eval_format::metric::{Need, Subject, metric};
use eval_format::problem::Code;
use eval_format::reader::check_set;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::oneshot;
use utoipa::ToSchema;

use super::convert::{gaps_of_files, name, read, uploaded, warnings};
use super::evaluate_answer::{
    Details, MetricResult, RunPerformance, RunResult, TraceResult, comparisons, cut,
};
use super::evaluate_request::{Evaluator, GroupBy, Parameters};
use crate::access::Caller;
use crate::answer::{self, Envelope};
use crate::app::Shared;
use crate::body::Received;
use crate::events::{self, Events, Gone};
use crate::json;
use crate::problems::{entries, errors};
use crate::refusal::{FieldError, Refusal, Refused};
use crate::scoring::{is_judged, kind_of_error, overall, scores};
use crate::work::{Wanted, complete};

/// Traces, and what they are scored with.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EvaluateRequest<'b> {
    /// OTLP as JSON, with `resourceSpans`.
    #[serde(borrow)]
    #[schema(value_type = Object)]
    traces: &'b RawValue,
    /// The parameters.
    #[serde(default)]
    #[schema(value_type = Parameters)]
    config: Value,
    /// The eval set.
    #[serde(borrow, default)]
    #[schema(value_type = Option<Object>)]
    eval_set: Option<&'b RawValue>,
    /// Keys are where the service runs: none is taken from a request.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    credential_refs: Option<Value>,
}

/// A form with traces, and what they are scored with.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "it describes what is read field by field")]
pub(crate) struct EvaluateForm {
    /// Files of traces.
    #[schema(value_type = Vec<String>)]
    trace_files: Vec<Vec<u8>>,
    /// The parameters as JSON.
    config: String,
    /// The eval set.
    #[schema(value_type = Option<String>)]
    eval_set_file: Option<Vec<u8>>,
}

/// Scores traces that come as files in a form.
#[utoipa::path(
    post,
    path = "/api/evaluate",
    request_body(content = EvaluateForm, content_type = "multipart/form-data"),
    responses((status = 200, body = Envelope<RunResult>), (status = 400, body = Refused), (status = 422, body = Refused))
)]
pub(crate) async fn evaluate(
    State(app): State<Shared>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<Response, Refusal> {
    app.compute_or_ask(caller, request, move |received| whole(received, form, caller)).await?
}

/// Scores traces that come as JSON.
#[utoipa::path(
    post,
    path = "/api/evaluate/json",
    request_body(content = EvaluateRequest, content_type = "application/json"),
    responses((status = 200, body = Envelope<RunResult>), (status = 400, body = Refused), (status = 422, body = Refused))
)]
pub(crate) async fn evaluate_json(
    State(app): State<Shared>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<Response, Refusal> {
    app.compute_or_ask(caller, request, move |received| whole(received, json, caller)).await?
}

/// Scores traces that come as files in a form, and says in events how far it is.
#[utoipa::path(
    post,
    path = "/api/evaluate/stream",
    request_body(content = EvaluateForm, content_type = "multipart/form-data"),
    responses((status = 200, body = String, content_type = "text/event-stream"), (status = 422, body = Refused))
)]
pub(crate) async fn evaluate_stream(
    State(app): State<Shared>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<Response, Refusal> {
    stream(app, request, caller, form).await
}

/// Scores traces that come as JSON, and says in events how far it is.
#[utoipa::path(
    post,
    path = "/api/evaluate/json/stream",
    request_body(content = EvaluateRequest, content_type = "application/json"),
    responses((status = 200, body = String, content_type = "text/event-stream"), (status = 422, body = Refused))
)]
pub(crate) async fn evaluate_json_stream(
    State(app): State<Shared>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<Response, Refusal> {
    stream(app, request, caller, json).await
}

/// What reads a request.
type Reads = fn(&mut Received) -> Result<Job, Refusal>;

fn whole(mut received: Received, read: Reads, caller: Caller) -> Result<Response, Refusal> {
    let job = Job { wanted: received.wanted.clone(), ..read(&mut received)? };
    let result = job.run(caller, |_| Ok(())).map_err(|Gone| Refusal::busy("the evaluation was cut short"))?;
    Ok(answer::data(result))
}

/// Reads the request, and scores it while the answer is sent. What is wrong with the request is no event.
async fn stream(app: Shared, request: Request, caller: Caller, read: Reads) -> Result<Response, Refusal> {
    let mut received = app.receive(request).await?;
    // A judge may take longer than a request may.
    let waiting = (caller != Caller::Trusted).then(|| received.wanted.waiting());
    let (begin, begun) = oneshot::channel();
    let work = move || {
        // The client may have gone while this waited.
        if begin.is_closed() {
            return;
        }
        match received.unpack().and_then(|()| read(&mut received)) {
            Err(refusal) => drop(begin.send(Err(refusal))),
            Ok(job) => {
                let job = Job { wanted: received.wanted.clone(), ..job };
                let (mut events, response) = events::channel();
                if begin.send(Ok(response)).is_ok() {
                    // If nobody reads, the events end without the last one, and without a result.
                    drop(tell(&job, caller, &mut events));
                }
            }
        }
    };
    let work = tokio::spawn(async move {
        let _waiting = waiting;
        app.workers.run(work).await
    });
    match begun.await {
        Ok(answer) => answer,
        // It did not come that far.
        Err(_) => Err(match work.await {
            Ok(Err(refusal)) => refusal,
            _ => Refusal::busy("the evaluation was cut short"),
        }),
    }
}

fn tell(job: &Job, caller: Caller, events: &mut Events) -> Result<(), Gone> {
    let result = job.run(caller, |progress| match progress {
        Progress::Message(message) => events.send(&Told { message }),
        Progress::Read(result) => events.send_named(
            "performance_metrics",
            &serde_json::json!({
                "traceId": result.trace_id,
                "performanceMetrics": serde_json::to_value(&result.performance_metrics).unwrap_or_default(),
            }),
        ),
        Progress::Scored(result) => events.send(&Advanced {
            trace_progress: TraceProgress { trace_id: &result.trace_id, partial_result: result },
        }),
    })?;
    events.send(&Told { message: "Evaluation complete".to_owned() })?;
    events.send(&Done { done: true, result: &result })
}

#[derive(Serialize)]
struct Told {
    message: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Advanced<'r> {
    trace_progress: TraceProgress<'r>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TraceProgress<'r> {
    trace_id: &'r str,
    partial_result: &'r TraceResult,
}

#[derive(Serialize)]
struct Done<'r> {
    done: bool,
    result: &'r RunResult,
}

/// A request that was read.
pub(super) struct Job {
    traces: Arc<Traces>,
    /// The names of the traces' conversations, where each trace is one of its own.
    names: HashMap<String, String>,
    set: Option<EvalSet>,
    evaluators: Vec<Evaluator>,
    wanted: Wanted,
}

/// How far a job is.
enum Progress<'r> {
    Message(String),
    Read(&'r TraceResult),
    Scored(&'r TraceResult),
}

fn json(received: &mut Received) -> Result<Job, Refusal> {
    let request: EvaluateRequest<'_> = serde_json::from_slice(&received.bytes).map_err(|error| {
        Refusal::fields(vec![FieldError::new(
            "json_invalid",
            &["body".into()],
            json::why(&received.bytes, &error),
            &Value::Null,
        )])
    })?;
    if request.credential_refs.is_some_and(|refs| !refs.is_null()) {
        return Err(Refusal::bad(
            "`credentialRefs`: keys are where the service runs, and none is taken from a request",
        ));
    }
    let parameters = Parameters::read(&request.config, &["body".into(), "config".into()])?;
    let traces = read([request.traces.get().as_bytes()])?;
    let set = request.eval_set.filter(|set| set.get() != "null");
    let set = set.map(|set| checked("evalSet", set.get().as_bytes())).transpose()?;
    Job::new(traces, set, parameters)
}

fn form(received: &mut Received) -> Result<Job, Refusal> {
    let fields = received.fields()?;
    let config =
        fields.iter().rfind(|field| field.name == "config").ok_or_else(|| Refusal::missing("config"))?;
    let config: Value = serde_json::from_slice(&config.bytes).map_err(|error| {
        Refusal::bad(format!("Invalid config JSON: {}", json::why(&config.bytes, &error)))
    })?;
    let parameters = Parameters::read(&config, &["body".into(), "config".into()])?;
    let traces = uploaded(received, &fields)?;
    let set = fields.iter().rfind(|field| field.name == "eval_set_file" && !field.file.is_empty());
    let set = set.map(|set| checked("eval_set_file", &set.bytes)).transpose()?;
    Job::new(traces, set, parameters)
}

/// An eval set without errors. One without cases is taken: that none of its cases is about a trace is said of each.
fn checked(field: &str, bytes: &[u8]) -> Result<EvalSet, Refusal> {
    let checked = check_set(field, bytes, None);
    if let Some(set) = checked.set {
        return Ok(set);
    }
    if checked
        .problems
        .iter()
        .filter(|problem| problem.is_error())
        .all(|problem| problem.code == Code::NoCases)
    {
        return Ok(EvalSet::new(""));
    }
    let wrong = errors(&entries(&checked.text, &checked.problems))
        .into_iter()
        .map(|error| FieldError::new("value_error", &["body".into(), field.into()], error, &Value::Null));
    Err(Refusal::fields(wrong.collect()))
}

impl Job {
    /// Fails if there are too many results: each metric has one for each trace.
    fn new(traces: Traces, set: Option<EvalSet>, parameters: Parameters) -> Result<Self, Refusal> {
        let has_turns = |set: &EvalSet| set.eval_cases.iter().any(|case| case.conversation.len() > 1);
        let together = match parameters.group_by {
            GroupBy::Conversation => true,
            GroupBy::Trace => false,
            GroupBy::Auto => set.as_ref().is_some_and(has_turns),
        };
        let mut names = HashMap::new();
        for conversation in traces.conversations() {
            if let Some(name) = name(conversation) {
                names.extend(conversation.trace_ids.iter().map(|id| (id.clone(), name.clone())));
            }
        }
        let traces = Arc::new(if together { traces } else { traces.by_trace() });
        parameters.check_size(traces.conversations().len())?;
        let evaluators = parameters.evaluators;
        Ok(Self { traces, names, set, evaluators, wanted: Wanted::default() })
    }

    /// A live session, and the case that it is scored with. Its traces are one conversation.
    pub(super) fn of_session(
        traces: Traces,
        case: EvalCase,
        evaluators: Vec<Evaluator>,
        wanted: Wanted,
    ) -> Self {
        let set = EvalSet::new("").case(case);
        Self { traces: Arc::new(traces), names: HashMap::new(), set: Some(set), evaluators, wanted }
    }

    /// The results of the only conversation that there is, and whether it passed.
    pub(super) fn scored(&self, caller: Caller) -> (bool, Vec<MetricResult>) {
        let ran = self.run(caller, |_| Ok(()));
        ran.map_or_else(
            |Gone| (false, Vec::new()),
            |result| {
                let results = result.trace_results.into_iter().flat_map(|trace| trace.metric_results);
                (result.passed, results.collect())
            },
        )
    }

    /// Scores all traces, and tells how far it is.
    fn run(
        &self,
        caller: Caller,
        mut tell: impl FnMut(Progress<'_>) -> Result<(), Gone>,
    ) -> Result<RunResult, Gone> {
        let conversations = self.traces.conversations();
        let gaps = gaps_of_files(&self.traces);
        let named = |it: &Conversation| it.trace_ids.first().and_then(|id| self.names.get(id)).cloned();
        let mut results: Vec<TraceResult> =
            conversations.iter().map(|it| TraceResult::of(it, named(it), warnings(it, &gaps))).collect();
        for result in &results {
            tell(Progress::Read(result))?;
        }
        let total = conversations.len();
        let traces = if total == 1 { "trace" } else { "traces" };
        tell(Progress::Message(format!("Evaluating {total} {traces}...")))?;
        let mut errors = Vec::new();
        let found = self.cases(&mut errors);
        for (at, (conversation, result)) in conversations.iter().zip(&mut results).enumerate() {
            self.wanted.check()?;
            let short: String = result.trace_id.chars().take(12).collect();
            tell(Progress::Message(format!("Trace {}/{total}: {short}...", at + 1)))?;
            for evaluator in &self.evaluators {
                tell(Progress::Message(format!("Running {}...", evaluator.name)))?;
            }
            let case = found.get(&at).copied();
            result.eval_case_id = case.map(|(case, _)| case.eval_id.clone());
            result.eval_case_match = case.map(|(_, by)| by_name(by));
            result.metric_results = self.score(conversation, case.map(|(case, _)| case), caller);
            tell(Progress::Scored(result))?;
        }
        let all = || results.iter().flat_map(|result| &result.metric_results);
        let passed = errors.is_empty()
            && all().any(|metric| metric.eval_status == "PASSED")
            && all().all(|metric| metric.eval_status == "PASSED" || is_informational(&metric.metric_name));
        let performance_metrics = RunPerformance::of(&results);
        Ok(RunResult { passed, trace_results: results, errors, performance_metrics, run_id: None })
    }

    /// The case of each conversation, and how it was found. A case without traces is an error.
    fn cases(&self, errors: &mut Vec<String>) -> HashMap<usize, (&EvalCase, MatchedBy)> {
        let cases = self.set.iter().flat_map(|set| &set.eval_cases);
        let is_only_case = self.set.as_ref().is_some_and(|set| set.eval_cases.len() == 1);
        let mut found: HashMap<usize, (&EvalCase, MatchedBy)> = HashMap::new();
        let all = self.traces.conversations();
        let places: HashMap<*const Conversation, usize> =
            all.iter().map(std::ptr::from_ref).zip(0..).collect();
        for case in cases {
            match self.traces.conversation_of(case, is_only_case) {
                Ok((conversation, by)) => {
                    let Some(at) = places.get(&std::ptr::from_ref(conversation)) else { continue };
                    if let Some((other, _)) = found.get(at) {
                        // The same one can be named for thousands of others.
                        let [key, one, other] =
                            [&conversation.key, &case.eval_id, &other.eval_id].map(|id| cut(id));
                        errors.push(format!(
                            "the cases `{other}` and `{one}` are both about the trace `{key}`; only `{other}` is scored"
                        ));
                    } else {
                        found.insert(*at, (case, by));
                    }
                }
                Err(error) => errors.push(format!("the case `{}` has no trace: {error}", case.eval_id)),
            }
        }
        found
    }

    /// The results of all metrics for a conversation.
    fn score(
        &self,
        conversation: &Conversation,
        case: Option<&EvalCase>,
        caller: Caller,
    ) -> Vec<MetricResult> {
        if conversation.turns.is_empty() {
            let error = "No invocations extracted from trace.";
            return vec![MetricResult { error_type: None, ..unscored("(all)", error, "TraceError") }];
        }
        // What the turns ask, without what happened in them.
        let asked = case.is_none().then(|| {
            let own = conversation.to_case(&conversation.key);
            let turns = own.conversation.into_iter().map(|turn| Invocation::new(turn.user_content));
            turns.fold(EvalCase::new(&conversation.key), EvalCase::turn)
        });
        // Whether each metric is scored, and with which case.
        let mut results: Vec<Option<MetricResult>> = Vec::with_capacity(self.evaluators.len());
        for evaluator in &self.evaluators {
            results.push(self.refused(evaluator, case, caller));
        }
        let open = || self.evaluators.iter().zip(&results).filter(|(_, it)| it.is_none()).map(|(it, _)| it);
        let Some(case) = case.or(asked.as_ref()) else { return Vec::new() };
        let scored = self.play(case, open(), conversation);
        let scored: Vec<MetricResult> = match scored {
            Ok(scored) => scored,
            // One of them cannot be used: each on its own says which.
            Err(_) => open()
                .map(|evaluator| match self.play(case, [evaluator], conversation) {
                    Ok(scored) => scored.into_iter().next().unwrap_or_default(),
                    Err(error) => unscored(&evaluator.name, error, "ConfigError"),
                })
                .collect(),
        };
        let mut scored = scored.into_iter();
        results.into_iter().filter_map(|result| result.or_else(|| scored.next())).collect()
    }

    /// Why a metric is not scored at all.
    fn refused(
        &self,
        evaluator: &Evaluator,
        case: Option<&EvalCase>,
        caller: Caller,
    ) -> Option<MetricResult> {
        let name = &evaluator.name;
        let Some(info) = metric(name) else {
            return Some(unscored(name, format!("{name} not found in registry."), "NotFoundError"));
        };
        if is_judged(name) && caller != Caller::Trusted {
            let why = "this metric asks a judge, which needs the token of the server";
            return Some(unscored(name, why, "TokenRequired"));
        }
        if case.is_some() || !info.needs.contains(&Need::Expectation) && self.set.is_none() {
            return None;
        }
        let (error, reason) = match &self.set {
            None => (
                "no eval set was given, and this metric compares with what one expects",
                "no eval set provided",
            ),
            Some(set) if set.eval_cases.is_empty() => ("the eval set has no cases", "no matching eval case"),
            Some(_) => ("no case of the eval set is about this trace", "no matching eval case"),
        };
        let details = Details { reason: Some(reason.to_owned()), ..Details::default() };
        Some(MetricResult { details: Some(details), ..unscored(name, error, "NoEvalCase") })
    }

    /// Plays a conversation against a case, and scores it. Fails if the metrics cannot be used with the case.
    fn play<'e>(
        &self,
        case: &EvalCase,
        evaluators: impl IntoIterator<Item = &'e Evaluator> + Clone,
        conversation: &Conversation,
    ) -> Result<Vec<MetricResult>, String> {
        let mut runner = EvalRunner::new().__stop_at(self.wanted.flag());
        for evaluator in evaluators.clone() {
            runner = runner.criterion(&evaluator.name, evaluator.criterion());
        }
        if evaluators.clone().into_iter().next().is_none() {
            return Ok(Vec::new());
        }
        let is_only_case = self.set.as_ref().is_none_or(|set| set.eval_cases.len() == 1);
        let agent = TraceAgent::from(Arc::clone(&self.traces)).only_case(is_only_case);
        // In the task of the caller: one of its own would cost more than all that it does.
        let report = complete(runner.run_agent(case, agent)).map_err(|error| error.to_string())?;
        Ok(evaluators.into_iter().map(|it| result(it, &report, case, conversation)).collect())
    }
}

fn by_name(by: MatchedBy) -> &'static str {
    match by {
        MatchedBy::CaseId => "eval_case_id",
        MatchedBy::Words => "user_text",
        MatchedBy::OnlyOne => "single_case",
        // The id of the case, or of its session.
        _ => "key",
    }
}

fn is_informational(name: &str) -> bool {
    metric(name).is_some_and(|info| !info.gates)
}

fn unscored(name: &str, error: impl Into<String>, kind: &'static str) -> MetricResult {
    MetricResult {
        metric_name: name.to_owned(),
        eval_status: "NOT_EVALUATED",
        error: Some(error.into()),
        error_type: Some(kind),
        ..MetricResult::default()
    }
}

/// What a metric made of a conversation.
fn result(
    evaluator: &Evaluator,
    report: &CaseReport,
    case: &EvalCase,
    conversation: &Conversation,
) -> MetricResult {
    let name = &evaluator.name;
    let run = report.runs.first();
    if let Some(error) = run.and_then(|run| run.error.as_ref()) {
        return unscored(name, error.to_string(), kind_of_error(error.role));
    }
    let Some(scored) = run.and_then(|run| run.metric(name)) else {
        let why = report.verdict.reason().unwrap_or("the case was not scored with this metric");
        return unscored(name, why, "HarnessError");
    };
    let (error, error_type) = match &scored.verdict {
        Verdict::Error { role, message } => (Some(message.clone()), Some(kind_of_error(*role))),
        Verdict::NotEvaluated(reason) => (Some(reason.clone()), Some("NotEvaluated")),
        Verdict::Skipped(reason) => (Some(reason.clone()), Some("Skipped")),
        _ => (None, None),
    };
    let turns = scores(scored);
    let gates = scored.criterion.is_some();
    let of_turn = |score: Option<f64>| match score {
        Some(score) if gates && score >= evaluator.threshold => "PASSED",
        Some(_) if gates => "FAILED",
        _ => "NOT_EVALUATED",
    };
    MetricResult {
        metric_name: name.clone(),
        score: overall(scored),
        eval_status: match scored.verdict {
            Verdict::Passed => "PASSED",
            Verdict::Failed => "FAILED",
            _ => "NOT_EVALUATED",
        },
        per_invocation_scores: turns.iter().map(Score::value).collect(),
        per_invocation_statuses: turns.iter().map(|score| of_turn(score.value())).collect(),
        error,
        error_type,
        details: details(scored, case, conversation),
        duration_ms: None,
    }
}

fn details(scored: &ScoredMetric, case: &EvalCase, conversation: &Conversation) -> Option<Details> {
    let turns = scores(scored);
    let is_trajectory =
        metric(&scored.name).is_some_and(|info| matches!(info.compares, Subject::ToolCalls(_)));
    let full: Vec<bool> = turns.iter().map(|score| score.value() == Some(1.0)).collect();
    let details = Details {
        comparisons: is_trajectory.then(|| comparisons(case, conversation, &full)),
        reason: None,
        notes: turns.iter().flat_map(|score| score.notes().iter().cloned()).collect(),
    };
    (details.comparisons.is_some() || !details.notes.is_empty()).then_some(details)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_waits_for_is_scored_no_further() {
        let spans = br#"[{"traceId": "00000000000000000000000000000001", "spanId": "0000000000000001", "name": "work"}]"#;
        let parameters = serde_json::json!({ "evaluators": [{ "name": "response_match_score" }] });
        let evaluators = Parameters::read(&parameters, &[]).unwrap().evaluators;
        let wanted = Wanted::default();
        let traces = Traces::from_texts([&spans[..]]).unwrap();
        let job = Job::of_session(traces, EvalCase::new("c"), evaluators, wanted.clone());
        let waiting = wanted.waiting();
        assert!(job.run(Caller::Local, |_| Ok(())).is_ok());
        drop(waiting);
        assert!(job.run(Caller::Local, |_| Ok(())).is_err());
    }
}
