//! Configs that a set would pass over, so that ADK's default criteria held without a word.

use crate::project::{Draft, echo_set};

const LENIENT: &str = r#"{"criteria": {"response_match_score": 0.1}}"#;

const EVALS: &str = "use eval_core::{Agent, BoxError, agent_fn, eval_set};\n\n\
                     #[eval_set(\"evals\")]\n\
                     fn evals() -> impl Agent {\n    \
                     agent_fn(|message, _recorder| async move { Ok::<_, BoxError>(message) })\n}\n";

fn project(name: &'static str) -> Draft {
    Draft::empty(name)
        .file("tests/greetings.rs", EVALS)
        .file("evals/hello.evalset.json", echo_set(&[("hello", "Hello!")]))
}

#[test]
fn each_is_named_once_a_folder_with_its_remedy() {
    let run = project("configs_passed_over")
        .file("evals/test-config.json", LENIENT)
        .file("evals/more.evalset.json", echo_set(&[("more", "More!")]))
        .file("evals/deep/test_config.json", LENIENT)
        .file("evals/deep/er/bye.evalset.json", echo_set(&[("bye", "Bye!")]))
        .file("evals/deep/er/late.evalset.json", echo_set(&[("late", "Late!")]))
        .shared()
        .cargo(&["test", "--no-run"])
        .fails();
    run.says("error: `evals/test-config.json` is passed over: the config of a folder is named `test_config.json`")
        .says("rename it to `evals/test_config.json`, or name it in the attribute: `config = \"evals/test-config.json\"`")
        .says("`evals/deep/test_config.json` is passed over: a config holds for its own folder, and not for the sets in `evals/deep/er`")
        .says("copy it to `evals/deep/er/test_config.json`, or name it in the attribute: `config = \"evals/deep/test_config.json\"`")
        .says("due to 2 previous errors");
}

#[test]
fn one_that_is_named_or_replaced_is_not_passed_over() {
    let tests = [("evals::hello::hello", "ok"), ("evals::is_current", "ok")];
    for (name, options) in [
        ("configs_named", "config = \"evals/eval_config.json\""),
        ("configs_replaced", "criteria(response_match_score = 0.5)"),
    ] {
        project(name)
            .file("evals/eval_config.json", LENIENT)
            .file("tests/greetings.rs", EVALS.replace("\"evals\"", &format!("\"evals\", {options}")))
            .shared()
            .cargo(&["test"])
            .passes()
            .ran(&tests);
    }
}

#[test]
fn one_that_is_new_makes_the_tests_stale() {
    let project = project("configs_new").owned();
    project.cargo(&["test"]).passes();
    project.write("evals/eval_config.json", LENIENT);
    let run = project.cargo(&["test", "hello"]).fails();
    assert!(run.failure("evals::hello::hello").contains("evals/eval_config.json"), "{run}");
}

#[test]
fn a_file_that_is_nearly_named_as_a_set_does_not_go_untested() {
    let project = project("near_misses").owned();
    project.cargo(&["test"]).passes();
    project.write("evals/bye.evalset.JSON", &echo_set(&[("bye", "Bye!")]));
    let run = project.cargo(&["test", "is_current"]).fails();
    let text = run.failure("evals::is_current");
    assert!(text.contains("`evals/bye.evalset.JSON` has nearly the name of an eval set"), "{text}");
    project.touch("tests/greetings.rs");
    project.cargo(&["test"]).fails().says("rename it to `bye.evalset.json`, or move it elsewhere");
}
