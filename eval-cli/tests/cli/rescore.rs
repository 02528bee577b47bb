use serde_json::{Value, json};

use crate::folder::{Folder, set};
use crate::journal::{Journal, METRIC, error, failed, outcome, passed};

/// A run of a case that expects the answer that was given.
pub(crate) fn folder(test: &str) -> Folder {
    let folder = Folder::new(test);
    folder.write("evals/weather.evalset.json", expecting("It is sunny."));
    let mut journal = Journal::new(&folder, "r1");
    let test = journal.started("weather::sunny", 2);
    journal.expecting_as_now();
    (1..=2).for_each(|run| journal.ran(test, run, 1.0));
    journal.decided(test, &passed(), Some(1.0), "");
    journal.write();
    folder
}

pub(crate) fn expecting(answer: &str) -> String {
    set("").replace("Sunny.", answer)
}

#[test]
fn unchanged_criteria_give_equal_scores() {
    let folder = folder("rescore-same");
    let ran = folder.run(&["rescore"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("1 case: 1 passed\n") && ran.out.contains("0/1 case changed"), "{}", ran.out);
}

#[test]
fn an_edited_expectation_changes_the_verdict() {
    let folder = folder("rescore-edited");
    folder.write("evals/weather.evalset.json", expecting("Rain, all day."));
    let ran = folder.run(&["rescore"]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    insta::assert_snapshot!(ran.shown());
}

#[test]
fn a_config_replaces_the_criteria() {
    let folder = folder("rescore-config");
    folder.write("strict.json", r#"{"criteria": {"trajectory_recall": 1.0, "response_match_score": 0.9}}"#);
    let document = |args: &[&str]| -> Value {
        let ran = folder.run(&[&["rescore", "--format", "json"], args].concat());
        serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {}{}", ran.out, ran.err))
    };
    let all = document(&["--config", "strict.json"]);
    let metrics = all["cases"][0]["metrics"].as_array().into_iter().flatten();
    let deciding = metrics.filter(|metric| metric["state"] != "informational");
    let names: Vec<_> = deciding.map(|metric| &metric["name"]).collect();
    assert_eq!(names, ["trajectory_recall", METRIC], "{all}");
    assert_eq!(all["cases"][0]["metrics"][1]["threshold"], json!(0.9));
    let one = document(&["--config", "strict.json", "--metric", "trajectory_recall"]);
    assert_eq!(one["cases"][0]["kept"], json!([METRIC]), "{one}");
    assert_eq!(one["cases"][0]["metrics"][0]["threshold"], json!(0.8), "{one}");
}

#[test]
fn what_cannot_be_scored_again_is_unmeasurable_and_told() {
    let folder = folder("rescore-not");
    let mut journal = Journal::at(&folder, ".evalset/r1", "r1", "others");
    let gone = journal.started("weather::gone", 1);
    journal.ran(gone, 1, 1.0);
    journal.decided(gone, &passed(), Some(1.0), "");
    let broken = journal.started("weather::broken", 1);
    journal.ran_only(broken, 1, &json!({ "role": "agent", "message": "refused" }));
    journal.decided(broken, &error("agent", "refused"), None, "");
    journal.started("weather::killed", 1);
    journal.write_torn();
    let ran = folder.run(&["rescore"]);
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("`evals/weather.evalset.json` has no case `gone` any more"), "{}", ran.out);
    assert!(ran.out.contains("2 -> 1 passed") && ran.out.contains("1 -> 2 errors"), "{}", ran.out);
}

#[test]
fn a_run_that_broke_after_it_was_recorded_stays_an_error() {
    let folder = Folder::new("rescore-broke");
    folder.write("evals/weather.evalset.json", expecting("It is sunny."));
    let mut journal = Journal::new(&folder, "r1");
    let test = journal.started("weather::sunny", 2);
    (1..=2).for_each(|run| journal.ran(test, run, 1.0));
    let late = json!({ "role": "agent", "turn": 1, "message": "1 event recorded after the turn had ended" });
    journal.raw(
        &json!({ "record": "broke", "test": test, "run": 2, "evaluation": 2, "error": late }).to_string(),
    );
    journal.decided(test, &error("agent", "run 2 of 2: agent error in turn 1"), Some(1.0), "");
    journal.write();
    let ran = folder.run(&["rescore"]);
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("run 2 of 2: agent error in turn 1: 1 event recorded"), "{}", ran.out);
}

#[test]
fn evaluations_of_one_run_are_not_counted_as_runs() {
    let folder = Folder::new("rescore-body");
    folder.write("evals/weather.evalset.json", expecting("It is sunny."));
    let mut journal = Journal::new(&folder, "r1");
    let test = 1;
    journal.raw(
        &json!({ "record": "started", "test": test, "name": "weather::sunny", "eval_set_id": "weather",
            "eval_id": "sunny", "file": "evals/weather.evalset.json", "set_file": "evals/weather.evalset.json",
            "runs": 2, "pass": "at_least(2)", "gate": "mean", "attempt": 2, "at": "2026-11-22T02:31:09.000Z" })
        .to_string(),
    );
    // Two evaluations in run 1, and one in run 2 that failed: one of two runs passed.
    journal.ran(test, 1, 1.0);
    journal.ran(test, 1, 1.0);
    journal.ran(test, 2, 0.0);
    journal.decided(test, &passed(), Some(0.7), "");
    journal.write();
    let ran = folder.run(&["rescore"]);
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("its body evaluated several times in a run"), "{}", ran.out);
    let ran = folder.run(&["report", "--format", "json"]);
    let report: Value = serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {}", ran.out));
    let runs = &report["cases"][0]["runs"];
    assert_eq!((&runs["total"], &runs["passed"]), (&json!(2), &json!(1)), "{runs}");
}

