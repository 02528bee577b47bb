//! Agents that are programs.

mod child;
mod error;
mod golden_tools;
mod lines;
mod message;
mod pipes;
mod routes;
#[cfg(any(test, fuzzing))]
pub mod streams;

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::future::pending;
use std::ops::ControlFlow;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use eval_core::format::{AppDetails, Map};
use eval_core::{Agent, BoxError, Recorder, Session, Turn};
use eval_support::mutex::Mutex;
use eval_support::setters;
use eval_support::words::count;

use crate::mcp::McpMock;
use crate::models::redirected;
use crate::wire;
use child::{Child, Connection};
pub use error::ProcessError;
use eval_core::group::Launch;
use eval_core::models::{Lease as ModelLease, ModelCalls, ModelMode, Router};
use golden_tools::{ToldState, ToolAnswers, Waiting};
#[cfg(any(test, fuzzing))]
use message::HELLO;
use message::{Asked, Reply};

const READY_WITHIN: Duration = Duration::from_secs(30);

const END_WITHIN: Duration = Duration::from_secs(5);

/// An agent that is a program: it reads messages on its standard input and answers on its standard output, in JSON lines.
///
/// ```
/// # mod tests {
/// use std::process::Command;
///
/// use eval_agents::Process;
/// use eval_core::{Agent, EvalRunner};
///
/// fn weather() -> impl Agent {
///     Process::new(Command::new("python3").arg("agents/weather.py"))
/// }
/// # }
/// ```
///
/// The [protocol](crate::_documentation::protocol) says what is written and read.
///
/// One value is one conversation, and so is each clone. Each has its own program, which begins and ends with
/// it, unless [`concurrency`](Self::concurrency) lets conversations share one. A program and all processes
/// that it starts end with this process, however it ends. If a conversation fails, the error shows its
/// program's standard error.
#[derive(Debug)]
pub struct Process {
    launch: Launch,
    concurrency: Option<usize>,
    ready_within: Duration,
    end_within: Duration,
    details: AppDetails,
    state: ToldState,
    connection: Option<Connection>,
    /// Address of recorded model calls of a shared program.
    models_lease: Option<ModelLease>,
    /// The answers to the calls of the program; `None` if its tools run.
    answers: Option<ToolAnswers>,
    recorder: Option<Recorder>,
}

const HOW_TO_ANSWER: &str = r#"the last `text` of a turn is its answer: the program writes {"type": "text", "text": ".."} before `turn_end`, and in Python `turn.text(..)` or the value that a function returns is one"#;

/// The programs of this process that serve several conversations, by their launch and by what answers their models. They end
/// with the process.
static SHARED: Mutex<BTreeMap<Kind, Vec<Shared>>> = Mutex::new(BTreeMap::new());

/// The launch of a program, and how its calls of models are answered.
type Kind = (Launch, Option<ModelMode>);

/// A program that serves several conversations.
#[derive(Clone, Debug)]
struct Shared {
    child: Arc<Child>,
    end_within: Duration,
    /// Address of recorded model calls.
    router: Option<Router>,
    /// The variables that its command keeps from being redirected.
    note: Option<String>,
}

impl Process {
    /// An agent that this command starts: its program, arguments, variables and folder. Other settings of a
    /// [`Command`], such as `env_clear` or pipes, are ignored.
    pub fn new(command: impl Borrow<Command>) -> Self {
        Self::of_launch(Launch::new(command.borrow()))
    }

    fn of_launch(launch: Launch) -> Self {
        Self {
            launch,
            concurrency: None,
            ready_within: READY_WITHIN,
            end_within: END_WITHIN,
            details: AppDetails::default(),
            state: ToldState::default(),
            connection: None,
            models_lease: None,
            answers: None,
            recorder: None,
        }
    }

    setters! {
        /// Sets how many conversations of this process can share one program at the same time. Further
        /// conversations start another program. A program is kept for later conversations, until
        /// [`end_shared`](Self::end_shared) ends it, or until it is killed with this process.
        concurrency(conversations: usize) { concurrency = Some(conversations.max(1)) }

        /// Sets the time limit for the program to say `hello`: 30 seconds by default.
        ready_within(limit: Duration) { ready_within = limit }

        /// Sets the time limit for the program to end after its conversation: 5 seconds by default. Then it is
        /// killed, which is an error.
        end_within(limit: Duration) { end_within = limit }
    }

