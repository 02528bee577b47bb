//! A program that answers: started for one question, or kept for further ones.
//!
//! A thread of its own asks each question, and an async task waits for it. So no task blocks, and the time limit holds under
//! any runtime. If the task goes away, the program is killed.
//!
//! A program of agentevals' protocol reads its input to the end, answers and ends. A program whose answer says that it reads
//! lines is kept from then on: its input stays open, and each line is a question with an id. Other programs see none of that.

use std::collections::BTreeMap;
use std::io::{PipeReader, PipeWriter, Read as _, Write as _};
use std::process::{ChildStdout, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use eval_support::mutex::Mutex;
use tokio::sync::oneshot;

use super::answer::{self, ID, cut};
use crate::group::{Group, Launch};
use crate::stderr::{Tail, quoted};

/// The most bytes of an answer.
const MAX_ANSWER_BYTES: usize = 1 << 20;

/// The longest wait between two looks at the program and at the task that waits for it.
const POLL_PAUSE: Duration = Duration::from_millis(5);

/// The longest wait for the end of an output once the program is gone. A process that it started may hold it open.
const END_WAIT: Duration = Duration::from_millis(500);

/// The most programs of one command that are kept idle.
const MAX_IDLE: usize = 16;

/// The output of a program about one question.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) text: String,
    pub(super) stderr: String,
}

/// The programs of this process that read lines, idle ones, by their start. They end with the process.
static KEPT: Mutex<BTreeMap<Launch, Vec<Program>>> = Mutex::new(BTreeMap::new());

static LAST_ID: AtomicU64 = AtomicU64::new(0);

/// Asks a program. The error is a sentence with what it wrote to its standard error.
pub(super) async fn ask(launch: Launch, question: String, limit: Duration) -> Result<Reply, String> {
    let (sender, receiver) = oneshot::channel();
    let thread = thread::Builder::new().name("eval-core metric".to_owned());
    let asks = move || {
        let reply = ask_here(&launch, &question, limit, &|| sender.is_closed());
        // Without a receiver nothing waits for the reply.
        let _ = sender.send(reply);
    };
    thread.spawn(asks).map_err(|error| format!("no thread can be started for the program: {error}"))?;
    receiver.await.unwrap_or_else(|_| Err("the thread that asks the program panicked".to_owned()))
}

/// A sentence with what a program wrote to its standard error; empty if it wrote nothing.
pub(super) fn said(stderr: &str) -> String {
    quoted("it wrote to its standard error", stderr)
}

fn ask_here(
    launch: &Launch,
    question: &str,
    limit: Duration,
    is_given_up: &dyn Fn() -> bool,
) -> Result<Reply, String> {
    let start = || {
        Program::start(launch)
            .map_err(|error| format!("the program `{}` cannot be started: {error}", launch.typed("")))
    };
    let until = Instant::now() + limit;
    let wait = Wait { until, limit, is_given_up };
    if !KEPT.lock().contains_key(launch) {
        // No program of this start has said yet that it reads lines.
        let reply = start()?.ask_once(question, &wait)?;
        if answer::reads_lines(&reply.text) {
            KEPT.lock().entry(launch.clone()).or_default();
        }
        return Ok(reply);
    }
    let found = idle(launch)?;
    let was_idle = found.is_some();
    let mut program = match found {
        Some(program) => program,
        None => start()?,
    };
    let asked = match program.ask_in_line(question, &wait) {
        // A program may end well after an answer. What it was not asked is about no case. A question that it took is not asked
        // again: another process may answer what this one broke at.
        Err(Unanswered { is_untaken: true, .. }) if was_idle => {
            program = start()?;
            program.ask_in_line(question, &wait)
        }
        asked => asked,
    };
    let reply = asked.map_err(|unanswered| unanswered.why)?;
    let mut kept = KEPT.lock();
    let idle = kept.entry(launch.clone()).or_default();
    if idle.len() < MAX_IDLE {
        idle.push(program);
    }
    Ok(reply)
}

/// A kept program that still runs. It is an error if one ended badly since its last answer.
fn idle(launch: &Launch) -> Result<Option<Program>, String> {
    loop {
        // The lock is released before a program that ended is dropped.
        let found = KEPT.lock().get_mut(launch).and_then(Vec::pop);
        let Some(mut program) = found else { return Ok(None) };
        match program.group.ended() {
            None => return Ok(Some(program)),
            Some(status) if status.success() => {}
            Some(status) => {
                let stderr = said(&program.stderr.await_final_output());
                return Err(format!("the program ended with {status} after an earlier answer{stderr}"));
            }
        }
    }
}

