//! The run that somebody starts on the page: `cargo evalset run` as a program of its own, with the agent that `serve` was given.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};
use std::{env, thread};

use chrono::{DateTime, Utc};
use eval_agents::__private::{Group, Launch};
use eval_core::__private::variables;
use eval_server::axum::body::Bytes;
use eval_server::axum::extract::State;
use eval_server::axum::http::StatusCode;
use eval_server::axum::response::Response;
use serde::Deserialize;
use serde_json::{Value, json};

use super::answer::{self, Failure};
use super::sets;
use super::site::{Site, lock};
use crate::page::line;

/// What can be started. Nothing of it comes from a browser.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    /// What the agent is called.
    pub(crate) agent: String,
    /// The arguments of `run` that name it.
    pub(crate) args: Vec<String>,
}

/// The run that was started last.
#[derive(Debug)]
pub(super) struct Job {
    start: Option<Start>,
    state: Mutex<Last>,
}

#[derive(Debug, Default)]
struct Last {
    /// How many were started: what an earlier one still says is not for the next.
    number: u64,
    run: Option<String>,
    group: Option<Group>,
    said: VecDeque<String>,
    ended: Option<&'static str>,
}

/// Lines of output that are kept.
const KEPT: usize = 300;
/// Bytes of a line that are read.
const LONGEST: u64 = 16 << 10;
/// The most runs of a case that the page may ask for.
const MOST: u16 = 100;

impl Job {
    pub(super) fn new(start: Option<Start>) -> Self {
        Self { start, state: Mutex::default() }
    }

    pub(super) fn start(&self) -> Option<&Start> {
        self.start.as_ref()
    }

    /// How far it is, for a page.
    pub(super) fn shown(&self) -> Value {
        let state = lock(&self.state);
        json!({ "run": state.run, "running": state.group.is_some(), "ended": state.ended, "said": state.said })
    }

    /// Kills the run and everything that it started.
    pub(super) fn end(&self) -> bool {
        let mut state = lock(&self.state);
        let Some(mut group) = state.group.take() else { return false };
        state.ended = Some("cancelled: cases that were in work have no verdict");
        drop(state);
        group.kill();
        true
    }

    fn say(&self, number: u64, said: &str) -> bool {
        let mut state = lock(&self.state);
        if state.number != number {
            return false;
        }
        state.said.push_back(said.to_owned());
        if state.said.len() > KEPT {
            state.said.pop_front();
        }
        true
    }

    /// Whether the run has ended by itself, or was cancelled.
    fn has_ended(&self, number: u64) -> bool {
        let mut state = lock(&self.state);
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

/// How the run ended.
fn words(status: ExitStatus) -> &'static str {
    match status.code() {
        Some(0) => "passed",
        Some(1) => "failed: a case did not pass",
        Some(2) => "not measurable: a case has no verdict, or nothing was run",
        _ => "ended by a signal",
    }
}

/// What the page asks for.
#[derive(Deserialize)]
struct Asked {
    sets: Vec<String>,
    runs: u16,
}

/// Starts a run.
pub(super) async fn start(State(site): State<Arc<Site>>, body: Bytes) -> Result<Response, Failure> {
    site.work(move |site| {
        let asked: Asked = serde_json::from_slice(&body).map_err(|error| {
            Failure::bad(format!("the request cannot be read: {error}"), "send `sets` and `runs`")
        })?;
        let Some(start) = &site.job.start else {
            let help = "start `cargo evalset serve` with `--agent-cmd`, `--agent-url` or `--adk-cmd`";
            return Err(Failure::new(StatusCode::CONFLICT, "this service was given no agent", help));
        };
        if !(1..=MOST).contains(&asked.runs) {
            return Err(Failure::bad("a case runs from 1 to 100 times", "change the number of runs"));
        }
        let known = sets::all()?;
        let sets = known.iter().map(|path| path.display().to_string()).filter(|set| asked.sets.contains(set));
        let sets: Vec<String> = sets.collect();
        if sets.is_empty() || sets.len() != asked.sets.len() {
            let help = "choose one or more of the sets; load the page again if a file was moved";
            return Err(Failure::bad("no set is chosen, or one is not there any more", help));
        }
        let run = begin(site, start, &sets, asked.runs)?;
        site.tell("job", &site.job.shown());
        Ok(answer::json(&json!({ "run": run })))
    })
    .await
}

fn begin(site: &Arc<Site>, start: &Start, sets: &[String], runs: u16) -> Result<String, Failure> {
    let mut state = lock(&site.job.state);
    if state.group.is_some() {
        return Err(Failure::new(StatusCode::CONFLICT, "a run is in work", "wait for its end, or cancel it"));
    }
    let failed = |error: std::io::Error| Failure::internal(format!("the run cannot be started: {error}"));
    let number = state.number + 1;
    let run =
        format!("{}-page-{number}", DateTime::<Utc>::from(SystemTime::now()).format("%Y-%m-%dT%H-%M-%S"));
    let mut command = Command::new(env::current_exe().map_err(failed)?);
    command.arg("run").args(&start.args).args(["--runs", &runs.to_string(), "--"]).args(sets);
    command.env(variables::RUN_ID, &run).env(variables::DIR, &site.records).env_remove(variables::JOURNAL);
    let mut group = Launch::of(&command).start(Stdio::null()).map_err(failed)?;
    let (out, err) = (group.child.stdout.take(), group.child.stderr.take());
    *state = Last { number, run: Some(run.clone()), group: Some(group), ..Last::default() };
    drop(state);
    if let Some(out) = out {
        follow(site, number, out);
    }
    if let Some(err) = err {
        follow(site, number, err);
    }
    let site = Arc::clone(site);
    thread::spawn(move || {
        while !site.job.has_ended(number) {
            thread::sleep(Duration::from_millis(50));
        }
        // What it said last is still on its way.
        thread::sleep(Duration::from_millis(100));
        site.tell("job", &site.job.shown());
    });
    Ok(run)
}

/// Tells of each line that the run says.
fn follow(site: &Arc<Site>, number: u64, said: impl Read + Send + 'static) {
    let site = Arc::clone(site);
    thread::spawn(move || {
        let mut said = BufReader::new(said);
        loop {
            let mut text = Vec::new();
            match said.by_ref().take(LONGEST).read_until(b'\n', &mut text) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            let text = line(String::from_utf8_lossy(&text).trim_end());
            if !site.job.say(number, &text) {
                return;
            }
            site.tell("said", &json!({ "line": text }));
        }
    });
}

/// Cancels the run.
pub(super) async fn cancel(State(site): State<Arc<Site>>) -> Result<Response, Failure> {
    site.work(|site| {
        let was_running = site.job.end();
        site.tell("job", &site.job.shown());
        Ok(answer::json(&json!({ "cancelled": was_running })))
    })
    .await
}
