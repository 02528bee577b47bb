//! A newcomer's walk, from an empty folder to a metric and a test body of their own.

use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::WORKSPACE;
use crate::project::Project;
use crate::reported;
use crate::run::Run;

/// A folder that was empty when the walk began. It is outside of this workspace, as a newcomer's is.
pub(crate) struct Walk {
    project: Project,
    runs: PathBuf,
}

/// A folder outside of this workspace. Its place is the same each time.
pub(crate) fn place(name: &str) -> PathBuf {
    let place = format!("evalset-{:016x}", eval_support::hash::content_hash(WORKSPACE.as_bytes()));
    env::temp_dir().join(place).join(name)
}

impl Walk {
    /// Begins a walk in a folder of this name. Its place is the same each time, so that cargo builds over what it built
    /// there before.
    pub(crate) fn begin(name: &str, folder: &str) -> Self {
        let place = place(name);
        drop(fs::remove_dir_all(&place));
        let folder = place.join(folder);
        fs::create_dir_all(&folder).expect("there is a place for temporary files");
        Self { project: Project::in_folder(folder), runs: place.join("runs") }
    }

    /// Runs a command of `cargo evalset`.
    pub(crate) fn evalset(&self, args: &[&str]) -> Run {
        reported::evalset(&self.project, &self.runs, args)
    }

    /// Runs cargo, with the versions of this workspace.
    pub(crate) fn cargo(&self, args: &[&str]) -> Run {
        let lock = self.project.folder().join("Cargo.lock");
        if !lock.exists() {
            fs::copy(Path::new(WORKSPACE).join("Cargo.lock"), lock).expect("files can be copied");
        }
        Run::of(self.project.command().args(args).env("EVALSET_DIR", &self.runs))
    }

    pub(crate) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.project.folder().join(file)).expect("the file is there")
    }

    /// Copies a file of this workspace.
    pub(crate) fn copy(&self, from: &str, to: &str) {
        fs::copy(Path::new(WORKSPACE).join(from), self.project.folder().join(to))
            .expect("files can be copied");
    }

    /// Adds to the end of a file.
    pub(crate) fn append(&self, file: &str, text: &str) {
        self.project.write(file, &(self.read(file) + text));
    }

    /// Replaces a text that occurs once in a file.
    #[track_caller]
    fn edit(&self, file: &str, from: &str, to: &str) {
        let text = self.read(file);
        assert_eq!(text.matches(from).count(), 1, "`{from}` in {text}");
        self.project.write(file, &text.replace(from, to));
    }
}

const SET: &str = "evals/weather.evalset.json";
const TESTS: &str = "tests/weather.rs";
const TEST: [&str; 3] = ["test", "--test", "weather"];
const BOTH: [(&str, &str); 2] =
    [("weather_cases::rainy_in_Oslo", "ok"), ("weather_cases::sunny_in_Paris", "ok")];

