//! Runs that `bless`, `gate` and `diff` count not, or not as they seem, and what they say about it.

use serde_json::{Value, json};

use super::{Desk, blessed, set};
use crate::folder::{AGENT, Folder};
use crate::journal::{Journal, failed, passed};

fn json_of(folder: &Folder, args: &[&str]) -> Value {
    let ran = folder.run(&[args, &["--format", "json"]].concat());
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {}", ran.shown()))
}

/// A run of a test binary whose test passed so often.
fn recorded(folder: &Folder, run: &str, runs: usize) {
    let mut journal = Journal::new(folder, run);
    let test = journal.started("weather::sunny", runs);
    (1..=runs).for_each(|number| journal.ran(test, number, 1.0));
    journal.decided(test, &passed(), Some(1.0), "");
    journal.write();
}

#[test]
fn a_run_that_was_killed_is_not_complete() {
    let folder = Folder::new("gate-killed");
    let mut journal = Journal::new(&folder, "r-killed");
    let test = journal.started("weather::sunny", 3);
    journal.ran(test, 1, 1.0);
    journal.decided(test, &passed(), Some(1.0), "");
    journal.started("weather::oslo", 3);
    journal.write();
    let says = "1 case without an end: `weather::oslo`; its process was killed, or still runs";
    let bless = folder.run(&["bless"]);
    assert!(bless.code == Some(2) && bless.err.contains(says), "{}", bless.shown());
    let only = folder.run(&["bless", "--only", "r-killed"]);
    assert!(only.code == Some(2) && only.err.contains(says), "{}", only.shown());
    recorded(&folder, "r-whole", 10);
    assert_eq!(folder.run(&["bless", "--only", "r-whole"]).code, Some(0));
    for args in [&["gate", "r-killed"][..], &["gate", "r-whole", "--baseline", "r-killed"]] {
        let gate = json_of(&folder, args);
        assert_eq!(gate["verdict"], "UNMEASURABLE", "{gate}");
        let reasons = gate["reasons"].as_array().expect("reasons");
        assert!(reasons.iter().any(|it| it.as_str().is_some_and(|it| it.ends_with(says))), "{gate}");
    }
    let diff = json_of(&folder, &["diff", "r-whole", "r-killed"]);
    assert_eq!((&diff["doubts"], &diff["outcome"]), (&json!([says]), &json!("unmeasurable")));
}

#[test]
fn an_attempt_of_the_test_runner_is_no_run() {
    let folder = Folder::new("gate-attempts");
    let mut journal = Journal::new(&folder, "r1");
    for (attempt, verdict, score) in [(1, failed(), 0.0), (2, failed(), 0.0), (3, passed(), 1.0)] {
        let test = journal.attempted("weather::sunny", 1, attempt);
        journal.ran(test, 1, score);
        journal.decided(test, &verdict, Some(score), "");
    }
    journal.write();
    recorded(&folder, "r2", 10);
    let bless = json_of(&folder, &["bless", "--only", "r1"]);
    assert_eq!(bless["blessed"][0]["passed"], 0, "{bless}");
    let note = "`evals/weather.evalset.json:sunny [app::evals::weather]` was tried again by the test runner: the first attempt with a \
                verdict counts, as attempts are no runs";
    assert!(bless["notes"].as_array().expect("notes").contains(&json!(note)), "{bless}");
    let gate = json_of(&folder, &["gate", "r1", "--baseline", "r2"]);
    assert_eq!((&gate["verdict"], &gate["cases"][0]["now"]["passed"]), (&json!("CANNOT TELL"), &json!(0)));
    assert!(gate["notes"].as_array().expect("notes").contains(&json!(note)), "{gate}");
}

