//! The report as JUnit: a suite for each test binary, and the scores as output. It is valid by the schema
//! `junit-10` of Jenkins, which other readers use too.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, Utc};
use eval_support::untrusted;
use eval_support::words::count;
use quick_junit::{NonSuccessKind, Property, TestCase, TestCaseStatus, TestRerun, TestSuite, XmlString};

use crate::output::{CommandError, time};
use crate::recorded::{Problem, RunResults, State, TestResult, headline};
use crate::summary_text::details;

pub fn text(results: &RunResults<'_>) -> Result<String, CommandError> {
    let mut suites: BTreeMap<(Option<&str>, Option<&str>), TestSuite> = BTreeMap::new();
    let new = |(package, binary)| {
        let mut suite = TestSuite::new(suite_name(package, binary));
        suite.add_properties(of_run(results));
        suite
    };
    for test in &results.tests {
        let key = (test.test.package(), test.test.binary());
        let suite = suites.entry(key).or_insert_with(|| new(key));
        let began = DateTime::<Utc>::from(test.attempt.started.at).into();
        suite.timestamp = Some(suite.timestamp.map_or(began, |first| first.min(began)));
        suite.add_test_case(case(test));
    }
    for problem in &results.problems {
        let key = (problem.package.as_deref(), problem.binary.as_deref());
        let suite = suites.entry(key).or_insert_with(|| new(key));
        suite.add_test_case(without_a_beginning(problem));
    }
    let mut document = quick_junit::Report::new("cargo-evalset");
    document.set_time(results.totals.elapsed);
    document.add_test_suites(suites.into_values());
    // The schema has no attribute `skipped` there.
    let skipped = format!(" skipped=\"{}\"", document.skipped);
    let text = document.to_string().map(|text| text.replacen(&skipped, "", 1));
    text.map_err(|error| CommandError::new(format!("cannot write JUnit: {error}"), "use `--json` instead"))
}

/// The name of a suite: the package and the binary, or the binary alone if it is named after the package, or has none.
fn suite_name(package: Option<&str>, binary: Option<&str>) -> String {
    let name = match (package, binary) {
        (Some(package), Some(binary)) if package.replace('-', "_") != binary.replace('-', "_") => {
            format!("{package}::{binary}")
        }
        (_, Some(name)) | (Some(name), None) => name.to_owned(),
        // The schema asks for a name.
        (None, None) => "evals".to_owned(),
    };
    untrusted::one_line(&name)
}

fn case(test: &TestResult<'_>) -> TestCase {
    let mut case = TestCase::new(name(&test.name), status(test));
    // Readers of JUnit expect the attribute, even if it is empty.
    case.set_classname(name(test.attempt.started.eval_set_id.as_deref().unwrap_or_default()));
    case.set_time(test.elapsed());
    case.set_system_out(plain(&scores(test)));
    case
}

/// A test that never began, as an error: without it readers would show the suite as green.
fn without_a_beginning(problem: &Problem) -> TestCase {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_type(name("unmeasurable"));
    status.set_message(name(&problem.message));
    let mut case = TestCase::new(name(&problem.name), status);
    case.set_classname(name(""));
    case.set_time(Duration::ZERO);
    case
}

fn status(test: &TestResult<'_>) -> TestCaseStatus {
    let mut status = match test.state {
        State::Passed => TestCaseStatus::success(),
        // A skipped test has no attempts in JUnit.
        State::Skipped => {
            let mut skipped = TestCaseStatus::skipped();
            skipped.set_message(name(&test.reason().unwrap_or_default()));
            return skipped;
        }
        State::Failed => failing(test, NonSuccessKind::Failure, test.state.name()),
        State::NotEvaluated | State::Unfinished => failing(test, NonSuccessKind::Error, test.state.name()),
        State::Error => {
            let role = test.role().map_or_else(|| "error".to_owned(), |role| format!("{role} error"));
            failing(test, NonSuccessKind::Error, &role)
        }
    };
    for attempt in test.earlier() {
        let Some(decided) = attempt.decided.as_ref().filter(|decided| decided.verdict.fails()) else {
            continue;
        };
        let mut rerun = TestRerun::new(NonSuccessKind::Failure);
        rerun.set_message(name(&headline(decided).unwrap_or_default()));
        rerun.set_description(plain(decided.failure.as_deref().unwrap_or_default()));
        rerun.set_type(name("failed"));
        status.add_rerun(rerun);
    }
    status
}

