//! The real server of ADK for TypeScript, which differs from Python's in many points.
//!
//! `ADK_NODE` names a folder in which `npm install` ran with `tests/adk/typescript/package.json`; without it these tests
//! say that they are skipped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::support::file;
use eval_agents::AdkServer;
use eval_core::format::EvalSet;
use eval_core::testing::Conversation;
use eval_core::{Criterion, EvalRunner, Session};

fn modules() -> Option<PathBuf> {
    let folder = std::env::var_os("ADK_NODE").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: ADK_NODE names no folder with the packages of ADK for TypeScript");
    }
    folder
}

/// The weather agent, in a folder from which node finds its packages.
fn server(folder: &Path) -> AdkServer {
    let agent = folder.join("agents/weather");
    fs::create_dir_all(&agent).unwrap();
    fs::copy(file("tests/adk/typescript/agents/weather/agent.js"), agent.join("agent.js")).unwrap();
    let mut command = Command::new("node");
    command.arg("node_modules/.bin/adk");
    command.args(["api_server", "agents"]).current_dir(folder);
    AdkServer::spawn(command, "weather").ready_within(Duration::from_secs(90))
}

fn talk(folder: &Path) -> Conversation<AdkServer> {
    Conversation::new(server(folder)).with_session(Session::new("a", "u").with_state("unit", "C"))
}

#[tokio::test]
async fn the_set_of_the_other_languages_passes() {
    let Some(folder) = modules() else { return };
    let set = EvalSet::read(file("evals/weather.evalset.json")).unwrap();
    let runner = EvalRunner::new().criterion("tool_trajectory_avg_score", Criterion::new(1.0));
    let report = runner.run_set(&set, || server(&folder), 2).await.unwrap();
    assert!(report.all_passed(), "{report}");
}

#[tokio::test]
async fn models_that_break_and_error_codes_are_errors_with_their_words() {
    let Some(folder) = modules() else { return };
    for (words, told) in [
        ("break", "`weather_agent` reported model error UNKNOWN_ERROR: the script is broken"),
        ("refuse", "`weather_agent` reported model error SAFETY: blocked"),
    ] {
        let error = talk(&folder).say(words).await.unwrap_err().to_string();
        assert_eq!(error, format!("agent error in turn 1: {told}"));
    }
}

#[tokio::test]
async fn a_tool_that_fails_is_told_to_the_model_and_the_turn_goes_on() {
    let Some(folder) = modules() else { return };
    let mut talk = talk(&folder);
    let turn = talk.say("weather in Nowhere").await.unwrap();
    assert_eq!(turn.invocation.response_text(), "It failed: Error in tool 'get_weather': no such city");
    assert_eq!(turn.invocation.tool_calls().count(), 1);
    assert_eq!(turn.events[0].usage.as_ref().unwrap().total_token_count, Some(18));
    let state = talk.finish().await.unwrap().state;
    assert_eq!(state["unit"].as_str(), Some("C"));
}

#[tokio::test]
async fn an_app_that_is_not_there_is_told_with_those_that_are() {
    let Some(folder) = modules() else { return };
    server(&folder).ready().await.unwrap();
    let mut command = Command::new("node");
    command.arg("node_modules/.bin/adk");
    command.args(["api_server", "agents"]).current_dir(&folder);
    let error = AdkServer::spawn(command, "wether").ready().await.unwrap_err().to_string();
    assert!(error.starts_with("the server has no app `wether`: it has"), "{error}");
}
