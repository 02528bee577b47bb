//! A running program with its conversations.

use std::future::pending;
use std::io::{BufReader, Write as _};
use std::process::{ChildStdin, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use eval_core::format::Map;
use tokio::sync::mpsc::Receiver;
use tokio::sync::{Mutex as AsyncMutex, oneshot, watch};

use super::error::{ENDED, ProcessError};
use super::lines::{self, MAX_LINE_BYTES};
use super::message::{self, HELLO, Received, Reply};
use super::pipes::Pipes;
use super::routes::{Delivery, Routes};
use crate::shared_group::SharedGroup;
use eval_core::group::Launch;
use eval_core::stderr::{Tail, quoted};
use eval_support::mutex::Mutex;

/// The longest wait for a program that closed its output to end.
const EXIT_WAIT: Duration = Duration::from_millis(200);

/// The longest wait for a program to end after a call of it was not answered, which is the error of its case.
const REFUSED_EXIT_WAIT: Duration = Duration::from_millis(200);

/// The poll interval while a program reads a line; it doubles up to the longest.
const POLL_PAUSE: Duration = Duration::from_millis(1);
const MAX_POLL_PAUSE: Duration = Duration::from_millis(5);

/// The time limit for a shared program to read `end`. It may be busy with another conversation.
const END_READ_WAIT: Duration = Duration::from_millis(50);

/// The bytes that are held back of a line: without them no reader takes it for a message.
const LINE_END_BYTES: usize = 2;

/// Bytes to write, and a sender that signals that they are written.
type Written = (Vec<u8>, oneshot::Sender<()>);

/// The input of a program. It ends when this is dropped.
#[derive(Debug)]
struct Input {
    bytes: Sender<Written>,
    pipes: Arc<Pipes>,
}

#[derive(Debug)]
pub(super) struct Child {
    launch: Launch,
    group: SharedGroup,
    pub(super) routes: Arc<Routes>,
    wrote: Tail,
    /// `None` after the input was closed to end the program.
    input: Mutex<Option<Input>>,
    /// The lock for writing a line, so that lines of several conversations are not mixed.
    writing: AsyncMutex<()>,
    hello: watch::Receiver<bool>,
    /// Whether the program takes no further conversation: one was left while it waited, or the program broke the protocol.
    is_closed_to_new: AtomicBool,
    is_shared: bool,
}

impl Child {
    pub(super) fn start(launch: &Launch, is_shared: bool) -> Result<Arc<Self>, ProcessError> {
        let not_ready = |error: std::io::Error| ProcessError::Start {
            program: launch.to_string(),
            source: Arc::new(error),
        };
        let mut group = launch.start(Stdio::piped()).map_err(not_ready)?;
        let no_pipe = || not_ready(std::io::Error::other("it has no pipes"));
        let stdin = group.child.stdin.take().ok_or_else(no_pipe)?;
        let stdout = group.child.stdout.take().ok_or_else(no_pipe)?;
        let stderr = group.child.stderr.take().ok_or_else(no_pipe)?;
        let wrote = Tail::default();
        wrote.follow(stderr);
        let routes = Arc::new(Routes::new(is_shared));
        let (hello_sender, hello) = watch::channel(false);
        let (pipes, stdout) = Pipes::new(&stdin, stdout).map_err(not_ready)?;
        let input = Input { bytes: writer(stdin).map_err(not_ready)?, pipes: Arc::new(pipes) };
        let routed = Arc::clone(&routes);
        thread::Builder::new()
            .name("eval-agents program".to_owned())
            .spawn(move || {
                let error = route(BufReader::new(stdout), &routed, &hello_sender);
                routed.break_off(&error);
            })
            .map_err(not_ready)?;
        Ok(Arc::new(Self {
            launch: launch.clone(),
            group: SharedGroup::new(group),
            routes,
            wrote,
            input: Mutex::new(Some(input)),
            writing: AsyncMutex::default(),
            hello,
            is_closed_to_new: AtomicBool::new(false),
            is_shared,
        }))
    }

    pub(super) fn is_of_use(&self) -> bool {
        self.routes.broken().is_none() && !self.is_closed_to_new.load(Ordering::Relaxed)
    }

    pub(super) fn connection(self: &Arc<Self>, session: &str) -> Connection {
        // A session outside of a case has no id. Runs of a case share an id, and the program has to tell them
        // apart.
        let session = if session.is_empty() { "conversation" } else { session };
        let mut id = session.to_owned();
        for number in 2_usize.. {
            if !self.routes.has(&id) {
                break;
            }
            id = format!("{session}-{number}");
        }
        let inbox = self.routes.open(&id);
        Connection { child: Arc::clone(self), id, inbox, is_asking: false, is_left: false, is_told: false }
    }

    /// Writes bytes. The returned receiver ends when they are written; `None` if the input is closed.
    fn put(&self, bytes: Vec<u8>) -> Option<oneshot::Receiver<()>> {
        let input = self.input.lock();
        let (sender, written) = oneshot::channel();
        input.as_ref()?.bytes.send((bytes, sender)).ok().map(|()| written)
    }

    fn pipes(&self) -> Option<Arc<Pipes>> {
        let input = self.input.lock();
        input.as_ref().map(|input| Arc::clone(&input.pipes))
    }

    async fn explain(&self, mut error: ProcessError) -> ProcessError {
        let ended = match error {
            ProcessError::Ended(_) => self.group.ended_within(EXIT_WAIT).await,
            _ => None,
        };
        let is_agents = matches!(error, ProcessError::Agent(_));
        let (status, wrote) = match ended {
            Some(status) => {
                error = error.ended_with(status);
                (String::new(), self.wrote.final_output().await)
            }
            // The error may be read before the traceback is.
            None if is_agents => (String::new(), self.wrote.settled().await),
            None => (String::new(), self.wrote.text()),
        };
        let mut note = self.quoted("it", &wrote);
        if is_agents && !note.is_empty() {
            // What the program reported is the headline, and no line of its log.
            note.replace_range(.."; ".len(), "\n");
        }
        error.with(&format!("{status}{note}"))
    }

    /// A sentence with what the program wrote to its standard error; empty if it wrote nothing.
    fn quoted(&self, who: &str, wrote: &str) -> String {
        let of_all = if self.is_shared { ", in all its conversations" } else { "" };
        quoted(&format!("{who} wrote to its standard error{of_all}"), wrote)
    }

    /// The error of a program that broke off outside of a request. A successful end is no error.
    async fn error_outside_requests(&self, error: ProcessError) -> Result<(), ProcessError> {
        match error {
            ProcessError::Ended(_) => match self.group.ended_within(EXIT_WAIT).await {
                Some(status) if !status.success() => Err(self.exit_error(status).await),
                _ => Ok(()),
            },
            error => Err(self.explain(error).await),
        }
    }

    /// Fails if the program, which has ended, wrote a message after its conversation.
    async fn last_message(&self) -> Result<(), ProcessError> {
        // The reading thread drops its sender when it has read all. Another process may hold the output open.
        let mut hello = self.hello.clone();
        let _ = tokio::time::timeout(EXIT_WAIT, async { while hello.changed().await.is_ok() {} }).await;
        match self.routes.broken() {
            Some(ProcessError::Ended(_)) | None => Ok(()),
            Some(error) => Err(self.explain(error).await),
        }
    }

    /// Ends the input of the program, which tells it to end, and checks that it ends in time and well. After `refused`, the case
    /// has its error, and a program that repeats the call is killed.
    async fn end(&self, limit: Duration, refused: impl Future<Output = ()>) -> Result<(), ProcessError> {
        drop(self.input.lock().take());
        let refused = async {
            refused.await;
            tokio::time::sleep(REFUSED_EXIT_WAIT).await;
        };
        let ended = tokio::select! {
            ended = self.group.ended_within(limit) => ended,
            () = refused => {
                self.group.kill().await;
                return Ok(());
            }
        };
        let Some(status) = ended else {
            self.group.kill().await;
            let wrote = self.quoted("it", &self.wrote.final_output().await);
            return Err(ProcessError::End(format!(
                "the program did not end within {limit:?} (`end_within`, or `--end-within`, sets the limit) after `end` and the end \
                 of its input, and was killed{wrote}"
            )));
        };
        let ended = self.last_message().await;
        self.group.kill().await;
        match ended {
            Ok(()) if !status.success() => Err(self.exit_error(status).await),
            ended => ended,
        }
    }

    /// Ends a shared program whose conversations are over. Fails with an error that no conversation has reported.
    pub(super) async fn finish(&self, limit: Duration) -> Result<(), ProcessError> {
        let ended = match (self.routes.broken_unheard(), self.is_of_use()) {
            (Some(error), _) => self.error_outside_requests(error).await,
            (None, true) => self.end(limit, pending()).await,
            // The conversation that it failed has the error.
            (None, false) => Ok(()),
        };
        self.group.kill().await;
        ended?;
        self.routes.late().map_or(Ok(()), |late| Err(ProcessError::Protocol(late)))
    }

    async fn exit_error(&self, status: ExitStatus) -> ProcessError {
        let wrote = self.quoted("it", &self.wrote.final_output().await);
        ProcessError::End(format!("the program ended with {status}{wrote}"))
    }
}

/// The end of a line that is held back. Dropping it writes it: otherwise the next line would be part of this one.
struct HeldBack<'a> {
    child: &'a Child,
    end: Vec<u8>,
}

