//! Agents that replay stored traces.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use eval_core::agent::Event;
use eval_core::format::options::DEFAULT_AUTHOR;
use eval_core::format::{Content, Part};
use eval_core::{Agent, BoxError, Session, Turn};
use eval_support::mutex::Mutex;
use eval_support::setters;
use eval_support::words::count;

use crate::traces::{self, Conversation, Gap, MatchedBy, Sought, Traces, normalized};

/// An agent that replays stored traces, so that they are scored like any other agent.
///
/// ```
/// # mod tests {
/// use eval_agents::TraceAgent;
/// use eval_core::{Agent, EvalRunner};
///
/// fn weather() -> impl Agent {
///     TraceAgent::read("traces/weather.json")
/// }
/// # }
/// ```
///
/// A file is read when it is first needed, once in a process. Each case is played against the conversation that belongs to
/// it: the conversation whose spans name the case (`agentevals.eval.case.id`), else the conversation with the id of the case or
/// of its session, else the conversation in which the user begins with the same words.
///
/// A case is an ERROR with a reason, and not scored, if no conversation or several belong to it, if a turn is
/// missing, was not expected or failed, or if the traces [lose](crate::traces::GapKind::loses) something that
/// the case may check. [Stored traces](crate::_documentation::stored_traces) has the rules.
#[derive(Clone, Debug)]
pub struct TraceAgent {
    source: Source,
    is_only_case: bool,
    sought: Option<CaseSession>,
    played: Option<Played>,
}

#[derive(Clone, Debug)]
enum Source {
    Files(Vec<PathBuf>),
    Read(Arc<Traces>),
}

/// The traces of some files. They are read once in a process, and this blocks on the disk.
fn read(files: Vec<PathBuf>) -> Result<Arc<Traces>, traces::TraceError> {
    let mut read = READ.lock();
    if let Some(traces) = read.get(&files) {
        return Ok(Arc::clone(traces));
    }
    let traces = Arc::new(Traces::read_all(&files)?);
    read.insert(files, Arc::clone(&traces));
    Ok(traces)
}

/// The parts of a session that identify its conversation. The session itself would keep its recorder alive.
#[derive(Clone, Debug)]
struct CaseSession {
    traces: Arc<Traces>,
    eval_id: Option<String>,
    session_id: String,
    turns: Option<usize>,
}

#[derive(Clone, Debug)]
struct Played {
    traces: Arc<Traces>,
    at: usize,
    by: MatchedBy,
    turns: usize,
}

static READ: Mutex<BTreeMap<Vec<PathBuf>, Arc<Traces>>> = Mutex::new(BTreeMap::new());

impl TraceAgent {
    /// An agent that replays the traces of a file.
    ///
    /// A relative path is relative to the folder in which the process runs, which is the folder of the package in tests.
    pub fn read(path: impl Into<PathBuf>) -> Self {
        Self::read_all([path])
    }

    /// An agent that replays the traces of several files together.
    pub fn read_all(paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        Self::new(Source::Files(paths.into_iter().map(Into::into).collect()))
    }

    fn new(source: Source) -> Self {
        Self { source, is_only_case: false, sought: None, played: None }
    }

    setters! {
        /// Replays the only conversation even if its user says other words than the case, for a set with one
        /// case.
        only_case(is_only_case: bool) { is_only_case = is_only_case }
    }

    fn find(&self, first: &str) -> Result<Played, BoxError> {
        let CaseSession { traces, eval_id, session_id, turns } =
            self.sought.as_ref().ok_or("the session was not opened")?;
        let sought = Sought {
            eval_id: eval_id.as_deref(),
            session_id: Some(session_id),
            turns: *turns,
            first,
            is_only_case: self.is_only_case,
        };
        let (at, by) = traces.find(sought)?;
        if let Some(gap) = traces.gaps().iter().find(|gap| gap.kind.loses()) {
            return Err(format!("the files of the traces are not whole: {gap}").into());
        }
        let played = Played { traces: Arc::clone(traces), at, by, turns: 0 };
        let conversation = played.conversation();
        let key = &conversation.key;
        if let Some(gap) = lost(&conversation.gaps) {
            return Err(format!("the traces of the conversation `{key}` are not whole: {gap}").into());
        }
        let had = conversation.turns.len();
        if let Some(turns) = turns.filter(|turns| had > *turns) {
            let (had, turns) = (count(had, "turn"), count(turns, "turn"));
            return Err(
                format!("the conversation `{key}` has {had} and the case {turns}; {OTHER_TURNS}").into()
            );
        }
        Ok(played)
    }
}

