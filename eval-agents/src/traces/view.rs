//! View of a span: the data that conversations need, in one form for all conventions.

use std::num::NonZeroU64;
use std::sync::{Arc, LazyLock};

use eval_core::format::Value;

use super::copies::Copies;
use super::gap::{Gap, GapKind};
use super::history::{Atoms, History};
use super::id::Id;
use super::message::{Message, NoContent, Part, PartCall, Response, text_of};

/// A span. A file can have millions of them, so each byte counts here.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Span {
    pub(super) id: Id,
    pub(super) parent: Option<Id>,
    /// The name. Empty unless [`Span::kept_name`] keeps it.
    pub(super) name: Box<str>,
    /// Nanoseconds since 1970; `None` if they are not written.
    pub(super) start: Option<NonZeroU64>,
    pub(super) end: Option<NonZeroU64>,
    pub(super) status: Status,
    /// The number of its attributes, events and links that the limits of its SDK dropped.
    pub(super) dropped: u32,
    /// The identity of the conversation: from the span, and from its resource.
    pub(super) identity: Option<Box<Identity>>,
    pub(super) resource: Option<Arc<Identity>>,
    pub(super) view: Option<Box<View>>,
}

impl Span {
    /// The end as a sort key, never before the start. A span without times comes first.
    pub(super) fn ends(&self) -> Option<NonZeroU64> {
        self.end.max(self.start)
    }

    pub(super) fn gaps(&self) -> impl Iterator<Item = Gap> {
        let is_timed = self.start.is_some() && self.end.is_some();
        let no_time = (self.view.is_some() && !is_timed).then(|| {
            let message = format!("the span {} has no time of its beginning or end", self.id);
            Gap::new(GapKind::NoTime, message)
        });
        let dropped = (self.dropped > 0).then(|| {
            let (id, dropped) = (&self.id, self.dropped);
            let message = format!(
                "{dropped} attributes, events or links of the span {id} were dropped by its SDK's limits"
            );
            Gap::new(GapKind::Dropped, message)
        });
        no_time.into_iter().chain(dropped)
    }

    pub(super) fn order(&self) -> (Option<NonZeroU64>, &Id) {
        (self.start, &self.id)
    }

    /// The name if it is needed, else an empty text. ADK's names are always kept: they matter if the scope is
    /// ADK's, and the scope can follow the span.
    pub(super) fn kept_name(name: &str, is_viewed: bool) -> Box<str> {
        if is_viewed || matches!(name, ADK_MODEL | ADK_TURN) { name.into() } else { Box::default() }
    }

    pub(super) fn class(&self) -> Option<Class> {
        self.view.as_ref()?.class(&self.name)
    }
}

/// The `error.type` of a span that names none.
pub(super) const OTHER_ERROR: &str = "_OTHER";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Status {
    #[default]
    Unset,
    Ok,
    Error,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Identity {
    pub(super) session_name: Option<Box<str>>,
    pub(super) conversation_id: Option<Box<str>>,
    pub(super) session_id: Option<Box<str>>,
    pub(super) adk_session_id: Option<Box<str>>,
    pub(super) case_id: Option<Box<str>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Inference,
    Agent,
    Workflow,
    Tool,
    /// A span of an operation that is no part of a turn: embeddings, retrieval.
    Other,
}

/// The source of a value, the best first.
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
    /// The input of a tool span. It need not be arguments by name, so arguments in a message are better.
    ToolInput,
}

/// A value of the best source that had one.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Slot<T> {
    value: Option<(Source, T)>,
    /// The reason for missing content, if a source had the attribute without it.
    pub(super) missing: Option<NoContent>,
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self { value: None, missing: None }
    }
}

impl<T> Slot<T> {
    /// Takes the value, unless an equal or better source gave one.
    pub(super) fn offer(&mut self, source: Source, value: T) {
        if self.value.as_ref().is_none_or(|(known, _)| source < *known) {
            self.value = Some((source, value));
        }
    }

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

    pub(super) fn is_of(&self, source: Source) -> bool {
        self.source() == Some(source)
    }

    pub(super) fn is_unreadable(&self) -> bool {
        self.value.is_none() && self.missing == Some(NoContent::Unreadable)
    }
}

