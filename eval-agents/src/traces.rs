//! Stored traces: what agents did, as `OpenTelemetry` recorded it, as conversations of turns.
//!
//! ```no_run
//! for conversation in eval_agents::traces::Traces::read("traces.jsonl")?.conversations() {
//!     for turn in &conversation.turns {
//!         println!("{:?}: {:?}", turn.user, turn.answer);
//!     }
//! }
//! # Ok::<_, eval_agents::traces::TraceError>(())
//! ```

mod anchors;
mod attributes;
mod conversation;
mod conversations;
mod copies;
mod error;
mod gap;
mod history;
mod id;
mod index;
mod matching;
mod message;
mod overlay;
mod store;
mod tree;
mod turns;
mod view;
mod wire;

use std::io::Read;
use std::path::Path;

use eval_core::format::{EvalCase, Invocation};
use eval_support::file::open_file;

pub use conversation::{Conversation, ModelCall, ToolCall, Turn, Usage};
pub use error::TraceError;
pub use gap::{Gap, GapKind};
use index::LazyIndex;
pub(crate) use index::normalized;
pub(crate) use matching::Sought;
pub use matching::{MatchError, MatchedBy};
use store::Store;

/// The conversations in stored traces.
///
/// ```
/// use eval_agents::traces::Traces;
///
/// let file = r#"{"resourceSpans": [{"scopeSpans": [{"spans": [{
///     "traceId": "00000000000000000000000000000001", "spanId": "0000000000000001", "name": "chat",
///     "startTimeUnixNano": "1760000000000000000", "endTimeUnixNano": "1760000001000000000",
///     "attributes": {
///         "gen_ai.operation.name": "chat",
///         "gen_ai.input.messages": "[{\"role\": \"user\", \"parts\": [{\"type\": \"text\", \"content\": \"Paris?\"}]}]",
///         "gen_ai.output.messages": "[{\"role\": \"assistant\", \"parts\": [{\"type\": \"text\", \"content\": \"Sunny.\"}]}]"
///     }
/// }]}]}]}"#;
/// let traces = Traces::from_reader(file.as_bytes())?;
/// let turn = &traces.conversations()[0].turns[0];
/// assert_eq!((turn.user.as_deref(), turn.answer.as_deref()), (Some("Paris?"), Some("Sunny.")));
/// # Ok::<_, eval_agents::traces::TraceError>(())
/// ```
///
/// Files are read element by element. Only the parts of conversations are kept.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Traces {
    conversations: Vec<Conversation>,
    gaps: Vec<Gap>,
    spans: usize,
    index: LazyIndex,
}

impl Traces {
    /// Reads a file: OTLP or Jaeger's export as JSON, or lines of JSON, also packed with gzip.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, TraceError> {
        Self::read_all([path])
    }

    /// Reads files that belong together: a trace can be spread over several.
    pub fn read_all(paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<Self, TraceError> {
        Self::of_all(paths, |path, store| {
            let path = path.as_ref();
            let opened = open_file(path).map_err(TraceError::io);
            let read = opened.and_then(|file| wire::read(file, store));
            read.map_err(|error| error.in_file(path.to_owned()))
        })
    }

    /// Reads traces from a reader, as [`read`](Self::read) does from a file.
    pub fn from_reader(reader: impl Read) -> Result<Self, TraceError> {
        Self::from_readers([reader])
    }

    /// Reads traces from several readers, as [`read_all`](Self::read_all) does from files.
    pub fn from_readers(readers: impl IntoIterator<Item = impl Read>) -> Result<Self, TraceError> {
        Self::of_all(readers, wire::read)
    }

    /// Reads traces from several uncompressed texts in memory, as [`read_all`](Self::read_all) does from
    /// files. This takes half the time of reading the texts through readers.
    ///
    /// ```
    /// use eval_agents::traces::Traces;
    ///
    /// let spans = r#"[{"traceId": "00000000000000000000000000000001", "spanId": "0000000000000001", "name": "work"}]"#;
    /// assert_eq!(Traces::from_texts([spans.as_bytes()])?.spans(), 1);
    /// # Ok::<_, eval_agents::traces::TraceError>(())
    /// ```
    pub fn from_texts<'t>(texts: impl IntoIterator<Item = &'t [u8]>) -> Result<Self, TraceError> {
        Self::of_all(texts, wire::read_text)
    }

    /// Makes each trace a conversation of its own, whatever conversation its spans name. Each gets all gaps
    /// of its former conversation, or the first of each kind if the copies would take megabytes.
    #[must_use]
    pub fn by_trace(self) -> Self {
        let conversations = self.conversations.into_iter().flat_map(Conversation::by_trace).collect();
        Self { conversations, index: LazyIndex::default(), ..self }
    }

    fn of_all<S>(
        sources: impl IntoIterator<Item = S>,
        read: impl Fn(S, &mut Store) -> Result<(), TraceError>,
    ) -> Result<Self, TraceError> {
        let mut store = Store::default();
        for (number, source) in sources.into_iter().enumerate() {
            read(source, &mut store).map_err(|error| error.at_index(number))?;
        }
        let mut conversations = conversations::group(&mut store);
        // A part outside of all turns may belong to any conversation.
        for conversation in conversations.iter_mut().filter(|it| it.turns.is_empty()) {
            let (lost, own) = conversation.gaps.drain(..).partition(|gap| gap.kind.loses());
            conversation.gaps = own;
            store.notes.extend(lost);
        }
        let gaps = store.notes.into_gaps();
        Ok(Self { conversations, spans: store.spans, gaps, index: LazyIndex::default() })
    }

    /// The conversations, in the order of the files. Traces that record no agent or model are conversations
    /// without turns.
    pub fn conversations(&self) -> &[Conversation] {
        &self.conversations
    }

    /// The index of a case's conversation among the [conversations](Self::conversations), and the rule that
    /// found it. The rules in their order: the spans name the case (`agentevals.eval.case.id`); the key is
    /// the id of the case or of its session; the user begins with the same words; it is the only conversation
    /// that names no case, if `is_only_case`.
    ///
    /// Of several conversations with the same words, the one with as many turns as the case is taken, if it is the only such one.
    pub fn conversation_of(
        &self,
        case: &EvalCase,
        is_only_case: bool,
    ) -> Result<(usize, MatchedBy), MatchError> {
        let first = case.conversation.first().map(Invocation::user_text).unwrap_or_default();
        self.find(Sought::new(case, &first, is_only_case))
    }

    pub(crate) fn find(&self, sought: Sought<'_>) -> Result<(usize, MatchedBy), MatchError> {
        sought.find(&self.conversations, self.index.get(&self.conversations))
    }

    /// The gaps that may concern any conversation: parts of the files that could not be read, and losses in
    /// conversations without turns.
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps
    }

    /// The number of spans, of any kind.
    pub fn spans(&self) -> usize {
        self.spans
    }
}
