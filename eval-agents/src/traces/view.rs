//! What is kept of a span: what the conversation is made of, under one name each.

use std::num::NonZeroU64;
use std::sync::{Arc, LazyLock};

use eval_core::format::Value;

use super::copies::Copies;
use super::gap::{Gap, GapKind};
use super::id::Id;
use super::message::{Message, NoContent, Part, PartCall, Response, text_of};

/// A span. A file can have millions of them, so each byte counts here.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Span {
    pub(super) id: Id,
    pub(super) parent: Option<Id>,
    /// The name, of spans that are looked at: see [`Span::kept_name`].
    pub(super) name: Box<str>,
    /// Nanoseconds since 1970; `None` if they are not written.
    pub(super) start: Option<NonZeroU64>,
    pub(super) end: Option<NonZeroU64>,
    pub(super) status: Status,
    /// What names the conversation: of the span, and of its resource.
    pub(super) identity: Option<Box<Identity>>,
    pub(super) resource: Option<Arc<Identity>>,
    /// What models, agents and tools did; `None` for spans that say nothing of it.
    pub(super) view: Option<Box<View>>,
}

impl Span {
    /// When it ended, for the order: not before it began. A span without times stands first.
    pub(super) fn ends(&self) -> Option<NonZeroU64> {
        self.end.max(self.start)
    }

    /// What is wrong with the span itself.
    pub(super) fn gap(&self) -> Option<Gap> {
        let is_timed = self.start.is_some() && self.end.is_some();
        (self.view.is_some() && !is_timed).then(|| {
            let message = format!("the span {} has no time of its beginning or end", self.id);
            Gap::new(GapKind::NoTime, message)
        })
    }

    /// What siblings are ordered by.
    pub(super) fn order(&self) -> (Option<NonZeroU64>, &Id) {
        (self.start, &self.id)
    }
}

/// The type of an error that has none.
pub(super) const OTHER_ERROR: &str = "_OTHER";

/// How a span ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Status {
    #[default]
    Unset,
    Ok,
    Error,
}

/// What names a conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Identity {
    pub(super) session_name: Option<Box<str>>,
    pub(super) conversation_id: Option<Box<str>>,
    pub(super) session_id: Option<Box<str>>,
    pub(super) adk_session_id: Option<Box<str>>,
    pub(super) case_id: Option<Box<str>>,
}

/// What a span is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Inference,
    Agent,
    Workflow,
    Tool,
    /// A span of an operation that is no part of a turn: embeddings, retrieval.
    Other,
}

/// Where a value comes from, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    Current,
    Alias,
    DetailsEvent,
    DetailsLog,
    MessageEvent,
    MessageLog,
    Adk,
    Indexed,
    OpenInference,
}

/// A value of the best source that had one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Slot<T> {
    value: Option<(Source, T)>,
    /// Whether a source had the attribute, but not its content.
    pub(super) missing: Option<NoContent>,
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self { value: None, missing: None }
    }
}

impl<T> Slot<T> {
    /// Takes the value if no source before has one.
    pub(super) fn offer(&mut self, source: Source, value: T) {
        if self.value.as_ref().is_none_or(|(known, _)| source < *known) {
            self.value = Some((source, value));
        }
    }

    /// Takes the value, or remembers why there is none.
    pub(super) fn offer_read(&mut self, source: Source, read: Result<T, NoContent>) {
        match read {
            Ok(value) => self.offer(source, value),
            Err(why) => {
                let is_worse = why == NoContent::Unreadable;
                if self.missing.is_none() || is_worse {
                    self.missing = Some(why);
                }
            }
        }
    }

    pub(super) fn get(&self) -> Option<&T> {
        self.value.as_ref().map(|(_, value)| value)
    }

    pub(super) fn source(&self) -> Option<Source> {
        self.value.as_ref().map(|(source, _)| *source)
    }

    pub(super) fn is_unreadable(&self) -> bool {
        self.value.is_none() && self.missing == Some(NoContent::Unreadable)
    }
}

/// What a span says of models, agents and tools. What few spans say stands apart, as there can be millions of them.
#[expect(clippy::struct_excessive_bools, reason = "each says one thing of a span, apart from the others")]
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct View {
    /// What `gen_ai.operation.name` says.
    pub(super) operation: Option<Class>,
    /// The class that another convention gives the span.
    pub(super) other_class: Option<Class>,
    /// Whether the span records a call of a model, with the model and its provider.
    pub(super) records_a_call: bool,
    /// Whether the span is ADK's own.
    pub(super) is_adk: bool,
    /// Whether ADK was told not to capture content.
    pub(super) adk_without_content: bool,
    /// Whether the span stands for several that are there too.
    pub(super) is_ignored: bool,
    pub(super) has_exception: bool,
    pub(super) agent: Option<Arc<str>>,
    pub(super) error_type: Option<Box<str>>,
    tool: Option<Box<OfTool>>,
    model: Option<Box<OfModel>>,
}

impl View {
    /// What it says of a call of a tool.
    pub(super) fn tool(&self) -> &OfTool {
        static NOTHING: LazyLock<OfTool> = LazyLock::new(OfTool::default);
        self.tool.as_deref().unwrap_or_else(|| &NOTHING)
    }

    /// What it says of a call of a tool, to add to it.
    pub(super) fn tool_mut(&mut self) -> &mut OfTool {
        self.tool.get_or_insert_default()
    }

