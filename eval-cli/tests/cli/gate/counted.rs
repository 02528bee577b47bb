//! Runs as a gate and a baseline count them: broken ones, attempts, suspects, and baselines that two processes write.

use std::process::Stdio;

use serde_json::{Value, json};

use super::{Desk, blessed};
use crate::folder::{AGENT, Folder, Ran};
use crate::journal::{Journal, error, failed, passed};

/// The behaviour of a case in a run.
#[derive(Clone, Copy, PartialEq)]
enum Did {
    Pass,
    Fail,
    Break,
}

use Did::{Break, Fail, Pass};

fn attempt(journal: &mut Journal<'_>, name: &str, attempt: u32, runs: &[Did]) {
    let test = journal.attempted(name, runs.len().max(1), attempt);
    for (run, did) in (1..).zip(runs) {
        match did {
            Pass => journal.ran(test, run, 1.0),
            Fail => journal.ran(test, run, 0.0),
            Break => journal.ran_only(test, run, &json!({ "role": "agent", "turn": 1, "message": "503" })),
        }
    }
    let (verdict, score) = match () {
        () if runs.is_empty() || runs.contains(&Break) => (error("agent", "503"), None),
        () if runs.contains(&Fail) => (failed(), Some(0.0)),
        () => (passed(), Some(1.0)),
    };
    journal.decided(test, &verdict, score, "");
}

/// A run of a test binary with these tests.
fn recorded(folder: &Folder, id: &str, tests: &[(&str, &[Did])]) {
    let mut journal = Journal::new(folder, id);
    for (name, runs) in tests {
        attempt(&mut journal, name, 1, runs);
    }
    journal.write();
}

fn gate(folder: &Folder, args: &[&str]) -> Value {
    let ran =
        folder.run(&[&["gate", "r2", "--baseline", "r1", "--partial", "--format", "json"], args].concat());
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {}", ran.shown()))
}

#[test]
fn a_judged_case_that_breaks_in_every_run_does_not_pass_the_gate() {
    let folder = Folder::new("gate-judged");
    let [sunny, oslo, lima] = ["weather::sunny", "weather::oslo", "weather::lima"];
    recorded(&folder, "r1", &[(sunny, &[Pass; 10]), (oslo, &[Pass; 10]), (lima, &[Pass; 10])]);
    // Nothing asks the judge about a run that broke.
    recorded(&folder, "r2", &[(sunny, &[Break; 3]), (oslo, &[Pass; 3]), (lima, &[Pass; 3])]);
    let broken = gate(&folder, &[]);
    assert_eq!(
        (&broken["verdict"], &broken["categories"]),
        (&json!("UNMEASURABLE"), &json!({ "error_now": 1, "same": 2 })),
        "{broken}"
    );
}

#[test]
fn a_limit_on_passes_that_depends_on_errors_is_neither_kept_nor_broken() {
    let folder = Folder::new("gate-limits-errors");
    // One run before shows nothing, so that the limits alone decide.
    recorded(&folder, "r1", &[("weather::sunny", &[Pass])]);
    for (runs, limit, verdict, says) in [
        (
            &[Break; 4][..],
            ["--min-pass-rate", "0.9"],
            "UNMEASURABLE",
            "none of 4 runs passed, and 4 have no verdict",
        ),
        (
            &[Pass, Pass, Pass, Break],
            ["--min-pass-rate", "0.9"],
            "UNMEASURABLE",
            "3 of 4 runs passed, and 1 has no verdict",
        ),
        (
            &[Fail, Fail, Fail, Break],
            ["--min-pass-rate", "0.5"],
            "REGRESSION",
            "none of 4 runs passed, and 1 has no verdict",
        ),
        (
            &[Fail, Fail, Fail, Break, Break],
            ["--min-reliability", "0.8"],
            "UNMEASURABLE",
            "evals/weather.evalset.json:sunny [app::evals::weather] passed none of 3 runs, and 2 have no verdict",
        ),
        (
            &[Fail, Fail, Fail, Fail, Break],
            ["--min-reliability", "0.9"],
            "REGRESSION",
            "evals/weather.evalset.json:sunny [app::evals::weather] passed none of 4 runs, and 1 has no verdict",
        ),
    ] {
        recorded(&folder, "r2", &[("weather::sunny", runs)]);
        let document = gate(&folder, &limit);
        assert_eq!(document["verdict"], verdict, "{limit:?}: {document}");
        let reasons = document["reasons"].as_array().expect("reasons");
        assert!(
            reasons.iter().any(|it| it.as_str().is_some_and(|it| it.contains(says))),
            "{says}: {document}"
        );
    }
    // An incomplete run may have passed in the cases that it lacks.
    let mut journal = Journal::new(&folder, "r2");
    attempt(&mut journal, "weather::sunny", 1, &[Fail; 10]);
    journal.started("weather::oslo", 10);
    journal.write();
    let document = gate(&folder, &["--min-pass-rate", "0.5"]);
    assert_eq!(document["verdict"], "UNMEASURABLE", "{document}");
}