impl Drop for HeldBack<'_> {
    fn drop(&mut self) {
        self.child.put(std::mem::take(&mut self.end));
    }
}

/// Starts a thread that writes to a program, so that a program that reads nothing blocks no other.
fn writer(mut stdin: ChildStdin) -> std::io::Result<Sender<Written>> {
    let (sender, writes) = mpsc::channel::<Written>();
    thread::Builder::new().name("eval-agents input".to_owned()).spawn(move || {
        for (bytes, written) in writes {
            // The output of a program that closed its input shows the reason.
            if stdin.write_all(&bytes).and_then(|()| stdin.flush()).is_err() {
                break;
            }
            // A caller that does not wait has dropped its receiver.
            let _ = written.send(());
        }
    })?;
    Ok(sender)
}

/// Hands each message to its conversation, until the program breaks the protocol or ends. Returns this error.
pub(super) fn route(
    mut output: BufReader<impl std::io::Read>,
    routes: &Routes,
    hello: &watch::Sender<bool>,
) -> ProcessError {
    let mut said_hello = false;
    loop {
        let read = lines::next(&mut output, MAX_LINE_BYTES);
        let (received, line) = match read.and_then(|line| Ok((Received::read(&line)?, line))) {
            Ok(read) => read,
            Err(error) => return error,
        };
        let delivered = match (received.reply, said_hello) {
            (Reply::Hello, false) => {
                said_hello = true;
                hello.send_replace(true);
                Ok(())
            }
            (Reply::Hello, true) => Err(ProcessError::Protocol("the program said `hello` twice".to_owned())),
            (reply, false) => Err(ProcessError::Protocol(format!(
                "the first message of the program is `{reply}`; it should be {HELLO}"
            ))),
            (reply, true) => routes.deliver(Received { session: received.session, reply }, &line),
        };
        if let Err(error) = delivered {
            return error;
        }
    }
}

