//! Conversations and turns found in traces.

use std::num::NonZeroU64;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use eval_core::format::options::DEFAULT_AUTHOR;
use eval_core::format::{
    Content, EvalCase, FunctionCall, FunctionResponse, IntermediateData, Invocation, Map, Part,
    UsageMetadata, Value,
};
use serde::Serialize;

use super::gap::{self, Gap};
use super::view::Span;

/// The maximum total bytes of gaps in the traces of a conversation. Above it, each trace gets them in short.
const MAX_GAP_BYTES: usize = 8 << 20;

/// A conversation: the turns of all traces that name it, in the order of time. It serialises as `cargo evalset traces
/// --format json` prints it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Conversation {
    /// The key that identifies it: the name or id that its spans give, else the id of its trace.
    pub key: String,
    /// The id of the case that it was recorded for, if its spans name one (`agentevals.eval.case.id`).
    #[serde(rename = "case")]
    pub case_id: Option<String>,
    /// The ids of its traces, the earliest first.
    #[serde(rename = "traces")]
    pub trace_ids: Vec<String>,
    /// The turns.
    pub turns: Vec<Turn>,
    /// The gaps of its traces, apart from the gaps of a turn.
    pub gaps: Vec<Gap>,
}

impl Conversation {
    /// The gaps of the conversation and of all its turns: the number of the turn, from 1, and the gap.
    pub fn all_gaps(&self) -> impl Iterator<Item = (Option<usize>, &Gap)> {
        let of_turns = (1..).zip(&self.turns);
        let own = self.gaps.iter().map(|gap| (None, gap));
        own.chain(of_turns.flat_map(|(number, turn)| turn.gaps.iter().map(move |gap| (Some(number), gap))))
    }

    /// One conversation per trace. Each gets all gaps, as missing data may belong to any of them.
    pub(super) fn by_trace(self) -> Vec<Self> {
        let Self { key: _, case_id, trace_ids, turns, gaps } = self;
        // Many gaps, copied for many traces, would be larger than the traces themselves.
        let size: usize = gaps.iter().map(|gap| gap.message.len()).sum();
        let gaps =
            if size.saturating_mul(trace_ids.len()) > MAX_GAP_BYTES { gap::in_short(gaps) } else { gaps };
        let mut parts: Vec<Self> = trace_ids
            .into_iter()
            .map(|id| Self {
                key: id.clone(),
                case_id: case_id.clone(),
                trace_ids: vec![id],
                turns: Vec::new(),
                gaps: gaps.clone(),
            })
            .collect();
        let places: std::collections::HashMap<String, usize> =
            parts.iter().enumerate().map(|(at, part)| (part.key.clone(), at)).collect();
        for turn in turns {
            // A turn belongs to a single trace.
            if let Some(at) = places.get(&turn.trace_id) {
                parts[*at].turns.push(turn);
            }
        }
        parts
    }

    /// A case that expects what happened: a golden of this conversation.
    ///
    /// The case expects nothing that the trace lacks. See [`all_gaps`](Self::all_gaps) before relying on it.
    ///
    /// ```no_run
    /// use eval_agents::traces::Traces;
    /// use eval_core::format::EvalSet;
    ///
    /// let traces = Traces::read("traces/weather.json")?;
    /// let set = EvalSet::new("weather").case(traces.conversations()[0].to_case("sunny"));
    /// # Ok::<_, eval_agents::traces::TraceError>(())
    /// ```
    pub fn to_case(&self, eval_id: impl Into<String>) -> EvalCase {
        let mut case = EvalCase::new(eval_id);
        case.creation_timestamp = self.turns.first().map_or(0.0, Turn::seconds);
        case.conversation = self.turns.iter().map(Turn::to_invocation).collect();
        case
    }
}

/// A turn: the events from a message of the user to the answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Turn {
    /// The trace that it was found in.
    #[serde(rename = "trace")]
    pub trace_id: String,
    /// The span that holds it: of an agent, of a workflow, or the root of its trace.
    #[serde(rename = "span")]
    pub span_id: String,
    /// The agent that answered, if one is named.
    pub agent: Option<String>,
    /// All agents that took part, by name.
    pub agents: Vec<String>,
    /// The user's message.
    pub user: Option<String>,
    /// The tool calls, in the order in which they were made.
    pub calls: Vec<ToolCall>,
    /// The texts of agents before the answer.
    pub intermediate: Vec<String>,
    /// The answer.
    pub answer: Option<String>,
    /// The tokens of all model calls.
    pub usage: Usage,
    /// The model calls, in the order in which they began. Calls inside tools are included.
    pub model_calls: Vec<ModelCall>,
    /// The time at which it began, in nanoseconds since 1970; `None` if the span that holds it does not say.
    #[serde(rename = "start_unix_nano")]
    pub start_ns: Option<NonZeroU64>,
    /// The time at which it ended, in nanoseconds since 1970; `None` if the span that holds it does not say.
    #[serde(rename = "end_unix_nano")]
    pub end_ns: Option<NonZeroU64>,
    /// The error, if it failed: its type, or `_OTHER`.
    pub error: Option<String>,
    /// The gaps of the turn.
    pub gaps: Vec<Gap>,
}

