//! A gate over tests of the attribute: suspects run again as cargo runs them, with the runs that their attribute names.

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