#[test]
fn a_line_that_cannot_be_read_may_be_a_case() {
    let folder = Folder::new("rescore-unreadable");
    folder.write("evals/weather.evalset.json", expecting("It is sunny."));
    let mut journal = Journal::new(&folder, "r1");
    let test = journal.started("weather::sunny", 1);
    journal.ran(test, 1, 1.0);
    journal.decided(test, &passed(), Some(1.0), "");
    journal.raw("{\"record\":\"started\",\"test\":\"x");
    journal.write();
    let ran = folder.run(&["rescore"]);
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("jsonl:7 cannot be read"), "{}", ran.out);
}

#[test]
fn a_single_error_is_no_errors() {
    let folder = folder("rescore-one");
    folder.write("evals/weather.evalset.json", expecting("It is sunny.").replace("\"sunny\"", "\"rainy\""));
    let ran = folder.run(&["rescore"]);
    assert!(ran.out.contains("1 case: 1 -> 0 passed, 0 -> 1 error\n"), "{}", ran.out);
}

/// A run of the same case whose one metric is the user's own.
fn with_a_metric_of_the_users_own(test: &str, name: &str, scores: &[f64]) -> Folder {
    let folder = Folder::new(test);
    folder.write("evals/weather.evalset.json", expecting("It is sunny."));
    let mut journal = Journal::new(&folder, "r1");
    let test = journal.started("weather::sunny", 1);
    journal.expecting_as_now();
    journal.ran_only(test, 1, &json!(null));
    journal.raw(
        &json!({ "record": "scored", "test": test, "run": 1, "evaluation": 1, "metrics": [
            { "name": name, "custom": true, "outcome": outcome(scores) }
        ]})
        .to_string(),
    );
    let metric = json!({ "name": name, "criterion": { "threshold": 0.5 }, "score": 0.25, "scored": 1,
        "total": 1, "verdict": failed() });
    journal.raw(
        &json!({ "record": "decided", "test": test, "verdict": failed(), "metrics": [metric], "elapsed": 1.0,
            "at": "2026-11-22T02:31:38.500Z" })
        .to_string(),
    );
    journal.write();
    folder
}