/// The time from the first start to the last end of some spans; `None` if one is missing.
pub(super) fn duration<'s>(spans: impl Iterator<Item = &'s Span> + Clone) -> Option<Duration> {
    let start = spans.clone().filter_map(|span| span.start).min()?;
    let end = spans.filter_map(|span| span.end).max()?;
    end.get().checked_sub(start.get()).map(Duration::from_nanos)
}

impl Turn {
    /// The time at which it began; `None` if the trace does not say.
    pub fn start(&self) -> Option<SystemTime> {
        self.start_ns.map(|start| UNIX_EPOCH + Duration::from_nanos(start.get()))
    }

    /// Its duration; `None` if the trace does not say, or if it ends before it begins. The turn then has a gap of the
    /// kind [`NoTime`](super::GapKind::NoTime).
    pub fn duration(&self) -> Option<Duration> {
        self.end_ns?.get().checked_sub(self.start_ns?.get()).map(Duration::from_nanos)
    }

    /// The time at which it began, in seconds since 1970, as ADK writes it: 0.0 if it is not known.
    #[expect(clippy::cast_precision_loss, reason = "ADK's timestamps are floats")]
    fn seconds(&self) -> f64 {
        self.start_ns.map_or(0.0, |start| start.get() as f64 / 1e9)
    }

    /// The turn as a turn of an eval set: its events become the expectations.
    pub fn to_invocation(&self) -> Invocation {
        let said = self.agent.as_deref().unwrap_or(DEFAULT_AUTHOR);
        let turn = Invocation::user(self.user.clone().unwrap_or_default())
            .with_invocation_id(&self.span_id)
            .with_creation_timestamp(self.seconds())
            .with_intermediate_data(IntermediateData::Tools {
                tool_uses: self.calls.iter().map(ToolCall::to_function_call).collect(),
                tool_responses: self.calls.iter().filter_map(ToolCall::to_function_response).collect(),
                intermediate_responses: self
                    .intermediate
                    .iter()
                    .map(|text| (said.to_owned(), vec![Part::text(text)]))
                    .collect(),
            });
        match &self.answer {
            Some(answer) => turn.with_final_response(Content::model(answer)),
            None => turn,
        }
    }
}

/// A call of a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ModelCall {
    /// The agent that made it, if one is named.
    pub agent: Option<String>,
    /// The version of the model that answered, if it is named; else the model that was asked.
    pub model: Option<String>,
    /// Its tokens.
    pub usage: Usage,
    /// Its duration; `None` if the trace does not say.
    #[serde(skip)]
    pub duration: Option<Duration>,
    /// The error, if it failed: its type, or `_OTHER`.
    pub error: Option<String>,
}

/// A call of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ToolCall {
    /// The id, if it has one.
    pub id: Option<String>,
    /// The tool.
    pub name: String,
    /// The arguments; `None` if the trace does not say. A tool without parameters has an empty object.
    pub args: Option<Value>,
    /// The result of the tool; `None` if the trace does not say.
    pub result: Option<Value>,
    /// The agent that called it, if one is named.
    pub agent: Option<String>,
    /// Its duration; `None` if it has no span, or a span without times.
    #[serde(skip)]
    pub duration: Option<Duration>,
    /// The error, if it failed: its type, or `_OTHER`.
    pub error: Option<String>,
}

impl ToolCall {
    /// The call as an eval set has it. Arguments that are no object are under the key `value`.
    pub fn to_function_call(&self) -> FunctionCall {
        let mut call = FunctionCall::new(&self.name, self.args.clone().unwrap_or_else(|| Map::new().into()));
        call.id.clone_from(&self.id);
        call
    }

    /// The result as an eval set has it, if the trace has one. A result that is no object is under the key `result`.
    pub fn to_function_response(&self) -> Option<FunctionResponse> {
        let mut response = FunctionResponse::new(&self.name, self.result.clone()?);
        response.id.clone_from(&self.id);
        Some(response)
    }
}

/// Token counts. `None` means not recorded, not 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens that were sent to models.
    pub input_tokens: Option<u64>,
    /// Tokens that models wrote.
    pub output_tokens: Option<u64>,
    /// Tokens that models read from a cache.
    pub cache_read_tokens: Option<u64>,
    /// Tokens that models wrote to a cache.
    pub cache_write_tokens: Option<u64>,
    /// Tokens of models' reasoning.
    pub reasoning_tokens: Option<u64>,
}

