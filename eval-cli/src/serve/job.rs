//! The run started in the browser: `cargo evalset run` as a program of its own, with the agent that `serve` was given.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::time::{Duration, SystemTime};
use std::{env, thread};

use chrono::{DateTime, Utc};
use eval_core::group::{Group, Launch};
use eval_server::axum::http::StatusCode;
use eval_support::mutex::Mutex;
use eval_support::variables;
use serde_json::{Value, json};

use super::answer::Failure;
use super::hub::Hub;
use crate::output::Outcome;
use crate::page::line;

/// The run that can be started. Nothing of it comes from a browser.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    pub(crate) agent: String,
    /// The arguments of `run` that name it.
    pub(crate) args: Vec<String>,
}

/// The run that was started last.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) start: Option<Start>,
    records: PathBuf,
    hub: Hub,
    state: Mutex<Last>,
}

#[derive(Debug, Default)]
struct Last {
    /// The number of the run. Late output of earlier runs has another number and is ignored.
    number: u64,
    run: Option<String>,
    group: Option<Group>,
    said: VecDeque<String>,
    ended: Option<String>,
}

const MAX_KEPT_LINES: usize = 300;
const OUTPUT_END_WAIT: Duration = Duration::from_secs(2);
/// The most bytes of a line. The rest of a longer line is read as another line.
const MAX_LINE_BYTES: u64 = 16 << 10;

impl Job {
    pub(super) fn new(start: Option<Start>, records: PathBuf, hub: Hub) -> Self {
        Self { start, records, hub, state: Mutex::default() }
    }

    pub(super) fn tell(&self) {
        self.hub.tell("job", &self.shown());
    }

    pub(super) fn shown(&self) -> Value {
        let state = self.state.lock();
        json!({ "run": state.run, "running": state.group.is_some(), "ended": state.ended, "said": state.said })
    }

    /// Kills the run and everything that it started.
    pub(super) fn end(&self) -> bool {
        let mut state = self.state.lock();
        let Some(mut group) = state.group.take() else { return false };
        state.ended = Some("cancelled: cases that were in progress have no verdict".to_owned());
        drop(state);
        group.kill();
        true
    }

    fn say(&self, number: u64, said: &str) -> bool {
        let mut state = self.state.lock();
        if state.number != number {
            return false;
        }
        state.said.push_back(said.to_owned());
        if state.said.len() > MAX_KEPT_LINES {
            state.said.pop_front();
        }
        true
    }

    /// Whether the run has ended by itself, or was cancelled.
    fn has_ended(&self, number: u64) -> bool {
        let mut state = self.state.lock();
        if state.number != number {
            return true;
        }
        let Some(group) = &mut state.group else { return true };
        let Some(status) = group.ended() else { return false };
        state.ended = Some(words(status));
        state.group = None;
        true
    }
}

fn words(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => Outcome::of_exit_code(code)
            .map_or_else(|| format!("ended with exit code {code}"), |outcome| outcome.of_cases().to_owned()),
        None => "ended by a signal".to_owned(),
    }
}

pub(super) fn begin(job: &Arc<Job>, start: &Start, sets: &[String], runs: u16) -> Result<String, Failure> {
    let mut state = job.state.lock();
    if state.group.is_some() {
        return Err(Failure::new(
            StatusCode::CONFLICT,
            "a run is in progress",
            "wait for its end, or cancel it",
        ));
    }
    let failed = |error: std::io::Error| Failure::internal(format!("the run cannot be started: {error}"));
    let number = state.number + 1;
    let run =
        format!("{}-page-{number}", DateTime::<Utc>::from(SystemTime::now()).format("%Y-%m-%dT%H-%M-%S"));
    let mut command = Command::new(env::current_exe().map_err(failed)?);
    command.arg("run").args(&start.args).args(["--runs", &runs.to_string(), "--"]).args(sets);
    command.env(variables::RUN_ID, &run).env(variables::DIR, &job.records).env_remove(variables::JOURNAL);
    let mut group = Launch::new(&command).start(Stdio::null()).map_err(failed)?;
    let (out, err) = (group.child.stdout.take(), group.child.stderr.take());
    *state = Last { number, run: Some(run.clone()), group: Some(group), ..Last::default() };
    drop(state);
    let (reading, read) = mpsc::channel();
    if let Some(out) = out {
        follow(job, number, out, reading.clone());
    }
    if let Some(err) = err {
        follow(job, number, err, reading);
    }
    let job = Arc::clone(job);
    thread::spawn(move || {
        while !job.has_ended(number) {
            thread::sleep(Duration::from_millis(50));
        }
        // The last output is read before the end is reported. The wait is limited, since a process that the
        // run started may hold the output open.
        let _ = read.recv_timeout(OUTPUT_END_WAIT);
        job.tell();
    });
    Ok(run)
}

/// Sends each line of output to the pages. `reading` is dropped at the end of the output.
fn follow(job: &Arc<Job>, number: u64, said: impl Read + Send + 'static, reading: Sender<Infallible>) {
    let job = Arc::clone(job);
    thread::spawn(move || {
        let _reading = reading;
        let mut said = BufReader::new(said);
        loop {
            let mut text = Vec::new();
            match said.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut text) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            let text = line(String::from_utf8_lossy(&text).trim_end());
            if !job.say(number, &text) {
                return;
            }
            job.hub.tell("said", &json!({ "line": text }));
        }
    });
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    #[test]
    fn an_end_is_told_in_words() {
        for (status, said) in [
            (0, "passed"),
            (1 << 8, "failed: a case did not pass"),
            (2 << 8, "not measurable: a case has no verdict, or nothing was run"),
            (101 << 8, "ended with exit code 101"),
            (9, "ended by a signal"),
        ] {
            assert_eq!(words(ExitStatus::from_raw(status)), said);
        }
    }

    #[test]
    fn the_output_is_read_before_the_end_is_told_and_not_waited_for_without_end() {
        let job = Arc::new(Job::new(None, PathBuf::new(), Hub::new()));
        let (reading, read) = mpsc::channel();
        follow(&job, 0, &b"one\ntwo"[..], reading);
        assert_eq!(read.recv(), Err(mpsc::RecvError));
        assert_eq!(job.shown()["said"], json!(["one", "two"]));
        // An output that another process holds open does not end.
        let (open, _held) = std::io::pipe().unwrap();
        let (reading, read) = mpsc::channel();
        follow(&job, 0, open, reading);
        assert_eq!(read.recv_timeout(Duration::from_millis(50)), Err(mpsc::RecvTimeoutError::Timeout));
    }
}
