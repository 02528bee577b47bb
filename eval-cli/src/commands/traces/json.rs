//! What traces hold, as JSON.

use std::num::NonZeroU64;

use eval_agents::traces::{Conversation, Gap, ModelCall, ToolCall, Traces, Turn, Usage};
use eval_core::format::Value;
use serde::Serialize;

use crate::output::Outcome;

/// What `--format json` prints. Fields may be added; no field is removed or changes its meaning.
#[derive(Debug, Serialize)]
pub(super) struct Document<'t> {
    command: &'static str,
    outcome: Outcome,
    spans: usize,
    conversations: Vec<ConversationEntry<'t>>,
    gaps: Vec<GapEntry<'t>>,
}

#[derive(Debug, Serialize)]
struct ConversationEntry<'t> {
    key: &'t str,
    case: Option<&'t str>,
    traces: &'t [String],
    turns: Vec<TurnEntry<'t>>,
    gaps: Vec<GapEntry<'t>>,
}

#[derive(Debug, Serialize)]
struct TurnEntry<'t> {
    trace: &'t str,
    span: &'t str,
    agent: Option<&'t str>,
    agents: &'t [String],
    user: Option<&'t str>,
    calls: Vec<CallEntry<'t>>,
    intermediate: &'t [String],
    answer: Option<&'t str>,
    usage: UsageEntry,
    model_calls: Vec<ModelCallEntry<'t>>,
    start_unix_nano: Option<NonZeroU64>,
    end_unix_nano: Option<NonZeroU64>,
    error: Option<&'t str>,
    gaps: Vec<GapEntry<'t>>,
}

#[derive(Debug, Serialize)]
struct CallEntry<'t> {
    id: Option<&'t str>,
    name: &'t str,
    args: Option<&'t Value>,
    result: Option<&'t Value>,
    agent: Option<&'t str>,
    error: Option<&'t str>,
}

#[derive(Debug, Serialize)]
struct ModelCallEntry<'t> {
    agent: Option<&'t str>,
    model: Option<&'t str>,
    usage: UsageEntry,
    error: Option<&'t str>,
}

#[derive(Debug, Serialize)]
#[expect(clippy::struct_field_names, reason = "the names of the fields in JSON")]
struct UsageEntry {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
    reasoning_tokens: Option<u64>,
}

#[derive(Debug, Serialize)]
struct GapEntry<'t> {
    kind: &'static str,
    loses: bool,
    message: &'t str,
}

impl<'t> Document<'t> {
    pub(super) fn of(traces: &'t Traces, outcome: Outcome) -> Self {
        Self {
            command: "traces",
            outcome,
            spans: traces.spans(),
            conversations: traces.conversations().iter().map(conversation).collect(),
            gaps: gaps(traces.gaps()),
        }
    }
}

fn conversation(it: &Conversation) -> ConversationEntry<'_> {
    ConversationEntry {
        key: &it.key,
        case: it.case_id.as_deref(),
        traces: &it.trace_ids,
        turns: it.turns.iter().map(turn).collect(),
        gaps: gaps(&it.gaps),
    }
}

fn turn(it: &Turn) -> TurnEntry<'_> {
    TurnEntry {
        trace: &it.trace_id,
        span: &it.span_id,
        agent: it.agent.as_deref(),
        agents: &it.agents,
        user: it.user.as_deref(),
        calls: it.calls.iter().map(call).collect(),
        intermediate: &it.intermediate,
        answer: it.answer.as_deref(),
        usage: usage(it.usage),
        model_calls: it.model_calls.iter().map(model_call).collect(),
        start_unix_nano: it.start_ns,
        end_unix_nano: it.end_ns,
        error: it.error.as_deref(),
        gaps: gaps(&it.gaps),
    }
}

fn usage(it: Usage) -> UsageEntry {
    UsageEntry {
        input_tokens: it.input_tokens,
        output_tokens: it.output_tokens,
        cache_read_tokens: it.cache_read_tokens,
        cache_write_tokens: it.cache_write_tokens,
        reasoning_tokens: it.reasoning_tokens,
    }
}

fn model_call(it: &ModelCall) -> ModelCallEntry<'_> {
    ModelCallEntry {
        agent: it.agent.as_deref(),
        model: it.model.as_deref(),
        usage: usage(it.usage),
        error: it.error.as_deref(),
    }
}

fn call(it: &ToolCall) -> CallEntry<'_> {
    CallEntry {
        id: it.id.as_deref(),
        name: &it.name,
        args: it.args.as_ref(),
        result: it.result.as_ref(),
        agent: it.agent.as_deref(),
        error: it.error.as_deref(),
    }
}

fn gaps(all: &[Gap]) -> Vec<GapEntry<'_>> {
    let entries = all.iter().map(|gap| GapEntry {
        kind: gap.kind.code(),
        loses: gap.kind.loses(),
        message: &gap.message,
    });
    entries.collect()
}
