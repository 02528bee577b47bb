//! A recorded run as a page to look at, for a file and for a server.

mod aligned;
mod beside;
mod case;
mod cause;
mod difference;
mod facts;
mod headline;
mod history;
mod judged;
mod miss;
mod next;
mod outcomes;
mod refusal;
mod row;
mod scores;
mod side;
mod since;
mod turn;
mod wording;

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use eval_core::metric::arithmetic::mean;
use eval_format::Bound;

use self::history::History;
use self::since::Since;
use crate::output::{CommandError, time};
use crate::page::{self, Anchors, CaseRow, Count, Histogram, PageModel, Point, Scatter, line};
use crate::price::Cost;
use crate::recorded::{Cases, RunResults, State, TestResult, cost};
use crate::summary_text;

pub use beside::{add_scores, differences, needed, turns};
pub use judged::split_vote;
pub use refusal::refuses;
pub use side::{RunSide, run_side};
pub use since::{Against, case_since};

/// The page of a run as a file, beside a baseline if there is one.
pub fn text(results: &RunResults<'_>, against: Option<&Against>) -> Result<String, CommandError> {
    page::render(&model(results, against)).map_err(|error| {
        let help = "this is a mistake of cargo-evalset: report it";
        CommandError::new(format!("cannot write the page: {error}"), help)
    })
}

pub fn model(results: &RunResults<'_>, against: Option<&Against>) -> PageModel {
    let (history, since) = (History::new(results), Since::new(results, against));
    let (mut anchors, mut shared) = (Anchors::default(), case::PageState::default());
    // In the order of the journal, so that a case keeps its anchor while a run grows.
    let cases = results.tests.iter().enumerate().map(|(at, test)| {
        let cost = cost(test.attempt, &results.prices);
        let before = row::Before { history: &history, since: &since };
        let row = row::row(results, test, anchors.add(&test.name), at, &mut shared, before, cost.as_ref());
        Case { test, cost, row }
    });
    let mut cases: Vec<Case<'_>> = cases.collect();
    sort(&mut cases);
    tell_groups(results, &mut cases, &shared.files);
    let changes: Vec<_> = results.tests.iter().map(|test| history.change(test)).collect();
    let total = cases.iter().filter_map(|case| case.cost).reduce(|mut all, cost| {
        all.add(&cost);
        all
    });
    let total = total.map(|total| total.to_string());
    let cost = total.iter().map(|total| format!("cost {total}"));
    let numbers =
        summary_text::plain_numbers(results).into_iter().chain(cost).map(|number| line(&number)).collect();
    let (facts, glance) = facts::facts(results, total);
    PageModel {
        headline: headline::of(&results.totals),
        compared: history.compared(&changes),
        baseline: since.header(),
        counts: counts(&cases, results.totals.is_running),
        about: about(results),
        facts,
        glance,
        rerun: next::of_run(results, &shared.files),
        numbers,
        notes: problems(results).chain(summary_text::notes(results)).map(|note| line(&note)).collect(),
        histograms: histograms(results),
        pass_rate: history.pass_rate(),
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

/// Puts the most urgent cases first, and cases of one cause behind the first of them. The script of the page sorts in
/// the same way.
fn sort(cases: &mut [Case<'_>]) {
    let mut first: HashMap<String, usize> = HashMap::new();
    for row in cases.iter().map(|case| &case.row) {
        if let Some(cause) = &row.cause {
            first.entry(cause.clone()).or_insert(row.at);
        }
    }
    cases.sort_by_key(|Case { row, .. }| {
        let of_cause = row.cause.as_ref().and_then(|cause| first.get(cause)).copied();
        (row.urgency, of_cause.unwrap_or(row.at), row.at)
    });
}

/// Tells each case with the cause of others how many there are, and what can be done about all of them.
fn tell_groups(results: &RunResults<'_>, cases: &mut [Case<'_>], files: &Cases) {
    // While a run grows, a group would change all of its cases with each new one.
    if results.totals.is_running {
        return;
    }
    let mut groups: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, case) in cases.iter().enumerate() {
        if let Some(cause) = &case.row.cause {
            groups.entry(cause.clone()).or_default().push(at);
        }
    }
    for of_cause in groups.into_values().filter(|of_cause| of_cause.len() > 1) {
        let tests: Vec<_> = of_cause.iter().map(|at| cases[*at].test).collect();
        let group = next::group(results, &tests, files);
        for at in of_cause {
            if let Some(next) = &mut cases[at].row.details.next {
                next::add_group(next, &group);
            }
        }
    }
}

/// The filters with cases. The filters by state are first, and their numbers sum up to all.
fn counts(cases: &[Case<'_>], is_running: bool) -> Vec<Count> {
    let filters = [
        ("all", "All"),
        ("failed", "Failed"),
        ("error", "Errors"),
        ("unscored", "Unscored"),
        ("unfinished", if is_running { "In progress" } else { "Unfinished" }),
        ("passed", "Passed"),
        ("skipped", "Skipped"),
        ("flaky", "Flaky"),
        ("loosened", "With rules"),
    ];
    let has = |case: &Case<'_>, filter| case.row.filters.split(' ').any(|it| it == filter);
    let counted = filters.map(|(filter, name)| {
        let found: Vec<_> = cases.iter().filter(|case| filter == "all" || has(case, filter)).collect();
        let states = found.iter().map(|case| case.test.state);
        let of = if matches!(filter, "flaky" | "loosened") { of_states(states) } else { None };
        Count { filter, name, cases: found.len(), of }
    });
    counted.into_iter().filter(|count| count.cases > 0 || count.filter == "all").collect()
}

/// The cases among which these are counted already; `None` if they are of several kinds.
fn of_states(mut states: impl Iterator<Item = State> + Clone) -> Option<&'static str> {
    let first = states.next()?;
    let of = match first {
        State::Failed => "of the failed",
        State::Error => "of the errors",
        State::Passed => "of the passed",
        _ => return None,
    };
    states.all(|state| state == first).then_some(of)
}

fn problems(results: &RunResults<'_>) -> impl Iterator<Item = String> {
    let more = results.problems.len().saturating_sub(MAX_PROBLEMS);
    let more = (more > 0).then(|| format!("error: {more} more did not begin or are in doubt"));
    let shown = results.problems.iter().take(MAX_PROBLEMS);
    shown.map(|problem| format!("error: {}", problem.shown())).chain(more)
}

/// The most problems on the page. Longer lists are not read line by line.
const MAX_PROBLEMS: usize = 200;

/// `Test run 2026-11-22T02-31-07-4f1c: began 2026-11-22 02:31:07 UTC, took 31.25 s`.
fn about(results: &RunResults<'_>) -> String {
    let began = results.times.began.map(|began| format!("began {}, ", time::shown(began)));
    let took = time::took(results.totals.elapsed);
    let took =
        if results.totals.is_running { format!("runs, {took} so far") } else { format!("took {took}") };
    line(&format!("Test run {}: {}{took}", results.loaded.name(), began.unwrap_or_default()))
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
    // A case that hangs has a time and no score.
    let (time, cost) =
        ("Time against score, of cases with a score", "Cost against score, of cases with a score");
    [Scatter::new(time, times, seconds), Scatter::new(cost, costs, money)].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_that_are_counted_twice_say_among_which_they_are() {
        use State::{Error, Failed, Passed};
        for (states, said) in [
            (&[Failed, Failed][..], Some("of the failed")),
            (&[Passed], Some("of the passed")),
            (&[Failed, Passed], None),
            (&[Error], Some("of the errors")),
            (&[], None),
        ] {
            assert_eq!(of_states(states.iter().copied()), said);
        }
    }
}
