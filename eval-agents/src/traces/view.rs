//! What is kept of a span: what the conversation is made of, under one name each.

use std::sync::Arc;

use eval_core::format::Value;

use super::gap::Gap;
use super::id::Id;
use super::message::{Message, NoContent, Part, PartCall, Response, text_of};

/// A span.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Span {
    pub(super) trace: Id,
    pub(super) id: Id,
    pub(super) parent: Option<Id>,
    /// The name, of spans that are looked at.
    pub(super) name: Box<str>,
    /// Nanoseconds since 1970; `None` if they are not written.
    pub(super) start: Option<u64>,
    pub(super) end: Option<u64>,
    pub(super) status: Status,
    /// What names the conversation: of the span, and of its resource.
    pub(super) identity: Option<Box<Identity>>,
    pub(super) resource: Option<Arc<Identity>>,
    /// What models, agents and tools did; `None` for spans that say nothing of it.
    pub(super) view: Option<Box<View>>,
    /// What is wrong with the span itself.
    pub(super) gaps: Vec<Gap>,
}

impl Span {
    pub(super) fn starts(&self) -> u64 {
        self.start.unwrap_or_default()
    }

    pub(super) fn ends(&self) -> u64 {
        self.end.unwrap_or_default().max(self.starts())
    }

    /// What siblings are ordered by.
    pub(super) fn order(&self) -> (u64, &Id) {
        (self.starts(), &self.id)
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

/// What a span says of models, agents and tools.
#[expect(clippy::struct_excessive_bools, reason = "each says one thing of a span, apart from the others")]
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct View {
    /// `gen_ai.operation.name`.
    pub(super) operation: Option<Box<str>>,
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
    pub(super) agent: Option<Box<str>>,
    pub(super) workflow: Option<Box<str>>,
    pub(super) error_type: Option<Box<str>>,
    pub(super) has_exception: bool,
    pub(super) tool: Option<Box<str>>,
    pub(super) call_id: Option<Box<str>>,
    pub(super) args: Slot<Value>,
    pub(super) result: Slot<Arc<Value>>,
    /// Input, output, read from a cache, written to one, thought.
    pub(super) usage: [Slot<u64>; 5],
    pub(super) input: Slot<Input>,
    pub(super) output: Slot<Output>,
    pub(super) finish: Slot<Vec<Box<str>>>,
    pub(super) request_model: Slot<Box<str>>,
    pub(super) response_model: Slot<Box<str>>,
}

/// What a model was sent, reduced to what a turn needs: histories are long and stand in every call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Input {
    /// What the user said last.
    pub(super) user: Option<Box<str>>,
    /// Whether that has data beside its text.
    pub(super) has_data: bool,
    /// Whether the last message is the result of a tool.
    pub(super) ends_with_result: bool,
    pub(super) results: Vec<Arc<Response>>,
    /// The first part of a kind that is not known.
    pub(super) unknown: Option<Box<str>>,
}

impl Input {
    /// Keeps one copy of each result.
    pub(super) fn of(messages: &[Message], mut keep: impl FnMut(&Arc<Response>) -> Arc<Response>) -> Self {
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
            Part::Response(response) => Some(keep(response)),
            _ => None,
        });
        Self {
            results: results.collect(),
            user: text_of(run).map(Into::into),
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
    pub(super) texts: Vec<Box<str>>,
    pub(super) calls: Vec<PartCall>,
    pub(super) has_data: bool,
    /// Whether a text is a placeholder.
    pub(super) is_redacted: bool,
    pub(super) unknown: Option<Box<str>>,
}

impl Output {
    pub(super) fn of(messages: Vec<Message>) -> Self {
        let texts: Vec<Box<str>> = messages.iter().filter_map(|it| it.text().map(Into::into)).collect();
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
