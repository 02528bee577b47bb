//! The log of one conversation: the turn in progress, and events that came too late for their turn.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use eval_format::Content;
use eval_support::message;
use eval_support::mutex::Mutex;
use eval_support::words::count;

use super::event::Event;
use super::weight;
use crate::models::ModelCalls;
use crate::tools::GoldenTools;

pub(crate) const MAX_EVENTS: usize = 100_000;

/// Of all turns of a conversation, which are one line of the journal.
pub(crate) const MAX_CONVERSATION_BYTES: usize = 64 << 20;

const MAX_NOTES: usize = 20;

/// Once in this many calls of tools, the recorder yields to the runtime, so that other work gets a chance,
/// such as the timer that ends the turn.
const CALLS_IN_A_ROW: usize = 32;

/// The log of one conversation. Its recorders share it.
///
/// Nothing that can panic halfway happens under the lock, so the log is complete after a panic.
#[derive(Debug, Default)]
pub(crate) struct Log {
    state: Mutex<State>,
    /// The answers to the calls of the agent; `None` if its tools run.
    tools: Option<GoldenTools>,
    /// The answers to its calls of models; `None` if it asks them itself.
    models: Option<ModelCalls>,
}

#[derive(Debug, Default)]
struct State {
    turns: usize,
    /// Recorded in the turns that ended.
    bytes: usize,
    calls_with_ids: usize,
    open: Option<OpenTurn>,
    /// Events that no turn could take. In a detached log: events that were not read yet.
    late: Option<Late>,
    is_detached: bool,
    /// Detached logs into which the agent of this conversation recorded.
    strays: Vec<Arc<Log>>,
    notes: Vec<String>,
    how_to_answer: Option<&'static str>,
}

#[derive(Debug)]
struct OpenTurn {
    begun: Instant,
    recorded: Recorded,
    /// The indices of the events that are chunks of streamed text.
    chunks: Vec<usize>,
    /// Recorded in this turn and the turns before it.
    bytes: usize,
    calls: usize,
}

#[derive(Debug, Default)]
pub(crate) struct Recorded {
    pub(crate) events: Vec<Event>,
    pub(crate) tools: Duration,
    /// The original duration of the turn, if it is replayed.
    pub(crate) took: Option<Duration>,
    /// The limit that was reached. Events beyond it are lost.
    pub(crate) overflow: Option<Overflow>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overflow {
    Events,
    Bytes,
}

impl fmt::Display for Overflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Events => write!(f, "more than {} recorded", count(MAX_EVENTS, "event"))?,
            Self::Bytes => {
                write!(f, "more than {} MiB recorded in the conversation", MAX_CONVERSATION_BYTES >> 20)?;
            }
        }
        f.write_str(", the rest is lost; is it a loop?")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Turn(usize),
    InProgress,
}

tokio::task_local! {
    /// The log of the conversation whose agent is at work.
    static AT_WORK: Arc<Log>;
}

static AGENTS_AT_WORK: AtomicUsize = AtomicUsize::new(0);

/// An agent that is at work until this value is dropped.
struct AtWork;

impl Drop for AtWork {
    fn drop(&mut self) {
        AGENTS_AT_WORK.fetch_sub(1, Relaxed);
    }
}

impl Log {
    /// A detached log, which belongs to no conversation.
    pub(super) fn detached() -> Arc<Self> {
        let state = Mutex::new(State { is_detached: true, ..State::default() });
        Arc::new(Self { state, tools: None, models: None })
    }

    /// The log of a conversation in which these tools answer.
    pub(crate) fn with_tools(tools: Option<GoldenTools>) -> Arc<Self> {
        Self::answered_by(tools, None)
    }

    /// The log of a conversation in which these tools answer, and these recorded calls of models.
    pub(crate) fn answered_by(tools: Option<GoldenTools>, models: Option<ModelCalls>) -> Arc<Self> {
        Arc::new(Self { tools, models, ..Self::default() })
    }

    /// The source of answers to model calls. A detached log uses that source of the conversation in progress.
    pub(crate) fn models(&self) -> Option<ModelCalls> {
        if !self.state.lock().is_detached {
            return self.models.clone();
        }
        AT_WORK.try_with(|log| log.models.clone()).ok().flatten()
    }

    /// The golden tools of the conversation. A detached log uses the golden tools of the conversation in progress.
    pub(crate) fn tools(&self) -> Option<GoldenTools> {
        if !self.state.lock().is_detached {
            return self.tools.clone();
        }
        AT_WORK.try_with(|log| log.tools.clone()).ok().flatten()
    }

