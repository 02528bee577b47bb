//! Runs of the set, as their processes record them.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use eval_format::Meaning;
use serde_json::{Value, json};

use crate::folder::Folder;
use crate::journal::{Journal, error, failed, passed};

/// The cases of the set, each of which is a test of the binary `evals`.
pub(super) const CASES: [&str; 3] = ["lisbon", "oslo", "sunny"];
pub(super) const ALL: [&str; 3] = ["weather::lisbon", "weather::oslo", "weather::sunny"];
pub(super) const SET: &str = "evals/weather.evalset.json";
pub(super) const RUN: &str = "target/evalset/r1";

/// A set with these cases, each of which expects the answer that passes.
pub(super) fn set(cases: &[&str]) -> String {
    let case = |id: &&str| {
        json!({ "eval_id": id, "conversation": [{
            "user_content": { "parts": [{ "text": "Weather?" }] },
            "final_response": { "parts": [{ "text": "It is sunny." }] },
        }]})
    };
    json!({ "eval_set_id": "weather", "eval_cases": cases.iter().map(case).collect::<Vec<_>>() }).to_string()
}

/// The end of an attempt at a test.
#[derive(Clone, Copy)]
pub(super) enum End {
    Pass,
    Fail,
    Down,
    Skip,
    Open,
    /// The harness failed before a run.
    Stale,
    /// Its run passed, and was repeated after a call of a forbidden tool.
    Forbidden,
}

/// A journal with these attempts, numbered so, of the test binary that holds [`ALL`].
pub(super) fn journal<'f>(folder: &'f Folder, at: &str, attempt: u32, ends: &[(&str, End)]) -> Journal<'f> {
    let mut journal = Journal::at(folder, at, "r1", "evals");
    journal.set_head(&json!({ "workspace": null }));
    journal.lists(&ALL, false);
    let checked = eval_format::reader::check_set("s", set(&CASES).as_bytes(), None).set.expect("a set");
    for ((name, end), test) in ends.iter().zip(1..) {
        let id = name.rsplit([':', '/']).next().unwrap_or(name);
        let meaning =
            Meaning::from_case(checked.eval_cases.iter().find(|case| case.eval_id == id).expect("a case"));
        let started = json!({
            "record": "started", "test": test, "name": name, "eval_set_id": "weather", "eval_id": id, "file": SET, "set_file": SET,
            "line": 1, "column": 1, "asks": meaning.asks, "expects": meaning.expects, "runs": 1, "pass": "mean", "gate": "mean",
            "attempt": attempt, "at": "2026-11-22T02:31:08.000Z", "of_program": name.contains('/'),
        });
        journal.raw(&started.to_string());
        match end {
            End::Pass => {
                journal.ran(test, 1, 1.0);
                journal.decided(test, &passed(), Some(1.0), "");
            }
            End::Fail => {
                journal.said(test, 1, "Rain.", &json!(null));
                journal.scored(test, 1, &crate::journal::outcome(&[0.0]));
                journal.decided(test, &failed(), Some(0.0), "Error: it rains");
            }
            End::Down => {
                journal.ran_only(test, 1, &json!({ "role": "agent", "message": "refused" }));
                journal.decided(test, &error("agent", "refused"), None, "");
            }
            End::Skip => {
                journal.decided(test, &json!({ "is": "skipped", "reason": "nobody to ask" }), None, "");
            }
            End::Open => {}
            End::Stale => {
                let verdict = error("harness", "`weather.evalset.json` has changed since the build");
                let decided = json!({
                    "record": "decided", "test": test, "verdict": verdict, "elapsed": 0.0, "at": "2026-11-22T02:31:38.500Z",
                });
                journal.raw(&decided.to_string());
            }
            End::Forbidden => {
                let call = json!({ "function_call": { "name": "refund", "args": {} } });
                let says = |part: &Value| json!({ "role": "model", "parts": [part] });
                let ran = json!({
                    "record": "ran", "test": test, "run": 1, "evaluation": 1, "repeated": true,
                    "transcript": {
                        "session": { "app_name": "a", "user_id": "u", "session_id": "s" },
                        "turns": [{
                            "invocation_id": "turn-1", "creation_timestamp": 1.0,
                            "user_content": { "role": "user", "parts": [{ "text": "Weather?" }] },
                            "events": [{ "author": "agent", "content": says(&call), "at": 0.25 }],
                        }],
                        "error": { "role": "agent", "message": "the connection was closed", "unreachable": true },
                    },
                });
                journal.raw(&ran.to_string());
                journal.ran_only(test, 1, &json!(null));
                let metric = "tool_trajectory_avg_score";
                let scored = json!([{ "name": metric, "outcome": crate::journal::outcome(&[1.0]) }]);
                let scored =
                    json!({ "record": "scored", "test": test, "run": 1, "evaluation": 1, "metrics": scored });
                journal.raw(&scored.to_string());
                let options = json!({ "match_type": "IN_ORDER", "forbidden_tools": ["refund"] });
                let forbids = json!({ "threshold": 1.0, "options": options });
                let metric = json!({
                    "name": metric, "criterion": forbids, "score": 1.0, "scored": 1, "total": 1, "verdict": failed(),
                });
                let decided = json!({
                    "record": "decided", "test": test, "verdict": failed(), "metrics": [metric], "elapsed": 1.25,
                    "repeated": 1, "at": "2026-11-22T02:31:38.500Z",
                });
                journal.raw(&decided.to_string());
            }
        }
    }
    journal
}

