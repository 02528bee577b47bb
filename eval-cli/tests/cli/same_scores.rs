//! One set and one agent, in this process, in other languages and behind a server: the scores are the same.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::future::pending;
use std::process::Command;

use eval_agents::{AdkServer, Process};
use eval_core::{BoxAgent, BoxError, EvalCase, EvalReport, EvalRunner, Recorder, agent_fn, json};
use serde_json::Value;

use crate::folder::Folder;
use crate::run::agents;

/// Verdicts and scores of the metrics that can fail a case, by case.
type Scores = BTreeMap<String, Vec<(String, String, Option<f64>)>>;

const FILES: [&str; 5] =
    ["weather.evalset.json", "weather.py", "weather.sh", "weather/__init__.py", "weather/agent.py"];

fn folder(test: &str) -> Folder {
    let folder = Folder::new(test);
    for file in FILES {
        folder.write(file, fs::read(agents().join(file)).expect("a file of the tests"));
    }
    folder
}

fn of_report(report: &EvalReport) -> Scores {
    let of_case = report.cases.iter().map(|case| {
        let deciding = case.metrics.iter().filter(|metric| metric.threshold().is_some());
        let scores = deciding.map(|metric| (metric.name.clone(), metric.verdict.to_string(), metric.score));
        (case.eval_id().to_owned(), scores.collect())
    });
    of_case.collect()
}

fn in_process(folder: &Folder, setup: impl Fn() -> BoxAgent + Sync) -> Scores {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let runner = EvalRunner::new();
    let plan = || runner.select(&[folder.path("weather.evalset.json")]).expect("a set");
    of_report(
        &runtime.block_on(async { runner.run_plan(&plan(), |_: &EvalCase| setup(), 2, pending()).await }),
    )
}

fn closure() -> BoxAgent {
    use eval_core::Agent as _;

    let weather = |text: String, recorder: Recorder| async move {
        let city = text.split("weather in ").nth(1).unwrap_or_default();
        let city = city.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default().to_owned();
        recorder.tool_call("get_weather", json!({ "city": city }), json!({ "sky": "sunny" }));
        recorder.state("last_city", city.as_str());
        Ok::<_, BoxError>(format!("It is sunny in {city}."))
    };
    agent_fn(weather).boxed()
}

fn program(folder: &Folder, words: [&str; 2]) -> Scores {
    use eval_core::Agent as _;

    let mut command = Command::new(words[0]);
    command.arg(folder.path(words[1]));
    in_process(folder, || Process::new(&command).boxed())
}

fn server(folder: &Folder, python: &str) -> Scores {
    use eval_core::Agent as _;

    let mut command = Command::new(python);
    command.args(["-c", "from google.adk.cli import main; main()", "api_server", "--no_use_local_storage"]);
    command.arg(folder.path("agents"));
    in_process(folder, || AdkServer::spawn(&command, "weather").boxed())
}

fn command_line(folder: &Folder, args: &[&str]) -> Scores {
    let ran = folder.run(&[&["run", "weather", "--format", "json"], args].concat());
    assert_eq!(ran.code, Some(0), "{args:?}: {}{}", ran.out, ran.err);
    let json: Value = serde_json::from_str(&ran.out).expect("JSON");
    let cases = json["cases"].as_array().expect("cases").iter().map(|case| {
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let metrics = case["metrics"].as_array().expect("metrics");
        let deciding = metrics.iter().filter(|metric| !metric["threshold"].is_null());
        let scores =
            deciding.map(|metric| (text(&metric["name"]), text(&metric["state"]), metric["score"].as_f64()));
        (text(&case["eval_id"]), scores.collect())
    });
    cases.collect()
}

#[test]
fn a_set_scores_alike_whatever_language_its_agent_is_in() {
    let folder = folder("same-scores");
    let expected = in_process(&folder, closure);
    let second = &expected["two cities"];
    assert!(second.iter().all(|(_, verdict, _)| verdict == "passed") && second.len() == 3, "{second:?}");
    assert!(second.iter().any(|(_, _, score)| score.is_some_and(|score| score < 1.0)), "{second:?}");
    assert_eq!(program(&folder, ["python3", "weather.py"]), expected);
    assert_eq!(program(&folder, ["sh", "weather.sh"]), expected);
    assert_eq!(command_line(&folder, &["--agent-cmd", "python3 weather.py"]), expected);
    assert_eq!(command_line(&folder, &["--agent-cmd", "sh weather.sh"]), expected);
}

/// All ways to the agent in one test, a real server of ADK among them. `EVALSET_ADK_PYTHON` names a Python that has google-adk.
#[test]
fn google_adk_serves_an_agent_with_the_same_scores_and_lists_its_results() {
    let Some(python) = env::var_os("EVALSET_ADK_PYTHON") else { return };
    let folder = folder("same-scores-adk");
    folder.write("agents/weather/__init__.py", folder.read("weather/__init__.py"));
    folder.write("agents/weather/agent.py", folder.read("weather/agent.py"));
    let python = python.to_str().expect("a plain path");
    let adk = format!(
        "{python} -c 'from google.adk.cli import main; main()' api_server --no_use_local_storage agents"
    );
    let args = ["--adk-cmd", &adk, "--app", "weather", "--adk-results", "agents"];
    let expected = in_process(&folder, closure);
    assert_eq!(command_line(&folder, &args), expected);
    assert_eq!(server(&folder, python), expected);
    assert_eq!(program(&folder, ["python3", "weather.py"]), expected);
    assert_eq!(program(&folder, ["sh", "weather.sh"]), expected);
    assert_eq!(command_line(&folder, &["--agent-cmd", "python3 weather.py"]), expected);

    let list = "import sys; from google.adk.evaluation.local_eval_set_results_manager import LocalEvalSetResultsManager as M\n\
                results = M(agents_dir='agents')\n\
                for id in results.list_eval_set_results('weather'):\n    \
                    result = results.get_eval_set_result('weather', id)\n    \
                    print(result.eval_set_id, [(c.eval_id, c.final_eval_status.name) for c in result.eval_case_results])";
    let listed =
        Command::new(python).args(["-c", list]).current_dir(folder.path("")).output().expect("Python runs");
    let (out, err) = (String::from_utf8_lossy(&listed.stdout), String::from_utf8_lossy(&listed.stderr));
    assert_eq!(out.trim(), "weather [('sunny in Paris', 'PASSED'), ('two cities', 'PASSED')]", "{err}");
}
