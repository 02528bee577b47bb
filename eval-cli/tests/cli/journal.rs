//! Journals as tests write them, line by line.

use std::collections::BTreeMap;

use eval_core::journal::{SCHEMA, sealed_line};
use eval_format::Meaning;
use eval_format::reader::check_set;
use serde_json::{Value, json};

use crate::folder::Folder;

/// The folder of a run that is being written. The test binary holds the tests that begin, and no others unless
/// [`lists`](Self::lists) says so.
pub(crate) struct Journal<'f> {
    folder: &'f Folder,
    path: String,
    lines: Vec<String>,
    tests: u32,
    /// The tests of the binary, each with whether it is ignored; `None` if the journal does not tell.
    listed: Option<BTreeMap<String, bool>>,
}

impl<'f> Journal<'f> {
    /// The journal of one process, in the run of this id.
    pub(crate) fn new(folder: &'f Folder, run: &str) -> Self {
        Self::at(folder, &format!(".evalset/{run}"), run, "evals")
    }

    /// A journal in another folder and for another test binary.
    pub(crate) fn at(folder: &'f Folder, at: &str, run: &str, binary: &str) -> Self {
        let marker = json!({ "run": run, "started": "2026-11-22T02:31:07.250Z" });
        folder.write(&format!("{at}/run.json"), marker.to_string());
        let head = json!({
            "record": "head", "schema": SCHEMA, "evalset": "0.1.0", "run": run, "package": "app", "version": "0.0.0",
            "workspace": folder.path("").canonicalize().expect("the folder is there"), "binary": binary, "pid": 4711, "started": "2026-11-22T02:31:07.250Z", "env": {},
        });
        let path = format!("{at}/app-{binary}-4711-0.jsonl");
        Self { folder, path, lines: vec![head.to_string()], tests: 0, listed: Some(BTreeMap::new()) }
    }

    /// Sets when the process began, and its environment variables.
    pub(crate) fn head(&mut self, began: Option<&str>, env: &Value) {
        let mut head: Value = serde_json::from_str(&self.lines[0]).expect("the head is JSON");
        head["env"] = env.clone();
        if let Some(began) = began {
            head["started"] = json!(began);
        }
        self.lines[0] = head.to_string();
    }

    /// Sets fields of the head.
    pub(crate) fn set_head(&mut self, fields: &Value) {
        let mut head: Value = serde_json::from_str(&self.lines[0]).expect("the head is JSON");
        for (name, value) in fields.as_object().expect("fields") {
            head[name] = value.clone();
        }
        self.lines[0] = head.to_string();
    }

    /// Adds tests that the binary holds.
    pub(crate) fn lists(&mut self, tests: &[&str], ignored: bool) {
        self.listed.get_or_insert_default().extend(tests.iter().map(|test| ((*test).to_owned(), ignored)));
    }

    /// Leaves out what the binary holds.
    pub(crate) fn lists_nothing(&mut self) {
        self.listed = None;
    }

    fn add(&mut self, record: &Value) {
        self.lines.push(record.to_string());
    }

    /// A test that began.
    pub(crate) fn started(&mut self, name: &str, runs: usize) -> u32 {
        self.attempted(name, runs, 1)
    }

    /// An attempt of the runner to run a test, from 1.
    pub(crate) fn attempted(&mut self, name: &str, runs: usize, attempt: u32) -> u32 {
        self.tests += 1;
        if let Some(listed) = &mut self.listed {
            listed.entry(name.to_owned()).or_insert(false);
        }
        let (set, case) = name.rsplit_once("::").unwrap_or(("set", name));
        let asks = self.meaning(case).map_or_else(|| "0".to_owned(), |meaning| meaning.asks);
        self.add(&json!({
            "record": "started", "test": self.tests, "name": name, "eval_set_id": set, "eval_id": case,
            "file": "evals/weather.evalset.json", "set_file": "evals/weather.evalset.json",
            "line": 10 + self.tests, "column": 5, "asks": asks, "expects": "1", "runs": runs,
            "pass": "mean", "gate": "mean",
            "attempt": attempt, "at": "2026-11-22T02:31:08.000Z",
        }));
        self.tests
    }