    /// Ends the programs that conversations with this command [share](Self::concurrency), once the last conversation is over.
    /// Fails if one does not end in time and with the status 0, ended so before, or wrote for a conversation that was over.
    ///
    /// No case shows that, since a shared program is not asked to end before the last one. `cargo evalset run` calls it at the end
    /// of the run.
    pub async fn end_shared(&self) -> Result<(), ProcessError> {
        let mut programs = Vec::new();
        SHARED.lock().retain(|(launch, _), shared| {
            let is_other = *launch != self.launch;
            if !is_other {
                programs.append(shared);
            }
            is_other
        });
        let mut ends = tokio::task::JoinSet::new();
        for Shared { child, end_within, .. } in programs {
            ends.spawn(async move { child.finish(end_within).await });
        }
        let failed: Vec<_> = ends.join_all().await.into_iter().filter_map(Result::err).collect();
        let others = failed.len().saturating_sub(1);
        match failed.into_iter().next() {
            None => Ok(()),
            Some(error) if others == 0 => Err(error),
            Some(error) => {
                Err(error.with(&format!("\n{} failed at the end, too", count(others, "other program"))))
            }
        }
    }

    /// A conversation with a program of its own, or with one that others share.
    async fn connection(&mut self, session: &Session) -> Result<Connection, BoxError> {
        let (id, models) = (&session.session_id, session.recorder().model_calls());
        let Some(most) = self.concurrency else {
            let variables = models.map(|models| models.variables()).transpose()?;
            let (launch, note) = redirected(&self.launch, variables.unwrap_or_default());
            if let Some(note) = note {
                session.recorder().note(note);
            }
            return Ok(Child::start(&launch, false)?.connection(id));
        };
        loop {
            let (shared, connection) =
                self.shared_connection(most, id, models.as_ref().map(ModelCalls::mode))?;
            if let Some((router, models)) = shared.router.as_ref().zip(models.as_ref()) {
                self.models_lease = Some(router.lease(models).await);
                // While this one waited, another conversation may have left the program in the midst of a turn.
                if !shared.child.is_of_use() && shared.child.routes.broken().is_none() {
                    self.models_lease = None;
                    connection.leave(self.end_within, pending()).await?;
                    continue;
                }
            }
            if let Some(note) = shared.note {
                session.recorder().note(note);
            }
            return Ok(connection);
        }
    }

    fn shared_connection(
        &self,
        most: usize,
        id: &str,
        mode: Option<ModelMode>,
    ) -> Result<(Shared, Connection), BoxError> {
        let mut shared = SHARED.lock();
        let programs = shared.entry((self.launch.clone(), mode)).or_default();
        // One that broke off without a conversation is kept for `end_shared`, which tells why it did.
        programs.retain(|Shared { child, .. }| child.is_of_use() || child.routes.broken_unheard().is_some());
        let has_room = |child: &Child| child.is_of_use() && child.routes.count() < most;
        let program = match programs.iter().find(|program| has_room(&program.child)) {
            Some(program) => program.clone(),
            None => {
                let router = mode.map(Router::open).transpose()?;
                let variables = router.as_ref().map(Router::variables).transpose()?;
                let (launch, note) = redirected(&self.launch, variables.unwrap_or_default());
                let child = Child::start(&launch, true)?;
                let program = Shared { child, end_within: self.end_within, router, note };
                programs.push(program.clone());
                program
            }
        };
        let connection = program.child.connection(id);
        Ok((program, connection))
    }
}

/// Another conversation with the same program.
impl Clone for Process {
    fn clone(&self) -> Self {
        Self {
            concurrency: self.concurrency,
            ready_within: self.ready_within,
            end_within: self.end_within,
            ..Self::of_launch(self.launch.clone())
        }
    }
}