    /// Runs work of this conversation's agent. If the agent records into a detached log meanwhile, this
    /// conversation learns of it, except from tasks and threads that the agent starts.
    pub(crate) fn during<T>(self: &Arc<Self>, work: impl Future<Output = T>) -> impl Future<Output = T> {
        let work = AT_WORK.scope(Arc::clone(self), work);
        async move {
            AGENTS_AT_WORK.fetch_add(1, Relaxed);
            let _at_work = AtWork;
            work.await
        }
    }

    /// Begins the next turn and returns its number. A turn that is still open ends.
    pub(super) fn begin(&self) -> usize {
        if let Some(tools) = &self.tools {
            tools.begin_turn();
        }
        let mut state = self.state.lock();
        state.turns += 1;
        let (recorded, bytes) = (Recorded::default(), state.bytes);
        state.open = Some(OpenTurn { begun: Instant::now(), recorded, chunks: Vec::new(), bytes, calls: 0 });
        state.turns
    }

    /// Ends the turn in progress. The chunks of streamed text are joined.
    pub(crate) fn end(&self) -> Recorded {
        let mut state = self.state.lock();
        let Some(OpenTurn { mut recorded, chunks, bytes, .. }) = state.open.take() else {
            return Recorded::default();
        };
        state.bytes = bytes;
        drop(state);
        recorded.events = joined(recorded.events, &chunks);
        recorded
    }

    /// The events that the turn would have if it ended now. Events of a detached log count as read from now
    /// on.
    pub(super) fn so_far(&self, target: Target) -> Vec<Event> {
        let mut state = self.state.lock();
        if state.is_detached {
            state.late = None;
        }
        let Some(turn) = state.turn(target) else { return Vec::new() };
        joined(turn.recorded.events.clone(), &turn.chunks)
    }

    pub(super) fn next_call_id(&self) -> String {
        let mut state = self.state.lock();
        state.calls_with_ids += 1;
        format!("call-{}", state.calls_with_ids)
    }

    /// The events that no turn could take so far, also unread ones in detached logs.
    pub(crate) fn late(&self) -> Option<Late> {
        let state = self.state.lock();
        state.late.clone().or_else(|| state.strays.iter().find_map(|stray| stray.late()))
    }

    pub(crate) fn note(&self, note: String) {
        let notes = &mut self.state.lock().notes;
        match notes.len().cmp(&MAX_NOTES) {
            _ if notes.contains(&note) => {}
            Ordering::Less => notes.push(note),
            Ordering::Equal => notes.push("further remarks are left out".to_owned()),
            Ordering::Greater => {}
        }
    }

    pub(crate) fn notes(&self) -> Vec<String> {
        self.state.lock().notes.clone()
    }

    pub(super) fn set_how_to_answer(&self, how: &'static str) {
        self.state.lock().how_to_answer = Some(how);
    }

    /// The advice in messages on how an agent of this conversation records its answer.
    pub(crate) fn how_to_answer(&self) -> &'static str {
        self.state.lock().how_to_answer.unwrap_or("`recorder.text(..)` records the answer")
    }

    pub(crate) fn has_recorders(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) > 1
    }

    /// Adds an event, which may be a chunk of streamed text. Fails if the turn is at a limit.
    pub(super) fn add(
        self: &Arc<Self>,
        target: Target,
        mut event: Event,
        is_chunk: bool,
    ) -> Result<(), Overflow> {
        let mut state = self.state.lock();
        if state.is_detached {
            let is_first = state.late.is_none();
            state.add_late(None, &event);
            if is_first {
                let late = state.late.clone();
                drop(state);
                self.strays(late);
                state = self.state.lock();
            }
        }
        let Some(turn) = state.turn(target) else {
            if !state.is_detached {
                state.add_late(Some(target), &event);
            }
            return Ok(());
        };
        event.at = turn.begun.elapsed();
        turn.bytes = turn.bytes.saturating_add(weight::of_event(&event));
        let overflow = match turn.recorded.overflow {
            None if turn.recorded.events.len() == MAX_EVENTS => Some(Overflow::Events),
            None if turn.bytes > MAX_CONVERSATION_BYTES => Some(Overflow::Bytes),
            reached => reached,
        };
        turn.recorded.overflow = overflow;
        if let Some(overflow) = overflow {
            return Err(overflow);
        }
        if is_chunk {
            turn.chunks.push(turn.recorded.events.len());
        }
        turn.recorded.events.push(event);
        Ok(())
    }

    pub(super) fn add_tool_time(&self, target: Target, took: Duration) {
        if let Some(turn) = self.state.lock().turn(target) {
            turn.recorded.tools += took;
        }
    }

    pub(super) fn set_took(&self, target: Target, took: Duration) {
        if let Some(turn) = self.state.lock().turn(target) {
            turn.recorded.took = Some(took);
        }
    }

    /// Counts a tool call. Returns whether it is time to yield to the runtime.
    pub(super) fn count_call(&self, target: Target) -> bool {
        match self.state.lock().turn(target) {
            Some(turn) => {
                turn.calls += 1;
                turn.calls.is_multiple_of(CALLS_IN_A_ROW)
            }
            // A task that outlives its turn may loop too.
            None => true,
        }
    }

    /// Reports this detached log to the conversation whose agent recorded into it. The run becomes an error
    /// unless the log is read before the verdict.
    fn strays(self: &Arc<Self>, late: Option<Late>) {
        let told = AT_WORK.try_with(|log| {
            let mut state = log.state.lock();
            state.strays.retain(|stray| !Arc::ptr_eq(stray, self) && stray.late().is_some());
            state.strays.push(Arc::clone(self));
        });
        // A spawned task or thread may be of any case: warn only. With no agent at work, a tool is tested
        // alone.
        if let (Err(_), Some(late), 1..) = (told, late, AGENTS_AT_WORK.load(Relaxed)) {
            message::show_past_the_harness(&format!("warning: {late}"));
        }
    }
}

