//! A recorded run as a page to look at, for a file and for a server.

mod case;
mod history;
mod run;
mod scores;
mod turn;

use std::collections::{BTreeMap, BTreeSet};

use crate::output::CommandError;
use crate::output::time;
use crate::output::words::count;
use crate::page::{self, Anchors, CaseRow, Count, Fact, Histogram, PageModel, line};
use crate::phrases;
use crate::recorded::{Cases, RunResults, State, TestResult};
use history::History;

pub(crate) fn text(results: &RunResults<'_>) -> Result<String, CommandError> {
    page::render(&model(results)).map_err(|error| {
        CommandError::new(
            format!("cannot write the page: {error}"),
            "this is a mistake of cargo-evalset: report it",
        )
    })
}

/// Everything that the page shows of a run.
pub(crate) fn model(results: &RunResults<'_>) -> PageModel {
    let history = History::of(results);
    let (mut anchors, mut files) = (Anchors::default(), Cases::default());
    // In the order of the journal, so that a case keeps its anchor while a run grows.
    let tests = results.tests.iter().map(|test| (test, anchors.of(&test.name)));
    let mut tests: Vec<(&TestResult<'_>, String)> = tests.collect();
    tests.sort_by_key(|(test, _)| urgency(test));
    let cases: Vec<CaseRow> = tests
        .into_iter()
        .map(|(test, anchor)| case::row(test, anchor, &mut files, history.spark(test)))
        .collect();
    let outcome = results.totals.outcome().name();
    PageModel {
        title: format!("{outcome}: {} · cargo evalset", count(results.totals.cases, "case")),
        outcome: outcome.to_owned(),
        reason: results.totals.reason(),
        counts: counts(&cases),
        about: about(results),
        facts: facts(results),
        numbers: phrases::numbers(results),
        notes: phrases::notes(results),
        histograms: histograms(results),
        pass_rate: history.pass_rate(),
        cases,
    }
}

/// What needs attention comes first.
fn urgency(test: &TestResult<'_>) -> u8 {
    match test.state {
        State::Failed => 0,
        State::Error => 1,
        State::NotEvaluated => 2,
        State::Unfinished => 3,
        State::Passed if test.runs.are_flaky() => 4,
        State::Passed => 5,
        State::Skipped => 6,
    }
}

/// The filters that show something, and `all`.
fn counts(cases: &[CaseRow]) -> Vec<Count> {
    let filters = [
        ("all", "All"),
        ("failed", "Failed"),
        ("error", "Errors"),
        ("unscored", "Unscored"),
        ("unfinished", "Unfinished"),
        ("flaky", "Flaky"),
        ("passed", "Passed"),
        ("skipped", "Skipped"),
    ];
    let count = |filter| cases.iter().filter(|case| case.filters.split(' ').any(|it| it == filter)).count();
    let counted = filters.map(|(filter, name)| {
        let cases = if filter == "all" { cases.len() } else { count(filter) };
        Count { filter, name, cases }
    });
    let always = ["all", "failed", "error", "unscored", "flaky"];
    counted.into_iter().filter(|count| count.cases > 0 || always.contains(&count.filter)).collect()
}

/// `Run 2026-11-22T02-31-07-4f1c: began 2026-11-22 02:31:07 UTC, took 31.25 s`.
fn about(results: &RunResults<'_>) -> String {
    let began = results.times.began.map(|began| format!("began {}, ", time::shown(began)));
    let took = time::took(results.totals.elapsed);
    format!("Run {}: {}took {took}", results.loaded.name(), began.unwrap_or_default())
}

/// What the journal tells of the run, and what it does not.
fn facts(results: &RunResults<'_>) -> Vec<Fact> {
    let run = &results.loaded.run;
    let joined = |values: BTreeSet<String>| {
        let values: Vec<String> = values.into_iter().collect();
        (!values.is_empty()).then(|| values.join(", "))
    };
    let heads = || run.processes.iter();
    let of_variable =
        |name: &str| joined(heads().filter_map(|head| head.env.get(name)).map(|it| line(it)).collect());
    let attempts = || results.tests.iter().map(|test| test.attempt);
    let files = attempts().filter_map(|attempt| attempt.started.file.as_deref()).map(line).collect();
    let hashes: BTreeSet<&str> =
        attempts().filter_map(|attempt| attempt.started.case_hash.as_deref()).collect();
    let hashes =
        (!hashes.is_empty()).then(|| format!("{} different ones; each case shows its own", hashes.len()));
    let packages = heads().filter_map(|head| {
        let version = head.version.as_deref().map(|version| format!(" {version}")).unwrap_or_default();
        Some(line(&format!("{}{version}", head.package.as_deref()?)))
    });
    let fact = |name, value| Fact { name, value };
    vec![
        fact("Run", Some(results.loaded.name())),
        fact("Began", results.times.began.map(time::shown)),
        fact("Took", Some(time::took(results.totals.elapsed))),
        fact("Tests built", results.times.built.map(time::shown)),
        fact("Git revision", of_variable("GITHUB_SHA")),
        fact("Uncommitted changes", None),
        fact("Sets", joined(files)),
        fact("Hashes of cases", hashes),
        fact("Agent models", joined(scores::agent_models(results))),
        fact("Judge models", joined(scores::judge_models(results))),
        fact("Packages", joined(packages.collect())),
        fact("evalset", joined(heads().map(|head| line(&head.evalset)).collect())),
        fact("Cost", None),
    ]
}

/// A plot for each metric that can fail a case.
fn histograms(results: &RunResults<'_>) -> Vec<Histogram> {
    let mut metrics: BTreeMap<&str, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for metric in results.tests.iter().flat_map(TestResult::gating) {
        let (scores, thresholds) = metrics.entry(&metric.name).or_default();
        scores.extend(metric.score);
        thresholds.extend(metric.threshold());
    }
    let plots = metrics.into_iter().filter_map(|(name, (scores, thresholds))| {
        // A line would be wrong for some cases if they have different thresholds.
        let first = thresholds.first().copied();
        let threshold = first.filter(|first| thresholds.iter().all(|it| it.to_bits() == first.to_bits()));
        Histogram::of(line(name), &scores, threshold)
    });
    plots.collect()
}