fn failing(test: &TestResult<'_>, kind: NonSuccessKind, what: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(name(what));
    status.set_message(name(&test.reason().unwrap_or_default()));
    status.set_description(plain(&details(test)));
    status
}

fn of_run(results: &RunResults<'_>) -> Vec<Property> {
    let times = [("began", results.times.began), ("built", results.times.built)];
    let times = times.into_iter().filter_map(|(name, time)| Some((name, time::iso(time?))));
    let run = [("run", results.loaded.name()), ("outcome", results.totals.outcome().name().to_owned())];
    run.into_iter().chain(times).map(|(key, value)| Property::new(name(key), name(&value))).collect()
}

/// The scores, a line each. They are output, since the schema has no properties of a test.
fn scores(test: &TestResult<'_>) -> String {
    let mut lines = Vec::new();
    let mut add = |key: String, value: String| lines.push(untrusted::one_line(&format!("{key}={value}")));
    add("eval_id".to_owned(), test.attempt.started.eval_id.clone());
    if let Some(label) = &test.attempt.started.label {
        add("label".to_owned(), label.clone());
    }
    for tag in &test.attempt.started.tags {
        add("tag".to_owned(), tag.clone());
    }
    if let Some(location) = test.location() {
        add("file".to_owned(), location.file.to_owned());
        add("line".to_owned(), location.line.to_string());
    }
    if test.runs.total > 0 {
        add("runs.passed".to_owned(), test.runs.passed.to_string());
        add("runs.with_verdict".to_owned(), test.runs.judged.to_string());
        add("runs.total".to_owned(), test.runs.total.to_string());
    }
    if test.repeated() > 0 {
        add("repeated".to_owned(), test.repeated().to_string());
    }
    for note in test.attempt.decided.iter().flat_map(|decided| &decided.notes) {
        add("note".to_owned(), note.clone());
    }
    for metric in test.metrics() {
        let of = &metric.name;
        if let Some(score) = metric.score {
            add(format!("{of}.score"), format!("{score:?}"));
        }
        if let Some(bound) = metric.bound() {
            add(format!("{of}.threshold"), bound.to_string());
            add(format!("{of}.verdict"), metric.verdict.to_string());
            add(format!("{of}.scored"), format!("{}/{}", metric.scored, metric.total));
        }
        for rule in test.rules_of(of) {
            let runs = count(rule.runs, "run");
            let text =
                format!("turn {}: {}, needed in {} of {runs}", rule.turn, rule.point.name(), rule.needed);
            add(format!("{of}.loosened"), text);
        }
        if let Some(literal) = metric.loosened.as_ref().and_then(|loosened| loosened.literal_score) {
            add(format!("{of}.literal_score"), format!("{literal:?}"));
        }
        if let Some(passed) = metric.passed_runs {
            add(format!("{of}.passed_runs"), format!("{passed}/{}", test.runs.total));
        }
        if let Some(reason) = metric.verdict.reason() {
            add(format!("{of}.reason"), untrusted::headline(reason).into_owned());
        }
    }
    lines.join("\n")
}

fn name(text: &str) -> XmlString {
    plain(&untrusted::one_line(text))
}

/// A text that XML can hold. Transcripts may contain any character.
fn plain(text: &str) -> XmlString {
    XmlString::new(untrusted::xml(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_is_named_after_its_package_and_binary() {
        for (package, binary, name) in [
            (Some("my-app"), Some("my_app"), "my_app"),
            (Some("my-app"), Some("evals"), "my-app::evals"),
            (Some("my-app"), None, "my-app"),
            (None, Some("cargo-evalset"), "cargo-evalset"),
            (None, None, "evals"),
        ] {
            assert_eq!(suite_name(package, binary), name);
        }
    }
}