/// Whether a kept program still runs.
#[cfg(test)]
pub(super) fn has_idle(launch: &Launch) -> bool {
    let mut kept = KEPT.lock();
    kept.get_mut(launch).is_some_and(|idle| idle.iter_mut().any(|program| program.group.ended().is_none()))
}

struct Wait<'a> {
    until: Instant,
    limit: Duration,
    is_given_up: &'a dyn Fn() -> bool,
}

/// A running program. It is killed when this is dropped.
#[derive(Debug)]
struct Program {
    group: Group,
    /// The bytes that are still to be written; the input ends when this is dropped.
    input: Option<Sender<Vec<u8>>>,
    /// The other end of the input. What the program left in it once it ended, it did not take.
    untaken: PipeReader,
    output: Receiver<Vec<u8>>,
    /// Output after the last answer.
    rest: Vec<u8>,
    stderr: Tail,
}

/// The reason why a kept program gave no answer.
struct Unanswered {
    why: String,
    /// Whether it ended well without reading the question or writing anything.
    is_untaken: bool,
}

impl From<String> for Unanswered {
    fn from(why: String) -> Self {
        Self { why, is_untaken: false }
    }
}

enum Read {
    /// The output up to the end of a line.
    Line(Vec<u8>),
    /// The whole output.
    End(Vec<u8>),
}

impl Program {
    fn start(launch: &Launch) -> std::io::Result<Self> {
        let (untaken, stdin) = std::io::pipe()?;
        let mut group = launch.start(Stdio::from(untaken.try_clone()?))?;
        let no_pipe = || std::io::Error::other("it has no pipes");
        let stdout = group.child.stdout.take().ok_or_else(no_pipe)?;
        let stderr = Tail::default();
        stderr.follow(group.child.stderr.take().ok_or_else(no_pipe)?);
        let (input, output) = (Some(writer(stdin)?), reader(stdout)?);
        Ok(Self { group, input, untaken, output, rest: Vec::new(), stderr })
    }

    /// Asks a program that reads its whole input, answers and ends.
    fn ask_once(mut self, question: &str, wait: &Wait<'_>) -> Result<Reply, String> {
        self.write(question.as_bytes().to_vec());
        self.input = None;
        let bytes = match self.read(wait, false)? {
            Read::End(bytes) | Read::Line(bytes) => bytes,
        };
        let status = self.wait(wait)?;
        let stderr = self.stderr.await_final_output();
        if !status.success() {
            return Err(format!("the program ended with {status}{}", said(&stderr)));
        }
        reply(bytes, stderr)
    }

    /// Asks a program that reads lines. It must write one line, with the id of the question.
    fn ask_in_line(&mut self, question: &str, wait: &Wait<'_>) -> Result<Reply, Unanswered> {
        let id = LAST_ID.fetch_add(1, Ordering::Relaxed) + 1;
        let open = question.strip_suffix('}').unwrap_or(question);
        // What it wrote since the last answer belongs to no case.
        let _ = self.stderr.take();
        let question = format!("{open},\"{ID}\":{id}}}\n");
        let length = question.len();
        self.write(question.into_bytes());
        match self.read(wait, true)? {
            Read::Line(bytes) => {
                let stderr = self.stderr.take();
                let reply = reply(bytes, stderr)?;
                if answer::has_id(&reply.text, id) {
                    return Ok(reply);
                }
                let stderr = said(&reply.stderr);
                let answer = cut(&reply.text);
                let why = format!(
                    "the program wrote an answer without the `{ID}` of its question, {id}: {answer}{stderr}"
                );
                Err(why.into())
            }
            Read::End(bytes) => {
                let status = self.wait(wait)?;
                let stderr = said(&self.stderr.await_final_output());
                let why = format!("the program ended with {status} before it answered{stderr}");
                let is_untaken = status.success() && bytes.is_empty() && self.left_in_input() >= length;
                Err(Unanswered { why, is_untaken })
            }
        }
    }

    fn write(&self, bytes: Vec<u8>) {
        // A program that reads no input has closed it. Its answer counts anyway.
        let _ = self.input.as_ref().map(|input| input.send(bytes));
    }

