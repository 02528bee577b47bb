//! The turns in traces.

use axum::response::Response;
use eval_agents::traces::{Conversation, ToolCall, TraceError, Traces, Turn};
use eval_format::options::DEFAULT_AUTHOR;
use eval_format::{Map, Value};
use eval_support::file::GZIP;
use serde::Serialize;
use utoipa::ToSchema;

use crate::answer::{self, Envelope};
use crate::app::{Call, Thread};
use crate::body::{Field, Received};
use crate::display;
use crate::refusal::{Refusal, why};

/// The conversations of traces.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Converted {
    traces: Vec<ConvertedTrace>,
}

/// A trace, or a conversation of several.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConvertedTrace {
    trace_id: String,
    trace_ids: Vec<String>,
    /// The turns, as eval sets have them.
    #[schema(value_type = Vec<Object>)]
    invocations: Vec<Value>,
    /// The gaps in the traces, each with its kind.
    warnings: Vec<String>,
    metadata: Metadata,
}

/// The traces' description of themselves.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Metadata {
    agent_name: Option<String>,
    model: Option<String>,
    /// The time at which the first turn began, in microseconds since 1970; null if its trace does not say.
    start_time: Option<u64>,
    user_input_preview: Option<String>,
    final_output_preview: Option<String>,
    /// The name or id of the conversation, if the traces give one.
    session_name: Option<String>,
}

/// A form with traces.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "it describes what is read field by field")]
pub(crate) struct TracesForm {
    /// Files of traces.
    #[schema(value_type = Vec<String>)]
    trace_files: Vec<Vec<u8>>,
    /// `trace` (the default) or `conversation`.
    group_by: Option<String>,
}

/// Shows the turns in traces.
#[utoipa::path(
    post,
    path = "/api/convert",
    request_body(content = TracesForm, content_type = "multipart/form-data"),
    responses((status = 200, body = Envelope<Converted>))
)]
pub(crate) async fn convert(Call { app, request, .. }: Call) -> Result<Response, Refusal> {
    app.compute(request, Thread::BySize, |mut received| {
        let fields = received.fields()?;
        let (traces, unread) = uploaded(&mut received, &fields)?;
        if !unread.is_empty() {
            return Err(Refusal::bad(unread.join("; ")));
        }
        let grouped = fields.iter().rfind(|field| field.name == "group_by");
        let traces = match grouped.map_or(&b"trace"[..], |field| &field.bytes) {
            b"trace" => traces.by_trace(),
            b"conversation" | b"auto" => traces,
            _ => return Err(Refusal::bad("`group_by` is `trace`, `conversation` or `auto`")),
        };
        let gaps = gaps_of_files(&traces);
        let traces = traces.conversations().iter().map(|it| ConvertedTrace::new(it, &gaps, false)).collect();
        Ok(answer::data(Converted { traces }))
    })
    .await
}

/// The traces in the files of a form, and the errors of unreadable files, unless all are.
pub(super) fn uploaded(received: &mut Received, fields: &[Field]) -> Result<(Traces, Vec<String>), Refusal> {
    let files = fields.iter().filter(|field| field.name == "trace_files");
    let mut texts = Vec::new();
    for Field { file, bytes, .. } in files {
        let Some(file) = file else { continue };
        // No text begins with the magic number of gzip.
        let text = if bytes.starts_with(&GZIP) {
            received.unpacked(bytes, &format!("the file `{file}` in `trace_files`"))?
        } else {
            bytes.clone()
        };
        texts.push((file, text));
    }
    if texts.is_empty() {
        return Err(Refusal::missing("trace_files"));
    }
    if let Ok(traces) = read(texts.iter().map(|(_, text)| &**text)) {
        return Ok((traces, Vec::new()));
    }
    let mut unread = Vec::new();
    texts.retain(|(file, text)| match Traces::from_texts([&**text]) {
        Ok(_) => true,
        Err(error) => {
            unread.push(format!("the file `{file}`: {}", refused(&error, [&**text]).text()));
            false
        }
    });
    if texts.is_empty() {
        return Err(Refusal::bad(unread.join("; ")));
    }
    Ok((read(texts.iter().map(|(_, text)| &**text))?, unread))
}

pub(super) fn read<'t>(texts: impl IntoIterator<Item = &'t [u8]> + Clone) -> Result<Traces, Refusal> {
    let traces = Traces::from_texts(texts.clone()).map_err(|error| refused(&error, texts))?;
    if traces.conversations().is_empty() {
        return Err(Refusal::bad("No traces found in OTLP JSON"));
    }
    Ok(traces)
}

fn refused<'t>(error: &TraceError, texts: impl IntoIterator<Item = &'t [u8]>) -> Refusal {
    let TraceError::Json { source, index, .. } = error else { return Refusal::bad(error.to_string()) };
    let text = texts.into_iter().nth(*index).unwrap_or_default();
    Refusal::bad(format!("not readable as JSON: {}", why(text, source)))
}

const PREVIEW_CHARS: usize = 200;

