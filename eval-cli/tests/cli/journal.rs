//! Journals as tests write them, line by line.

use serde_json::{Value, json};

use crate::folder::Folder;

/// The folder of a run that is being written.
pub(crate) struct Journal<'f> {
    folder: &'f Folder,
    path: String,
    lines: Vec<String>,
    tests: u32,
    /// How many cases each set has; `None` if the journal does not tell.
    pub(crate) set_cases: Option<usize>,
}

impl<'f> Journal<'f> {
    /// The journal of one process, in the run of this id.
    pub(crate) fn new(folder: &'f Folder, run: &str) -> Self {
        Self::at(folder, &format!("target/evalset/{run}"), run, "evals")
    }

    /// The same in another folder and for another test binary.
    pub(crate) fn at(folder: &'f Folder, at: &str, run: &str, binary: &str) -> Self {
        let marker = json!({ "run": run, "started": "2026-11-22T02:31:07.250Z" });
        folder.write(&format!("{at}/run.json"), marker.to_string());
        let head = json!({
            "record": "head", "schema": 1, "evalset": "0.1.0", "run": run, "package": "app", "version": "0.0.0",
            "binary": binary, "pid": 4711, "started": "2026-11-22T02:31:07.250Z", "env": {},
        });
        let path = format!("{at}/app-{binary}-4711-0.jsonl");
        Self { folder, path, lines: vec![head.to_string()], tests: 0, set_cases: None }
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
        let (set, case) = name.rsplit_once("::").unwrap_or(("set", name));
        self.add(&json!({
            "record": "started", "test": self.tests, "name": name, "eval_set_id": set, "eval_id": case,
            "file": "evals/weather.evalset.json", "set_file": "evals/weather.evalset.json",
            "line": 10 + self.tests, "column": 5, "case_hash": "0", "set_cases": self.set_cases, "runs": runs,
            "pass": "mean", "gate": "mean",
            "attempt": attempt, "at": "2026-11-22T02:31:08.000Z",
        }));
        self.tests
    }

    /// A run of a test, with the score that one metric gave it.
    pub(crate) fn ran(&mut self, test: u32, run: usize, score: f64) {
        self.ran_only(test, run, &json!(null));
        self.scored(test, run, &json!({ "scored": { "overall": score, "scores": [{ "value": score }] } }));
    }

    pub(crate) fn scored(&mut self, test: u32, run: usize, score: &Value) {
        let usage = json!({ "prompt_token_count": 900, "candidates_token_count": 100 });
        let judge = json!([{ "model": "m", "asked": 3, "failed": 1, "replayed": 1, "usage": usage }]);
        self.add(&json!({
            "record": "scored", "test": test, "run": run, "evaluation": run,
            "metrics": [{ "name": METRIC, "score": score, "judge": judge }],
        }));
    }

    /// A run that is not scored, with what ended it.
    pub(crate) fn ran_only(&mut self, test: u32, run: usize, error: &Value) {
        let says = |text: &str| json!({ "role": "model", "parts": [{ "text": text }] });
        let usage = json!({ "total_token_count": 1234 });
        self.add(&json!({
            "record": "ran", "test": test, "run": run, "evaluation": run,
            "transcript": {
                "session": { "app_name": "a", "user_id": "u", "session_id": "s" },
                "turns": [{
                    "invocation_id": "turn-1",
                    "user_content": { "role": "user", "parts": [{ "text": "Weather?" }] },
                    "events": [{ "author": "agent", "content": says("It is sunny."), "usage": usage, "at": 0.25 }],
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
        self.add(&json!({
            "record": "decided", "test": test, "verdict": verdict, "metrics": [metric], "elapsed": 1.25,
            "failure": failure, "at": "2026-11-22T02:31:38.500Z",
        }));
    }

    /// A line that is no record of a journal.
    pub(crate) fn raw(&mut self, line: &str) {
        self.lines.push(line.to_owned());
    }

    /// Writes the file with a complete last line.
    pub(crate) fn write(self) {
        self.folder.write(&self.path, self.lines.join("\n") + "\n");
    }

    /// Writes the file as a process leaves it that is killed while it writes a run.
    pub(crate) fn write_torn(self) {
        self.write_torn_at("{\"record\":\"ran\",\"te");
    }

    /// Writes the file with this incomplete last line.
    pub(crate) fn write_torn_at(self, last: &str) {
        self.folder.write(&self.path, self.lines.join("\n") + "\n" + last);
    }
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
