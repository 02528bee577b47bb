//! Annotations of GitHub Actions, on the lines of the cases.

use crate::output::annotation::{data, property};
use crate::output::foreign::harmless;
use crate::recorded::{RunResults, State, TestResult};

/// An error for each case that failed or has no verdict, and a warning for each that passed only after a retry.
pub(crate) fn annotations(results: &RunResults<'_>) -> String {
    results.tests.iter().filter_map(annotation).collect()
}

fn annotation(test: &TestResult<'_>) -> Option<String> {
    let (level, message) = match test.state {
        State::Passed | State::Skipped => {
            let attempt = test.retry()?.attempt;
            ("warning", format!("passed only in attempt {attempt} of the runner; retries hide failures"))
        }
        _ => ("error", test.reason().unwrap_or_default()),
    };
    let location = test.location().map(|location| {
        let file = property(&harmless(location.file));
        format!("file={file},line={},col={},", location.line, location.column)
    });
    let title = property(&format!("{} {}", harmless(&test.test.name), predicate(test.state)));
    let location = location.unwrap_or_default();
    Some(format!("::{level} {location}title={title}::{}\n", data(&harmless(&message))))
}

/// The state as the predicate of a sentence.
fn predicate(state: State) -> &'static str {
    match state {
        State::Passed => "passed",
        State::Failed => "failed",
        State::NotEvaluated => "was not evaluated",
        State::Error => "has an error",
        State::Skipped => "was skipped",
        State::Unfinished => "is unfinished",
    }
}
