//! A recorded run as a page to look at, for a file and for a server.

mod case;
mod facts;
mod judged;
mod next;
mod scores;
mod turn;

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use eval_core::metric::arithmetic::mean;
use eval_format::Bound;
use eval_support::words::count;

use crate::journal::{self, RecordedRun};
use crate::output::{CommandError, time};
use crate::page::{
    self, Anchors, CaseRow, Count, Histogram, PageModel, PassRate, Point, Scatter, Spark, line,
};
use crate::price::Cost;
use crate::recorded::{RunResults, State, TestResult, cost};
use crate::summary_text;

pub fn text(results: &RunResults<'_>) -> Result<String, CommandError> {
    page::render(&model(results)).map_err(|error| {
        let help = "this is a mistake of cargo-evalset: report it";
        CommandError::new(format!("cannot write the page: {error}"), help)
    })
}

pub fn model(results: &RunResults<'_>) -> PageModel {
    let history = history(results);
    let (mut anchors, mut shared) = (Anchors::default(), case::Shared::default());
    // In the order of the journal, so that a case keeps its anchor while a run grows.
    let cases = results.tests.iter().map(|test| {
        let cost = cost(test.attempt, &results.prices);
        let row = case::row(results, test, anchors.add(&test.name), &mut shared, spark(&history, test));
        Case { test, cost, row: CaseRow { cost: cost.as_ref().map(Cost::amount), ..row } }
    });
    let mut cases: Vec<Case<'_>> = cases.collect();
    cases.sort_by_key(|case| urgency(case.test));
    let total = cases.iter().filter_map(|case| case.cost).reduce(|mut all, cost| {
        all.add(&cost);
        all
    });
    let total = total.map(|total| total.to_string());
    let cost = total.iter().map(|total| format!("cost {total}"));
    let numbers =
        summary_text::numbers(results).into_iter().chain(cost).map(|number| line(&number)).collect();
    let (facts, glance) = facts::facts(results, total);
    let outcome = results.totals.word();
    PageModel {
        title: format!("{outcome}: {} · cargo evalset", count(results.totals.cases, "case")),
        outcome: outcome.to_owned(),
        reason: line(&results.totals.reason()),
        counts: counts(&cases, results.totals.is_running),
        about: about(results),
        facts,
        glance,
        rerun: summary_text::rerun(results).iter().map(|command| line(command)).collect(),
        numbers,
        notes: problems(results).chain(summary_text::notes(results)).map(|note| line(&note)).collect(),
        histograms: histograms(results),
        pass_rate: pass_rate(&history),
        scatters: scatters(&cases),
        cases: cases.into_iter().map(|case| case.row).collect(),
    }
}

struct Case<'r> {
    test: &'r TestResult<'r>,
    /// The cost of its tokens; `None` without prices.
    cost: Option<Cost>,
    row: CaseRow,
}

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