#[test]
fn a_case_that_was_skipped_did_not_run() {
    let folder = Folder::new("gate-skipped");
    for run in ["r1", "r2"] {
        let mut journal = Journal::new(&folder, run);
        for name in ["weather::sunny", "weather::oslo"] {
            let test = journal.started(name, 1);
            if run == "r2" && name == "weather::oslo" {
                journal.decided(test, &json!({ "is": "skipped", "reason": "--fail-fast" }), None, "");
            } else {
                journal.ran(test, 1, 1.0);
                journal.decided(test, &passed(), Some(1.0), "");
            }
        }
        journal.write();
    }
    let gate = json_of(&folder, &["gate", "r2", "--baseline", "r1"]);
    assert_eq!(
        (&gate["verdict"], &gate["categories"]),
        (&json!("UNMEASURABLE"), &json!({ "only_before": 1, "same": 1 }))
    );
    assert_eq!(
        gate["reasons"][0],
        "1 case of the baseline did not run: `evals/weather.evalset.json:oslo [app::evals::weather]`; a complete run has every case, \
         and `--allow-removed` says that it was removed on purpose"
    );
}

#[test]
fn a_run_of_another_commit_and_a_run_on_both_sides_are_doubts() {
    let desk = Desk::new("gate-stale", 2);
    desk.commit();
    let id = Desk::id(&desk.run(10));
    assert_eq!(desk.bless(&[]).code, Some(0));
    let itself = desk.gate(&[]);
    assert_eq!(itself["verdict"], "UNMEASURABLE");
    assert!(
        itself["reasons"][0].as_str().is_some_and(|it| it.starts_with(&format!("`{id}` is on both sides"))),
        "{itself}"
    );
    let id = Desk::id(&desk.run(1));
    assert_eq!(desk.gate(&[])["verdict"], "PASS");
    desk.commit();
    let stale = desk.gate(&[]);
    assert_eq!(stale["verdict"], "UNMEASURABLE");
    assert!(
        stale["reasons"][0]
            .as_str()
            .is_some_and(|it| it.contains("is checked out: run the cases again, or name the run")),
        "{stale}"
    );
    assert_eq!(desk.gate(&[&id])["verdict"], "PASS");
    // What git says now says nothing about a run of an earlier commit.
    assert_eq!(desk.bless(&["--only", &id]).code, Some(0));
    assert!(desk.0.read("evalset-baseline.jsonl").contains(r#""dirty": null"#));
}

#[test]
fn a_run_counts_once_and_suspects_only_for_the_gate_that_ran_them() {
    let desk = blessed("gate-suspects", 5, 10);
    desk.agent(&json!({ "c01": ["no"] }));
    let id = Desk::id(&desk.run(1));
    let twice = desk.gate(&[&id, &id]);
    assert!(twice["error"]["message"].as_str().is_some_and(|it| it.contains("is named twice")), "{twice}");
    let now = |gate: &Value| gate["cases"][1]["now"]["with_verdict"].clone();
    let limits = ["--retry-suspects", "--min-pass-rate", "0.8"];
    let first = desk.gate(&limits);
    // A limit is about the build as it ran: 4 of 5. Further runs of what failed are not in it.
    assert_eq!(
        (&first["verdict"], first["reasons"].as_array().map(Vec::len)),
        (&json!("REGRESSION"), Some(1))
    );
    let again = desk.gate(&limits);
    assert!(now(&first).as_u64().is_some_and(|runs| runs > 5), "{first}");
    assert_eq!(now(&first), now(&again));
    let suspects =
        again["runs"].as_array().and_then(|runs| runs.last()).and_then(Value::as_str).expect("an id");
    assert!(suspects.contains("-suspects-"), "{suspects}");
    let says = "they count only for a gate of their run";
    let by_hand = desk.gate(&[suspects]);
    assert!(by_hand["error"]["message"].as_str().is_some_and(|it| it.contains(says)), "{by_hand}");
    for args in [&["diff", &id, suspects][..], &["gate", &id, "--baseline", suspects]] {
        let side = json_of(&desk.0, args);
        assert!(side["error"]["message"].as_str().is_some_and(|it| it.contains(says)), "{side}");
    }
    let bless = desk.bless(&["--only", suspects]);
    assert!(bless.code == Some(2) && bless.err.contains(says), "{}", bless.shown());
    // The number of runs is given with `=`, so that a run behind the option is a run.
    assert_eq!(now(&desk.gate(&["--retry-suspects=1", &id])), json!(1));
}

#[test]
fn suspects_run_again_on_the_commit_of_their_run_alone() {
    let desk = Desk::new("gate-other-commit", 3);
    desk.commit();
    desk.run(10);
    assert_eq!(desk.bless(&[]).code, Some(0));
    desk.agent(&json!({ "c01": ["no"] }));
    let id = Desk::id(&desk.run(1));
    desk.commit();
    // What is checked out now is another build than the one that failed.
    let gate = desk.gate(&["--retry-suspects", &id]);
    assert_eq!((&gate["verdict"], &gate["runs"]), (&json!("UNMEASURABLE"), &json!([id])), "{gate}");
    let reason = gate["reasons"][0].as_str().expect("a reason");
    let says = "is checked out: `--retry-suspects` would run another build again; check out that commit, or run the cases here first";
    assert!(
        reason.starts_with(&format!("the run `{id}` is of commit ")) && reason.ends_with(says),
        "{reason}"
    );
    assert_eq!(desk.gate(&[&id])["verdict"], "CANNOT TELL");
}

#[test]
fn the_last_run_keeps_its_doubts_after_its_suspects_ran_again() {
    let desk = blessed("gate-keeps-doubts", 3, 10);
    desk.agent(&json!({ "c01": ["no"] }));
    let id = Desk::id(&desk.run(1));
    assert_eq!(desk.gate(&["--retry-suspects"])["verdict"], "REGRESSION");
    desk.0.write("evals/desk.evalset.json", set(3).replace("c02", "c09"));
    let gate = desk.gate(&[]);
    assert_eq!((&gate["verdict"], &gate["runs"]), (&json!("UNMEASURABLE"), &json!([id])), "{gate}");
    let reason = gate["reasons"][0].as_str().expect("a reason");
    assert!(reason.starts_with("(doubtful run): "), "{reason}");
}

#[test]
fn test_binaries_that_cargo_may_not_have_started_make_a_run_incomplete() {
    let folder = Folder::new("gate-cut-short");
    recorded(&folder, "r1", 10);
    let mut journal = Journal::new(&folder, "r2");
    let test = journal.started("weather::sunny", 1);
    journal.ran(test, 1, 0.0);
    journal.decided(test, &failed(), Some(0.0), "");
    journal.write();
    let gate = json_of(&folder, &["gate", "r2", "--baseline", "r1"]);
    assert_eq!(gate["verdict"], "UNMEASURABLE", "{gate}");
    let says = "test binaries that cargo did not start leave no record";
    assert!(gate["reasons"][0].as_str().is_some_and(|it| it.contains(says)), "{gate}");
    let bless = folder.run(&["bless", "--only", "r2"]);
    assert!(bless.code == Some(2) && bless.err.contains(says), "{}", bless.shown());
    // `--partial` says that none was left out.
    let gate = json_of(&folder, &["gate", "r2", "--baseline", "r1", "--partial"]);
    assert_eq!(gate["verdict"], "CANNOT TELL", "{gate}");
}

#[test]
fn a_run_of_an_earlier_commit_is_blessed_as_what_it_is() {
    let desk = Desk::new("bless-earlier", 2);
    desk.commit();
    let earlier = Desk::id(&desk.run(10));
    desk.commit();
    desk.run(10);
    desk.0.write("agent.py", "changed");
    // Tracked files differ from the commit that is checked out, which says nothing about a run of another one.
    let bless = json_of(&desk.0, &["bless", "--only", &earlier]);
    assert_eq!(bless["runs"], json!([earlier]), "{bless}");
    let notes = bless["notes"].as_array().expect("notes");
    let [note] = &notes[..] else { panic!("{bless}") };
    let note = note.as_str().expect("a note");
    assert!(note.starts_with("the run is of commit ") && note.ends_with(" is checked out"), "{note}");
}

#[test]
fn runs_that_cannot_be_listed_are_an_error() {
    let folder = Folder::new("bless-unlisted");
    folder.write(".evalset", "no folder");
    let bless = folder.run(&["bless"]);
    assert!(bless.code == Some(2) && bless.err.contains("cannot read `"), "{}", bless.shown());
}

#[test]
fn suspects_that_only_break_are_run_a_bounded_number_of_times() {
    let desk = blessed("gate-breaks", 2, 10);
    desk.agent(&json!({ "c01": ["no", "exit", "exit", "exit", "exit", "exit", "exit", "exit", "exit"] }));
    desk.run(1);
    let gate = desk.gate(&["--retry-suspects=6"]);
    assert_eq!(gate["verdict"], "UNMEASURABLE", "{gate}");
    // Five runs were made. Had the four without a verdict passed, one more could show nothing.
    assert_eq!(gate["cases"][1]["now"], json!({ "passed": 0, "with_verdict": 1, "errors": 4 }));
}

#[test]
fn only_cases_that_are_gone_from_their_sets_are_pruned() {
    let desk = blessed("bless-prune", 3, 1);
    // Another set, which does not run below.
    desk.0.write("evals/other.evalset.json", set(1));
    let other = ["run", "evals/other.evalset.json", "--agent-cmd", AGENT];
    assert_eq!(desk.0.run(&other).code, Some(0));
    assert_eq!(desk.bless(&["--only", &Desk::id(&desk.0.run(&other))]).code, Some(0));
    desk.0.write("evals/desk.evalset.json", set(2));
    desk.0.run(&["run", "./evals/../evals/desk.evalset.json", "--agent-cmd", AGENT]);
    for args in [&["--prune", "--only", "x"][..], &["--prune", "evals/desk.evalset.json:c01"]] {
        assert!(desk.bless(args).err.contains("cannot be used with"), "{args:?}");
    }
    let pruned = json_of(&desk.0, &["bless", "--prune"]);
    assert_eq!(pruned["removed"], json!(["evals/desk.evalset.json:c02"]), "{pruned}");
    let note = pruned["notes"].as_array().expect("notes").iter().any(|note| {
        note.as_str()
            .is_some_and(|it| it.starts_with("nothing tells builds apart, as there is no commit here"))
    });
    assert!(note, "{pruned}");
    std::fs::remove_file(desk.0.path("evals/other.evalset.json")).expect("the set");
    let text = desk.bless(&["--prune"]);
    for says in [
        "removed 1 line, as the set has no such case: `evals/desk.evalset.json:c02`\n",
        "removed 1 line, as there is no such set: `evals/other.evalset.json:c00`\n",
    ] {
        assert!(text.out.contains(says), "{}", text.shown());
    }
    let pruned = json_of(&desk.0, &["bless", "--prune"]);
    let removed = json!(["evals/desk.evalset.json:c02", "evals/other.evalset.json:c00"]);
    assert_eq!(pruned["removed"], removed, "{pruned}");
}

#[test]
fn a_variant_that_the_program_no_longer_has_is_pruned_and_named() {
    let desk = Desk::new("bless-prune-variant", 2);
    let run = |matrix: &str| {
        let args = ["run", "evals/desk.evalset.json", "--agent-cmd", AGENT, "--matrix", matrix];
        assert_eq!(desk.0.run(&args).code, Some(0));
    };
    desk.commit();
    run("model=a,b");
    assert_eq!(desk.bless(&[]).code, Some(0));
    desk.commit();
    run("model=b");
    let keys = || desk.0.read("evalset-baseline.jsonl").matches(r#""variant": "model=a""#).count();
    // Without `--prune`, the lines of what did not run stay.
    assert_eq!((desk.bless(&[]).code, keys()), (Some(0), 2));
    let pruned = desk.bless(&["--prune"]);
    let says = "removed 2 lines, as the case ran in this build, and not with this variant: `evals/desk.evalset.json:c00 [model=a]` and \
                `evals/desk.evalset.json:c01 [model=a]`\n";
    assert!(pruned.code == Some(0) && pruned.out.contains(says), "{}", pruned.shown());
    assert_eq!(keys(), 0);
}

#[test]
fn the_baseline_is_found_above_and_an_empty_file_is_a_new_one() {
    let desk = Desk::new("bless-empty", 2);
    desk.run(1);
    desk.0.write("evalset-baseline.jsonl", "\n");
    assert_eq!(desk.bless(&[]).code, Some(0));
    let id = Desk::id(&desk.run(1));
    let mut gate = desk.0.command(&["gate", &id, "--format", "json"]);
    let ran = gate.current_dir(desk.0.path("evals")).output().expect("the program runs");
    let document: Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    assert_eq!(document["verdict"], "PASS", "{document}");
}