    /// What it says of a call of a model.
    pub(super) fn model(&self) -> &OfModel {
        static NOTHING: LazyLock<OfModel> = LazyLock::new(OfModel::default);
        self.model.as_deref().unwrap_or_else(|| &NOTHING)
    }

    /// What it says of a call of a model, to add to it.
    pub(super) fn model_mut(&mut self) -> &mut OfModel {
        self.model.get_or_insert_default()
    }
}

/// What a span says of a call of a tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct OfTool {
    pub(super) name: Option<Arc<str>>,
    pub(super) call_id: Option<Box<str>>,
    pub(super) args: Slot<Value>,
    pub(super) result: Slot<Arc<Value>>,
}

/// What a span says of a call of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct OfModel {
    pub(super) usage: Tokens,
    pub(super) input: Slot<Input>,
    pub(super) output: Slot<Output>,
    pub(super) finish: Slot<Vec<Box<str>>>,
    pub(super) request_model: Slot<Arc<str>>,
    pub(super) response_model: Slot<Arc<str>>,
}

/// The tokens of a call: input, output, read from a cache, written to one, thought. Each is of the best source that had it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tokens {
    counts: [u64; 5],
    sources: [Option<Source>; 5],
}

impl Tokens {
    /// Takes the tokens of a kind if no source before has them.
    pub(super) fn offer(&mut self, kind: usize, source: Source, count: u64) {
        if self.sources[kind].is_none_or(|known| source < known) {
            self.sources[kind] = Some(source);
            self.counts[kind] = count;
        }
    }

    pub(super) fn get(&self, kind: usize) -> Option<u64> {
        self.sources[kind].map(|_| self.counts[kind])
    }
}

/// What a model was sent, reduced to what a turn needs: histories are long and stand in every call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Input {
    /// What the user said last. Each call of a model in a turn is sent it again.
    pub(super) user: Option<Arc<str>>,
    /// Whether that has data beside its text.
    pub(super) has_data: bool,
    /// Whether the last message is the result of a tool.
    pub(super) ends_with_result: bool,
    pub(super) results: Box<[Arc<Response>]>,
    /// The first part of a kind that is not known.
    pub(super) unknown: Option<Box<str>>,
}

impl Input {
    /// Keeps one copy of each result, and of what the user said.
    pub(super) fn of(messages: &[Message], copies: &mut Copies) -> Self {
        let is_users = |message: &Message| message.role == "user" && message.text().is_some();
        let run = match messages.iter().rposition(is_users) {
            Some(last) => {
                let first =
                    messages[..last].iter().rposition(|message| !is_users(message)).map_or(0, |at| at + 1);
                &messages[first..=last]
            }
            // A single message of a role of its own is what was sent.
            None if messages.len() == 1 && !matches!(&*messages[0].role, "assistant" | "system" | "tool") => {
                messages
            }
            None => &[],
        };
        let in_run = || run.iter().flat_map(|message| &message.parts);
        let is_result = |part: &Part| matches!(part, Part::Response(_));
        let ends_with_result = messages.last().is_some_and(|message| {
            message.role == "tool" || !message.parts.is_empty() && message.parts.iter().all(is_result)
        });
        let all = messages.iter().flat_map(|message| &message.parts);
        let results = all.filter_map(|part| match part {
            Part::Response(response) => Some(copies.response(response)),
            _ => None,
        });
        Self {
            results: results.collect(),
            user: text_of(run).map(|text| copies.text(&text)),
            has_data: in_run().any(|part| matches!(part, Part::Data)),
            ends_with_result,
            unknown: in_run().find_map(unknown),
        }
    }
}

fn unknown(part: &Part) -> Option<Box<str>> {
    match part {
        Part::Unknown(kind) => Some(kind.as_str().into()),
        _ => None,
    }
}

/// What a model put out.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Output {
    /// The texts of the messages that have one.
    pub(super) texts: Box<[Box<str>]>,
    pub(super) calls: Box<[PartCall]>,
    pub(super) has_data: bool,
    /// Whether a text is a placeholder.
    pub(super) is_redacted: bool,
    pub(super) unknown: Option<Box<str>>,
}

impl Output {
    pub(super) fn of(messages: Vec<Message>) -> Self {
        let texts: Box<[Box<str>]> = messages.iter().filter_map(|it| it.text().map(Into::into)).collect();
        let parts = || messages.iter().flat_map(|message| &message.parts);
        let has_data = parts().any(|part| matches!(part, Part::Data));
        let unknown = parts().find_map(unknown);
        let is_redacted = parts().any(|part| matches!(part, Part::Redacted));
        let calls = messages.into_iter().flat_map(|message| message.parts).filter_map(|part| match part {
            Part::Call(call) => Some(call),
            _ => None,
        });
        Self { calls: calls.collect(), texts, has_data, is_redacted, unknown }
    }

    /// All texts, joined.
    pub(super) fn text(&self) -> Option<String> {
        (!self.texts.is_empty()).then(|| self.texts.concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_stays_small_as_a_file_has_millions() {
        assert!(size_of::<Span>() <= 112, "{}", size_of::<Span>());
        assert!(size_of::<View>() <= 56, "{}", size_of::<View>());
    }

    #[test]
    fn tokens_are_those_of_the_best_source() {
        let mut tokens = Tokens::default();
        tokens.offer(1, Source::Adk, 7);
        tokens.offer(1, Source::Current, 0);
        tokens.offer(1, Source::Alias, 9);
        assert_eq!((tokens.get(0), tokens.get(1)), (None, Some(0)));
    }
}
