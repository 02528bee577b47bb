//! Examples in the README and the pages of `docs/`: files are read, and outputs are printed, as shown.

use std::fs;
use std::path::Path;
use std::process::Command;

use eval_core::agent::Event;
use eval_core::format::config::check_config;
use eval_core::format::problem::render;
use eval_core::format::reader::check_set;
use eval_core::format::recording::check_recording;
use eval_core::format::{Content, FunctionCall, Part, Value};
use eval_core::{Agent, Criterion, EvalCase, EvalRunner, Invocation, Replay, eval_set, json};

const SET: &str = "samples/weather/weather.evalset.json";

/// The weather agent after a change that broke it: it no longer knows what `tomorrow` means.
#[eval_set("samples/weather/weather.evalset.json", cases = "umbrella*")]
#[should_panic(expected = "weather::umbrella_for_tomorrow: tool_trajectory_avg_score is 0.5, below 1.0")]
fn weather() -> impl Agent {
    let call = || {
        let call = FunctionCall::new("get_weather", json!({ "city": "Oslo", "unit": "celsius" }));
        Event::new("agent", Content::new("model", vec![Part::call(call)]))
    };
    let answer = || Event::from("It is cloudy in Oslo today, 9 degrees celsius.");
    let state = Event::empty("agent").with_state("last_city", "Oslo");
    Replay::new([vec![call(), state, answer()], vec![call(), answer()]])
}

#[test]
fn the_failing_case_is_what_a_failing_case_prints() {
    let test = "weather::umbrella_for_tomorrow";
    let output = Command::new(std::env::current_exe().expect("this is a program"))
        .args([test, "--exact", "--nocapture"])
        .env_remove("NEXTEST")
        .env_remove("EVALSET_PRINT")
        .env("EVALSET_DIR", concat!(env!("CARGO_TARGET_TMPDIR"), "/readme"))
        .env("EVALSET_RUN_ID", "2026-11-22T02-31-07-1a2b3c4d")
        .output()
        .expect("a test can run itself");
    let printed = String::from_utf8(output.stderr).expect("reports are text");
    let printed = printed.split_once("Error: ").map_or("", |(_, report)| report);
    // The README shows the test of this name among the samples.
    let printed = printed.replace("--test readme ", "--test samples ");
    // These tell how long the machine takes, and where it keeps its files.
    let changes = |line: &str| line.contains("for information") || line.contains(".jsonl");
    assert_shown(printed.lines().filter(|line| !changes(line)));
}

#[tokio::test]
async fn words_in_another_order_pass_at_the_default_criteria() {
    let readme = read("README.md").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(readme.contains("**in any order**: `hi! said you not` passes for `you said hi`"));
    let said = |answer: &str| Replay::new([[answer]]);
    let case = EvalCase::new("echo").turn(Invocation::user("What did I say?").response("you said hi"));
    let runner = EvalRunner::new();
    let report = |answer: &'static str| runner.run_case(&case, move || said(answer));
    assert!(report("hi! said you not").await.expect("it runs").verdict.passed());
    assert!(!report("I do not know").await.expect("it runs").verdict.passed());
    let order = Criterion::new(0.8).with("algorithm", "rouge_l");
    let runner = EvalRunner::new().criterion("response_similarity", order);
    let report = runner.run_case(&case, || said("hi! said you not")).await.expect("it runs");
    assert!(!report.verdict.passed(), "{report}");
}

#[test]
fn the_shown_case_is_the_first_one_that_new_writes() {
    let shown = format!(r#"{{"eval_set_id": "weather", "eval_cases": [{}]}}"#, first_json("README.md"));
    let checked = check_set("README.md", shown.as_bytes(), None);
    assert!(checked.problems.is_empty(), "{:?}", checked.problems);
    let [shown, written] = [shown, read("eval-cli/templates/weather.evalset.json")]
        .map(|text| Value::parse(&text).expect("it is JSON")["eval_cases"][0].clone());
    assert_eq!(shown, written);
}

#[test]
fn the_files_that_the_pages_show_have_no_problems() {
    for page in ["docs/configuration.md", "docs/from-agentevals.md"] {
        let checked = check_config(page, first_json(page).as_bytes(), &[]);
        assert!(checked.problems.is_empty(), "{page}: {:?}", checked.problems);
    }
    // The doc test of the page reads the set from this file.
    assert_eq!(first_json("docs/goldens.md"), read("eval-core/questions/first.evalset.json"));
    let recording = first_json("docs/judges.md");
    let checked = check_recording("docs/judges.md", recording.as_bytes());
    assert!(checked.problems.is_empty(), "{:?}", checked.problems);
    let scenario = first_json("docs/scenarios.md");
    let set = format!(r#"{{"eval_set_id": "hotel", "eval_cases": [{scenario}]}}"#);
    let checked = check_set("docs/scenarios.md", set.as_bytes(), None);
    assert!(checked.problems.is_empty(), "{:?}", checked.problems);
}

#[test]
fn the_broken_set_is_what_the_compiler_prints() {
    let text = read(SET)
        .replace("\"final_session_state\": { \"last_city\"", "\"final_session_sate\": { \"last_city\"");
    let checked = check_set(SET, text.as_bytes(), None);
    assert_eq!(checked.problems.len(), 1);
    assert_shown(render(&checked.problems[0], SET, &text).lines());
}

/// Holds that the README has these lines, one after the other, however they are indented.
fn assert_shown<'a>(lines: impl Iterator<Item = &'a str>) {
    let readme = read("README.md");
    let mut shown = readme.lines().map(str::trim);
    let lines: Vec<&str> = lines.map(str::trim).filter(|line| !line.is_empty()).collect();
    assert!(!lines.is_empty(), "nothing was printed");
    for line in &lines {
        assert!(shown.any(|it| it.ends_with(line)), "the README lacks `{line}` of\n{}", lines.join("\n"));
    }
}

/// The first block of JSON in a file.
fn first_json(file: &str) -> String {
    let text = read(file);
    let shown = text.split_once("```json\n").and_then(|(_, rest)| rest.split_once("```"));
    shown.unwrap_or_else(|| panic!("{file} shows no JSON")).0.to_owned()
}

fn read(file: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).expect("the sources are here")
}
