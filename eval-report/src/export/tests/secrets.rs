//! A key that an agent says is in no export.

use std::time::SystemTime;

use eval_core::{BoxError, EvalCase, EvalRunner, EvalSet, Invocation, Recorder, agent_fn};
use serde_json::json;

use crate::export::Export;

const CANARIES: [&str; 3] =
    ["sk-canary-0123456789abcdef", "ghp_canary0123456789abcdefghijklmnopqrst", "hunter2canary"];

fn said() -> String {
    let [openai, github, password] = CANARIES;
    format!("{openai}\n{github} postgres://me:{password}@db.test/x")
}

async fn leaky(text: String, recorder: Recorder) -> Result<String, BoxError> {
    let result = async { Ok::<_, BoxError>(json!({ "env": said() })) };
    recorder.tool("print_env", json!({ "all": said() }), result).await?;
    if text == "break" { Err(said().into()) } else { Ok(said()) }
}

fn check(what: &str, text: &str) {
    assert!(text.len() > 20, "{what} says something: {text}");
    for canary in CANARIES {
        assert!(!text.contains(canary), "{what} shows {canary}: {text}");
    }
}

#[tokio::test]
async fn a_key_that_an_agent_says_is_in_no_export() {
    let folder = tempfile::tempdir().unwrap();
    let case = |id: &str, text: &str| EvalCase::new(id).turn(Invocation::user(text).response("fine"));
    let set = EvalSet::new("leaky").case(case("says", "hi")).case(case("breaks", "break"));
    let report = EvalRunner::new().run_set(&set, || agent_fn(leaky), 1).await.unwrap();
    check("the document", &report.to_json().to_string());
    check("the export for adk-rs", &report.to_adk_rs().to_string());
    check("the table", &report.to_csv());
    let table = folder.path().join("table.csv");
    report.append_csv(&table).unwrap();
    check("the file of the table", &std::fs::read_to_string(&table).unwrap());
    for result in report.adk_results("app", SystemTime::UNIX_EPOCH) {
        check("the export for ADK", &result.to_json());
        check("the value for ADK", &result.to_value().to_string());
        check("the serialised value for ADK", &serde_json::to_string(&result).unwrap());
    }
    for file in report.save_adk_results(folder.path(), "app").unwrap() {
        check("the file for ADK", &std::fs::read_to_string(file).unwrap());
    }
}
