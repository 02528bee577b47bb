//! The ten cases of `expectations/`, cut from public eval sets: what passes and what fails, through the attribute, a runner, and
//! runs that are scored again. Each case has rules of the key `_expect` where equality is the wrong question.

use std::path::Path;
use std::process::Command;

use eval_core::format::Value;
use eval_core::{
    Agent, Criterion, EvalCase, EvalConfig, EvalRunner, EvalSet, Recorder, Verdict, agent_fn, eval_set,
};

fn made() -> Value {
    Value::parse(include_str!("expectations/made.json")).expect("JSON")
}

/// An agent that makes these calls and gives this answer.
fn playing(played: &Value) -> impl Agent + use<> {
    let played = played.clone();
    agent_fn(move |_, recorder: Recorder| {
        let played = played.clone();
        async move {
            for call in played["calls"].as_array().unwrap_or_default() {
                let name = call["name"].as_str().unwrap_or_default().to_owned();
                recorder.tool_call(&name, call["args"].clone(), "ok");
            }
            played["answer"].as_str().filter(|answer| !answer.is_empty()).unwrap_or("Done.").to_owned()
        }
    })
}

#[eval_set("tests/expectations/ten.evalset.json")]
fn as_meant(case: &EvalCase) -> impl Agent {
    playing(&made()[case.eval_id.as_str()]["passes"][0])
}

#[eval_set("tests/expectations/ten.evalset.json")]
#[should_panic(expected = "below 1.0")]
fn not_as_meant(case: &EvalCase) -> impl Agent {
    playing(&made()[case.eval_id.as_str()]["fails"][0])
}

#[eval_set("tests/expectations/ten.evalset.json", cases = ["amount"])]
fn as_meant_in_another_way(case: &EvalCase) -> impl Agent {
    playing(&made()[case.eval_id.as_str()]["passes"][1])
}

#[eval_set(
    "tests/expectations/ten.evalset.json",
    cases = ["free_text", "misspelt_golden", "floats", "free_order", "amount", "json_between_words", "plan"]
)]
#[should_panic(expected = "below 1.0")]
fn not_as_meant_in_another_way(case: &EvalCase) -> impl Agent {
    playing(&made()[case.eval_id.as_str()]["fails"][1])
}

#[eval_set("tests/expectations/ten.evalset.json", cases = ["plan"])]
#[should_panic(expected = "below 1.0")]
fn not_as_meant_in_a_third_way(case: &EvalCase) -> impl Agent {
    playing(&made()[case.eval_id.as_str()]["fails"][2])
}

/// Runs a test of this file in a process of its own, with a variable that is set.
fn run_alone(test: &str, (variable, value): (&str, &str)) -> (bool, String) {
    let mut command = Command::new(std::env::current_exe().expect("a test has a binary"));
    command.args([test, "--exact", "--nocapture"]).env(variable, value);
    let output = command.output().expect("it starts");
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn a_test_says_which_points_its_rules_loosened_and_fails_without_them() {
    let (passed, text) = run_alone("as_meant::floats", ("EVALSET_PRINT", "all"));
    assert!(passed && text.contains("1 passed"), "{text}");
    assert!(text.contains('≈') && text.contains("ADK: 0.0"), "{text}");
    let (passed, text) = run_alone("as_meant::floats", ("EVALSET_LITERAL", "1"));
    assert!(!passed && text.contains("1 failed") && !text.contains('≈'), "{text}");
}

fn cases() -> Vec<EvalCase> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expectations/ten.evalset.json");
    EvalSet::read(path).expect("it is a set").eval_cases
}

fn runner() -> EvalRunner {
    EvalRunner::new().config(EvalConfig::default().with("tool_trajectory_avg_score", Criterion::new(1.0)))
}

#[tokio::test]
async fn the_ten_cases_pass_and_fail_as_their_authors_meant() {
    let (made, mut held) = (made(), 0);
    for case in cases() {
        let of_case = &made[case.eval_id.as_str()];
        for (how, passes) in [("passes", true), ("fails", false)] {
            for played in of_case[how].as_array().unwrap_or_default() {
                let report = runner().run_case(&case, || playing(played)).await.expect("it runs");
                assert_eq!(report.verdict == Verdict::Passed, passes, "{report}");
                let recorded = report.runs.iter().map(|run| run.transcript.clone()).collect();
                let again = runner().score_case(&case, recorded).await.expect("it is scored");
                assert_eq!(again.metrics, report.metrics);
                if case.eval_id == "six_countries" {
                    assert_eq!(
                        report.to_string().contains("the answer lacks \"Singapore\""),
                        !passes,
                        "{report}"
                    );
                }
                held += 1;
            }
        }
        if of_case["fails_literally"] == Value::Bool(true) {
            let literal = runner().literal(true);
            let report = literal.run_case(&case, || playing(&of_case["passes"][0])).await.expect("it runs");
            assert_eq!(report.verdict, Verdict::Failed, "{report}");
            held += 1;
        }
    }
    assert_eq!(held, 35);
}

#[tokio::test]
async fn a_case_changes_criteria_of_its_config_and_says_so() {
    let case = cases().into_iter().find(|case| case.eval_id == "six_countries").expect("the case");
    let case = case.with_criterion("response_match_score", Value::Null);
    let played = &made()["six_countries"]["passes"][0];
    let report = EvalRunner::new().run_case(&case, || playing(played)).await.expect("it runs");
    assert!(report.verdict.passed(), "{report}");
    let names: Vec<&str> =
        report.metrics.iter().filter(|it| it.criterion.is_some()).map(|it| &*it.name).collect();
    assert_eq!(names, ["tool_trajectory_avg_score", "answer_demands"]);
    assert!(report.notes.iter().any(|note| note == "`_criteria` of this case: `response_match_score`: null"));
    assert!(
        report.to_string().contains("`_criteria` of this case: `response_match_score`: null"),
        "{report}"
    );
    // Demands that nothing reads would pass unchecked.
    let without = case.clone().with_criterion("answer_demands", Value::Null);
    let error = EvalRunner::new()
        .run_case(&without, || playing(played))
        .await
        .expect_err("nothing reads the demands");
    assert!(
        error.to_string().contains("takes `answer_demands` out, so nothing reads `answer` of `_expect`"),
        "{error}"
    );
    // As ADK does, the criteria of the config hold.
    let literal = EvalRunner::new().literal(true);
    let report = literal.run_case(&case, || playing(played)).await.expect("it runs");
    assert!(report.metric("response_match_score").is_some());
}