impl State {
    /// The turn that takes events for `target`; `None` if it has ended.
    fn turn(&mut self, target: Target) -> Option<&mut OpenTurn> {
        match target {
            Target::Turn(number) if number != self.turns => None,
            Target::Turn(_) | Target::InProgress => self.open.as_mut(),
        }
    }

    fn add_late(&mut self, source: Option<Target>, event: &Event) {
        let begun = || Late { source, count: 0, several: false, first: event.in_short() };
        let late = self.late.get_or_insert_with(begun);
        late.count += 1;
        late.several |= late.source != source;
    }
}

/// Chunks of one author, up to the next event in which that author says something.
struct Stream {
    text: String,
    last: usize,
    at: Duration,
}

/// Adds the whole text after the last chunk of each stream. `chunks` are the indices of the events that are chunks, in
/// order.
///
/// A stream ends with the turn, or at the next event of its author that says something. If that event repeats
/// the text, as the last event of ADK's streams does, no text is added.
fn joined(events: Vec<Event>, chunks: &[usize]) -> Vec<Event> {
    if chunks.is_empty() {
        return events;
    }
    let mut chunks = chunks.iter().copied().peekable();
    let mut streams: BTreeMap<&str, Stream> = BTreeMap::new();
    let mut wholes: BTreeMap<usize, Event> = BTreeMap::new();
    let mut end = |author: &str, stream: Stream| {
        if !stream.text.is_empty() {
            let whole = Event { at: stream.at, ..Event::new(author, Content::model(stream.text)) };
            wholes.insert(stream.last, whole);
        }
    };
    for (index, event) in events.iter().enumerate() {
        let author = event.author.as_str();
        let text = || event.content.as_ref().map(Content::text).unwrap_or_default();
        if chunks.next_if_eq(&index).is_some() {
            let begun = || Stream { text: String::new(), last: index, at: event.at };
            let stream = streams.entry(author).or_insert_with(begun);
            stream.text.push_str(&text());
            (stream.last, stream.at) = (index, event.at);
        } else if !event.partial
            && event.says_something()
            && let Some(stream) = streams.remove(author)
            && stream.text.trim() != text().trim()
        {
            end(author, stream);
        }
    }
    for (author, stream) in streams {
        end(author, stream);
    }
    let mut all = Vec::with_capacity(events.len() + wholes.len());
    for (index, event) in events.into_iter().enumerate() {
        all.push(event);
        all.extend(wholes.remove(&index));
    }
    all
}

/// Events that were recorded although no turn could take them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Late {
    /// The target of the recorder of the first event; `None` for a recorder of no conversation.
    source: Option<Target>,
    count: usize,
    several: bool,
    first: String,
}

impl Late {
    /// The turn of the first event; `None` if its recorder belonged to no turn.
    pub(crate) fn turn(&self) -> Option<usize> {
        match self.source {
            Some(Target::Turn(number)) => Some(number),
            Some(Target::InProgress) | None => None,
        }
    }
}

