//! The life of goldens with google-adk: recorded and imported, accepted, green, and red where the agent broke.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::folder::Folder;
use crate::run::agents;

const SET: &str = "weather.evalset.json";

const PROMPTS: &str = "What is the weather in Paris?\nAnd the weather in Oslo?\n\nWhat is the weather in Lima?\n\n\
    And what is the weather in Quito, please?\n";

const IDS: [&str; 5] = [
    "what_is_the_weather_in_paris",
    "what_is_the_weather_in_lima",
    "and_what_is_the_weather_in",
    "what_is_the_weather_in_rome",
    "what_is_the_weather_in_cairo",
];

/// A script beside the tests.
fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens").join(name)
}

/// Runs a script with the Python that has google-adk, and returns the last line that it prints.
fn python(python: &str, folder: &Folder, name: &str, args: &[&str]) -> String {
    let mut command = Command::new(python);
    command.arg(script(name)).args(args).current_dir(folder.path("")).env("PYTHONDONTWRITEBYTECODE", "1");
    let output = command.output().expect("Python runs");
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().last().unwrap_or_default().to_owned()
}

/// Whether each case passed here, and by google-adk's own evaluation.
fn verdicts(adk_python: &str, folder: &Folder, adk: &str) -> [BTreeMap<String, bool>; 2] {
    let ran = folder.run(&["run", SET, "--adk-cmd", adk, "--app", "weather", "--format", "json"]);
    let json: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}{}", ran.out, ran.err));
    let cases = json["cases"].as_array().expect("cases").iter();
    let here = cases.map(|case| {
        let state = case["state"].as_str().expect("a state");
        assert!(["passed", "failed"].contains(&state), "{case}");
        (case["eval_id"].as_str().expect("an id").to_owned(), state == "passed")
    });
    let said = python(adk_python, folder, "evaluate.py", &["agents", "weather", SET]);
    let said: BTreeMap<String, String> = serde_json::from_str(&said).unwrap_or_else(|_| panic!("{said}"));
    let there = said.into_iter().map(|(id, verdict)| (id, verdict == "PASSED"));
    [here.collect(), there.collect()]
}

/// `EVALSET_ADK_PYTHON` names a Python that has google-adk.
#[test]
fn google_adk_agrees_with_goldens_that_were_recorded_and_imported_and_with_what_broke() {
    let Some(adk_python) = env::var_os("EVALSET_ADK_PYTHON") else { return };
    if !cfg!(feature = "sqlite") {
        return;
    }
    let adk_python = adk_python.to_str().expect("a plain path");
    let folder = Folder::new("goldens");
    for file in ["weather/__init__.py", "weather/agent.py"] {
        folder.write(&format!("agents/{file}"), fs::read(agents().join(file)).expect("the agent"));
    }
    let adk = format!(
        "{adk_python} -c 'from google.adk.cli import main; main()' api_server --no_use_local_storage agents"
    );

    folder.write("prompts.txt", PROMPTS);
    let recorded = folder.run(&["record", "prompts.txt", "--adk-cmd", &adk, "--app", "weather", "-o", SET]);
    assert_eq!(recorded.code, Some(0), "{}{}", recorded.out, recorded.err);
    let happened = ["agents", "weather", "What is the weather in Rome?", "What is the weather in Cairo?"];
    python(adk_python, &folder, "happened.py", &happened);
    let imported = folder.run(&["import", "trace.json", "sessions.db", "-o", SET]);
    assert_eq!(imported.code, Some(0), "{}{}", imported.out, imported.err);
    let refused = folder.run(&["run", SET, "--adk-cmd", &adk, "--app", "weather"]);
    assert_eq!(refused.code, Some(2), "drafts do not run: {}{}", refused.out, refused.err);
    let accepted = folder.run(&["accept", &format!("{SET}:{}", IDS.join(","))]);
    assert_eq!(accepted.code, Some(0), "{}{}", accepted.out, accepted.err);

    let all = |passed: &dyn Fn(&str) -> bool| -> BTreeMap<String, bool> {
        IDS.into_iter().map(|id| (id.to_owned(), passed(id))).collect()
    };
    let green = verdicts(adk_python, &folder, &adk);
    assert_eq!(green, [all(&|_| true), all(&|_| true)]);

    // The agent looks up another city than it was asked for, for two of the seven cities.
    let agent = folder.read("agents/weather/agent.py");
    let broken = agent.replace(
        "args={\"city\": city}",
        "args={\"city\": {\"Oslo\": \"Bergen\", \"Rome\": \"Milan\"}.get(city, city)}",
    );
    assert_ne!(agent, broken);
    folder.write("agents/weather/agent.py", broken);
    let is_right = |id: &str| id != "what_is_the_weather_in_paris" && id != "what_is_the_weather_in_rome";
    let red = verdicts(adk_python, &folder, &adk);
    assert_eq!(red, [all(&is_right), all(&is_right)], "the second turn of the first case asks for Oslo");
}