/// Writes messages of a conversation that are no requests, whatever the program does.
#[derive(Clone, Debug)]
pub(super) struct Writer {
    child: Arc<Child>,
    id: String,
}

impl Writer {
    /// Writes a message. A program that closed its input gets none.
    pub(super) async fn write(&self, message: Map) {
        let _writing = self.child.writing.lock().await;
        drop(self.child.put(message::line(message, &self.id)));
    }
}

#[derive(Debug)]
pub(super) struct Connection {
    child: Arc<Child>,
    id: String,
    inbox: Receiver<Delivery>,
    /// Whether a message is being written that the program has to answer.
    is_asking: bool,
    is_left: bool,
    is_told: bool,
}

impl Connection {
    pub(super) fn writer(&self) -> Writer {
        Writer { child: Arc::clone(&self.child), id: self.id.clone() }
    }

    pub(super) async fn wait_for_hello(&mut self, limit: Duration) -> Result<(), ProcessError> {
        let child = Arc::clone(&self.child);
        let mut hello = child.hello.clone();
        let said = tokio::time::timeout(limit, hello.wait_for(|said| *said)).await;
        match said.map(|said| said.is_ok()) {
            Ok(true) => Ok(()),
            // The reading thread ended and dropped the sender.
            Ok(false) => Err(self.broken().await),
            Err(_) => {
                let late = ProcessError::NotReady(format!(
                    "the program `{}` did not say `hello` within {limit:?} (`ready_within`, or `--ready-within`, sets the limit); a program \
                     whose output is a pipe has to flush it",
                    child.launch
                ));
                Err(child.explain(late).await)
            }
        }
    }

