//! Reports are valid by the schema that the project hands out, and the schema tells of each of their fields.

use serde_json::{Value, json};

use crate::folder::Folder;
use crate::journal::{Journal, error, failed, passed};

/// A link to the file in `docs`, so that the package of the crate has it too.
const SCHEMA: &str = include_str!("../report.schema.json");
/// That of the reports of programs.
const OF_PROGRAMS: &str = include_str!("../eval-report.schema.json");

/// What in a document is not as the schema says. Fields that the schema does not name are faults here; to a reader they are
/// those of a later version.
fn faults(document: &Value) -> Vec<String> {
    faults_by(SCHEMA, document)
}

fn faults_by(schema: &str, document: &Value) -> Vec<String> {
    let schema: Value = serde_json::from_str(schema).expect("the schema is JSON");
    let mut faults = Vec::new();
    check(document, &schema, &schema, "", &mut faults);
    faults
}

fn check(value: &Value, by: &Value, root: &Value, at: &str, faults: &mut Vec<String>) {
    for (keyword, rule) in by.as_object().expect("a schema is an object") {
        let mut found = |is_right: bool, fault: String| faults.extend((!is_right).then_some(fault));
        match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" => {}
            "$ref" => {
                let pointer = rule.as_str().and_then(|to| to.strip_prefix('#')).expect("a local reference");
                check(value, root.pointer(pointer).expect("a definition"), root, at, faults);
            }
            "type" => {
                let one = std::slice::from_ref(rule);
                let kinds = rule.as_array().map_or(one, Vec::as_slice);
                let is_one = kinds.iter().any(|kind| is(value, kind.as_str().expect("a type")));
                found(is_one, format!("{at} is {value}, and no {rule}"));
            }
            "const" => found(value == rule, format!("{at} is {value}, and not {rule}")),
            "enum" => {
                let is_one = rule.as_array().expect("a list").contains(value);
                found(is_one, format!("{at} is {value}, and none of {rule}"));
            }
            "minimum" => {
                let is_below = value.is_number() && value.as_f64() < rule.as_f64();
                found(!is_below, format!("{at} is {value}, below {rule}"));
            }
            "maximum" => found(value.as_f64() <= rule.as_f64(), format!("{at} is {value}, above {rule}")),
            "minItems" | "maxItems" => {
                let items = json!(value.as_array().map(Vec::len));
                found(!value.is_array() || items == *rule, format!("{at} has {items} items, and not {rule}"));
            }
            "required" => {
                let missing = rule.as_array().expect("a list").iter().filter(|name| {
                    value
                        .as_object()
                        .is_some_and(|fields| !fields.contains_key(name.as_str().expect("a name")))
                });
                faults.extend(missing.map(|name| format!("{at} lacks {name}")));
            }
            "properties" => {
                for (name, field) in value.as_object().into_iter().flatten() {
                    match rule.get(name) {
                        Some(rule) => check(field, rule, root, &format!("{at}/{name}"), faults),
                        None => faults.push(format!("{at} has `{name}`, of which the schema does not tell")),
                    }
                }
            }
            "items" => {
                for (number, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(item, rule, root, &format!("{at}/{number}"), faults);
                }
            }
            other => panic!("this test does not know the keyword `{other}`"),
        }
    }
}

fn is(value: &Value, kind: &str) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("`{other}` is no type"),
    }
}

fn report(folder: &Folder) -> Value {
    let ran = folder.run(&["report", "--format", "json"]);
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {}{}", ran.out, ran.err))
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
    use eval_core::{BoxError, Criterion, EvalCase, EvalRunner, EvalSet, Invocation, Pass, Replay};

    let case = |id: &str| EvalCase::new(id).turn(Invocation::user("Paris?").response("It is sunny."));
    let set = EvalSet::new("weather").case(case("right")).case(case("wrong")).case(case("lost"));
    let runner = EvalRunner::new().label("new prompt").runs(2).pass(Pass::Any);
    let runner = runner.criterion("response_match_score", Criterion::new(0.8));
    let setup = |case: &EvalCase| match case.eval_id.as_str() {
        "right" => Ok::<_, BoxError>(Replay::new([["It is sunny."]])),
        "wrong" => Ok(Replay::new([["It rains."]])),
        _ => Err("no connection".into()),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let document = runtime.block_on(runner.run_set(&set, setup, 1)).expect("the set can be run").to_json();
    assert_eq!(faults_by(OF_PROGRAMS, &document), Vec::<String>::new());

    let states: Vec<_> =
        document["cases"].as_array().expect("cases").iter().map(|case| &case["state"]).collect();
    assert_eq!(states, ["passed", "failed", "error"]);
    let lost = &document["cases"][2];
    assert_eq!((&lost["role"], &lost["runs"][1]["run"]), (&json!("setup"), &json!(2)));
    assert!(lost["runs"][0]["error"].as_str().is_some_and(|error| error.contains("no connection")), "{lost}");
    let metric = &document["cases"][1]["metrics"][0];
    assert_eq!((&metric["threshold"], &metric["passed_runs"]), (&json!(0.8), &json!(0)));
    assert!(metric["runs"][0]["scores"][0].is_number(), "{metric}");
    assert!(!faults_by(OF_PROGRAMS, &json!({ "schema": 1, "cases": [] })).is_empty(), "the check can fail");
}