impl fmt::Display for Late {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, count: events, several, first } = self;
        let events = count(*events, "event");
        match source {
            Some(Target::Turn(_)) => write!(
                f,
                "{events} recorded after {} had ended, the first: {first}; await what a turn starts before it returns, \
                 and give tools that are built once `session.recorder()`",
                if *several { "their turns" } else { "the turn" }
            ),
            Some(Target::InProgress) => write!(
                f,
                "{events} recorded through `session.recorder()` while no turn was in progress, the first: {first}; \
                 only what happens in a turn is scored"
            ),
            None => write!(
                f,
                "{events} recorded into a recorder of no case (`Recorder::new()`, `Turn::from(..)`, `Session::new(..)`) and \
                 never read, the first: {first}; record with `turn.recorder()`, with `session.recorder()` in tools that are \
                 built once, and give an inner agent `Turn::new(&message, turn.recorder().clone())`"
            ),
        }
    }
}

#[cfg(test)]
mod chunks_tests {
    use eval_format::UsageMetadata;
    use serde_json::json;

    use super::super::log::Log;
    use super::super::recorder::Recorder;
    use std::sync::Arc;

    /// The events of a turn, `+` for a chunk.
    fn recorded(record: impl FnOnce(&Recorder)) -> Vec<String> {
        let log: Arc<Log> = Arc::default();
        let recorder = Recorder::of_next_turn(&log);
        record(&recorder);
        let so_far = recorder.events();
        let events = log.end().events;
        assert_eq!(so_far, events);
        let shown = events.iter().map(|event| {
            format!("{}{}: {}", if event.partial { "+" } else { "" }, event.author, event.in_short())
        });
        shown.collect()
    }

    #[test]
    fn chunks_are_joined_at_the_end_of_the_turn() {
        let shown = recorded(|recorder| {
            recorder.chunk("It is ");
            recorder.usage(UsageMetadata::default().with_prompt_token_count(3));
            recorder.chunk("");
            recorder.chunk("sunny.");
            recorder.state("city", "Paris");
        });
        assert_eq!(
            shown,
            [
                r#"+agent: the text "It is ""#,
                "agent: the tokens of a model call",
                "+agent: an event of `agent`",
                r#"+agent: the text "sunny.""#,
                r#"agent: the text "It is sunny.""#,
                "agent: a change of the state `city`",
            ]
        );
    }

    #[test]
    fn a_stream_ends_where_its_author_does_something_else() {
        let shown = recorded(|recorder| {
            let sub = recorder.author("sub");
            recorder.chunk("Let me ");
            sub.chunk("a");
            recorder.chunk("see.");
            recorder.tool_call("look", json!({}), "sun");
            sub.chunk("b");
            recorder.chunk("Sun.");
        });
        assert_eq!(
            shown,
            [
                r#"+agent: the text "Let me ""#,
                r#"+sub: the text "a""#,
                r#"+agent: the text "see.""#,
                r#"agent: the text "Let me see.""#,
                "agent: the call `look()`",
                r#"agent: the result of `look`, {"result":"sun"}"#,
                r#"+sub: the text "b""#,
                r#"sub: the text "ab""#,
                r#"+agent: the text "Sun.""#,
                r#"agent: the text "Sun.""#,
            ]
        );
    }

    #[test]
    fn a_whole_text_that_repeats_its_chunks_is_not_said_twice() {
        let texts = |whole: &str| {
            let shown = recorded(|recorder| {
                recorder.chunk("It is ");
                recorder.chunk("sunny.\n");
                recorder.text(whole);
            });
            shown.into_iter().filter(|line| !line.starts_with('+')).collect::<Vec<_>>()
        };
        assert_eq!(texts("It is sunny."), [r#"agent: the text "It is sunny.""#]);
        assert_eq!(texts("Bye."), [r#"agent: the text "It is sunny.\n""#, r#"agent: the text "Bye.""#]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::recorder::Recorder;
    use super::*;

    #[test]
    fn the_bytes_of_a_conversation_are_those_of_all_its_turns() {
        let text = "x".repeat(MAX_CONVERSATION_BYTES / 4);
        let log = Arc::default();
        for (turn, overflow) in [None, None, None, Some(Overflow::Bytes)].into_iter().enumerate() {
            let recorder = Recorder::of_next_turn(&log);
            let unwound = std::panic::catch_unwind(|| recorder.text(&text));
            assert_eq!((unwound.is_err(), log.end().overflow), (overflow.is_some(), overflow), "{turn}");
        }
    }
}