impl Agent for Process {
    async fn start(&mut self, session: &Session) -> Result<(), BoxError> {
        session.recorder().answers_by(HOW_TO_ANSWER);
        self.recorder = Some(session.recorder().clone());
        let connection = self.connection(session).await?;
        let connection = self.connection.insert(connection);
        connection.wait_for_hello(self.ready_within).await?;
        let golden = session.recorder().golden_tools();
        let mock = golden.clone().map(McpMock::start).transpose();
        connection
            .ask(message::start(session, mock.as_ref().ok().and_then(|mock| Some(mock.as_ref()?.url()))))
            .await?;
        match connection.reply().await? {
            Reply::Started { details, tools } => {
                self.details = details;
                match ToolAnswers::begin(golden, mock, tools.as_deref(), connection.writer(), &self.state) {
                    Ok(answers) => self.answers = answers,
                    Err(error) => return Err(connection.explain(error).await.into()),
                }
            }
            Reply::Error { message } => {
                return Err(connection.explain(ProcessError::agent(&message)).await.into());
            }
            other => {
                let error = ProcessError::unexpected(&other, "`started` or `error`");
                return Err(connection.explain(error).await.into());
            }
        }
        Ok(())
    }

    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        let not_open = || ProcessError::NotOpen("the conversation was not opened".to_owned());
        let connection = self.connection.as_mut().ok_or_else(not_open)?;
        connection.ask(message::turn(wire::content(turn.content()))).await?;
        let mut waiting = Waiting::default();
        loop {
            let reply = match (connection.reply().await?, &self.answers) {
                (Reply::Tool(asked), Some(answers)) => {
                    answers.answer(asked, turn.recorder().clone(), &mut waiting);
                    continue;
                }
                (Reply::OwnCall { name }, Some(answers)) => {
                    answers.own_call(name);
                    continue;
                }
                (reply, _) => reply,
            };
            // The state that an earlier turn ended with changes with the events, as any state does.
            if let Reply::Event(read) = &reply
                && !read.event.partial
            {
                self.state.change(&read.event.state_delta);
            }
            match record(turn, reply) {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(state)) => {
                    if let Some(state) = state {
                        self.state.replace(state);
                    }
                    return Ok(());
                }
                Err(error) => return Err(connection.explain(error).await.into()),
            }
        }
    }

    async fn state(&mut self) -> Result<Option<Map>, BoxError> {
        Ok(self.state.take())
    }

    async fn end(&mut self) -> Result<(), BoxError> {
        let Some(connection) = self.connection.take() else { return Ok(()) };
        let recorder = self.recorder.take();
        if let Some(recorder) = &recorder {
            connection.take_notes().into_iter().for_each(|note| recorder.note(note));
        }
        // An exporter of traces may ask a host that answers nothing until the program ends.
        let models = recorder.and_then(|recorder| recorder.model_calls());
        let refused = async {
            match models {
                Some(models) => models.halted().await,
                None => pending().await,
            }
        };
        let left = connection.leave(self.end_within, refused).await;
        self.models_lease = None;
        Ok(left?)
    }

    fn details(&self) -> AppDetails {
        self.details.clone()
    }
}

/// Records a message of the program in a turn. Breaks at the end of the turn, with the state in that message.
fn record(turn: &Turn<'_>, reply: Reply) -> Result<ControlFlow<Option<Map>>, ProcessError> {
    match reply {
        Reply::Event(read) => {
            for key in read.unread {
                turn.recorder().note(format!("the program wrote `{key}`, which nothing reads"));
            }
            turn.recorder().event(read.event);
        }
        Reply::Text { author, text } => recorder_of(turn, author.as_deref()).text(text),
        Reply::ToolCall { author, name, args, result } => {
            recorder_of(turn, author.as_deref()).tool_call(&name, args, result);
        }
        Reply::TurnEnd { state } => return Ok(ControlFlow::Break(state)),
        Reply::Error { message } => return Err(ProcessError::agent(&message)),
        Reply::Tool(Asked { name, .. }) => {
            return Err(ProcessError::Protocol(format!(
                "the program asked for the golden answer of `{name}`, and its tools are real: `start` has no `tools`"
            )));
        }
        Reply::OwnCall { name } => {
            return Err(ProcessError::Protocol(format!(
                "the program told that no tool answers a call of `{name}`, and its tools are real: `start` has no `tools`"
            )));
        }
        other => return Err(ProcessError::unexpected(&other, "an event, `turn_end` or `error`")),
    }
    Ok(ControlFlow::Continue(()))
}

fn recorder_of(turn: &Turn<'_>, author: Option<&str>) -> Recorder {
    author.map_or_else(|| turn.recorder().clone(), |author| turn.recorder().author(author))
}
