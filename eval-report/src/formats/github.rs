//! Annotations of GitHub Actions, on the lines of the cases.

use eval_support::untrusted;

use crate::recorded::{Problem, RunResults, State, TestResult};
use crate::summary_text;

/// An error for each case that failed or has no verdict, a warning for each that passed only after a retry, a warning if
/// metrics were skipped, and an error for each problem of the run: a test that never began, a doubt.
pub fn annotations(results: &RunResults<'_>) -> String {
    let of_problem = |problem: &Problem| {
        let title = format!("{} is not measurable", problem.name);
        untrusted::annotation("error", &[("title", &*title)], &problem.message)
    };
    let problems = results.problems.iter().map(of_problem);
    let cases: String = results.tests.iter().filter_map(annotation).chain(problems).collect();
    let totals = &results.totals;
    let title = [("title", "metrics were skipped")];
    let skipped =
        summary_text::skipped(results).map(|skipped| untrusted::annotation("warning", &title, &skipped));
    let cases = cases + &skipped.unwrap_or_default();
    if results.problems.is_empty() {
        return cases;
    }
    cases + &untrusted::annotation("error", &[("title", "evals are not measurable")], &totals.reason())
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
    Some(untrusted::annotation(level, &properties, &message))
}

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
