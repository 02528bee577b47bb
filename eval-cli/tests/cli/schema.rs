//! All reports are valid by the schema that the project hands out, and the schema tells of each of their fields.

use eval_report::document::SCHEMA;
use serde_json::{Value, json};

use crate::faults;
use crate::folder::Folder;
use crate::journal::{Journal, error, failed, passed};

/// The faults of a report against the schema.
fn faults(document: &Value) -> Vec<String> {
    faults::faults(SCHEMA, document)
}

fn document(ran: &crate::folder::Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {}{}", ran.out, ran.err))
}

fn report(folder: &Folder) -> Value {
    document(&folder.run(&["report", "--format", "json"]))
}

#[test]
fn a_report_of_everything_is_valid_by_its_schema() {
    let folder = Folder::new("schema-everything");
    let mut journal = Journal::new(&folder, "r1");
    for (name, verdict, attempts) in [
        ("a::passed", passed(), 1),
        ("a::late", passed(), 3),
        ("a::failed", failed(), 1),
        ("a::broken", error("agent", "503"), 1),
        ("b::unscored", json!({ "is": "not_evaluated", "reason": "no reference" }), 1),
        ("b::skipped", json!({ "is": "skipped", "reason": "no judge" }), 1),
    ] {
        for attempt in 1..=attempts {
            let test = journal.attempted(name, 2, attempt);
            journal.ran(test, 1, 0.5);
            journal.ran_only(test, 2, &json!(null));
            journal.scored(test, 2, &json!({ "unjudged": "no judge" }));
            let verdict = if attempt < attempts { failed() } else { verdict.clone() };
            journal.decided(test, &verdict, Some(f64::from(attempt) / 3.0), "Error: x: y");
        }
    }
    let unfinished = journal.started("b::unfinished", 1);
    journal.ran_only(unfinished, 1, &json!({ "role": "agent", "message": "gone" }));
    journal.write_torn();
    // A program that cargo did not start, with cases that come from no file.
    let mut journal = Journal::at(&folder, ".evalset/r1", "r1", "program");
    journal.set_head(&json!({ "package": null, "binary": null, "built": "2026-11-22T02:31:00.500Z" }));
    journal.raw(&json!({ "record": "planned", "cases": ["s/c", "s/c", "s/d"] }).to_string());
    for (test, label) in [(1, json!("old")), (2, json!(null))] {
        journal.raw(
            &json!({ "record": "started", "test": test, "name": "s/c", "of_program": true, "label": label,
            "eval_id": "c", "runs": 3, "pass": "any", "gate": "every_turn", "attempt": 1,
            "at": "2026-11-22T02:31:09.000Z" })
            .to_string(),
        );
        journal.decided(test, &passed(), None, "");
    }
    journal.write();
    let document = report(&folder);
    assert_eq!(faults(&document), Vec::<String>::new());

    let cases = document["cases"].as_array().expect("cases");
    assert_eq!(
        (&cases[0]["package"], &cases[0]["binary"], &cases[0]["place"]),
        (&json!(null), &json!(null), &json!(null))
    );
    let labels: Vec<_> =
        cases.iter().filter(|case| case["of_program"] == true).map(|case| &case["label"]).collect();
    assert_eq!(labels, [&json!(null), &json!("old")]);
    let late = cases.iter().find(|case| case["eval_id"] == "late").expect("the case");
    let failed = json!({ "attempt": 1, "state": "failed", "reason": "y" });
    assert_eq!((&late["attempts"], &late["earlier_attempts"][0]), (&json!(3), &failed));
    let skipped = cases.iter().find(|case| case["eval_id"] == "skipped").expect("the case");
    assert_eq!(skipped["skipped_metrics"], json!(["response_match_score"]));
    assert_eq!(skipped["metrics"][0]["runs"][1]["state"], "skipped");
    assert_eq!(document["summary"]["missing"], 1);
}

#[test]
fn a_report_of_nothing_is_valid_by_its_schema() {
    let folder = Folder::new("schema-nothing");
    Journal::new(&folder, "r1").write();
    assert_eq!(faults(&report(&folder)), Vec::<String>::new());
}

#[test]
fn what_the_schema_does_not_allow_is_found() {
    let folder = Folder::new("schema-faults");
    let mut journal = Journal::new(&folder, "r1");
    let test = journal.started("a::x", 1);
    journal.ran(test, 1, 1.0);
    journal.decided(test, &passed(), Some(1.0), "");
    journal.write();
    let document = report(&folder);
    let broken = |change: fn(&mut Value)| {
        let mut document = document.clone();
        change(&mut document);
        faults(&document)
    };
    assert_eq!(faults(&document), Vec::<String>::new());
    for (fault, change) in [
        (" lacks \"schema\"", (|it| drop(it.as_object_mut().unwrap().remove("schema"))) as fn(&mut Value)),
        ("/schema is 2, and not 1", |it| it["schema"] = json!(2)),
        ("/outcome is \"green\", and none of", |it| it["outcome"] = json!("green")),
        ("/cases/0/label is 7, and no", |it| it["cases"][0]["label"] = json!(7)),
        ("/cases/0/attempt is 0, below 1", |it| it["cases"][0]["attempt"] = json!(0)),
        ("/cases/0/runs/interval has 1 items", |it| it["cases"][0]["runs"]["interval"] = json!([0.5])),
        ("/summary has `more`, of which", |it| it["summary"]["more"] = json!(1)),
    ] {
        let found = broken(change);
        assert!(found.iter().any(|found| found.starts_with(fault)), "{fault}: {found:?}");
    }
}