#[test]
fn runs_that_failed_in_an_attempt_with_errors_count() {
    let folder = Folder::new("gate-attempt-errors");
    recorded(&folder, "r1", &[("weather::sunny", &[Pass; 10])]);
    let mut journal = Journal::new(&folder, "r2");
    attempt(&mut journal, "weather::sunny", 1, &[Fail, Fail, Fail, Break]);
    attempt(&mut journal, "weather::sunny", 2, &[Pass; 4]);
    journal.write();
    let document = gate(&folder, &[]);
    assert_eq!(
        document["cases"][0]["now"],
        json!({ "passed": 0, "with_verdict": 3, "errors": 1 }),
        "{document}"
    );
    // An attempt that shows nothing but errors is no sample.
    let mut journal = Journal::new(&folder, "r2");
    attempt(&mut journal, "weather::sunny", 1, &[Break; 4]);
    attempt(&mut journal, "weather::sunny", 2, &[Pass; 4]);
    journal.write();
    let document = gate(&folder, &[]);
    assert_eq!(
        document["cases"][0]["now"],
        json!({ "passed": 4, "with_verdict": 4, "errors": 0 }),
        "{document}"
    );
}

#[test]
fn a_test_that_broke_before_its_first_run_is_named() {
    let folder = Folder::new("gate-no-run");
    recorded(&folder, "r1", &[("weather::sunny", &[Pass; 10]), ("weather::oslo", &[Pass; 10])]);
    recorded(&folder, "r2", &[("weather::sunny", &[]), ("weather::oslo", &[Pass; 3])]);
    let document = gate(&folder, &["--allow-removed"]);
    assert_eq!(
        (&document["verdict"], &document["categories"]),
        (&json!("UNMEASURABLE"), &json!({ "error_now": 1, "same": 1 })),
        "{document}"
    );
    let bless = folder.run(&["bless", "--only", "r2", "evals/weather.evalset.json"]);
    let says = "runs of 1 case have no verdict: `evals/weather.evalset.json:sunny [app::evals::weather]`";
    assert!(bless.code == Some(2) && bless.err.contains(says), "{}", bless.shown());
}

#[test]
fn a_suspect_that_no_number_of_runs_could_show_is_run_five_times_more() {
    let desk = blessed("gate-hopeless", 20, 1);
    desk.agent(&json!({ "c07": ["no"] }));
    desk.run(1);
    let gate = desk.gate(&["--retry-suspects"]);
    assert_eq!(gate["verdict"], "CANNOT TELL", "{gate}");
    assert_eq!(gate["cases"][7]["now"], json!({ "passed": 0, "with_verdict": 6, "errors": 0 }), "{gate}");
}

#[test]
fn runs_that_count_together_are_of_one_commit() {
    let desk = Desk::new("gate-commits", 2);
    desk.commit();
    desk.run(10);
    assert_eq!(desk.bless(&[]).code, Some(0));
    let one = Desk::id(&desk.run(1));
    let other = Desk::id(&desk.run(1));
    assert_eq!(desk.gate(&[&one, &other])["verdict"], "PASS");
    desk.commit();
    let later = Desk::id(&desk.run(1));
    let gate = desk.gate(&[&one, &later]);
    assert_eq!(gate["verdict"], "UNMEASURABLE", "{gate}");
    let reason = gate["reasons"][0].as_str().expect("a reason");
    assert!(
        reason.starts_with("the runs are of 2 commits: ") && reason.ends_with("name runs of one commit"),
        "{reason}"
    );
}

