//! Runs of programs, and what was skipped: nothing is counted as something else.

use serde_json::{Value, json};

use crate::folder::Folder;
use crate::journal::{Journal, METRIC, failed, outcome, passed};

/// A case that a program began.
struct Begun {
    label: Option<&'static str>,
    file: &'static str,
    hash: &'static str,
}

const PLAIN: Begun = Begun { label: None, file: "evals/a/s.evalset.json", hash: "1" };

/// The journal of a program that ran the case `c` of the set `s` so often.
fn program(folder: &Folder, cases: &[(Begun, Value)], planned: usize) {
    let mut journal = Journal::new(folder, "r1");
    journal.set_head(&json!({ "args": ["eval", "--agent", "weather"] }));
    journal.raw(&json!({ "record": "planned", "cases": vec!["s/c"; planned] }).to_string());
    for ((Begun { label, file, hash }, verdict), test) in cases.iter().zip(1..) {
        journal.raw(
            &json!({ "record": "started", "test": test, "name": "s/c", "of_program": true, "label": label,
                "eval_set_id": "s", "eval_id": "c", "file": file, "line": 4, "column": 5, "asks": hash, "expects": "1",
                "set_cases": 1, "runs": 1, "pass": "mean", "gate": "mean", "attempt": 1,
                "at": format!("2026-11-22T02:31:0{test}.000Z") })
            .to_string(),
        );
        let metric = json!({ "name": METRIC, "criterion": { "threshold": 0.8 }, "score": 0.5, "scored": 1, "total": 1,
            "verdict": verdict });
        journal.raw(
            &json!({ "record": "decided", "test": test, "verdict": verdict, "metrics": [metric],
                "headline": "response_match_score is 0.5, below 0.8", "at": "2026-11-22T02:31:38.500Z" })
            .to_string(),
        );
    }
    journal.raw(&json!({ "record": "ended", "at": "2026-11-22T02:31:39.000Z" }).to_string());
    journal.write();
}

#[test]
fn a_case_that_failed_is_not_hidden_by_another_one_of_its_name() {
    for (what, other, names) in [
        ("label", Begun { label: Some("new"), ..PLAIN }, ["s/c ", "s/c [new]"]),
        ("file", Begun { file: "evals/b/s.evalset.json", ..PLAIN }, ["s/c (evals/a/s.", "s/c (evals/b/s."]),
        ("text", Begun { hash: "2", ..PLAIN }, ["s/c #1", "s/c #2"]),
        ("nothing", PLAIN, ["s/c #1", "s/c #2"]),
    ] {
        let folder = Folder::new(&format!("programs-{what}"));
        program(&folder, &[(PLAIN, failed()), (other, passed())], 2);
        let ran = folder.run(&["report", "--github", "--junit", "j.xml", "--markdown", "m.md"]);
        assert_eq!(ran.code, Some(1), "{what}: {}", ran.out);
        assert!(ran.out.contains("2 cases: 1 passed, 1 failed"), "{what}: {}", ran.out);
        assert!(!ran.out.contains("attempt"), "{what}: {}", ran.out);
        for name in names {
            assert!(ran.out.contains(name), "{what}: {}", ran.out);
        }
        // Without what the test printed, the recorded headline says why.
        assert!(ran.out.contains("::response_match_score is 0.5, below 0.8"), "{}", ran.out);
        assert!(folder.read("m.md").contains("below 0.8"), "{}", folder.read("m.md"));
        let junit = folder.read("j.xml");
        assert_eq!(junit.matches("<testcase ").count(), 2, "{junit}");
        assert!(junit.contains("<failure message=\"response_match_score is 0.5, below 0.8\""), "{junit}");
    }
}

#[test]
fn cases_that_a_program_did_not_come_to_are_missing_whatever_its_arguments() {
    let folder = Folder::new("programs-cancelled");
    program(&folder, &[(PLAIN, passed())], 20);
    let ran = folder.run(&["report"]);
    assert_eq!(ran.code, Some(2), "{}", ran.out);
    assert!(ran.out.contains("the one case passed; 19 more tests never began"), "{}", ran.out);
    assert!(
        ran.out.contains("a program was to run 19 cases more; it ended before, or is still running"),
        "{}",
        ran.out
    );
    assert!(!ran.out.contains("rerun --unfinished"), "{}", ran.out);
    assert_eq!(
        folder.run(&["report", "--partial"]).code,
        Some(2),
        "no filter of a test runner left them out"
    );
    let ran = folder.run(&["rerun"]);
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("run the program again"), "{}", ran.err);
}

