//! Agents whose values or futures are not `Send`: each has a thread of its own.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::task::Poll;

use eval_format::{AppDetails, Map};
use tokio::sync::{mpsc, oneshot};

use super::boxed::BoxError;
use super::interface::Agent;
use super::turn::{Session, Turn};
use crate::exit_guard::ExitGuard;

/// An [`Agent`] that may hold values that are not `Send`: an `Rc`, an interpreter, the handle of a browser.
///
/// ```
/// use std::cell::Cell;
/// use std::rc::Rc;
///
/// use eval_core::agent::{LocalAgent, local};
/// use eval_core::{Agent, BoxError, Turn};
///
/// struct Counting(Rc<Cell<usize>>);
///
/// impl LocalAgent for Counting {
///     async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
///         self.0.set(self.0.get() + 1);
///         turn.recorder().text(format!("{}: {}", self.0.get(), turn.text()));
///         Ok(())
///     }
/// }
///
/// // The annotated function, or a setup function.
/// fn counting() -> impl Agent {
///     local(|| Counting(Rc::default()))
/// }
/// # let _ = counting();
/// ```
///
/// It has the methods of [`Agent`]; their futures need not be `Send`.
pub trait LocalAgent {
    /// Opens the conversation: see [`Agent::start`].
    fn start(&mut self, session: &Session) -> impl Future<Output = Result<(), BoxError>> {
        let _ = session;
        async { Ok(()) }
    }

    /// Answers one message: see [`Agent::turn`].
    fn turn(&mut self, turn: &Turn<'_>) -> impl Future<Output = Result<(), BoxError>>;

    /// The session state at the end: see [`Agent::state`].
    fn state(&mut self) -> impl Future<Output = Result<Option<Map>, BoxError>> {
        async { Ok(None) }
    }

    /// Ends the conversation: see [`Agent::end`].
    fn end(&mut self) -> impl Future<Output = Result<(), BoxError>> {
        async { Ok(()) }
    }

    /// Instructions and tools of each agent: see [`Agent::details`].
    fn details(&self) -> AppDetails {
        AppDetails::default()
    }
}

/// An agent that lives on a thread of its own, where `make` makes it.
///
/// The thread has a tokio runtime and a [`LocalSet`](tokio::task::LocalSet), so `spawn_local` works there.
/// The thread ends with the conversation. A turn that reaches its time limit is dropped on that thread; a
/// turn that blocks the thread blocks no other case.
pub fn local<A: LocalAgent + 'static>(make: impl FnOnce() -> A + Send + 'static) -> impl Agent {
    let (jobs, asked) = mpsc::unbounded_channel();
    Local { make: Some((make, asked)), jobs, details: AppDetails::default() }
}

struct Local<M> {
    /// The function that makes the agent, and the receiver of its jobs; `None` once the thread was started.
    make: Option<(M, mpsc::UnboundedReceiver<Job>)>,
    jobs: mpsc::UnboundedSender<Job>,
    /// The agent's details after the last job.
    details: AppDetails,
}

struct Job {
    task: Task,
    outcome: oneshot::Sender<Outcome>,
}

