//! Annotations of GitHub Actions, on the lines of the cases.

use crate::output::foreign;
use crate::phrases;
use crate::recorded::{RunResults, State, TestResult};

/// An error for each case that failed or has no verdict, a warning for each that passed only after a retry, a warning if
/// metrics were skipped, and an error if tests never began or the run may be another one.
pub(crate) fn annotations(results: &RunResults<'_>) -> String {
    let cases: String = results.tests.iter().filter_map(annotation).collect();
    let totals = &results.totals;
    let title = [("title", "metrics were skipped")];
    let skipped = phrases::skipped(results).map(|skipped| foreign::annotation("warning", &title, &skipped));
    let cases = cases + &skipped.unwrap_or_default();
    if totals.missing == 0 && !totals.is_doubtful && !totals.lacks_parts {
        return cases;
    }
    let what = results.doubts.iter().filter(|_| totals.is_doubtful || totals.lacks_parts);
    let message = what.fold(totals.reason(), |text, doubt| format!("{text}\n{doubt}"));
    cases + &foreign::annotation("error", &[("title", "evals are not measurable")], &message)
}

fn annotation(test: &TestResult<'_>) -> Option<String> {
    let (level, message) = match test.state {
        State::Passed | State::Skipped => {
            let attempt = test.retry()?.attempt;
            ("warning", format!("passed only in attempt {attempt} of the runner; retries hide failures"))
        }
        _ => ("error", test.reason().unwrap_or_default()),
    };
    let title = format!("{} {}", test.name, predicate(test.state));
    let (line, column);
    let mut properties = Vec::new();
    if let Some(location) = test.location() {
        (line, column) = (location.line.to_string(), location.column.to_string());
        properties.extend([("file", location.file), ("line", &*line), ("col", &*column)]);
    }
    properties.push(("title", &*title));
    Some(foreign::annotation(level, &properties, &message))
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
