//! The functions that the attribute takes, and what is said of those that fail.

use crate::project::{Draft, echo_set};
use crate::run::Run;

/// Functions whose test passes.
const GOOD: [&str; 15] = [
    "plain",
    "public_async",
    "fallible",
    "async_alias",
    "of_case",
    "async_of_case",
    "of_static_case",
    "through_macro_rules",
    "body",
    "fallible_body",
    "plain_body",
    "plain_fallible_body",
    "body_of_two_agents",
    "one_run_is_enough",
    "body_takes_its_time",
];

/// Functions whose test fails, with the first line of what it prints and another one.
const BAD: [(&str, &str, &str); 18] = [
    ("setup_fails", "setup error: no model: no key", "no turn of 1 was played"),
    ("setup_panics", "run 1 of 2: setup error: panicked: no luck", "run 1 of 2, no turn of 1 was played"),
    ("setup_hangs", "setup error: timed out after 200ms", "no turn of 1 was played"),
    ("body_drops_a_failure", "response_match_score is 0.0, below 0.8", "actual    No."),
    ("body_notices_a_failure", "response_match_score is 0.0, below 0.8", "panicked: noticed"),
    (
        "body_asserts",
        "test body error: panicked: assertion `left == right` failed: wrong greeting",
        "good bye",
    ),
    ("body_errs", "test body error: no model: no key", "no turn of 1 was played"),
    ("body_times_out", "agent error in turn 1: timed out after 200ms", "turn 1 of 1: \"Hello!\""),
    (
        "body_evaluates_nothing",
        "harness error: the test body ended without an evaluation",
        "evaluate(agent).await",
    ),
    (
        "body_drops_the_future",
        "harness error: the test body ended before 1 of 2 evaluations did",
        "await each",
    ),
    (
        "body_gives_up",
        "harness error: the test body ended before 1 of 2 evaluations did",
        "without a timeout",
    ),
    ("body_chooses", "harness error: the test body ended before 1 of 2 evaluations did", "`select!`"),
    ("body_spawns", "harness error: the test body ended without an evaluation", "evaluate(agent).await"),
    (
        "body_leaves_a_thread",
        "harness error: the test body ended without an evaluation",
        "no turn of 1 was played",
    ),
    (
        "body_skips_a_run",
        "run 2 of 2: harness error: the test body ended without an evaluation",
        "run 2 of 2, no turn",
    ),
    ("body_counts_twice", "response_match_score reached 0.8 in 1 of 2 runs only", "run 2 of 2, turn 1"),
    (
        "body_evaluates_after_its_end",
        "run 1 of 2: harness error: 1 evaluation of the test body began after the body had ended",
        "await each `evaluate` in the body",
    ),
    ("no_run_is_enough", "response_match_score reached 0.8 in none of 2 runs", "(0/2 runs)"),
];

fn run() -> Run {
    Draft::new("shapes")
        .file("evals/hello.evalset.json", echo_set(&[("hello", "Hello!")]))
        .shared()
        .cargo(&["test", "--test", "shapes"])
        .fails()
}

#[test]
fn every_shape_runs_its_case() {
    let run = run();
    for function in GOOD {
        let test = format!("{function}::hello");
        assert_eq!(run.tests().get(test.as_str()), Some(&"ok"), "{test}:\n{run}");
    }
    assert_eq!(run.tests().len(), GOOD.len() + BAD.len(), "{run}");
}

#[test]
fn a_setup_or_body_that_fails_fails_its_test_and_says_why() {
    let run = run();
    for (function, headline, more) in BAD {
        let text = run.failure(&format!("{function}::hello"));
        let begin = format!("Error: {function}::hello: ");
        // A panic says where it is before.
        let line = text.lines().find_map(|line| line.strip_prefix(&begin));
        assert!(line.is_some_and(|line| line.starts_with(headline)), "{begin}{headline}\n{text}");
        assert!(text.contains(more), "{more}\n{text}");
    }
}

#[test]
fn errors_of_runs_that_a_passing_case_does_not_need_are_said() {
    let begin = "one_run_is_enough::hello: passed, but run";
    run()
        .says(&format!(
            "{begin} 1 of 3 does not count, `pass = \"any\"` holds without it: test body error: panicked"
        ))
        .says(&format!(
            "{begin} 2 of 3 does not count, `pass = \"any\"` holds without it: agent error in turn 1"
        ));
}

#[test]
fn a_body_that_hangs_is_named_while_it_does() {
    run()
        .says("evalset: body_takes_its_time::hello, run 1 of 1, test body, has been at work for more than 200ms")
        .never_says("evalset: body_gives_up::hello");
}

#[test]
fn a_wrong_shape_is_reported_once_in_tests_too() {
    let test = "use eval_core::eval_set;\n\n\
                fn wrong() -> u8 {\n    0\n}\n\n\
                #[eval_set(\"evals/hello.evalset.json\", criteria(wrong = 1.0), metrics(wrong), judge = wrong)]\n\
                fn hello() -> u8 {\n    0\n}\n";
    Draft::empty("wrong_shapes")
        .file("tests/evals.rs", test)
        .file("evals/hello.evalset.json", echo_set(&[("hello", "Hello!")]))
        .shared()
        .cargo(&["test", "--no-run"])
        .fails()
        .says("`fn() -> u8 {hello}` cannot drive an eval case")
        .says("`fn() -> u8 {wrong}` is not a metric")
        .says("`fn() -> u8 {wrong}` does not make a judge")
        .says("due to 3 previous errors");
}
