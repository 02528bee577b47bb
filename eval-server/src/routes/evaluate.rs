//! Scoring traces with an eval set.

use axum::http::StatusCode;
use axum::response::Response;
use eval_core::EvalSet;
use eval_format::Value as Tree;
use eval_format::problem::ProblemCode;
use eval_format::reader::check_set;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use utoipa::ToSchema;

use super::convert::{read, uploaded};
use super::evaluate_answer::RunResult;
use super::evaluate_job::{Job, Progress};
use super::evaluate_request::{self, Parameters};
use crate::access::Caller;
use crate::answer::{self, Envelope};
use crate::app::{Call, Shared, Thread};
use crate::body::{Field, Received};
use crate::events::{self, Event, Events, ReaderGone, SentEvent};
use crate::problems::told;
use crate::refusal::{FieldError, Refusal, why};

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
    config: Tree,
    /// The eval set.
    #[serde(borrow, default)]
    #[schema(value_type = Option<Object>)]
    eval_set: Option<&'b RawValue>,
    /// Keys are where the service runs: none is taken from a request.
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
    responses((status = 200, body = Envelope<RunResult>))
)]
pub(crate) async fn evaluate(call: Call) -> Result<Response, Refusal> {
    whole(call, form).await
}

/// Scores traces that come as JSON.
#[utoipa::path(
    post,
    path = "/api/evaluate/json",
    request_body(content = EvaluateRequest, content_type = "application/json"),
    responses((status = 200, body = Envelope<RunResult>))
)]
pub(crate) async fn evaluate_json(call: Call) -> Result<Response, Refusal> {
    whole(call, document).await
}

/// Scores traces that come as files in a form, and says in events how far it is, or as the only event what is wrong with the form.
#[utoipa::path(
    post,
    path = "/api/evaluate/stream",
    request_body(content = EvaluateForm, content_type = "multipart/form-data"),
    responses((status = 200, body = SentEvent, content_type = "text/event-stream"))
)]
pub(crate) async fn evaluate_stream(call: Call) -> Result<Response, Refusal> {
    match stream(call, form).await {
        // agentevals' clients expect an error in a form as an event.
        Err(refusal) if refusal.is_of_content => {
            let (mut events, body) = events::channel(1);
            let error = json!({ "error": refusal.text() });
            // The channel has room for the event, and the body reads it.
            drop(events.send_now(Event::unnamed(error)));
            Ok(answer::of_body(StatusCode::OK, events::CONTENT_TYPE, body))
        }
        answer => answer,
    }
}

/// Scores traces that come as JSON, and says in events how far it is.
#[utoipa::path(
    post,
    path = "/api/evaluate/json/stream",
    request_body(content = EvaluateRequest, content_type = "application/json"),
    responses((status = 200, body = SentEvent, content_type = "text/event-stream"))
)]
pub(crate) async fn evaluate_json_stream(call: Call) -> Result<Response, Refusal> {
    stream(call, document).await
}

type Reads = fn(&mut Received) -> Result<Job, Refusal>;

async fn whole(Call { app, caller, request }: Call, read: Reads) -> Result<Response, Refusal> {
    let own = Shared::clone(&app);
    let work = move |mut received: Received| {
        let job =
            read(&mut received)?.while_wanted(received.wanted.clone()).answered_by(&own.options.metrics);
        let result =
            job.run_to_end(caller).map_err(|ReaderGone| Refusal::busy("the evaluation was cut short"))?;
        Ok(answer::data(result))
    };
    app.compute(request, Thread::for_caller(caller), work).await
}