    /// The meaning of a case as its set has it now; `None` without the set.
    fn meaning(&self, case: &str) -> Option<Meaning> {
        let bytes = std::fs::read(self.folder.path("evals/weather.evalset.json")).ok()?;
        let cases = check_set("weather.evalset.json", &bytes, None).set?.eval_cases;
        cases.iter().find(|it| it.eval_id == case).map(Meaning::from_case)
    }

    /// Has the case that began last expect what its set has now.
    pub(crate) fn expecting_as_now(&mut self) {
        let last = self.lines.last().expect("a case began");
        let mut started: Value = serde_json::from_str(last).expect("the record is JSON");
        let meaning =
            self.meaning(started["eval_id"].as_str().unwrap_or_default()).expect("the set is there");
        started["expects"] = json!(meaning.expects);
        *self.lines.last_mut().expect("a case began") = started.to_string();
    }

    /// Sets the tags of the case that began last.
    pub(crate) fn tagged(&mut self, tags: &[&str]) {
        let last = self.lines.last_mut().expect("a case began");
        let mut started: Value = serde_json::from_str(last).expect("the record is JSON");
        started["tags"] = json!(tags);
        *last = started.to_string();
    }

    /// A run of a test, with the score that one metric gave it.
    pub(crate) fn ran(&mut self, test: u32, run: usize, score: f64) {
        self.ran_only(test, run, &json!(null));
        self.scored(test, run, &outcome(&[score]));
    }

    pub(crate) fn scored(&mut self, test: u32, run: usize, outcome: &Value) {
        let usage = json!({ "prompt_token_count": 900, "candidates_token_count": 100 });
        let judge = json!([{ "model": "m", "asked": 3, "failed": 1, "replayed": 1, "usage": usage }]);
        self.add(&json!({
            "record": "scored", "test": test, "run": run, "evaluation": run,
            "metrics": [{ "name": METRIC, "outcome": outcome, "judge": judge }],
        }));
    }

    /// A run that is not scored, with what ended it.
    pub(crate) fn ran_only(&mut self, test: u32, run: usize, error: &Value) {
        self.said(test, run, "It is sunny.", error);
    }

    /// The run with another answer.
    pub(crate) fn said(&mut self, test: u32, run: usize, answer: &str, error: &Value) {
        let says = |text: &str| json!({ "role": "model", "parts": [{ "text": text }] });
        let usage = json!({ "total_token_count": 1234 });
        self.add(&json!({
            "record": "ran", "test": test, "run": run, "evaluation": run,
            "transcript": {
                "session": { "app_name": "a", "user_id": "u", "session_id": "s" },
                "turns": [{
                    "invocation_id": "turn-1",
                    "user_content": { "role": "user", "parts": [{ "text": "Weather?" }] },
                    "events": [{ "author": "agent", "content": says(answer), "usage": usage, "at": 0.25 }],
                    "creation_timestamp": 1.0,
                }],
                "error": error,
            },
        }));
    }

    /// A verdict, with the mean score.
    pub(crate) fn decided(&mut self, test: u32, verdict: &Value, score: Option<f64>, failure: &str) {
        let total = self.lines.iter().filter(|line| line.contains("\"record\":\"scored\"")).count();
        let metric = json!({
            "name": METRIC, "criterion": { "threshold": 0.8 }, "score": score,
            "scored": usize::from(score.is_some()) * total.min(3), "total": total.min(3), "verdict": verdict,
        });
        // `Error: weather::oslo: why`
        let first = failure.lines().next().unwrap_or_default().trim_start_matches("Error: ");
        let headline = first.split_once(": ").map_or(first, |(_, why)| why);
        self.add(&json!({
            "record": "decided", "test": test, "verdict": verdict, "metrics": [metric], "elapsed": 1.25,
            "headline": Some(headline).filter(|text| !text.is_empty()), "failure": Some(failure).filter(|text| !text.is_empty()), "at": "2026-11-22T02:31:38.500Z",
        }));
    }

