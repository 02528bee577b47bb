//! Decisions about tests of the attribute: a gate whose suspects cargo runs again, the review that a failure names, and a comparison of
//! variants.

use std::fs;

use serde_json::{Value, json};

use crate::project::{Draft, Project, echo_set};
use crate::reported::{evalset, folder};

/// Answers each message with itself. Once there is a file `worse`, one message has another answer.
const TESTS: &str = r#"
use eval_core::{Agent, agent_fn, eval_set};

#[eval_set("evals/first.evalset.json", runs = 5)]
fn first() -> impl Agent {
    agent_fn(|text, _| async move {
        let is_worse = text == "two" && std::path::Path::new("worse").exists();
        let answer = if is_worse { "no".to_owned() } else { text };
        Ok::<_, eval_core::BoxError>(answer)
    })
}
"#;

fn project() -> Project {
    let cases = [("a_one", "one"), ("b_two", "two"), ("c_three", "three")];
    let draft = Draft::new("journaled").named("gated_suspects").file("tests/first.rs", TESTS);
    let draft = draft.file("evals/first.evalset.json", echo_set(&cases));
    draft.file("evals/second.evalset.json", echo_set(&[("only", "hi")])).shared()
}

#[test]
fn suspects_of_the_attribute_run_again_with_its_runs_as_long_as_these_are_allowed() {
    let (project, runs) = (project(), folder("gated"));
    drop(fs::remove_file(project.folder().join("worse")));
    let test = || {
        let mut command = project.command();
        command.args(["test", "--no-fail-fast"]).env("EVALSET_DIR", &runs);
        crate::run::Run::of(&mut command)
    };
    test().passes();
    evalset(&project, &runs, &["bless", "--allow-dirty"]).passes();
    project.write("worse", "");
    test().fails();
    let gate = |retry: &str, says: &str| -> Value {
        let run = evalset(&project, &runs, &["gate", retry, "--format", "json"]).fails();
        let run = run.says(says);
        let document: Value =
            serde_json::from_str(run.stdout()).unwrap_or_else(|error| panic!("{error}: {run}"));
        let case =
            document["cases"].as_array().and_then(|cases| cases.iter().find(|case| case["case"] == "b_two"));
        case.unwrap_or_else(|| panic!("{document}"))["now"].clone()
    };
    let ran = |runs: usize| json!({ "passed": 0, "with_verdict": runs, "errors": 0 });
    assert_eq!(gate("--retry-suspects=10", "round 1: 1 suspect again"), ran(10));
    // Another round would be ten runs in place of eight.
    let says = "is not run again: a round is its 5 runs, and it may have 3 further runs";
    assert_eq!(gate("--retry-suspects=8", says), ran(5));
}

#[test]
fn the_review_that_a_failing_test_names_makes_it_pass() {
    let set = echo_set(&[("a_one", "one"), ("b_two", "two")]).replacen("\"set\"", "\"numbers\"", 1);
    let draft = Draft::new("journaled").named("gated_reviewed").file("tests/first.rs", TESTS);
    let draft = draft.file("evals/first.evalset.json", set);
    let project = draft.file("evals/second.evalset.json", echo_set(&[("only", "hi")])).owned();
    let runs = folder("reviewed");
    project.write("worse", "");
    let test = || {
        let mut command = project.command();
        crate::run::Run::of(command.args(["test", "--test", "first"]).env("EVALSET_DIR", &runs))
    };
    let red = test().fails();
    let output = red.output();
    let named =
        output.lines().find_map(|line| line.trim_start().strip_prefix("review        cargo evalset "));
    let named = named.unwrap_or_else(|| panic!("no review is named:\n{red}"));
    assert!(named.starts_with("review evals/first.evalset.json:b_two --run "), "{named}");
    let review = |args: &[&str]| {
        let words: Vec<&str> = named.split(' ').chain(args.iter().copied()).collect();
        evalset(&project, &runs, &words).passes()
    };
    let list = review(&["--list", "--format", "json"]);
    let document: Value =
        serde_json::from_str(list.stdout()).unwrap_or_else(|error| panic!("{error}: {list}"));
    assert_eq!(document["items"].as_array().map(Vec::len), Some(1), "{document}");
    let choice = &document["items"][0]["accept"][0];
    let name = ["id", "hash"].map(|key| choice[key].as_str().unwrap_or_else(|| panic!("{document}")));
    review(&["--accept", &name.join("@")]).says("accepted");
    test().passes().ran(&[("first::a_one", "ok"), ("first::b_two", "ok")]);
}

/// One of its variants has a wrong answer to one message.
const VARIANTS: &str = r#"
use eval_core::{Agent, BoxError, agent_fn, eval_set};

#[eval_set("evals/first.evalset.json", runs = 6, matrix(model = ["flash", "flash_lite"]))]
fn first(variant: &first::Variant) -> impl Agent {
    let is_lite = variant.model == "flash_lite";
    agent_fn(move |text, _| async move {
        Ok::<_, BoxError>(if is_lite && text == "two" { "no".to_owned() } else { text })
    })
}
"#;

#[test]
fn variants_are_modules_that_a_filter_tells_apart_and_compare_has_them_side_by_side() {
    let draft = Draft::new("journaled").named("gated_variants").file("tests/first.rs", VARIANTS);
    let draft = draft.file("evals/first.evalset.json", echo_set(&[("a_one", "one"), ("b_two", "two")]));
    let project = draft.file("evals/second.evalset.json", echo_set(&[("only", "hi")])).shared();
    let runs = folder("variants");
    let test = |args: &[&str]| {
        let mut command = project.command();
        crate::run::Run::of(command.args(["test", "--test", "first"]).args(args).env("EVALSET_DIR", &runs))
    };
    let list = test(&["--", "--list"]).passes();
    let names: Vec<&str> = list.stdout().lines().filter_map(|line| line.strip_suffix(": test")).collect();
    let flash = ["first::flash::a_one", "first::flash::b_two"];
    let lite = ["first::flash_lite::a_one", "first::flash_lite::b_two"];
    assert_eq!(names, [flash, lite].concat(), "{list}");
    let of_flash = test(&["::flash::"]).passes();
    assert_eq!(of_flash.tests().into_keys().collect::<Vec<_>>(), flash, "{of_flash}");

    test(&[]).fails().ran(&[(flash[0], "ok"), (flash[1], "ok"), (lite[0], "ok"), (lite[1], "FAILED")]);
    let compared = evalset(&project, &runs, &["compare", "--format", "json"]).passes();
    let document: Value =
        serde_json::from_str(compared.stdout()).unwrap_or_else(|error| panic!("{error}: {compared}"));
    let labels: Vec<&Value> =
        document["variants"].as_array().into_iter().flatten().map(|variant| &variant["label"]).collect();
    assert_eq!(labels, ["model=flash", "model=flash_lite"], "{document}");
    assert_eq!(document["variants"][1]["values"], json!({ "model": "flash_lite" }));
    let of_case = |passed: usize| json!({ "passed": passed, "with_verdict": 6, "errors": 0 });
    assert_eq!(document["cases"][1]["runs"], json!([of_case(6), of_case(0)]), "{document}");
    let difference = &document["differences"][0];
    assert_eq!((&difference["label"], &difference["is_shown"]), (&json!("model=flash_lite"), &json!(true)));
}
