//! The report as JUnit, for the many programs that read it: a suite for each test binary, scores as properties.

use std::collections::BTreeMap;

use quick_junit::{NonSuccessKind, Property, TestCase, TestCaseStatus, TestRerun, TestSuite, XmlString};

use super::{Report, human};
use crate::answer::Refusal;
use crate::recorded::{Recorded, State};
use crate::show::harmless;

pub(super) fn text(report: &Report<'_>) -> Result<String, Refusal> {
    let mut suites: BTreeMap<(&str, &str), TestSuite> = BTreeMap::new();
    for test in &report.tests {
        let key = (test.test.package.as_str(), test.test.binary.as_str());
        let suite = suites.entry(key).or_insert_with(|| TestSuite::new(suite_name(key)));
        suite.add_test_case(case(test));
    }
    let mut document = quick_junit::Report::new("cargo-evalset");
    document.set_time(report.totals.elapsed);
    document.add_test_suites(suites.into_values());
    let text = document.to_string();
    text.map_err(|error| Refusal::new(format!("cannot write JUnit: {error}"), "use `--json` instead"))
}

/// As nextest names a binary.
fn suite_name((package, binary): (&str, &str)) -> String {
    let name = if package == binary || package.replace('-', "_") == binary {
        binary.to_owned()
    } else {
        format!("{package}::{binary}")
    };
    harmless(&name)
}

fn case(test: &Recorded<'_>) -> TestCase {
    let mut case = TestCase::new(plain(&test.test.name), status(test));
    // Readers of JUnit expect the attribute, even if it is empty.
    case.set_classname(plain(test.attempt.started.eval_set_id.as_deref().unwrap_or_default()));
    case.set_time(test.elapsed());
    case.add_properties(properties(test));
    case
}

fn status(test: &Recorded<'_>) -> TestCaseStatus {
    let mut status = match test.state {
        State::Passed => TestCaseStatus::success(),
        State::Skipped => {
            let mut skipped = TestCaseStatus::skipped();
            skipped.set_message(plain(&test.headline()));
            skipped
        }
        State::Failed => failing(test, NonSuccessKind::Failure, "failed"),
        State::NotEvaluated => failing(test, NonSuccessKind::Error, "not_evaluated"),
        State::Unfinished => failing(test, NonSuccessKind::Error, "unfinished"),
        State::Error => {
            let role = test.role().map_or_else(|| "error".to_owned(), |role| format!("{role} error"));
            failing(test, NonSuccessKind::Error, &role)
        }
    };
    if test.state == State::Skipped {
        // There is no place for attempts then.
        return status;
    }
    let before = test.test.attempts.split_last().map(|(_, before)| before).unwrap_or_default();
    for attempt in before {
        let Some(decided) = attempt.decided.as_ref().filter(|decided| decided.verdict.fails()) else {
            continue;
        };
        let mut rerun = TestRerun::new(NonSuccessKind::Failure);
        rerun.set_message(plain(decided.failure.lines().next().unwrap_or_default()));
        rerun.set_description(plain(&decided.failure));
        rerun.set_time(decided.elapsed);
        status.add_rerun(rerun);
    }
    status
}

fn failing(test: &Recorded<'_>, kind: NonSuccessKind, what: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(plain(what));
    status.set_message(plain(&test.headline()));
    status.set_description(plain(&human::details(test)));
    status
}

fn properties(test: &Recorded<'_>) -> Vec<Property> {
    let mut properties = Vec::new();
    let mut add = |name: String, value: String| properties.push(Property::new(plain(&name), plain(&value)));
    add("eval_id".to_owned(), test.attempt.started.eval_id.clone());
    if let Some((file, line, _)) = test.place() {
        add("file".to_owned(), file.to_owned());
        add("line".to_owned(), line.to_string());
    }
    if test.runs.total > 0 {
        add("runs.passed".to_owned(), test.runs.passed.to_string());
        add("runs.with_verdict".to_owned(), test.runs.judged.to_string());
        add("runs.total".to_owned(), test.runs.total.to_string());
    }
    for metric in test.metrics() {
        let name = &metric.name;
        if let Some(score) = metric.score {
            add(format!("{name}.score"), format!("{score:?}"));
        }
        if let Some(threshold) = metric.threshold() {
            add(format!("{name}.threshold"), format!("{threshold:?}"));
            add(format!("{name}.verdict"), metric.verdict.to_string());
            add(format!("{name}.scored"), format!("{}/{}", metric.scored, metric.total));
        }
    }
    properties
}

/// What XML can hold: transcripts hold anything.
fn plain(text: &str) -> XmlString {
    let is_xml = |c: char| !matches!(c, '\u{fffe}' | '\u{ffff}');
    let text = harmless(text);
    XmlString::new(
        text.chars().map(|c| if is_xml(c) { c } else { char::REPLACEMENT_CHARACTER }).collect::<String>(),
    )
}