/// Reads the request, and scores it while the answer is sent.
async fn stream(Call { app, caller, request }: Call, read: Reads) -> Result<Response, Refusal> {
    let mut received = app.receive(request).await?;
    // A judge may take longer than a request may.
    let waiting = (caller != Caller::Trusted).then(|| received.wanted.waiting());
    let (begin, begun) = oneshot::channel();
    let own = Shared::clone(&app);
    let work = move || {
        // The client may have gone while this waited.
        if begin.is_closed() {
            return;
        }
        match received.unpack().and_then(|()| read(&mut received)) {
            Err(refusal) => drop(begin.send(Err(refusal))),
            Ok(job) => {
                let job = job.while_wanted(received.wanted.clone()).answered_by(&own.options.metrics);
                let (mut events, body) = events::channel(MAX_WAITING_EVENTS);
                let response = answer::of_body(StatusCode::OK, events::CONTENT_TYPE, body);
                if begin.send(Ok(response)).is_ok() {
                    // Without a reader, the events end without the last one, and without a result.
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
        // The work ended before it sent an answer.
        Err(_) => Err(match work.await {
            Ok(Err(refusal)) => refusal,
            _ => Refusal::busy("the evaluation was cut short"),
        }),
    }
}

const MAX_WAITING_EVENTS: usize = 1 << 16;

fn tell(job: &Job, caller: Caller, events: &mut Events) -> Result<(), ReaderGone> {
    let result = job.run(caller, |progress| {
        let json = events::json(&progress)?;
        events.send_now(match progress {
            Progress::Read { .. } => Event::named("performance_metrics", json),
            _ => Event::unnamed(json),
        })
    })?;
    events.send_now(Event::unnamed(json!({ "message": "Evaluation complete" })))?;
    events.send_now(Event::unnamed(events::json(&Done { done: true, result: &result })?))
}

#[derive(Serialize)]
struct Done<'r> {
    done: bool,
    result: &'r RunResult,
}

fn document(received: &mut Received) -> Result<Job, Refusal> {
    let request: EvaluateRequest<'_> =
        serde_json::from_slice(&received.bytes).map_err(|error| Refusal::no_json(&received.bytes, &error))?;
    take_no_keys("credentialRefs", request.credential_refs.as_ref())?;
    let parameters = Parameters::read(&request.config.into(), &["body".into(), "config".into()])?;
    let traces = (read([request.traces.get().as_bytes()])?, Vec::new());
    let set = request.eval_set.filter(|set| set.get() != "null");
    let set = set.map(|set| checked("evalSet", set.get().as_bytes())).transpose()?;
    Job::new(traces, set, parameters)
}

fn form(received: &mut Received) -> Result<Job, Refusal> {
    let fields = received.fields()?;
    // Missing parts are reported before wrong ones.
    if !fields.iter().any(|field| field.name == "trace_files" && field.file.is_some()) {
        return Err(Refusal::missing("trace_files"));
    }
    content(received, &fields).map_err(Refusal::of_content)
}

fn content(received: &mut Received, fields: &[Field]) -> Result<Job, Refusal> {
    const FILES: [&str; 2] = ["trace_files", "eval_set_file"];
    let last = |name: &str, is: fn(&Field) -> bool| fields.iter().rfind(|it| it.name == name && is(it));
    for name in ["config", "eval_set_file"] {
        if fields.iter().filter(|field| field.name == name).count() > 1 {
            return Err(Refusal::bad(format!(
                "the field `{name}` is there twice: one of them would be lost"
            )));
        }
    }
    let is_lost =
        |field: &&Field| field.file.is_some() && !FILES.contains(&&*field.name) && field.name != "config";
    if let Some(unknown) = fields.iter().find(is_lost) {
        return Err(Refusal::bad(format!(
            "the file of the field `{}` would be lost: files are `trace_files` and `eval_set_file`",
            crate::display::line(&unknown.name)
        )));
    }
    let json = |field: &Field| {
        evaluate_request::json(&field.bytes).map_err(|error| {
            Refusal::bad(format!("Invalid {} JSON: {}", field.name, why(&field.bytes, &error)))
        })
    };
    let config = json(last("config", |_| true).ok_or_else(|| Refusal::missing("config"))?)?;
    if let Some(refs) = last("credential_refs", |field| !field.bytes.is_empty()) {
        take_no_keys("credential_refs", Some(&json(refs)?))?;
    }
    let parameters = Parameters::read(&config, &["body".into(), "config".into()])?;
    let traces = uploaded(received, fields)?;
    let set = last("eval_set_file", |field| field.file.is_some());
    let set = set.map(|set| checked("eval_set_file", &set.bytes)).transpose()?;
    Job::new(traces, set, parameters)
}

/// Fails if a request names keys of judges. Clients send an empty object where there are none.
fn take_no_keys(field: &str, refs: Option<&Value>) -> Result<(), Refusal> {
    let is_empty = |refs: &Value| refs.is_null() || refs.as_object().is_some_and(serde_json::Map::is_empty);
    if refs.is_none_or(is_empty) {
        return Ok(());
    }
    Err(Refusal::bad(format!(
        "`{field}`: keys of judges are where the service runs, and none is taken from a request"
    )))
}

/// An eval set without errors. Accepts a set without cases; each trace is then reported as having no matching case.
fn checked(field: &str, bytes: &[u8]) -> Result<EvalSet, Refusal> {
    let checked = check_set(field, bytes, None);
    if let Some(set) = checked.set {
        return Ok(set);
    }
    if checked.problems.iter().all(|problem| !problem.is_error() || problem.code == ProblemCode::NoCases) {
        return Ok(EvalSet::new(""));
    }
    let (_, errors) = told(&checked.text, &checked.problems);
    let wrong = errors
        .into_iter()
        .map(|error| FieldError::new("value_error", &["body".into(), field.into()], error, &Value::Null));
    Err(Refusal::fields(wrong.collect()))
}
