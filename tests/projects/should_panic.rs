//! `#[should_panic]` takes a case that was checked and failed, and nothing else.

use crate::project::{Draft, Project, echo_set};

const SET: &str = "evals/hello.evalset.json";

/// The tests whose case fails in a way that may be meant.
const MEANT: [&str; 4] =
    ["answers_wrongly", "answers_wrongly_as_expected", "breaks_as_expected", "body_asserts"];

/// The tests that could not check anything, or whose case passes.
const NOT_MEANT: [&str; 9] = [
    "answers_rightly",
    "breaks",
    "setup_fails",
    "setup_fails_as_expected",
    "body_breaks_before_it_evaluates",
    "body_evaluates_nothing",
    "metric_breaks",
    "metric_is_not_made",
    "nothing_is_scored",
];

fn draft() -> Draft {
    Draft::new("should_panic").file(SET, echo_set(&[("hello", "Hello!")]))
}

fn project() -> Project {
    draft().shared()
}

#[test]
fn should_panic_takes_no_error_of_setup_metric_or_harness() {
    let run = project().cargo(&["test"]).fails();
    for (tests, expected) in [(&MEANT[..], "ok"), (&NOT_MEANT[..], "FAILED")] {
        for test in tests {
            let test = format!("{test}::hello");
            assert_eq!(run.tests().get(test.as_str()), Some(&expected), "{test}\n{run}");
        }
    }
    assert_eq!(run.tests().len(), MEANT.len() + NOT_MEANT.len(), "{run}");
    let text = run.failure("setup_fails::hello");
    assert!(text.contains("setup error: no key") && text.contains("`#[should_panic]` can expect"), "{text}");
}

#[test]
fn should_panic_takes_no_stale_set_and_no_unknown_variable() {
    let project = draft().named("should_panic_stale").owned();
    let binary = project.test_binary("tests/evals.rs");
    let none_is_ok = |run: crate::run::Run| {
        assert!(run.tests().values().all(|end| *end == "FAILED"), "{run}");
        assert_eq!(run.tests().len(), MEANT.len() + NOT_MEANT.len(), "{run}");
    };
    none_is_ok(binary.run_with(&[("EVALSET_PRINT", "al")], &[]).fails());
    project.write(SET, &echo_set(&[("hello", "Hullo!")]));
    none_is_ok(binary.run(&[]).fails().says("changed after this test was built"));
}