/// The view of models, agents and tools in a span. Rare parts are boxed, as there can be millions of spans.
#[expect(clippy::struct_excessive_bools, reason = "each says one thing of a span, apart from the others")]
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct View {
    /// The class by `gen_ai.operation.name`.
    pub(super) operation: Option<Class>,
    /// The class that another convention gives the span.
    pub(super) other_class: Option<Class>,
    /// Whether the span records a call of a model, with the model and its provider.
    pub(super) records_a_call: bool,
    pub(super) is_adk: bool,
    /// Whether ADK was told not to capture content.
    pub(super) adk_without_content: bool,
    /// Whether the span only groups other steps: a chain of `OpenInference` or a workflow of traceloop.
    pub(super) is_chain: bool,
    pub(super) is_ignored: bool,
    pub(super) has_exception: bool,
    pub(super) agent: Option<Arc<str>>,
    pub(super) error_type: Option<Box<str>>,
    tool: Option<Box<OfTool>>,
    model: Option<Box<OfModel>>,
}

impl View {
    pub(super) fn tool(&self) -> &OfTool {
        static NOTHING: LazyLock<OfTool> = LazyLock::new(OfTool::default);
        self.tool.as_deref().unwrap_or_else(|| &NOTHING)
    }

    pub(super) fn tool_mut(&mut self) -> &mut OfTool {
        self.tool.get_or_insert_default()
    }

    pub(super) fn model(&self) -> &OfModel {
        static NOTHING: LazyLock<OfModel> = LazyLock::new(OfModel::default);
        self.model.as_deref().unwrap_or_else(|| &NOTHING)
    }

    pub(super) fn model_mut(&mut self) -> &mut OfModel {
        self.model.get_or_insert_default()
    }

    /// The class of a span of this name; `None` if it has nothing to do with models, agents and tools.
    ///
    /// Names decide for ADK's own spans alone. Names of tool spans are read into `other_class`.
    pub(super) fn class(&self, name: &str) -> Option<Class> {
        if self.is_ignored {
            return None;
        }
        if let Some(operation) = self.operation {
            // An unknown operation still counts as a call if its data shows one.
            return Some(if operation == Class::Other {
                self.called().unwrap_or(operation)
            } else {
                operation
            });
        }
        match name {
            ADK_MODEL if self.is_adk => return Some(Class::Inference),
            ADK_TURN if self.is_adk => return Some(Class::Workflow),
            _ => {}
        }
        let recorded = self.records_a_call.then_some(Class::Inference);
        self.other_class.or(recorded).or_else(|| self.called())
    }