enum Task {
    Start(Session),
    Turn(Turn<'static>),
    State,
    End,
}

struct Outcome {
    /// A panic of the agent is resumed in the test's thread.
    result: Result<Result<Option<Map>, BoxError>, Box<dyn Any + Send>>,
    details: AppDetails,
}

impl<A, M> Local<M>
where
    A: LocalAgent + 'static,
    M: FnOnce() -> A + Send + 'static,
{
    async fn ask(&mut self, task: Task) -> Result<Option<Map>, BoxError> {
        if let Some((make, jobs)) = self.make.take() {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            let exit = ExitGuard::message();
            std::thread::Builder::new().name("local agent".to_owned()).spawn(move || {
                let _guard = exit.map(ExitGuard::new);
                tokio::task::LocalSet::new().block_on(&runtime, serve(make, jobs));
            })?;
        }
        let (outcome, answered) = oneshot::channel();
        // If the thread has ended, the job is dropped. If this future is dropped, the thread drops the job in
        // progress.
        let _ = self.jobs.send(Job { task, outcome });
        let Ok(Outcome { result, details }) = answered.await else {
            return Err("the thread of the agent has ended".into());
        };
        self.details = details;
        result.unwrap_or_else(|panic| resume_unwind(panic))
    }
}

async fn serve<A: LocalAgent>(make: impl FnOnce() -> A, mut jobs: mpsc::UnboundedReceiver<Job>) {
    let (mut make, mut agent) = (Some(make), None);
    while let Some(Job { task, mut outcome }) = jobs.recv().await {
        let is_end = matches!(task, Task::End);
        let work = async {
            if let Some(make) = make.take() {
                agent = Some(make());
            }
            match &mut agent {
                Some(agent) => run(agent, task).await,
                None => Err("the agent was not made".into()),
            }
        };
        let Some(mut result) = unless_closed(&mut outcome, work).await else { continue };
        let mut details = AppDetails::default();
        let asked = catch_unwind(AssertUnwindSafe(|| {
            details = agent.as_ref().map(LocalAgent::details).unwrap_or_default();
            // Dropped here, so that a panic of its `drop` is caught.
            if is_end {
                agent = None;
            }
        }));
        result = asked.and(result);
        // The receiver may be gone.
        let _ = outcome.send(Outcome { result, details });
    }
}

async fn run<A: LocalAgent>(agent: &mut A, task: Task) -> Result<Option<Map>, BoxError> {
    match task {
        Task::Start(session) => agent.start(&session).await.map(|()| None),
        Task::Turn(turn) => agent.turn(&turn).await.map(|()| None),
        Task::State => agent.state().await,
        Task::End => agent.end().await.map(|()| None),
    }
}

/// Awaits a future and catches its panic; `None` if the receiver of the outcome is gone.
async fn unless_closed<T>(
    outcome: &mut oneshot::Sender<Outcome>,
    work: impl Future<Output = T>,
) -> Option<Result<T, Box<dyn Any + Send>>> {
    let mut work = pin!(work);
    poll_fn(move |context| {
        if outcome.poll_closed(context).is_ready() {
            return Poll::Ready(None);
        }
        match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(value)) => Poll::Ready(Some(Ok(value))),
            Err(panic) => Poll::Ready(Some(Err(panic))),
        }
    })
    .await
}

impl<A, M> Agent for Local<M>
where
    A: LocalAgent + 'static,
    M: FnOnce() -> A + Send + 'static,
{
    async fn start(&mut self, session: &Session) -> Result<(), BoxError> {
        self.ask(Task::Start(session.clone())).await.map(drop)
    }

    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        self.ask(Task::Turn(turn.clone().into_owned())).await.map(drop)
    }

    async fn state(&mut self) -> Result<Option<Map>, BoxError> {
        self.ask(Task::State).await
    }

    async fn end(&mut self) -> Result<(), BoxError> {
        self.ask(Task::End).await.map(drop)
    }

    fn details(&self) -> AppDetails {
        self.details.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;
    use std::time::Duration;

    use eval_format::AgentDetails;

    use std::sync::Arc;

    use super::*;

    /// Not `Send`; says when it is dropped.
    struct Held {
        heard: Rc<str>,
        log: Arc<std::sync::Mutex<Vec<&'static str>>>,
    }

    impl Drop for Held {
        fn drop(&mut self) {
            self.log.lock().unwrap().push("dropped");
        }
    }

    impl LocalAgent for Held {
        async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
            self.heard = turn.text().into();
            let heard = Rc::clone(&self.heard);
            match &*turn.text() {
                "panic" => panic!("index out of bounds"),
                "hang" => std::future::pending().await,
                _ => {}
            }
            let said = tokio::task::spawn_local(async move { heard.to_uppercase() }).await?;
            turn.recorder().text(said);
            Ok(())
        }

        async fn end(&mut self) -> Result<(), BoxError> {
            self.log.lock().unwrap().push("ended");
            Ok(())
        }

        fn details(&self) -> AppDetails {
            AppDetails::default().with_agent(AgentDetails::new("held", &*self.heard))
        }
    }

    #[test]
    fn an_agent_that_is_not_send_answers_fails_and_ends_like_any_other() {
        let log = Arc::default();
        let held = Arc::clone(&log);
        let mut agent = local(move || Held { heard: "".into(), log: held });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let turn = Turn::from("hi");
            agent.turn(&turn).await.unwrap();
            assert_eq!(turn.recorder().events()[0].in_short(), "the text \"HI\"");
            assert_eq!(agent.details().agent_details[0].1.instructions, "hi");

            let hangs = Turn::from("hang");
            let limited = tokio::time::timeout(Duration::from_millis(20), agent.turn(&hangs));
            assert!(limited.await.is_err());

            let panics = Turn::from("panic");
            let caught = {
                let mut turn = Box::pin(agent.turn(&panics));
                poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| turn.as_mut().poll(context))) {
                    Ok(Poll::Pending) => Poll::Pending,
                    Ok(Poll::Ready(_)) => Poll::Ready(None),
                    Err(panic) => Poll::Ready(Some(panic)),
                })
                .await
            };
            assert_eq!(caught.unwrap().downcast_ref(), Some(&"index out of bounds"));
            agent.end().await.unwrap();
        });
        assert_eq!(*log.lock().unwrap(), ["ended", "dropped"]);
    }
}
