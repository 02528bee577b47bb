use serde_json::json;

use crate::folder::{Folder, set};
use crate::journal::{Journal, passed};

const CONFIG: &str = r#"{"criteria": {"response_match_score": 0.5, "safety_v1": {"threshold": 0.5,
    "judge_model_options": {"judge_model": "openai/m", "num_samples": 3}}}}"#;

fn folder(test: &str) -> Folder {
    let folder = Folder::new(test);
    folder.write("evals/weather.evalset.json", set("")).write("evals/test_config.json", CONFIG);
    folder
}

#[test]
fn a_set_that_never_ran_is_planned_from_its_files() {
    let folder = folder("plan-files");
    let ran = folder.run(&["plan", "evals"]);
    assert_eq!(ran.code, Some(2), "nothing is recorded, and nobody may be asked: {}", ran.out);
    insta::assert_snapshot!(ran.shown());
}

#[test]
fn a_missing_key_is_found_before_anything_runs() {
    let folder = folder("plan-keys");
    let plan = |variables: &[(&str, &str)]| {
        let mut command = folder.command(&["plan", "evals"]);
        for name in ["OPENAI_API_KEY", "OPENAI_BASE_URL", "EVALSET_JUDGE_BASE_URL", "EVALSET_JUDGE_MODEL"] {
            command.env_remove(name);
        }
        let output = command.envs(variables.iter().copied()).output().expect("the program runs");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let live = ("EVALSET_JUDGE", "live");
    let (code, out) = plan(&[live]);
    assert_eq!(code, Some(2), "{out}");
    assert!(out.contains("no key for the judge `openai/m`: set `OPENAI_API_KEY`"), "{out}");
    let (code, out) = plan(&[live, ("OPENAI_API_KEY", "sk-secret-123")]);
    assert_eq!(code, Some(0), "{out}");
    assert!(!out.contains("sk-secret-123"), "{out}");
    let (code, out) = plan(&[live, ("EVALSET_JUDGE_MODEL", "llama")]);
    assert_eq!(code, Some(2), "{out}");
    assert!(out.contains("names no known provider"), "{out}");
    assert_eq!(plan(&[("EVALSET_JUDGE", "rec")]).0, Some(2));
}

#[test]
fn the_last_run_tells_how_often_and_for_how_much() {
    let folder = folder("plan-last");
    let mut journal = Journal::new(&folder, "r1");
    let test = journal.started("weather::sunny", 3);
    (1..=3).for_each(|run| journal.ran(test, run, 1.0));
    journal.decided(test, &passed(), Some(1.0), "");
    journal.write();
    let ran = folder.run(&["plan"]);
    assert_eq!(ran.code, Some(0), "the last run was scored without a judge: {}{}", ran.out, ran.err);
    assert!(ran.out.contains("evals/weather.evalset.json  1 case · 3 runs\n"), "{}", ran.out);
    assert!(
        ran.out.contains("agent about 3,702 tokens, judges about 3,000 tokens (by 3 runs"),
        "{}",
        ran.out
    );
    let json: serde_json::Value =
        serde_json::from_str(&folder.run(&["plan", "--format", "json"]).out).expect("it is JSON");
    assert_eq!(json["sets"][0]["agent_tokens"], json!(3702));
    assert_eq!(json["sets"][0]["in_last_run"], json!(true));
}

#[test]
fn what_cannot_be_planned_is_told() {
    let folder = folder("plan-wrong");
    folder.write("evals/broken.evalset.json", "{");
    let ran = folder.run(&["plan", "evals", "nowhere"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.out.contains("`cargo evalset check evals/broken.evalset.json` shows them"), "{}", ran.out);
    assert!(ran.out.contains("there is no file or folder `nowhere`"), "{}", ran.out);
    assert!(
        Folder::new("plan-none").run(&["plan"]).err.contains("there is no last run to take the sets from")
    );
}

#[test]
fn what_no_metric_reads_is_planned_as_not_compared() {
    let folder = Folder::new("plan-not-compared");
    let responses = r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": [{"user_content": {"parts": []},
        "intermediate_data": {"tool_uses": [{"name": "f", "args": {}}],
            "tool_responses": [{"name": "f", "response": {"result": 1}}]}}]}]}"#;
    folder.write("evals/f.evalset.json", responses);
    let ran = folder.run(&["plan", "evals"]);
    assert!(ran.out.contains("\n  not compared: 1 tool response\n"), "{}", ran.out);
    let json = folder.run(&["plan", "evals", "--format", "json"]);
    assert!(json.out.contains("\"tool_responses\": 1"), "{}", json.out);
    folder.write(
        "evals/test_config.json",
        r#"{"criteria": {"tool_response_match": 1, "trajectory_recall": 1}}"#,
    );
    let ran = folder.run(&["plan", "evals"]);
    assert!(!ran.out.contains("not compared"), "{}", ran.out);
}