impl Usage {
    pub(super) fn plus(self, more: Self) -> Self {
        let add = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (Some(one), Some(other)) => Some(one.saturating_add(other)),
            (one, other) => one.or(other),
        };
        Self {
            input_tokens: add(self.input_tokens, more.input_tokens),
            output_tokens: add(self.output_tokens, more.output_tokens),
            cache_read_tokens: add(self.cache_read_tokens, more.cache_read_tokens),
            cache_write_tokens: add(self.cache_write_tokens, more.cache_write_tokens),
            reasoning_tokens: add(self.reasoning_tokens, more.reasoning_tokens),
        }
    }

    /// The tokens as ADK writes them; `None` if none are recorded.
    pub fn to_metadata(self) -> Option<UsageMetadata> {
        if self == Self::default() {
            return None;
        }
        let int = |tokens: Option<u64>| tokens.map(|tokens| i64::try_from(tokens).unwrap_or(i64::MAX));
        let total = [self.input_tokens, self.output_tokens, self.reasoning_tokens];
        let mut metadata = UsageMetadata::default();
        metadata.prompt_token_count = int(self.input_tokens);
        metadata.candidates_token_count = int(self.output_tokens);
        metadata.cached_content_token_count = int(self.cache_read_tokens);
        metadata.thoughts_token_count = int(self.reasoning_tokens);
        metadata.total_token_count = int(total.into_iter().flatten().reduce(u64::saturating_add));
        Some(metadata)
    }
}

#[cfg(test)]
mod tests {
    use super::super::gap::GapKind;
    use super::*;

    #[test]
    fn gaps_are_told_in_short_once_all_traces_together_have_more_than_the_limit() {
        let by_trace = |bytes: usize| {
            let gaps = vec![Gap::new(GapKind::Malformed, "x".repeat(bytes))];
            let trace_ids = vec!["a".to_owned(), "b".to_owned()];
            let turn = Turn { trace_id: "b".to_owned(), ..Turn::default() };
            let all = Conversation { trace_ids, gaps, turns: vec![turn], ..Conversation::default() };
            let parts = all.by_trace();
            assert_eq!(
                parts.iter().map(|part| (&*part.key, part.turns.len())).collect::<Vec<_>>(),
                [("a", 0), ("b", 1)]
            );
            parts[1].gaps[0].message.len()
        };
        let most = MAX_GAP_BYTES / 2;
        assert_eq!(by_trace(most), most);
        assert!(by_trace(most + 1) < most);
    }

    #[test]
    fn tokens_are_adks_only_if_some_are_recorded_and_add_up() {
        assert_eq!(Usage::default().to_metadata(), None);
        let one = Usage { input_tokens: Some(3), reasoning_tokens: Some(u64::MAX), ..Usage::default() };
        let both = one.plus(Usage { input_tokens: Some(2), output_tokens: Some(7), ..Usage::default() });
        let expected = Usage { input_tokens: Some(5), output_tokens: Some(7), ..one };
        assert_eq!(both, expected);
        let metadata = both.to_metadata().unwrap();
        let counts = (metadata.prompt_token_count, metadata.candidates_token_count);
        assert_eq!((counts, metadata.cached_content_token_count), ((Some(5), Some(7)), None));
        assert_eq!(
            metadata.total_token_count,
            Some(i64::MAX),
            "what is beyond 64 bits is the largest number"
        );
    }

    #[test]
    fn calls_and_results_of_a_set_have_the_id_and_a_result_that_is_not_known_is_none() {
        let call = |result| ToolCall {
            id: Some("c".to_owned()),
            name: "f".to_owned(),
            result,
            ..ToolCall::default()
        };
        assert_eq!(call(None).to_function_response(), None);
        let response = call(Some(Value::from("sunny"))).to_function_response().unwrap();
        assert_eq!((response.id.as_deref(), response.name.as_deref()), (Some("c"), Some("f")));
        assert_eq!(call(None).to_function_call().id.as_deref(), Some("c"));
    }

    #[test]
    fn the_time_of_a_turn_is_that_of_its_span_and_none_if_it_ends_before_it_begins() {
        let turn = |start, end| Turn {
            start_ns: NonZeroU64::new(start),
            end_ns: NonZeroU64::new(end),
            ..Turn::default()
        };
        let known = turn(1_500_000_000, 4_000_000_000);
        assert_eq!(known.start(), Some(UNIX_EPOCH + Duration::from_millis(1500)));
        assert_eq!(
            (known.duration(), known.to_invocation().creation_timestamp),
            (Some(Duration::from_millis(2500)), 1.5)
        );
        assert_eq!((turn(2, 1).duration(), turn(0, 1).start()), (None, None));
    }
}