#[test]
fn runs_that_were_scored_literally_are_pooled_and_gated_with_no_others() {
    let desk = blessed("gate-literal", 3, 10);
    desk.agent(&json!({ "c01": ["no"] }));
    let literal = |args: &[&str]| -> Ran {
        desk.0.command(args).env("EVALSET_LITERAL", "1").output().expect("the program runs").into()
    };
    let run = ["run", "evals/desk.evalset.json", "--agent-cmd", AGENT, "--runs", "10"];
    let id = Desk::id(&literal(&run));
    let gate = desk.gate(&[&id]);
    assert_eq!(
        (&gate["verdict"], &gate["categories"]),
        (&json!("CANNOT TELL"), &json!({ "incomparable": 3 })),
        "{gate}"
    );
    let blessed = desk.bless(&["--only", &id]);
    assert_eq!(blessed.code, Some(0), "{}", blessed.shown());
    assert!(desk.0.read("evalset-baseline.jsonl").contains(r#""literal": true"#));
    let plain = Desk::id(&desk.run(10));
    let both = desk.gate(&[&id, &plain]);
    assert!(both["notes"][0].as_str().is_some_and(|it| it.contains("only the last runs count")), "{both}");
}

#[test]
fn a_run_before_is_scored_again_against_what_a_case_expects_now() {
    let desk = blessed("gate-rescored", 3, 3);
    let before = Desk::id(&desk.run(3));
    let set = desk.0.read("evals/desk.evalset.json");
    let model = r#"{"parts":[{"text":"c01"}],"role":"model"}"#;
    desk.0.write("evals/desk.evalset.json", set.replace(model, &model.replace("c01", "another answer")));
    desk.agent(&json!({ "c01": ["another answer"] }));
    let now = Desk::id(&desk.run(3));
    let diff = |before: &str, now: &str| -> Value {
        serde_json::from_str(&desk.0.run(&["diff", before, now, "--format", "json"]).out).expect("JSON")
    };
    let of_runs = diff(&before, &now);
    assert_eq!(of_runs["categories"], json!({ "newly_passing": 1, "same": 2 }), "{of_runs}");
    let case = &of_runs["cases"][1];
    assert_eq!((&case["before"]["passed"], &case["now"]["passed"]), (&json!(0), &json!(3)), "{case}");
    let note = format!(
        "`evals/desk.evalset.json:c01` expected something else in run {before}: what was recorded is scored again, against what is \
         expected now"
    );
    assert!(of_runs["notes"].as_array().is_some_and(|notes| notes.contains(&json!(note))), "{of_runs}");
    let gate = desk.gate(&["--baseline", &before, &now]);
    assert_eq!((&gate["verdict"], &gate["categories"]), (&json!("PASS"), &of_runs["categories"]), "{gate}");
    // A baseline has no conversations, and the set no longer has what the run now expects.
    assert_eq!(diff("evalset-baseline.jsonl", &now)["categories"], json!({ "incomparable": 1, "same": 2 }));
    desk.0.write("evals/desk.evalset.json", set);
    assert_eq!(diff(&before, &now)["categories"], json!({ "incomparable": 1, "same": 2 }));
}

#[test]
fn a_run_that_ended_at_the_first_failure_is_not_blessed() {
    let desk = Desk::new("bless-fail-fast", 3);
    desk.agent(&json!({ "c00": ["no"] }));
    let args = ["--agent-cmd", AGENT, "--fail-fast", "--concurrency", "1"];
    desk.0.run(&[&["run", "evals/desk.evalset.json"], &args[..]].concat());
    let blessed = desk.bless(&[]);
    assert_eq!(blessed.code, Some(2), "{}", blessed.shown());
    assert!(blessed.err.contains("2 cases were skipped: `desk/c01` and `desk/c02`"), "{}", blessed.shown());
    // Named cases of it count.
    assert_eq!(desk.bless(&["evals/desk.evalset.json:c00"]).code, Some(0));
}

#[test]
fn two_processes_that_bless_at_once_lose_no_line() {
    const CASES: usize = 8;
    let desk = Desk::new("bless-at-once", CASES);
    desk.run(2);
    for round in 0..4 {
        let _ = std::fs::remove_file(desk.0.path("evalset-baseline.jsonl"));
        let children: Vec<_> = (0..CASES)
            .map(|at| {
                let mut bless = desk.0.command(&["bless", &format!("evals/desk.evalset.json:c{at:02}")]);
                bless.stdout(Stdio::null()).spawn()
            })
            .collect();
        for child in children {
            let ran = child.expect("it runs").wait_with_output().expect("it ends");
            assert_eq!(ran.status.code(), Some(0));
        }
        let lines = desk.0.read("evalset-baseline.jsonl").matches(r#""case": "#).count();
        assert_eq!(lines, CASES, "round {round}");
    }
}