    /// A line that is no record of a journal.
    pub(crate) fn raw(&mut self, line: &str) {
        self.lines.push(line.to_owned());
    }

    /// Writes the file with a complete last line.
    pub(crate) fn write(self) {
        self.write_torn_at("");
    }

    fn list(&mut self) {
        if let Some(listed) = self.listed.as_ref().filter(|listed| !listed.is_empty()) {
            let sets = [false, true].map(|ignored| {
                let tests = listed.iter().filter(|(_, it)| **it == ignored).map(|(name, _)| name);
                json!({ "tests": tests.collect::<Vec<_>>(), "ignored": ignored })
            });
            self.lines.insert(1, json!({ "record": "listed", "sets": sets }).to_string());
        }
    }

    /// Writes the file as a process leaves it that is killed while it writes a run.
    pub(crate) fn write_torn(self) {
        self.write_torn_at("{\"record\":\"ran\",\"te");
    }

    /// Writes the file with this incomplete last line.
    pub(crate) fn write_torn_at(mut self, last: &str) {
        self.list();
        let mut number = 0;
        let mut text = String::new();
        for line in &self.lines {
            match serde_json::from_str(line) {
                Ok(record) => {
                    number += 1;
                    text.push_str(&sealed_line(&completed(record), number));
                }
                // No process wrote it.
                Err(_) => text.extend([line, "\n"]),
            }
        }
        self.folder.write(&self.path, text + last);
    }
}

/// The record with what every record of its kind has, where the test does not say it.
pub(crate) fn completed(mut record: Value) -> Value {
    let fill = |record: &mut Value, name: &str, value: Value| {
        if record[name].is_null() {
            record[name] = value;
        }
    };
    match record["record"].as_str() {
        Some("started") => {
            let name = record["name"].clone();
            fill(&mut record, "eval_id", name);
            fill(&mut record, "attempt", json!(1));
            fill(&mut record, "asks", json!("0"));
            fill(&mut record, "expects", json!("1"));
        }
        Some("ran") => {
            let turns = record["transcript"]["turns"].as_array().into_iter().flatten();
            let events = turns.flat_map(|turn| turn["events"].as_array().into_iter().flatten());
            let used = events.filter_map(|event| event["usage"]["total_token_count"].as_i64());
            if let Some(tokens) = used.reduce(|a, b| a + b) {
                fill(&mut record, "tokens", json!(tokens));
            }
        }
        Some("scored") => {
            for metric in record["metrics"].as_array_mut().into_iter().flatten() {
                let verdict = match metric["outcome"]["scored"]["overall"].as_f64() {
                    Some(overall) if overall >= 0.8 => passed(),
                    Some(_) => failed(),
                    None => json!({ "is": "skipped", "reason": "it has no scores" }),
                };
                let turns = metric["outcome"]["scored"]["scores"].as_array().map_or(0, Vec::len);
                fill(metric, "turns", vec![verdict["is"].clone(); turns].into());
                fill(metric, "verdict", verdict);
            }
        }
        Some("decided") => fill(&mut record, "elapsed", json!(1.0)),
        _ => {}
    }
    record
}

/// The outcome of a metric for a run whose turns have these scores.
pub(crate) fn outcome(scores: &[f64]) -> Value {
    let values: Vec<Value> = scores.iter().map(|score| json!({ "value": score })).collect();
    let mean = scores.iter().sum::<f64>() / f64::from(u32::try_from(scores.len()).expect("few scores"));
    json!({ "scored": { "overall": mean, "scores": values } })
}

pub(crate) const METRIC: &str = "response_match_score";

pub(crate) fn passed() -> Value {
    json!({ "is": "passed" })
}

pub(crate) fn failed() -> Value {
    json!({ "is": "failed" })
}

pub(crate) fn error(role: &str, reason: &str) -> Value {
    json!({ "is": "error", "role": role, "reason": reason })
}