#[test]
fn a_program_is_scored_again_by_the_file_that_it_ran() {
    let folder = Folder::new("programs-rescore");
    let set = crate::folder::set("").replace("\"weather\"", "\"s\"").replace("\"sunny\"", "\"c\"");
    folder.write("evals/a/s.evalset.json", set.replace("Weather?", "And tomorrow?"));
    program(&folder, &[], 1);
    let mut journal = Journal::at(&folder, ".evalset/r1", "r1", "more");
    journal.raw(
        &json!({ "record": "started", "test": 1, "name": "s/c", "of_program": true, "eval_id": "c",
            "file": PLAIN.file, "asks": "1", "expects": "1", "runs": 1, "pass": "mean", "gate": "every_turn", "attempt": 1,
            "at": "2026-11-22T02:31:09.000Z" })
        .to_string(),
    );
    journal.ran(1, 1, 1.0);
    journal.decided(1, &passed(), Some(1.0), "");
    journal.write();
    let ran = folder.run(&["rescore"]);
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    let said = "the user says \"And tomorrow?\" in the case, and said \"Weather?\" in the recorded run";
    assert!(ran.out.contains(said) && ran.out.contains("edited since"), "{}", ran.out);
}

#[test]
fn a_metric_that_was_skipped_is_named_in_every_format() {
    let folder = Folder::new("programs-skipped");
    let mut journal = Journal::new(&folder, "r1");
    let test = journal.started("weather::sunny", 1);
    journal.ran_only(test, 1, &json!(null));
    let scores = json!([{ "name": "safety_v1", "outcome": { "unjudged": "no judge to ask" } },
        { "name": METRIC, "outcome": outcome(&[1.0]) }]);
    let scored = json!({ "record": "scored", "test": test, "run": 1, "evaluation": 1, "metrics": scores });
    journal.raw(&scored.to_string());
    let metric = |name: &str, verdict: &Value| json!({ "name": name, "criterion": { "threshold": 0.8 }, "scored": 1, "total": 1, "score": 1.0, "verdict": verdict });
    let skipped = json!({ "is": "skipped", "reason": "no judge to ask\nturn on a feature" });
    journal.raw(
        &json!({ "record": "decided", "test": test, "verdict": passed(), "at": "2026-11-22T02:31:38.500Z",
            "metrics": [metric("safety_v1", &skipped), metric(METRIC, &passed())] })
        .to_string(),
    );
    journal.write();
    let args = ["report", "--junit", "j.xml", "--json", "r.json", "--markdown", "m.md", "--github"];
    let ran = folder.run(&args);
    assert_eq!(ran.code, Some(0), "{}", ran.out);
    let said = "skipped, and so not checked: `safety_v1` in 1 case (no judge to ask)";
    assert!(ran.out.contains(&format!("note: {said}")), "{}", ran.out);
    assert!(ran.out.contains("sunny  1/1  safety_v1 skipped  response_match_score 1.0"), "{}", ran.out);
    assert!(ran.out.contains(&format!("::warning title=metrics were skipped::{said}")), "{}", ran.out);
    assert!(folder.read("m.md").contains("safety\\_v1"), "{}", folder.read("m.md"));
    let junit = folder.read("j.xml");
    assert!(junit.contains("safety_v1.verdict=skipped\n"), "{junit}");
    assert!(junit.contains("safety_v1.reason=no judge to ask"), "{junit}");
    let json: Value = serde_json::from_str(&folder.read("r.json")).expect("it is JSON");
    assert_eq!(json["cases"][0]["skipped_metrics"], json!(["safety_v1"]));
    assert_eq!((&json["summary"]["passed"], &json["summary"]["partly_skipped"]), (&json!(1), &json!(1)));
}

#[test]
fn a_mean_that_did_not_decide_is_shown_with_what_did() {
    let folder = Folder::new("programs-any");
    let mut journal = Journal::new(&folder, "r1");
    let test = journal.started("weather::sunny", 3);
    for (run, score) in [(1, 1.0), (2, 0.0), (3, 0.0)] {
        journal.ran(test, run, score);
    }
    let metric = json!({ "name": METRIC, "criterion": { "threshold": 0.8 }, "score": 1.0 / 3.0, "scored": 3, "total": 3,
        "passed_runs": 1, "verdict": passed() });
    journal.raw(
        &json!({ "record": "decided", "test": test, "verdict": passed(), "passed_runs": 1, "metrics": [metric],
            "at": "2026-11-22T02:31:38.500Z" })
        .to_string(),
    );
    journal.write();
    let ran = folder.run(&["report", "--junit", "j.xml"]);
    assert!(ran.out.contains("response_match_score 0.33 (0.8 reached in 1 of 3 runs)"), "{}", ran.out);
    assert!(
        folder.read("j.xml").contains("response_match_score.passed_runs=1/3"),
        "{}",
        folder.read("j.xml")
    );
}
