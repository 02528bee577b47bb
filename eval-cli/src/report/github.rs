//! Annotations of GitHub Actions, on the lines of the cases in the JSON.

use super::Report;
use crate::annotation::{data, property};
use crate::recorded::{Recorded, State};
use crate::show::harmless;

/// An error for each case that did not come to a good end, a warning for each that the runner had to try again.
pub(super) fn annotations(report: &Report<'_>) -> String {
    report.tests.iter().filter_map(annotation).collect()
}

fn annotation(test: &Recorded<'_>) -> Option<String> {
    let (level, message) = match test.state {
        State::Passed | State::Skipped => {
            let (_, attempt) = test.retried()?;
            ("warning", format!("passed only in attempt {attempt} of the runner; retries hide failures"))
        }
        _ => ("error", test.headline()),
    };
    let place = test
        .place()
        .map(|(file, line, column)| format!("file={},line={line},col={column},", property(&harmless(file))));
    let title = property(&format!("{} {}", harmless(&test.test.name), state(test.state)));
    let place = place.unwrap_or_default();
    Some(format!("::{level} {place}title={title}::{}\n", data(&harmless(&message))))
}

fn state(state: State) -> &'static str {
    match state {
        State::Passed => "passed",
        State::Failed => "failed",
        State::NotEvaluated => "was not evaluated",
        State::Error => "has an error",
        State::Skipped => "was skipped",
        State::Unfinished => "is unfinished",
    }
}
