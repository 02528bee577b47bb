//! Kinds of runs, each with the expected results.

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
        let meaning = Meaning::of(checked.eval_cases.iter().find(|case| case.eval_id == id).expect("a case"));
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

/// The same, and another attempt at `oslo`.
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

/// A kind of run, how `report` of it ends, and how all else does.
pub(super) struct Kind {
    pub(super) name: &'static str,
    pub(super) write: fn(&Folder),
    /// The exit code of `report`, in each format, and some of its words.
    pub(super) report: (i32, &'static str),
    /// The exit code of `report r1`. The service and the page say the same.
    pub(super) named: i32,
    pub(super) rescore: i32,
    /// The exit codes of `rerun`, if each test that is run again passes, without a flag and with `--failed`, `--errors` and
    /// `--unfinished`.
    pub(super) rerun: [i32; 4],
}

/// A run of these attempts by cargo, which was to start another test binary too.
fn beside(folder: &Folder, ends: &[(&str, End)]) {
    let mut journal = journal(folder, RUN, 1, ends);
    journal.set_head(&json!({ "runner": ["cargo", "test", "--test", "evals", "--test", "later"] }));
    let sets = json!([{ "tests": ["travel::rome"], "ignored": false }]);
    journal.raw(&json!({ "record": "beside", "binary": "later", "sets": sets }).to_string());
    journal.write();
}

pub(super) const KINDS: [Kind; 39] = [
    Kind {
        name: "complete",
        write: |folder| run_of(folder, &PASS, &json!({})),
        report: (0, "all 3 cases passed"),
        named: 0,
        rescore: 0,
        rerun: [0, 0, 0, 0],
    },
    Kind {
        name: "failed",
        write: |folder| run_of(folder, &[PASS[0], (ALL[1], End::Fail), PASS[2]], &json!({})),
        report: (1, "of 3 cases: 1 failed"),
        named: 1,
        rescore: 1,
        rerun: [0, 0, 1, 1],
    },
    Kind {
        name: "agent down",
        write: |folder| run_of(folder, &ALL.map(|name| (name, End::Down)), &json!({})),
        report: (2, "of 3 cases: 3 with errors"),
        named: 2,
        rescore: 2,
        rerun: [0, 2, 0, 2],
    },
    Kind {
        name: "stale test",
        write: |folder| run_of(folder, &[PASS[0], (ALL[1], End::Stale), PASS[2]], &json!({})),
        report: (2, "of 3 cases: 1 with errors"),
        named: 2,
        rescore: 2,
        rerun: [0, 2, 0, 2],
    },
    Kind {
        name: "all stale",
        write: |folder| run_of(folder, &ALL.map(|name| (name, End::Stale)), &json!({})),
        report: (2, "of 3 cases: 3 with errors"),
        named: 2,
        rescore: 2,
        rerun: [0, 2, 0, 2],
    },
    Kind {
        name: "failed in an attempt that was repeated",
        write: |folder| run_of(folder, &[PASS[0], (ALL[1], End::Forbidden), PASS[2]], &json!({})),
        report: (1, "of 3 cases: 1 failed"),
        named: 1,
        rescore: 1,
        rerun: [0, 0, 1, 1],
    },
    Kind {
        name: "failed beside an error",
        write: |folder| run_of(folder, &[PASS[0], (ALL[1], End::Fail), (ALL[2], End::Down)], &json!({})),
        report: (2, "1 failed, 1 with errors"),
        named: 2,
        rescore: 2,
        rerun: [0, 2, 1, 2],
    },
    Kind {
        name: "killed before a set began",
        write: |folder| {
            let marker = json!({ "run": "r1", "started": "2026-11-22T02:31:07.250Z" });
            folder.write(&format!("{RUN}/run.json"), marker.to_string());
        },
        report: (2, "holds no journal"),
        named: 2,
        rescore: 2,
        rerun: [2, 2, 2, 2],
    },
    Kind {
        name: "killed after a test",
        write: |folder| run_of(folder, &PASS[..1], &json!({})),
        report: (2, "the one case passed; 2 more tests never began"),
        named: 2,
        rescore: 2,
        rerun: [0, 2, 2, 0],
    },
    Kind {
        name: "killed in a test",
        write: |folder| journal(folder, RUN, 1, &[PASS[0], (ALL[1], End::Open)]).write_torn(),
        report: (2, "of 2 cases: 1 unfinished; 1 more test never began"),
        named: 2,
        rescore: 2,
        rerun: [0, 2, 2, 0],
    },
    Kind {
        name: "runner killed",
        write: |folder| beside(folder, &PASS),
        report: (2, "all 3 cases passed; 1 more test never began"),
        named: 2,
        rescore: 2,
        rerun: [2, 2, 2, 2],
    },
    Kind {
        name: "failed fast",
        write: |folder| beside(folder, &[PASS[0], (ALL[1], End::Fail), PASS[2]]),
        report: (2, "of 3 cases: 1 failed; 1 more test never began"),
        named: 2,
        rescore: 2,
        rerun: [2, 2, 2, 2],
    },
    Kind {
        name: "failed fast and passed when run again",
        write: |folder| {
            again(folder, End::Pass);
            // It is not known which targets its package has.
            let mut other = journal(folder, "other", 1, &PASS);
            other.set_head(&json!({ "package": "tools" }));
            other.write();
            let from = folder.path("other/app-evals-4711-0.jsonl");
            fs::rename(from, folder.path(&format!("{RUN}/tools-evals-4713-0.jsonl"))).expect("it is ours");
        },
        report: (2, "all 6 cases passed; test binaries may not have been started"),
        named: 2,
        rescore: 2,
        rerun: [2, 2, 2, 2],
    },
    Kind {
        name: "in flight",
        write: |folder| {
            run_of(folder, &[PASS[0], PASS[1], (ALL[2], End::Open)], &json!({}));
            let marker = File::open(folder.path(&format!("{RUN}/run.json"))).expect("it is ours");
            marker.lock_shared().expect("there are locks");
            // It is held until the tests end.
            std::mem::forget(marker);
        },
        report: (2, "was killed or is still running"),
        named: 2,
        rescore: 2,
        rerun: [0, 2, 2, 0],
    },
    Kind {
        name: "another job",
        write: |folder| {
            run_of(folder, &PASS, &json!({ "env": { "GITHUB_RUN_ID": "1" } }));
            folder.write("job", "2");
        },
        report: (2, "another CI job recorded the run: `GITHUB_RUN_ID` is `2`, and was `1`"),
        named: 0,
        rescore: 2,
        rerun: [2, 2, 2, 2],
    },
    Kind {
        name: "another package",
        write: |folder| run_of(folder, &PASS, &json!({ "package": "shop", "workspace": "/no/such/folder" })),
        report: (2, "holds no run of package `app`"),
        named: 0,
        rescore: 2,
        rerun: [2, 2, 2, 2],
    },
    Kind {
        name: "rebuilt binary",
        write: |folder| run_of(folder, &PASS, &binary(folder, BUILT + 100)),
        report: (2, "was built again after the run"),
        named: 0,
        rescore: 2,
        rerun: [2, 2, 2, 2],
    },
    Kind {
        name: "failed and rebuilt",
        write: |folder| {
            let head = binary(folder, BUILT + 100);
            run_of(folder, &[PASS[0], (ALL[1], End::Fail), PASS[2]], &head);
        },
        report: (2, "of 3 cases: 1 failed; the run may be another one than is meant"),
        named: 1,
        rescore: 2,
        rerun: [2, 2, 2, 2],
    },
    Kind {
        name: "all failed and rebuilt",
        write: |folder| run_of(folder, &ALL.map(|name| (name, End::Fail)), &binary(folder, BUILT + 100)),
        report: (2, "was built again after the run"),
        named: 1,
        rescore: 2,
        rerun: [0, 0, 2, 2],
    },
    Kind {
        name: "binary not here",
        write: |folder| {
            let gone =
                json!({ "program": "/no/such/evals-0123456789abcdef", "built": "2026-11-22T02:31:00.000Z" });
            run_of(folder, &PASS, &gone);
        },
        report: (0, "all 3 cases passed"),
        named: 0,
        rescore: 0,
        rerun: [0, 0, 0, 0],
    },
    Kind {
        name: "killed and binary not here",
        write: |folder| {
            let gone =
                json!({ "program": "/no/such/evals-0123456789abcdef", "built": "2026-11-22T02:31:00.000Z" });
            run_of(folder, &PASS[..2], &gone);
        },
        report: (2, "all 2 cases passed; 1 more test never began"),
        named: 2,
        rescore: 2,
        rerun: [0, 2, 2, 0],
    },
    Kind {
        name: "all partitions",
        write: |folder| nextest(folder, RUN, &ALL),
        report: (0, "all 3 cases passed"),
        named: 0,
        rescore: 0,
        rerun: [0, 0, 0, 0],
    },
    Kind {
        name: "partition missing",
        write: |folder| nextest(folder, RUN, &ALL[..2]),
        report: (2, "all 2 cases passed; 1 more test never began"),
        named: 2,
        rescore: 2,
        rerun: [0, 2, 2, 0],
    },
    Kind {
        name: "part not copied",
        write: |folder| {
            run_of(folder, &PASS, &json!({}));
            folder.write(&format!("{RUN}/missing-parts.txt"), "part 2 is not there\n");
        },
        report: (2, "part 2 is not there"),
        named: 2,
        rescore: 2,
        rerun: [2, 2, 2, 2],
    },
    Kind {
        name: "unreadable line",
        write: |folder| {
            run_of(folder, &PASS, &json!({}));
            let path = format!("{RUN}/app-evals-4711-0.jsonl");
            let text = folder.read(&path).replacen("It is sunny.", "It is foggy.", 1);
            folder.write(&path, text);
        },
        report: (2, "lines of the journal cannot be read"),
        named: 2,
        rescore: 2,
        rerun: [2, 2, 2, 2],
    },
    Kind {
        name: "torn beginning",
        write: |folder| journal(folder, RUN, 1, &PASS).write_torn_at("{\"record\":\"started\",\"te"),
        report: (2, "1 more test began, and its record is incomplete"),
        named: 2,
        rescore: 2,
        rerun: [2, 2, 2, 2],
    },
    Kind {
        name: "empty",
        write: |folder| {
            run_of(folder, &[], &json!({}));
            folder.write(&format!("{RUN}/app-evals-4711-0.jsonl"), "");
        },
        report: (2, "1 more test began, and its record is incomplete"),
        named: 2,
        rescore: 2,
        rerun: [2, 2, 2, 2],
    },
    Kind {
        name: "empty beside an older pass",
        write: |folder| {
            journal(folder, "target/evalset/r0", 1, &PASS).write();
            let marker = json!({ "run": "r1", "started": "2026-11-23T02:31:07.250Z" });
            folder.write(&format!("{RUN}/run.json"), marker.to_string());
            folder.write(&format!("{RUN}/app-evals-4711-0.jsonl"), "");
        },
        report: (2, "1 more test began, and its record is incomplete"),
        named: 2,
        rescore: 2,
        rerun: [2, 2, 2, 2],
    },
    Kind {
        name: "head alone",
        write: |folder| {
            let mut journal = journal(folder, RUN, 1, &[]);
            journal.lists_nothing();
            journal.write();
        },
        report: (2, "was to run is not recorded"),
        named: 2,
        rescore: 2,
        rerun: [0, 2, 2, 0],
    },
    Kind {
        name: "without a list",
        write: |folder| {
            let mut journal = journal(folder, RUN, 1, &PASS);
            journal.lists_nothing();
            journal.write();
        },
        report: (2, "was to run is not recorded"),
        named: 2,
        rescore: 2,
        rerun: [0, 2, 2, 0],
    },
    Kind {
        name: "edited case",
        write: |folder| {
            run_of(folder, &PASS, &json!({}));
            folder.write(SET, set(&CASES).replacen("It is sunny.", "Rain, all day.", 1));
        },
        report: (2, "was written after the run"),
        named: 0,
        rescore: 1,
        rerun: [2, 2, 2, 2],
    },
    Kind {
        name: "added case",
        write: |folder| {
            run_of(folder, &PASS, &json!({}));
            folder.write(SET, set(&["lisbon", "oslo", "rome", "sunny"]));
        },
        report: (2, "was written after the run"),
        named: 0,
        rescore: 2,
        rerun: [2, 2, 2, 2],
    },
    Kind {
        name: "deleted set",
        write: |folder| {
            run_of(folder, &PASS, &json!({ "workspace": folder.path("") }));
            fs::remove_file(folder.path(SET)).expect("the set is there");
        },
        report: (2, "was deleted after the run"),
        named: 0,
        rescore: 2,
        rerun: [2, 2, 2, 2],
    },
    Kind {
        name: "removed case",
        write: |folder| {
            run_of(folder, &PASS, &json!({}));
            folder.write(SET, set(&CASES[1..]));
        },
        report: (2, "was written after the run"),
        named: 0,
        rescore: 2,
        rerun: [2, 2, 2, 2],
    },
    Kind {
        name: "all skipped",
        write: |folder| run_of(folder, &ALL.map(|name| (name, End::Skip)), &json!({})),
        report: (2, "all skipped, so nothing was checked"),
        named: 2,
        rescore: 2,
        rerun: [2, 2, 2, 2],
    },
    Kind {
        name: "passed when run again",
        write: |folder| again(folder, End::Pass),
        report: (0, "1 case passed only when the runner tried again"),
        named: 0,
        rescore: 0,
        rerun: [0, 0, 0, 0],
    },
    Kind {
        name: "skipped when run again",
        write: |folder| again(folder, End::Skip),
        report: (1, "of 3 cases: 1 failed"),
        named: 1,
        rescore: 1,
        rerun: [0, 0, 1, 1],
    },
    Kind {
        name: "ended when run again",
        write: |folder| again(folder, End::Open),
        report: (2, "of 3 cases: 1 unfinished"),
        named: 2,
        rescore: 2,
        rerun: [0, 2, 2, 0],
    },
    Kind {
        name: "program that ended",
        write: |folder| {
            let mut journal = journal(folder, RUN, 1, &[("weather/sunny", End::Pass)]);
            journal.lists_nothing();
            journal
                .raw(&json!({ "record": "planned", "cases": ["weather/sunny", "weather/oslo"] }).to_string());
            journal.write();
        },
        report: (2, "a program was to run 1 case more"),
        named: 2,
        rescore: 2,
        rerun: [2, 2, 2, 2],
    },
];
