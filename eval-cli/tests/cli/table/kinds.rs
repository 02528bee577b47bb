//! Kinds of runs, each with the expected results.

use std::fs;

use serde_json::json;

use super::runs::{
    ALL, BUILT, CASES, End, PASS, RUN, SET, again, beside, binary, hand_written, journal, nextest, run_of,
    set,
};
use crate::folder::Folder;

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

pub(super) const KINDS: [Kind; 43] = [
    Kind {
        name: "complete",
        write: |folder| run_of(folder, &PASS, &json!({})),
        report: (0, "all 3 cases passed"),
        named: 0,
        rescore: 0,
        rerun: [0, 0, 0, 0],
    },
    Kind {
        name: "hand-written",
        write: |folder| hand_written(folder, 1, End::Pass, true),
        report: (0, "all 3 cases passed"),
        named: 0,
        rescore: 0,
        rerun: [0, 0, 0, 0],
    },
    Kind {
        name: "hand-written, killed between two calls",
        write: |folder| hand_written(folder, 1, End::Pass, false),
        report: (2, "all 3 cases passed; a process did not end, and may have had more to run"),
        named: 2,
        rescore: 2,
        rerun: [2, 2, 2, 2],
    },
    Kind {
        name: "hand-written, killed and retried",
        write: |folder| {
            hand_written(folder, 1, End::Pass, false);
            hand_written(folder, 2, End::Pass, true);
        },
        report: (0, "all 3 cases passed"),
        named: 0,
        rescore: 0,
        rerun: [0, 0, 0, 0],
    },
    Kind {
        name: "hand-written, killed in each attempt",
        write: |folder| {
            hand_written(folder, 1, End::Open, false);
            hand_written(folder, 2, End::Pass, false);
        },
        report: (2, "2 processes did not end, and may have had more to run"),
        named: 2,
        rescore: 2,
        rerun: [2, 2, 2, 2],
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
            let marker = fs::File::open(folder.path(&format!("{RUN}/run.json"))).expect("it is ours");
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