    pub(super) async fn ask(&mut self, request: Map) -> Result<(), ProcessError> {
        self.is_asking = true;
        self.hand_over(request, true).await?;
        self.is_asking = false;
        Ok(())
    }

    /// Writes a message. The end of its line follows when the program has read the rest and all its output
    /// was handled: output before that was not asked for. A message that awaits no answer ends the conversation.
    async fn hand_over(&self, request: Map, awaits: bool) -> Result<(), ProcessError> {
        let child = &*self.child;
        let mut line = message::line(request, &self.id);
        let end = line.split_off(line.len().saturating_sub(LINE_END_BYTES));
        let _writing = child.writing.lock().await;
        let (Some(written), Some(pipes)) = (child.put(line), child.pipes()) else {
            return Err(self.broken().await);
        };
        let held_back = HeldBack { child, end };
        // The wait fails if the program closed its input.
        let _ = written.await;
        let mut look = POLL_PAUSE;
        while !pipes.are_empty() || child.is_shared && pipes.is_in_a_line() {
            if child.routes.broken().is_some() {
                return Err(self.broken().await);
            }
            tokio::time::sleep(look).await;
            look = (look * 2).min(MAX_POLL_PAUSE);
        }
        if child.routes.broken().is_some() {
            return Err(self.broken().await);
        }
        if pipes.is_in_a_line() {
            let early = "the program began a line before it was asked; what happens belongs between `turn` and `turn_end`";
            child.routes.break_off(&ProcessError::Protocol(early.to_owned()));
            return Err(self.broken().await);
        }
        if awaits {
            child.routes.awaits(&self.id);
        } else {
            // Output after `end` was read is late, however soon it comes.
            child.routes.close(&self.id);
        }
        drop(held_back);
        Ok(())
    }

    pub(super) fn take_notes(&self) -> Vec<String> {
        self.child.routes.take_notes(&self.id)
    }

    pub(super) async fn reply(&mut self) -> Result<Reply, ProcessError> {
        self.is_told = false;
        let error = match self.inbox.recv().await {
            Some(Ok(reply)) => return Ok(reply),
            Some(Err(error)) => self.child.explain(error).await,
            None => self.broken().await,
        };
        // Set after the wait: if the turn times out meanwhile, the error reaches no caller.
        self.is_told = true;
        Err(error)
    }

    /// The error with what the program wrote. If the program broke the protocol, it gets no other conversation.
    pub(super) async fn explain(&self, error: ProcessError) -> ProcessError {
        if matches!(error, ProcessError::Protocol(_)) {
            self.child.is_closed_to_new.store(true, Ordering::Relaxed);
        }
        self.child.explain(error).await
    }

    async fn broken(&self) -> ProcessError {
        let gone = || ProcessError::Ended(ENDED.to_owned());
        self.child.explain(self.child.routes.broken().unwrap_or_else(gone)).await
    }