#[test]
fn a_newcomer_walks_from_an_empty_folder_to_a_test_body() {
    let walk = Walk::begin("first_steps", "my-agent");
    let new = walk.evalset(&["new"]).passes().says("made the package `my-agent`");
    walk.cargo(&TEST).passes().never_says("warning").ran(&BOTH);

    // The failure that `new` tells how to make.
    let (line, from, to) = told(&new);
    let text = walk.read(SET);
    let edited = text.lines().nth(line - 1).expect("the line is there");
    walk.edit(SET, edited, &edited.replace(&from, &to));
    let failed = walk.cargo(&TEST).fails();
    assert_eq!(failed.tests()["weather_cases::sunny_in_Paris"], "ok");
    let failure = failed.failure("weather_cases::rainy_in_Oslo");
    for says in [
        "weather_cases::rainy_in_Oslo: tool_trajectory_avg_score is 0.0, below 1.0",
        "evals/weather.evalset.json:14:5  case `rainy in Oslo` of set `weather`",
        "turn 1 of 1: \"What is the weather in Oslo?\"",
        "~ expected get_weather(city: \"Bergen\")",
        "actual   get_weather(city: \"Oslo\")  (`city` differs)",
        "run again     cargo test -p my-agent --test weather weather_cases::rainy_in_Oslo -- --exact",
        "whole record  cargo evalset report",
    ] {
        assert!(failure.contains(says), "this should say `{says}`:\n{failure}");
    }

    let report = walk.evalset(&["report"]).fails();
    report
        .says("FAIL")
        .says("2 cases: 1 passed, 1 failed")
        .says("weather_cases::rainy_in_Oslo")
        .says("tool_trajectory_avg_score is 0.0, below 1.0");

    // A difference that the default criteria do not see, and a config that sees it.
    walk.edit(SET, "\"city\": \"Bergen\"", "\"city\": \"Oslo\"");
    walk.edit(SET, "It is sunny in Paris.", "Is it Paris in sunny?");
    walk.cargo(&TEST).passes().ran(&BOTH);
    let criteria = "\"tool_trajectory_avg_score\": 1.0,
      \"response_similarity\": { \"threshold\": 0.9, \"algorithm\": \"rouge_l\" }";
    walk.project.write("evals/test_config.json", &format!("{{ \"criteria\": {{ {criteria} }} }}"));
    // Cargo does not see that a file is new. The tests do, and say what to do.
    let stale = walk.cargo(&TEST).fails();
    let stale = stale.failure("weather_cases::sunny_in_Paris");
    assert!(stale.contains("build again  touch evals/weather.evalset.json && cargo test"), "{stale}");
    walk.project.touch(SET);
    let failed = walk.cargo(&TEST).fails();
    let failure = failed.failure("weather_cases::sunny_in_Paris");
    assert!(failure.contains("response_similarity is 0."), "{failure}");
    walk.edit(SET, "Is it Paris in sunny?", "It is sunny in Paris.");
    walk.cargo(&TEST).passes().ran(&BOTH);

    // A metric of their own: without its criterion, without its function, and with both.
    walk.edit(TESTS, "weather.evalset.json\")]", "weather.evalset.json\", metrics(brevity))]");
    walk.cargo(&TEST).fails().says("brevity");
    walk.append(TESTS, BREVITY);
    let brevity = format!("{criteria}, \"brevity\": {{ \"threshold\": 1.0, \"max_words\": 4 }}");
    walk.project.write("evals/test_config.json", &format!("{{ \"criteria\": {{ {brevity} }} }}"));
    let failed = walk.cargo(&TEST).fails();
    let failure = failed.failure("weather_cases::sunny_in_Paris");
    assert!(failure.contains("brevity is 0.0, below 1.0") && failure.contains("5 of 4 words"), "{failure}");
    walk.edit("evals/test_config.json", "\"max_words\": 4", "\"max_words\": 5");
    walk.cargo(&TEST).passes().ran(&BOTH);

    // A test body of their own.
    walk.append(TESTS, BODY);
    walk.cargo(&TEST).passes().never_says("warning").ran(&[
        BOTH[0],
        BOTH[1],
        ("calls_one_tool::rainy_in_Oslo", "ok"),
        ("calls_one_tool::sunny_in_Paris", "ok"),
    ]);
    walk.evalset(&["report"]).passes().says("4 cases: 4 passed");
}

const BREVITY: &str = "
fn brevity(
    actual: &eval_core::Invocation,
    _expected: Option<&eval_core::Invocation>,
    criterion: &eval_core::Criterion,
) -> eval_core::Score {
    let words = actual.response_text().split_whitespace().count() as f64;
    match criterion.get(\"max_words\").and_then(|max| max.as_f64()) {
        Some(max) => eval_core::Score::from(words <= max).note(format!(\"{words} of {max} words\")),
        None => eval_core::Score::not_evaluated(\"the criterion has no `max_words`\"),
    }
}
";

const BODY: &str = "
#[eval_set(\"evals/weather.evalset.json\", metrics(brevity))]
async fn calls_one_tool(run: eval_core::EvalRun) -> Result<(), BoxError> {
    let report = run.evaluate(agent_fn(answer)).await;
    let calls = report.metric(\"tool_call_count_v1\").and_then(|metric| metric.score);
    if calls == Some(1.0) { Ok(()) } else { Err(format!(\"expected one call, saw {calls:?}\").into()) }
}
";

/// The edit that `new` names: the line, and what to change in it.
fn told(new: &Run) -> (usize, String, String) {
    let told = new.stdout().split_once("change `").map(|(_, rest)| rest);
    let told = told.unwrap_or_else(|| panic!("no edit is named:\n{new}"));
    let quoted: Vec<&str> = told.split('`').collect();
    let line = told.split_once("in line ").and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
    assert_eq!(quoted[4], SET, "{new}");
    (line.expect("a line is named"), quoted[0].to_owned(), quoted[2].to_owned())
}

#[test]
fn each_light_template_passes_beside_the_others() {
    let walk = Walk::begin("templates", "templates");
    walk.evalset(&["new", "first"]).passes();
    walk.evalset(&["new", "second-set", "--agent", "struct"]).passes().says("left `eval-core`");
    walk.cargo(&["test", "--tests"]).passes().never_says("warning").ran(&[
        ("tests::it_works", "ok"),
        ("first_cases::rainy_in_Oslo", "ok"),
        ("first_cases::sunny_in_Paris", "ok"),
        ("second_set_cases::rainy_in_Oslo", "ok"),
        ("second_set_cases::sunny_in_Paris", "ok"),
    ]);
    walk.evalset(&["new", "first", "--agent", "struct"]).fails().says("exists already");
}