/// The most bytes of the files' gaps in all warnings together. Longer lists are shortened.
const MAX_GAP_BYTES: usize = 8 << 20;

/// The most gaps in a shortened list. The length of each is limited too.
const MAX_SHORT_GAPS: usize = 3;
const SHORT_GAP_CHARS: usize = 100;

/// The gaps of the files that traces are read from. They are in the warnings of each trace.
pub(super) fn gaps_of_files(traces: &Traces) -> Vec<String> {
    let gaps: Vec<String> = traces.gaps().iter().map(ToString::to_string).collect();
    let size: usize = gaps.iter().map(String::len).sum();
    if size.saturating_mul(traces.conversations().len()) <= MAX_GAP_BYTES {
        return gaps;
    }
    let mut few: Vec<String> =
        gaps.iter().take(MAX_SHORT_GAPS).map(|gap| gap.chars().take(SHORT_GAP_CHARS).collect()).collect();
    if let more @ 1.. = gaps.len().saturating_sub(MAX_SHORT_GAPS) {
        few.push(format!("malformed: {more} further things in the files are left out"));
    }
    few
}

/// The gaps of a conversation, one line each, and the gaps of the files, which may concern any trace.
pub(super) fn warnings(conversation: &Conversation, of_files: &[String]) -> Vec<String> {
    let own = conversation.all_gaps().map(|(turn, gap)| match turn {
        Some(turn) => format!("turn {turn}: {gap}"),
        None => gap.to_string(),
    });
    own.chain(of_files.iter().cloned()).collect()
}

/// The name of a conversation, if it is more than the id of a trace.
pub(super) fn name(conversation: &Conversation) -> Option<String> {
    Some(&conversation.key).filter(|key| !conversation.trace_ids.contains(key)).cloned()
}

impl ConvertedTrace {
    /// With `is_shown`, untrusted text is masked and truncated for display.
    pub(super) fn new(conversation: &Conversation, gaps: &[String], is_shown: bool) -> Self {
        let turns = &conversation.turns;
        let (first, last) = (turns.first(), turns.last());
        let line = |text: String| if is_shown { display::line(&text) } else { text };
        let preview: fn(&str) -> String =
            if is_shown { display::preview } else { |text| text.chars().take(PREVIEW_CHARS).collect() };
        let model = turns.iter().flat_map(|turn| &turn.model_calls).find_map(|call| call.model.clone());
        Self {
            trace_id: conversation.trace_ids.first().cloned().unwrap_or_default(),
            trace_ids: conversation.trace_ids.clone(),
            invocations: turns.iter().map(|turn| invocation(turn, is_shown)).collect(),
            warnings: warnings(conversation, gaps).into_iter().map(line).collect(),
            metadata: Metadata {
                agent_name: turns.iter().find_map(|turn| turn.agent.clone()).map(line),
                model: model.map(line),
                start_time: first.and_then(|turn| turn.start_ns).map(|start| start.get() / 1000),
                user_input_preview: first.and_then(|turn| turn.user.as_deref()).map(preview),
                final_output_preview: last.and_then(|turn| turn.answer.as_deref()).map(preview),
                session_name: name(conversation).map(line),
            },
        }
    }
}

/// A turn as an eval set has it, with keys in camelCase. With `is_shown`, untrusted text is masked.
fn invocation(turn: &Turn, is_shown: bool) -> Value {
    let said = |text: &str| if is_shown { display::text(text) } else { text.to_owned() };
    let value = |value: Value| if is_shown { display::value(&value) } else { value };
    let object = |entries: Vec<(&str, Value)>| Value::from(entries.into_iter().collect::<Map>());
    let text = |role: &str, text: &str| {
        let part = object(vec![("text", said(text).into())]);
        object(vec![("parts", Value::from(vec![part])), ("role", role.into())])
    };
    let between = |text: &String| {
        let agent = turn.agent.as_deref().unwrap_or(DEFAULT_AUTHOR);
        Value::from(vec![
            Value::from(said(agent)),
            Value::from(vec![object(vec![("text", said(text).into())])]),
        ])
    };
    let calls: Vec<Value> = turn.calls.iter().map(|call| value(call.to_function_call().to_value())).collect();
    let answers = turn.calls.iter().filter_map(ToolCall::to_function_response);
    let data = object(vec![
        ("toolUses", Value::from(calls)),
        ("toolResponses", Value::from(answers.map(|answer| value(answer.to_value())).collect::<Vec<_>>())),
        ("intermediateResponses", Value::from(turn.intermediate.iter().map(between).collect::<Vec<_>>())),
    ]);
    object(vec![
        ("invocationId", turn.span_id.as_str().into()),
        ("userContent", text("user", turn.user.as_deref().unwrap_or_default())),
        ("finalResponse", turn.answer.as_deref().map_or(Value::Null, |answer| text("model", answer))),
        ("intermediateData", data),
        ("creationTimestamp", turn.to_invocation().creation_timestamp.into()),
    ])
}
