//! The real `adk api_server`: what arrives is what google-adk's own evaluation records of the same agent.
//!
//! `EVALSET_ADK_PYTHON` names a Python that has google-adk; without it these tests say that they are skipped.

mod golden_tools;

use std::path::{Path, PathBuf};
use std::process::Command;

use eval_agents::AdkServer;
use eval_core::format::{Content, EvalCase, EvalSet, Invocation, InvocationEvent, Value};
use eval_core::testing::Conversation;
use eval_core::{Criterion, EvalRunner, Session};

fn python() -> Option<PathBuf> {
    let python = std::env::var_os("EVALSET_ADK_PYTHON").map(PathBuf::from);
    if python.is_none() {
        eprintln!("skipped: EVALSET_ADK_PYTHON names no Python that has google-adk");
    }
    python
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// An app of the agents beside this file, behind a server that all tests here share.
fn server(python: &Path, app: &str) -> AdkServer {
    AdkServer::spawn(command(python), app)
}

fn command(python: &Path) -> Command {
    let mut command = Command::new(python);
    // `adk` itself may be on no path.
    command.args(["-c", "from google.adk.cli import main; main()", "api_server"]);
    // Files of a run must not change the next one.
    command.arg("--no_use_local_storage").arg(file("adk/agents")).env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

fn set(name: &str) -> EvalSet {
    EvalSet::read(file(name)).unwrap()
}

fn weather() -> EvalSet {
    set("../evals/weather.evalset.json")
}

/// The session of a case, as runs have it.
fn session(case: &EvalCase) -> Session {
    let mut session =
        Session::new("EvaluationGenerator", "test_user_id").with_session_id(case.eval_id.replace(' ', "-"));
    if let Some(input) = &case.session_input {
        session.state = input.state.clone();
        session.user_id.clone_from(&input.user_id);
    }
    session
}

async fn play(agent: AdkServer, case: &EvalCase) -> Result<Vec<Invocation>, String> {
    let mut talk = Conversation::new(agent).with_session(session(case));
    let mut turns = Vec::new();
    for expected in &case.conversation {
        turns.push(
            talk.send(expected.user_content.clone())
                .await
                .map_err(|error| error.to_string())?
                .invocation
                .clone(),
        );
    }
    talk.finish().await.map_err(|error| error.to_string())?;
    Ok(turns)
}

/// The records of google-adk's own evaluation, by case: the turns, or its error.
fn recorded_by_adk(python: &Path, app: &str, path: &str) -> Vec<Result<Vec<Invocation>, String>> {
    let output = Command::new(python)
        .arg(file("adk/oracle.py"))
        .args([file("adk/agents"), app.into(), file(path)])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let cases = Value::parse(String::from_utf8(output.stdout).unwrap().trim()).unwrap();
    let of_case = |case: &Value| match case["_error"].as_str() {
        Some(error) => Err(error.to_owned()),
        None => {
            let text = format!(r#"{{"eval_set_id": "s", "eval_cases": [{case}]}}"#);
            Ok(EvalSet::parse(&text).unwrap().eval_cases.remove(0).conversation)
        }
    };
    cases.as_array().unwrap().iter().map(of_case).collect()
}

/// The parts of a turn that metrics and judges see. The server makes the ids of calls: only their pairs are kept.
fn seen(turn: &Invocation) -> (Content, Option<Content>, Vec<InvocationEvent>) {
    let mut ids: Vec<String> = Vec::new();
    let mut number = |id: &mut Option<String>| {
        if let Some(id) = id {
            let at = ids.iter().position(|known| known == id).unwrap_or_else(|| {
                ids.push(id.clone());
                ids.len() - 1
            });
            *id = format!("id {at}");
        }
    };
    let mut without_ids = |content: &Content| {
        let mut content = content.clone();
        for part in content.parts.iter_mut().flatten() {
            if let Some(call) = &mut part.function_call {
                number(&mut call.id);
            }
            if let Some(response) = &mut part.function_response {
                number(&mut response.id);
            }
        }
        content
    };
    let events = turn.events().iter().map(|event| {
        let mut event = event.clone();
        event.content = event.content.as_ref().map(&mut without_ids);
        event
    });
    let events = events.collect();
    (turn.user_content.clone(), turn.final_response.as_ref().map(without_ids), events)
}

#[tokio::test]
async fn the_invocations_are_those_of_google_adks_own_evaluation() {
    let Some(python) = python() else { return };
    let set = set("sets/desk.evalset.json");
    let expected = recorded_by_adk(&python, "desk", "sets/desk.evalset.json");
    assert_eq!(expected.len(), set.eval_cases.len());
    let mut failed = 0;
    for (case, expected) in set.eval_cases.iter().zip(expected) {
        let id = &case.eval_id;
        let here = play(server(&python, "desk"), case).await;
        match (expected, here) {
            (Ok(expected), Ok(here)) => {
                let expected: Vec<_> = expected.iter().map(seen).collect();
                assert_eq!(here.iter().map(seen).collect::<Vec<_>>(), expected, "{id}");
                assert!(!expected.is_empty(), "{id}");
            }
            (Err(expected), Err(here)) => {
                assert!(here.contains(&expected), "{id}: {here} lacks {expected}");
                failed += 1;
            }
            (expected, here) => panic!("{id}: {here:?} here, {expected:?} in google-adk"),
        }
    }
    assert_eq!(failed, 2, "a tool that fails, and a model that breaks");
}

#[tokio::test]
async fn fragments_of_a_streamed_answer_are_not_scored() {
    let Some(python) = python() else { return };
    let mut talk =
        Conversation::new(server(&python, "desk").streaming(true)).with_session(Session::new("a", "u"));
    let turn = talk.say("long").await.unwrap();
    assert_eq!(turn.events.iter().filter(|event| event.partial).count(), 3);
    assert_eq!(turn.invocation.response_text(), "one two three");
    assert_eq!(turn.invocation.events().len(), 1);
    talk.finish().await.unwrap();
}

#[tokio::test]
async fn an_error_code_of_the_model_is_an_error_with_its_words() {
    let Some(python) = python() else { return };
    let mut talk = Conversation::new(server(&python, "desk")).with_session(Session::new("a", "u"));
    let error = talk.say("refuse").await.unwrap_err().to_string();
    assert_eq!(error, "agent error in turn 1: `desk` reported model error SAFETY: blocked");
}

#[tokio::test]
async fn the_state_is_read_back_and_the_app_is_the_one_that_was_given() {
    let Some(python) = python() else { return };
    let runner = EvalRunner::new().criterion("tool_trajectory_avg_score", Criterion::new(1.0));
    let report = runner.run_set(&weather(), || server(&python, "weather"), 2).await.unwrap();
    assert!(report.all_passed(), "{report}");

    let unknown = server(&python, "wether").ready().await.unwrap_err().to_string();
    assert_eq!(unknown, "the server has no app `wether`: it has `desk`, `weather`");
    let error = play(server(&python, "wether"), &weather().eval_cases[0]).await.unwrap_err();
    assert!(error.contains("the server has no app `wether`: it has `desk`, `weather`"), "{error}");
}

#[tokio::test]
async fn state_that_the_server_kept_for_a_user_is_an_error_of_the_next_conversation() {
    let Some(python) = python() else { return };
    // Its server is its own: state of the app would be an error of every other test.
    let own = || AdkServer::spawn(command(&python).env("SERVER_OF", "kept state"), "desk");
    let anna = || Session::new("a", "anna");
    let play = async |session| {
        let mut talk = Conversation::new(own()).with_session(session);
        talk.say("long").await.map_err(|error| error.to_string())?;
        talk.finish().await.map_err(|error| error.to_string())
    };
    play(anna().with_state("user:likes", "tea").with_state("app:visits", 1)).await.unwrap();
    let error = play(anna()).await.unwrap_err();
    assert!(
        error.contains("which the case does not ask for: `app:visits`, `user:likes`. An earlier case"),
        "{error}"
    );
    // A case that names the keys begins with its own values, and one that names no user has none of another user.
    let named = play(anna().with_state("user:likes", "milk").with_state("app:visits", 2)).await.unwrap();
    assert_eq!(named.state["user:likes"].as_str(), Some("milk"));
    let nobody = Session::new("a", "test_user_id").with_state("app:visits", 3);
    assert_eq!(play(nobody).await.unwrap().state.get("user:likes"), None);
}

#[tokio::test]
async fn an_agent_that_cannot_be_imported_is_told_in_the_words_of_its_server() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("torn")).unwrap();
    std::fs::write(folder.path().join("torn/__init__.py"), "from . import agent\n").unwrap();
    std::fs::write(folder.path().join("torn/agent.py"), "import no_such_module\n").unwrap();
    let mut command = Command::new(&python);
    command.args(["-c", "from google.adk.cli import main; main()", "api_server", "--no_use_local_storage"]);
    let agent = AdkServer::spawn(command.arg(folder.path()).env("PYTHONDONTWRITEBYTECODE", "1"), "torn");
    let mut talk = Conversation::new(agent).with_session(Session::new("a", "u"));
    let error = talk.say("hi").await.unwrap_err().to_string();
    assert!(error.contains("answered 500") && error.contains("No module named 'no_such_module'"), "{error}");
}

#[tokio::test]
async fn judges_see_the_instructions_and_tools_of_the_app() {
    let Some(python) = python() else { return };
    let case = &weather().eval_cases[0];
    let turns = play(server(&python, "weather"), case).await.unwrap();
    let details = turns[0].app_details.as_ref().unwrap();
    let (name, agent) = &details.agent_details[0];
    assert_eq!(
        (name.as_str(), agent.instructions.as_str()),
        ("weather_agent", "Answer questions on the weather.")
    );
    let declared = &agent.tool_declarations[0]["function_declarations"][0];
    assert_eq!(declared["name"].as_str(), Some("get_weather"));
    assert_eq!(declared["parameters_json_schema"]["properties"]["city"]["type"].as_str(), Some("string"));
}