    /// Ends the conversation. A program that is not shared, or is useless, ends with it, soon after `refused` at the latest.
    pub(super) async fn leave(
        mut self,
        limit: Duration,
        refused: impl Future<Output = ()>,
    ) -> Result<(), ProcessError> {
        let child = Arc::clone(&self.child);
        if let Some(error) = child.routes.broken() {
            let told = if self.is_told { Ok(()) } else { child.error_outside_requests(error).await };
            child.group.kill().await;
            // Set after the kill: if the caller stops waiting, the drop kills the program.
            self.is_left = true;
            return told;
        }
        self.is_left = true;
        if self.is_asking || child.routes.is_awaiting(&self.id) {
            // The turn ran out of time, and gives no other reason.
            if self.forsake() {
                child.group.kill().await;
            }
            let wrote = child.wrote.text();
            return match child.quoted("the program", &wrote) {
                note if note.is_empty() => Ok(()),
                note => Err(ProcessError::End(format!("the turn did not end{note}"))),
            };
        }
        if child.is_shared {
            let told = tokio::time::timeout(END_READ_WAIT, self.hand_over(message::end(), false)).await;
            child.routes.close(&self.id);
            return told.unwrap_or(Ok(()));
        }
        if child.put(message::line(message::end(), &self.id)).is_none() {
            return Err(self.broken().await);
        }
        child.routes.close(&self.id);
        child.end(limit, refused).await
    }

    /// Leaves a program that may hang. Returns whether no conversation is left, so that the program must be killed.
    fn forsake(&self) -> bool {
        self.child.is_closed_to_new.store(true, Ordering::Relaxed);
        self.child.routes.close(&self.id);
        self.child.routes.count() == 0
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if !self.is_left && self.forsake() {
            self.child.group.kill_now();
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::future::Future;
    use std::process::Command;

    use super::*;

    /// A conversation with a program in shell that breaks off, and why it did.
    async fn broken_off(script: &str) -> (Connection, ProcessError) {
        let mut connection = Child::start(&Launch::new(Command::new("sh").args(["-c", script])), false)
            .unwrap()
            .connection("s");
        let error = connection.inbox.recv().await.unwrap().unwrap_err();
        (connection, error)
    }

    /// The first to end: this, or a slow turn of another case on the same thread.
    async fn first(done: impl Future, time: Duration) -> &'static str {
        // The clock is paused, and jumps to the next of the awaited times.
        tokio::time::pause();
        let first = tokio::select! {
            _ = done => "the end of the program",
            () = tokio::time::sleep(time) => "the other case",
        };
        tokio::time::resume();
        first
    }

    #[tokio::test]
    async fn other_cases_have_their_time_while_a_program_that_broke_off_is_awaited() {
        // It closed its output, and runs on.
        let (connection, error) = broken_off("exec >&-; exec sleep 600").await;
        assert_eq!(first(connection.child.explain(error.clone()), EXIT_WAIT / 2).await, "the other case");
        assert_eq!(
            first(connection.child.explain(error.clone()), EXIT_WAIT * 2).await,
            "the end of the program"
        );
        assert_eq!(
            first(connection.child.error_outside_requests(error), EXIT_WAIT / 2).await,
            "the other case"
        );
        connection.leave(Duration::ZERO, pending()).await.unwrap();
    }

    #[tokio::test]
    async fn a_program_that_asks_for_what_was_refused_while_it_ends_is_not_awaited() {
        let program = Launch::new(Command::new("sleep").arg("600"));
        let connection = Child::start(&program, false).unwrap().connection("s");
        connection.leave(Duration::from_mins(9), std::future::ready(())).await.unwrap();
    }

    #[tokio::test]
    async fn other_cases_have_their_time_while_the_last_words_of_a_program_are_awaited() {
        // It ended, and what it started may still write.
        let (connection, error) = broken_off("sleep 600 >&- & echo late >&2; exit 3").await;
        // From here on its end is known, so that only its last words are waited for.
        let ended = connection.child.group.ended_within(Duration::from_mins(1)).await;
        assert_eq!(ended.and_then(|status| status.code()), Some(3));
        assert_eq!(first(connection.child.explain(error.clone()), EXIT_WAIT).await, "the other case");
        let explained = connection.child.explain(error).await.to_string();
        assert!(explained.contains("exit status: 3") && explained.ends_with("late"), "{explained}");
    }
}