const OTHER_TURNS: &str = "give the trace of a run of this case, or import the trace as a case of its own: `cargo evalset import TRACE -o SET`";

fn lost(gaps: &[Gap]) -> Option<&Gap> {
    gaps.iter().find(|gap| gap.kind.loses())
}

/// An agent that replays traces that were read already.
impl From<Traces> for TraceAgent {
    fn from(traces: Traces) -> Self {
        Arc::new(traces).into()
    }
}

/// An agent that replays traces that were read already, without a copy of them.
impl From<Arc<Traces>> for TraceAgent {
    fn from(traces: Arc<Traces>) -> Self {
        Self::new(Source::Read(traces))
    }
}

impl Played {
    fn conversation(&self) -> &Conversation {
        &self.traces.conversations()[self.at]
    }

    /// Records the next turn. Fails if it failed, differs from the case, or lacks something.
    fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        self.turns += 1;
        let number = self.turns;
        let conversation = self.conversation();
        let key = &conversation.key;
        let Some(stored) = conversation.turns.get(number - 1) else {
            let had = count(conversation.turns.len(), "turn");
            return Err(format!(
                "turn {number} is missing: the conversation `{key}` has {had}; {OTHER_TURNS}"
            )
            .into());
        };
        for event in events_of(stored) {
            turn.recorder().event(event);
        }
        // A turn without a duration has a gap of the kind `NoTime`, which is an error below.
        if let Some(took) = stored.duration() {
            turn.recorder().took(took);
        }
        if let Some(error) = &stored.error {
            return Err(format!("turn {number} of the conversation `{key}` failed: {error}").into());
        }
        if let Some(gap) = lost(&stored.gaps) {
            return Err(format!("turn {number} of the conversation `{key}` is not known: {gap}").into());
        }
        // A match by tags of spans is trusted. After a match by words, different words belong to another
        // conversation.
        let said = stored.user.as_deref().unwrap_or_default();
        if self.by == MatchedBy::Words && normalized(said) != normalized(&turn.text()) {
            return Err(format!(
                "turn {number} of the conversation `{key}` is another one: the user says {said:?}, and in the case {:?}",
                turn.text()
            )
            .into());
        }
        if let Some(note) = stored.other_words(number, &turn.text()) {
            turn.recorder().note(note);
        }
        // The remaining gaps lose nothing that an expectation may check: they become notes.
        let of_all = conversation.gaps.iter().filter(|_| number == 1).map(ToString::to_string);
        let of_turn = stored.gaps.iter().map(|gap| format!("turn {number}: {gap}"));
        of_all.chain(of_turn).for_each(|gap| turn.recorder().note(gap));
        Ok(())
    }
}

fn events_of(turn: &traces::Turn) -> Vec<Event> {
    let agent = turn.agent.as_deref().unwrap_or(DEFAULT_AUTHOR);
    let mut events: Vec<Event> =
        turn.intermediate.iter().map(|text| Event::new(agent, Content::model(text))).collect();
    for call in &turn.calls {
        let author = call.agent.as_deref().unwrap_or(agent);
        events.push(Event::new(author, Content::new("model", vec![Part::call(call.to_function_call())])));
        if let Some(response) = call.to_function_response() {
            events.push(Event::new(author, Content::new("user", vec![Part::response(response)])));
        }
    }
    for call in &turn.model_calls {
        let mut event = Event::empty(call.agent.as_deref().unwrap_or(agent));
        // An event with usage is a call of a model, even if the trace has no token counts.
        event.usage = Some(call.usage.to_metadata().unwrap_or_default());
        event.model_version.clone_from(&call.model);
        events.push(event);
    }
    events.extend(turn.answer.as_ref().map(|answer| Event::new(agent, Content::model(answer))));
    events
}

impl Agent for TraceAgent {
    async fn start(&mut self, session: &Session) -> Result<(), BoxError> {
        self.played = None;
        self.sought = None;
        let source = self.source.clone();
        // Files are read before the first turn, so that a missing one fails early.
        let traces = match source {
            Source::Read(traces) => traces,
            Source::Files(files) => tokio::task::spawn_blocking(move || read(files)).await??,
        };
        self.sought = Some(CaseSession {
            traces,
            eval_id: session.eval_id.clone(),
            session_id: session.session_id.clone(),
            turns: session.turns,
        });
        Ok(())
    }

    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        if self.played.is_none() {
            self.played = Some(self.find(&turn.text())?);
        }
        self.played.as_mut().ok_or("the session was not opened")?.turn(turn)
    }

    fn __asks_models(&self) -> bool {
        false
    }
}