/// A run of one process.
pub(super) fn run_of(folder: &Folder, ends: &[(&str, End)], head: &Value) {
    let mut journal = journal(folder, RUN, 1, ends);
    journal.set_head(head);
    journal.write();
}

/// A run of one process, and another attempt at `oslo`.
pub(super) fn again(folder: &Folder, oslo: End) {
    run_of(folder, &[PASS[0], (ALL[1], End::Fail), PASS[2]], &json!({}));
    let mut second = journal(folder, "second", 2, &[(ALL[1], oslo)]);
    second.set_head(&json!({ "env": { "EVALSET_ATTEMPT": "2" } }));
    second.write();
    let from = folder.path("second/app-evals-4711-0.jsonl");
    fs::rename(from, folder.path(&format!("{RUN}/app-evals-4712-0.jsonl"))).expect("it is ours");
}

pub(super) const PASS: [(&str, End); 3] = [(ALL[0], End::Pass), (ALL[1], End::Pass), (ALL[2], End::Pass)];

/// The processes of nextest, one for each test that passed.
pub(super) fn nextest(folder: &Folder, at: &str, tests: &[&str]) {
    for test in tests {
        let mut one = journal(folder, at, 1, &[(test, End::Pass)]);
        one.set_head(&json!({ "env": { "NEXTEST_RUN_ID": "n" }, "args": ["--exact", test, "--nocapture"] }));
        one.write();
        let file = folder.path(&format!("{at}/app-evals-4711-0.jsonl"));
        fs::rename(&file, file.with_file_name(format!("app-evals-4711-{}.jsonl", &test[9..])))
            .expect("it is ours");
    }
}

pub(super) fn binary(folder: &Folder, built: u64) -> Value {
    folder.write("target/debug/deps/evals-0123456789abcdef", "");
    let path = folder.path("target/debug/deps/evals-0123456789abcdef");
    let file = File::options().append(true).open(&path).expect("it is ours");
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(built)).expect("times can be set");
    json!({ "program": path, "built": "2026-11-22T02:31:00.000Z" })
}

/// The time at which the test binary was built, in seconds.
pub(super) const BUILT: u64 = 1_795_314_660;

/// A run of these attempts by cargo, which was to start another test binary too.
pub(super) fn beside(folder: &Folder, ends: &[(&str, End)]) {
    let mut journal = journal(folder, RUN, 1, ends);
    journal.set_head(&json!({ "runner": ["cargo", "test", "--test", "evals", "--test", "later"] }));
    let sets = json!([{ "tests": ["travel::rome"], "ignored": false }]);
    journal.raw(&json!({ "record": "beside", "binary": "later", "sets": sets }).to_string());
    journal.write();
}

/// A run of the cases by hand-written tests, each of which makes a call of its own. The record may lack its last line.
pub(super) fn hand_written(folder: &Folder, attempt: u32, end: End, has_ended: bool) {
    let calls = CASES.map(|case| format!("weather/{case}"));
    let ends = [(&*calls[0], End::Pass), (&*calls[1], end), (&*calls[2], End::Pass)];
    let mut journal = journal(folder, &format!("hand-written-{attempt}"), attempt, &ends);
    journal.lists_nothing();
    let env = json!({ "NEXTEST_ATTEMPT": attempt.to_string() });
    journal.set_head(&json!({ "args": ["hand_written", "--exact"], "env": env }));
    if has_ended {
        journal.raw(&json!({ "record": "ended", "at": "2026-11-22T02:31:39.000Z" }).to_string());
    }
    journal.write();
    let marker = json!({ "run": "r1", "started": "2026-11-22T02:31:07.250Z" });
    folder.write(&format!("{RUN}/run.json"), marker.to_string());
    let from = folder.path(&format!("hand-written-{attempt}/app-evals-4711-0.jsonl"));
    fs::rename(from, folder.path(&format!("{RUN}/app-evals-471{attempt}-0.jsonl"))).expect("it is ours");
}