#[test]
fn a_metric_of_the_users_own_is_never_taken_for_the_built_in_of_its_name() {
    let folder = with_a_metric_of_the_users_own("rescore-own-name", METRIC, &[0.25]);
    let ran = folder.run(&["rescore"]);
    assert_eq!(ran.code, Some(1), "the built-in would give 1.0: {}{}", ran.out, ran.err);
    assert!(ran.out.contains("0/1 case changed"), "{}", ran.out);
    for note in [
        "the recorded scores of `response_match_score` are kept",
        "`response_match_score` is a metric of your own, which only your tests can run; built-in metrics of the same name were not used",
    ] {
        assert!(ran.out.contains(note), "{}", ran.out);
    }
    let ran = folder.run(&["rescore", "--metric", METRIC]);
    assert!(ran.err.contains("`response_match_score` is a metric of your own"), "{}{}", ran.out, ran.err);
    // The range of the built-in metric does not apply to it.
    folder.write("low.json", r#"{"criteria": {"response_match_score": -3.0}}"#);
    let ran = folder.run(&["rescore", "--config", "low.json"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("response_match_score  0.25, threshold 0.5 -> -3.0"), "{}", ran.out);
}

#[test]
fn where_the_scores_of_an_own_metric_are_not_all_there_nothing_takes_their_place() {
    let folder = with_a_metric_of_the_users_own("rescore-own-gone", METRIC, &[0.25]);
    let mut journal = Journal::at(&folder, ".evalset/r1", "r1", "others");
    let test = journal.started("weather::sunny", 2);
    journal.expecting_as_now();
    journal.ran_only(test, 1, &json!(null));
    let scored = json!({ "name": METRIC, "custom": true, "outcome": outcome(&[1.0]) });
    journal.raw(
        &json!({ "record": "scored", "test": test, "run": 1, "evaluation": 1, "metrics": [scored] })
            .to_string(),
    );
    journal.ran_only(test, 2, &json!(null));
    journal.decided(test, &passed(), Some(1.0), "");
    journal.write();
    let ran = folder.run(&["rescore"]);
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("the score of this run is not recorded"), "{}", ran.out);
}

#[test]
fn metrics_of_the_users_own_keep_their_scores() {
    let scores = [0.25];
    let folder = with_a_metric_of_the_users_own("rescore-own", "brevity", &scores);
    let ran = folder.run(&["rescore"]);
    assert_eq!(ran.code, Some(1), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("the recorded scores of `brevity` are kept"), "{}", ran.out);
    let ran = folder.run(&["rescore", "--metric", "brevity"]);
    assert!(ran.err.contains("`brevity` is a metric of your own"), "{}", ran.err);
    let ran = folder.run(&["rescore", "--metric", "brevty"]);
    assert!(ran.err.contains("did you mean `brevity`?"), "{}", ran.err);
}

/// A passing run of a case whose one metric is the user's own.
fn passing_by_an_own_metric(test: &str) -> Folder {
    let folder = with_a_metric_of_the_users_own(test, "brevity", &[1.0]);
    let ran = folder.run(&["rescore"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    folder
}

#[test]
fn a_kept_score_of_a_case_that_was_edited_is_no_verdict() {
    let folder = passing_by_an_own_metric("rescore-own-edited");
    folder.write("evals/weather.evalset.json", expecting("Rain, all day."));
    let ran = folder.run(&["rescore"]);
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    let why = "its recorded score is about the case before it was edited; `--config FILE` that names a program scores it again";
    assert!(ran.out.contains(why) && !ran.out.contains("are kept"), "{}", ran.out);
    // A program of a config is asked about the case as it is now.
    if cfg!(unix) {
        let config = json!({"criteria": {"brevity": 0.5}, "custom_metrics": {"brevity": {"command": ["sh", "-c", "cat > asked.json; echo '{\"score\": 1}'"]}}});
        folder.write("program.json", config.to_string());
        let ran = folder.run(&["rescore", "--config", "program.json"]);
        assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
        assert!(folder.read("asked.json").contains("Rain, all day."));
    }
    // The same holds for a metric that `--metric` leaves out.
    let folder = self::folder("rescore-left-edited");
    folder.write("evals/weather.evalset.json", expecting("Rain, all day."));
    folder.write("more.json", r#"{"criteria": {"trajectory_recall": 1.0, "response_match_score": 0.9}}"#);
    let ran = folder.run(&["rescore", "--config", "more.json", "--metric", "trajectory_recall"]);
    assert_eq!(ran.code, Some(2), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("edited; without `--metric` it is scored again"), "{}", ran.out);
}

#[test]
fn a_run_that_did_not_meet_the_faults_or_the_session_of_its_case_says_nothing_about_it() {
    for (test, edit) in [
        ("rescore-faults", r#""_tools": {"1": {"get_weather#1": "never"}}, "#),
        (
            "rescore-session",
            r#""session_input": {"app_name": "a", "user_id": "u", "state": {"city": "Oslo"}}, "#,
        ),
    ] {
        let folder = folder(test);
        let edited =
            expecting("It is sunny.").replacen("\"conversation\"", &format!("{edit}\"conversation\""), 1);
        folder.write("evals/weather.evalset.json", edited);
        let ran = folder.run(&["rescore"]);
        assert_eq!(ran.code, Some(2), "{test}: {}{}", ran.out, ran.err);
        let why = "the case was edited since it ran: its session, or the faults of its tools or models, which this run did not meet";
        assert!(ran.out.contains(why) && ran.out.contains("run the test again"), "{test}: {}", ran.out);
    }
}