#[test]
fn a_report_of_a_program_is_valid_by_its_schema() {
    use eval_core::{BoxError, Criterion, EvalCase, EvalRunner, EvalSet, Invocation, PassRule, Replay};
    use eval_report::Export;

    let case = |id: &str| EvalCase::new(id).turn(Invocation::user("Paris?").response("It is sunny."));
    let set = EvalSet::new("weather").case(case("right")).case(case("wrong")).case(case("lost"));
    let runner = EvalRunner::new().label("new prompt").runs(2).pass(PassRule::Any);
    let runner = runner.criterion("response_match_score", Criterion::new(0.8));
    let setup = |case: &EvalCase| match case.eval_id.as_str() {
        "right" => Ok::<_, BoxError>(Replay::new([["It is sunny."]])),
        "wrong" => Ok(Replay::new([["It rains."]])),
        _ => Err("no connection".into()),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let document = runtime.block_on(runner.run_set(&set, setup, 1)).expect("the set can be run").to_json();
    assert_eq!(faults(&document), Vec::<String>::new());

    let states: Vec<_> =
        document["cases"].as_array().expect("cases").iter().map(|case| &case["state"]).collect();
    assert_eq!(states, ["passed", "failed", "error"]);
    assert_eq!(document["outcome"], "unmeasurable");
    let lost = &document["cases"][2];
    assert_eq!((&lost["role"], &lost["runs"]["each"][1]["run"]), (&json!("setup"), &json!(2)));
    let error = lost["runs"]["each"][0]["error"].as_str();
    assert!(error.is_some_and(|error| error.contains("no connection")), "{lost}");
    let wrong = &document["cases"][1];
    assert_eq!((&wrong["name"], &wrong["runs"]["passed"]), (&json!("weather/wrong [new prompt]"), &json!(0)));
    assert!(wrong["failure"].as_str().is_some_and(|text| text.contains("response_match_score")), "{wrong}");
    let metric = &wrong["metrics"][0];
    assert_eq!((&metric["threshold"], &metric["passed_runs"]), (&json!(0.8), &json!(0)));
    assert_eq!((&metric["runs"][0]["verdicts"], &metric["runs"][0]["run"]), (&json!(["failed"]), &json!(1)));
    for unknown in ["package", "attempt", "attempts", "earlier_attempts", "pass", "record", "before"] {
        assert_eq!(wrong[unknown], json!(null), "{unknown}");
    }
    let summary = &document["summary"];
    assert_eq!([&summary["torn"], &summary["seconds"], &document["runs"]], [&json!(null); 3]);
    assert!(!faults(&json!({ "schema": 1, "cases": [] })).is_empty(), "the check can fail");
}

#[test]
fn a_report_of_run_is_valid_by_its_schema() {
    let ran =
        crate::run::run(&crate::run::folder("schema-run"), &["evals", "--runs", "2", "--format", "json"]);
    let document = document(&ran);
    assert_eq!(faults(&document), Vec::<String>::new());
    assert_eq!((&document["command"], &document["outcome"]), (&json!("report"), &json!("unmeasurable")));
    let rain =
        document["cases"].as_array().expect("cases").iter().find(|case| case["eval_id"] == "rain, again");
    assert_eq!(
        rain.expect("the case")["runs"]["each"][1],
        json!({ "run": 2, "passed": false, "error": null })
    );
}

#[test]
fn a_report_of_rescore_is_valid_by_its_schema_and_has_what_was_recorded() {
    let folder = crate::rescore::folder("schema-rescore");
    folder.write("evals/weather.evalset.json", crate::rescore::expecting("Rain, all day."));
    let document = document(&folder.run(&["rescore", "--format", "json"]));
    assert_eq!(faults(&document), Vec::<String>::new());
    assert_eq!((&document["command"], &document["outcome"]), (&json!("rescore"), &json!("failed")));
    let case = &document["cases"][0];
    let told = ["rescored", "edited", "kept", "state"].map(|field| &case[field]);
    assert_eq!(told, [&json!(true), &json!(true), &json!([]), &json!("failed")]);
    let (now, before) = (&case["metrics"][0], &case["before"]["metrics"][0]);
    assert_eq!([&case["before"]["state"], &before["state"], &now["state"]], ["passed", "passed", "failed"]);
    assert_eq!((&before["score"], &now["score"]), (&json!(1.0), &json!(0.0)));
    assert_eq!(now["runs"][1]["verdicts"], json!(["failed"]));
    assert_eq!(document["summary"]["failed"], 1);
}