/// The filters with cases, and the filters that are always shown.
fn counts(cases: &[Case<'_>], is_running: bool) -> Vec<Count> {
    let filters = [
        ("all", "All"),
        ("failed", "Failed"),
        ("error", "Errors"),
        ("unscored", "Unscored"),
        ("unfinished", if is_running { "In work" } else { "Unfinished" }),
        ("flaky", "Flaky"),
        ("passed", "Passed"),
        ("skipped", "Skipped"),
    ];
    let count =
        |filter| cases.iter().filter(|case| case.row.filters.split(' ').any(|it| it == filter)).count();
    let counted = filters.map(|(filter, name)| {
        let cases = if filter == "all" { cases.len() } else { count(filter) };
        Count { filter, name, cases }
    });
    let always = ["all", "failed", "error", "unscored", "flaky"];
    counted.into_iter().filter(|count| count.cases > 0 || always.contains(&count.filter)).collect()
}

fn problems(results: &RunResults<'_>) -> impl Iterator<Item = String> {
    let more = results.problems.len().saturating_sub(MAX_PROBLEMS);
    let more = (more > 0).then(|| format!("error: {more} more did not begin or are in doubt"));
    let shown = results.problems.iter().take(MAX_PROBLEMS);
    shown.map(|problem| format!("error: {}", problem.shown())).chain(more)
}

/// The most problems on the page. Longer lists are not read line by line.
const MAX_PROBLEMS: usize = 200;

/// `Run 2026-11-22T02-31-07-4f1c: began 2026-11-22 02:31:07 UTC, took 31.25 s`.
fn about(results: &RunResults<'_>) -> String {
    let began = results.times.began.map(|began| format!("began {}, ", time::shown(began)));
    let took = time::took(results.totals.elapsed);
    let took =
        if results.totals.is_running { format!("runs, {took} so far") } else { format!("took {took}") };
    line(&format!("Run {}: {}{took}", results.loaded.name(), began.unwrap_or_default()))
}

/// A plot for each metric that can fail a case, the metric that failed most cases first.
fn histograms(results: &RunResults<'_>) -> Vec<Histogram> {
    let mut metrics: BTreeMap<&str, Vec<(f64, Option<Bound>)>> = BTreeMap::new();
    for metric in results.tests.iter().flat_map(TestResult::deciding) {
        let scores = metrics.entry(&metric.name).or_default();
        scores.extend(metric.score.map(|score| (score, metric.bound())));
    }
    let plots = metrics.into_iter().filter_map(|(name, scores)| Histogram::new(line(name), &scores));
    let mut plots: Vec<Histogram> = plots.collect();
    plots.sort_by_key(|plot| Reverse(plot.below));
    plots
}

/// The time and the cost of the cases, against the mean score of the metrics that can fail them.
fn scatters(cases: &[Case<'_>]) -> Vec<Scatter> {
    let score = |test: &TestResult<'_>| {
        let scores: Vec<f64> = test.deciding().filter_map(|metric| metric.score).collect();
        mean::naive(&scores)
    };
    let points = |took: &dyn Fn(&Case<'_>) -> Option<f64>| {
        let of_case = cases.iter().filter_map(|case| {
            Some(Point {
                took: took(case)?,
                score: score(case.test)?,
                passed: case.test.state == State::Passed,
                name: case.row.details.name.clone(),
                anchor: case.row.anchor.clone(),
            })
        });
        of_case.collect()
    };
    let times = points(&|case| case.test.attempt.decided.as_ref().map(|it| it.elapsed.as_secs_f64()));
    let costs = points(&|case| case.cost.map(|cost| cost.money));
    let seconds = |seconds: f64| time::latency(Duration::try_from_secs_f64(seconds).unwrap_or_default());
    let money = |money: f64| Cost { money, ..Cost::default() }.amount();
    let (time, cost) = ("Time against score", "Cost against score");
    [Scatter::new(time, times, seconds), Scatter::new(cost, costs, money)].into_iter().flatten().collect()
}

/// The number of runs on the page, this one included.
const MAX_SHOWN_RUNS: usize = 12;

const THIS_RUN: &str = "this run";

struct Past {
    label: String,
    passed: usize,
    cases: usize,
    states: HashMap<Key, State>,
}

/// The identity of a case across runs. Its text may have changed.
type Key = (Option<String>, Option<String>, String, Option<String>);

fn key(test: &TestResult<'_>) -> Key {
    let owned = |text: Option<&str>| text.map(str::to_owned);
    let label = owned(test.attempt.started.label.as_deref());
    (owned(test.test.package()), owned(test.test.binary()), test.name.clone().into_owned(), label)
}

impl Past {
    fn new(label: String, tests: &[TestResult<'_>]) -> Self {
        let counted = || tests.iter().filter(|test| test.state != State::Skipped);
        Self {
            label,
            passed: counted().filter(|test| test.state == State::Passed).count(),
            cases: counted().count(),
            states: tests.iter().map(|test| (key(test), test.state)).collect(),
        }
    }
}

/// The earlier runs, the oldest first, and the run of the page at the end.
fn history(results: &RunResults<'_>) -> Vec<Past> {
    let before = before(results).into_iter().filter_map(|run| {
        let recorded = RecordedRun::outline(&[run.path]).ok()?;
        Some(Past::new(time::shown(run.started), &TestResult::all(&recorded)))
    });
    let mut runs: Vec<Past> = before.collect();
    runs.reverse();
    runs.push(Past::new(THIS_RUN.to_owned(), &results.tests));
    runs
}

/// `None` if there is no run before this one.
fn spark(history: &[Past], test: &TestResult<'_>) -> Option<Spark> {
    let key = key(test);
    let of_run = |past: &Past| {
        let state = *past.states.get(&key)?;
        Some((state == State::Passed, state.filter_name()))
    };
    (history.len() > 1).then(|| Spark::new(&history.iter().map(of_run).collect::<Vec<_>>()))
}

fn pass_rate(history: &[Past]) -> Option<PassRate> {
    let rates = history.iter().map(|past| (past.label.clone(), past.passed, past.cases));
    PassRate::new(&rates.collect::<Vec<_>>(), THIS_RUN)
}

/// The runs before this one in the same folder, the newest first. A merged run has none.
fn before(results: &RunResults<'_>) -> Vec<journal::RunDir> {
    let [folder] = results.loaded.folders.as_slice() else { return Vec::new() };
    // The folder need not be in a folder of runs: neighbours without a marker are skipped.
    let beside = folder.parent().map(|root| journal::runs(root).unwrap_or_default()).unwrap_or_default();
    let mut earlier = beside.into_iter().skip_while(|run| run.path.file_name() != folder.file_name());
    earlier.next();
    earlier.take(MAX_SHOWN_RUNS - 1).collect()
}