    /// The class by the data of a call: of a tool, or of a model that asks for tools.
    fn called(&self) -> Option<Class> {
        let asks = |output: &Output| !output.calls.is_empty();
        if self.tool.is_some() {
            Some(Class::Tool)
        } else {
            self.model().output.get().is_some_and(asks).then_some(Class::Inference)
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct OfTool {
    pub(super) name: Option<Arc<str>>,
    pub(super) call_id: Option<Box<str>>,
    pub(super) args: Slot<Value>,
    pub(super) result: Slot<Arc<Value>>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct OfModel {
    pub(super) usage: Tokens,
    pub(super) input: Slot<Input>,
    pub(super) output: Slot<Output>,
    pub(super) finish: Slot<Vec<Box<str>>>,
    pub(super) request_model: Slot<Arc<str>>,
    pub(super) response_model: Slot<Arc<str>>,
}

/// The tokens of a call: input, output, read from a cache, written to one, thought. Each count comes from the best
/// source that reports it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tokens {
    counts: [u64; 5],
    sources: [Option<Source>; 5],
}

impl Tokens {
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

/// The input of a model, reduced to the needs of a turn: histories are long and are repeated in every call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Input {
    /// The user's last messages. Each call of a model in a turn is sent them again.
    pub(super) users: Box<[Arc<str>]>,
    pub(super) has_data: bool,
    pub(super) has_earlier: bool,
    pub(super) ends_with_result: bool,
    pub(super) results: Box<[Arc<Response>]>,
    /// The number of results at the end, with nothing after them.
    pub(super) last_results: usize,
    pub(super) unknown: Option<Box<str>>,
    pub(super) history: History,
}

impl Input {
    pub(super) fn new(messages: &[Message], copies: &mut Copies) -> Self {
        let (before, run) = match messages.iter().rposition(Message::is_users) {
            Some(last) => {
                let others = messages[..last].iter().rposition(|message| !message.is_users());
                let first = others.map_or(0, |at| at + 1);
                (&messages[..first], &messages[first..=last])
            }
            // A single message is the user's, unless its role is one of these.
            None if messages.len() == 1 && !matches!(&*messages[0].role, "assistant" | "system" | "tool") => {
                (&[][..], messages)
            }
            None => (messages, &[][..]),
        };
        let in_run = || run.iter().flat_map(|message| &message.parts);
        let is_result = |part: &Part| matches!(part, Part::Response(_));
        let is_of_results =
            |message: &&Message| !message.parts.is_empty() && message.parts.iter().all(is_result);
        let last_results = messages.iter().rev().take_while(is_of_results).map(|it| it.parts.len()).sum();
        let ends_with_result = last_results > 0 || messages.last().is_some_and(|it| it.role == "tool");
        let all = messages.iter().flat_map(|message| &message.parts);
        let results = all.filter_map(|part| match part {
            Part::Response(response) => Some(copies.response(response)),
            _ => None,
        });
        let results = results.collect();
        let users = run.iter().filter_map(Message::text).map(|text| copies.text(&text));
        Self {
            users: users.collect(),
            has_data: in_run().any(|part| matches!(part, Part::Data)),
            has_earlier: !run.is_empty()
                && before.iter().any(|it| matches!(&*it.role, "assistant" | "model")),
            ends_with_result,
            results,
            last_results,
            unknown: in_run().find_map(unknown),
            history: History::new(messages),
        }
    }

    pub(super) fn last_results(&self) -> &[Arc<Response>] {
        &self.results[self.results.len().saturating_sub(self.last_results)..]
    }
}

fn unknown(part: &Part) -> Option<Box<str>> {
    match part {
        Part::Unknown(kind) => Some(kind.as_str().into()),
        _ => None,
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Output {
    /// The texts of the messages that have one.
    pub(super) texts: Box<[Box<str>]>,
    pub(super) calls: Box<[PartCall]>,
    pub(super) has_data: bool,
    pub(super) is_redacted: bool,
    pub(super) unknown: Option<Box<str>>,
    pub(super) atoms: Atoms,
}

impl Output {
    pub(super) fn new(messages: Vec<Message>) -> Self {
        let messages = without_chunks(messages);
        let atoms = Atoms::new(&messages);
        let texts: Box<[Box<str>]> = messages.iter().filter_map(|it| it.text().map(Into::into)).collect();
        let parts = || messages.iter().flat_map(|message| &message.parts);
        let has_data = parts().any(|part| matches!(part, Part::Data));
        let unknown = parts().find_map(unknown);
        let is_redacted = parts().any(|part| matches!(part, Part::Redacted));
        let calls = messages.into_iter().flat_map(|message| message.parts).filter_map(|part| match part {
            Part::Call(call) => Some(call),
            _ => None,
        });
        Self { calls: calls.collect(), texts, has_data, is_redacted, unknown, atoms }
    }

    pub(super) fn text(&self) -> Option<String> {
        (!self.texts.is_empty()).then(|| self.texts.concat())
    }
}

/// Messages without the chunks of a stream, if the last message is all of them put together.
fn without_chunks(mut messages: Vec<Message>) -> Vec<Message> {
    let calls = |messages: &[Message]| -> Vec<Part> {
        let parts = messages.iter().flat_map(|message| &message.parts);
        parts.filter(|part| matches!(part, Part::Call(_))).cloned().collect()
    };
    if let Some((last, chunks)) = messages.split_last()
        && let Some(said) = text_of(chunks.iter().flat_map(|message| &message.parts))
        && last.text() == Some(said)
        && calls(std::slice::from_ref(last)).starts_with(&calls(chunks))
    {
        messages.drain(..messages.len() - 1);
    }
    messages
}

const ADK_MODEL: &str = "call_llm";

const ADK_TURN: &str = "invocation";

#[cfg(test)]
mod tests;