    /// Bytes of its input that an ended program did not read.
    fn left_in_input(&mut self) -> usize {
        // Once all is written, the input ends.
        self.input = None;
        let mut left = Vec::new();
        let _ = self.untaken.read_to_end(&mut left);
        left.len()
    }

    /// Reads the output, until the end of a line or the end of all.
    fn read(&mut self, wait: &Wait<'_>, is_line: bool) -> Result<Read, String> {
        let mut bytes = std::mem::take(&mut self.rest);
        let mut gone: Option<Instant> = None;
        loop {
            if let Some(end) = bytes.iter().position(|byte| *byte == b'\n').filter(|_| is_line) {
                self.rest = bytes.split_off(end + 1);
                return Ok(Read::Line(bytes));
            }
            if bytes.len() > MAX_ANSWER_BYTES {
                let most = MAX_ANSWER_BYTES >> 20;
                return Err(
                    self.failed(&format!("the program wrote more than {most} MiB to its standard output"))
                );
            }
            match self.output.recv_timeout(POLL_PAUSE) {
                Ok(more) => bytes.extend(more),
                Err(RecvTimeoutError::Disconnected) => return Ok(Read::End(bytes)),
                Err(RecvTimeoutError::Timeout) => {
                    self.look(wait)?;
                    // Processes that it left behind may hold its output open. They end with it.
                    let since = gone.filter(|_| self.group.ended().is_some());
                    match since {
                        None if self.group.ended().is_some() => gone = Some(Instant::now()),
                        Some(since) if since.elapsed() > END_WAIT * 2 => {
                            let held =
                                "the program ended, and another process holds its standard output open";
                            return Err(self.failed(held));
                        }
                        Some(since) if since.elapsed() > END_WAIT => self.group.begin_to_kill(),
                        _ => {}
                    }
                }
            }
            self.look(wait)?;
        }
    }

    /// Waits for the end of a program that closed its output.
    fn wait(&mut self, wait: &Wait<'_>) -> Result<ExitStatus, String> {
        loop {
            if let Some(status) = self.group.ended() {
                return Ok(status);
            }
            self.look(wait)?;
            thread::sleep(POLL_PAUSE);
        }
    }

    /// Fails if the time is up, or if nothing waits for the answer.
    fn look(&mut self, wait: &Wait<'_>) -> Result<(), String> {
        if (wait.is_given_up)() {
            return Err("nothing waits for the answer".to_owned());
        }
        if Instant::now() < wait.until {
            return Ok(());
        }
        let limit = wait.limit;
        Err(self.failed(&format!("the program gave no answer within {limit:?} (`timeout` sets the limit)")))
    }

    fn failed(&mut self, why: &str) -> String {
        self.group.kill();
        format!("{why}{}", said(&self.stderr.await_final_output()))
    }
}

fn reply(bytes: Vec<u8>, stderr: String) -> Result<Reply, String> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Reply { text, stderr }),
        Err(error) => {
            let shown = cut(&String::from_utf8_lossy(error.as_bytes()));
            Err(format!("the program wrote an answer that is not UTF-8: {shown}{}", said(&stderr)))
        }
    }
}

/// Starts a thread that writes to a program, so that a program that reads nothing blocks no other.
fn writer(mut stdin: PipeWriter) -> std::io::Result<Sender<Vec<u8>>> {
    let (sender, receiver) = channel::<Vec<u8>>();
    let writes = move || {
        while let Ok(bytes) = receiver.recv() {
            if stdin.write_all(&bytes).and_then(|()| stdin.flush()).is_err() {
                return;
            }
        }
    };
    thread::Builder::new().name("eval-core metric input".to_owned()).spawn(writes)?;
    Ok(sender)
}

/// Starts a thread that reads from a program. It holds a few kilobytes at most.
fn reader(mut stdout: ChildStdout) -> std::io::Result<Receiver<Vec<u8>>> {
    let (sender, receiver): (SyncSender<Vec<u8>>, _) = sync_channel(4);
    let reads = move || {
        let mut buffer = [0; 8192];
        loop {
            match stdout.read(&mut buffer) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Ok(count @ 1..) if sender.send(buffer[..count].to_vec()).is_ok() => {}
                _ => return,
            }
        }
    };
    thread::Builder::new().name("eval-core metric output".to_owned()).spawn(reads)?;
    Ok(receiver)
}
