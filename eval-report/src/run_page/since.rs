//! The cases of a run beside a baseline, as the page shows them.

use std::collections::{BTreeSet, HashMap};
use std::time::SystemTime;

use eval_core::journal::Revision;
use eval_core::report::short;
use eval_support::words::count;

use crate::baseline::{Baseline, Key, Line, key, measure, remarks, shared_runs};
use crate::comparison::{Category, ComparedCase, Comparison, MetricChange, p_value, passes, regressions};
use crate::decide::gate::Policy;
use crate::page::{CaseSince, Count, MetricSince, SinceBaseline, line};
use crate::recorded::{RunResults, TestResult};
use crate::statistics::PassCount;

/// A baseline with which a page compares its run.
#[derive(Clone, Debug)]
pub struct Against {
    /// Its name for people: the path of its file.
    pub name: String,
    /// Its lines, or the reason why they cannot be read.
    pub baseline: Result<Baseline, String>,
}

/// The comparison of a run with a baseline.
#[derive(Debug, Default)]
pub(super) struct Since {
    cases: HashMap<Key, ComparedCase>,
    header: Option<SinceBaseline>,
}

impl Since {
    /// Nothing is compared without a baseline, and while tests run: what is still to come is not gone.
    pub(super) fn new(results: &RunResults<'_>, against: Option<&Against>) -> Self {
        let Some(against) = against.filter(|_| !results.totals.is_running) else { return Self::default() };
        let baseline = match &against.baseline {
            Ok(baseline) => baseline,
            Err(why) => return Self::said(&against.name, why),
        };
        let now = measure([results.loaded], None).cases;
        if !now.lines().any(|line| baseline.get(&line.key()).is_some()) {
            return Self::said(&against.name, "it has no case of this run");
        }
        let comparison = Comparison::new(baseline, &now, &now, Policy::default());
        let shared = shared_runs(baseline, &now);
        let said = regressions(&comparison).into_iter().chain(shared);
        let said = said.chain(remarks(baseline, &now, SystemTime::now()));
        let shown: Vec<Category> =
            results.tests.iter().filter_map(|test| category(&comparison, test)).collect();
        let counted = Category::ALL.map(|category| Count {
            filter: category.name(),
            name: category.words(),
            cases: shown.iter().filter(|it| **it == category).count(),
            of: None,
        });
        let header = SinceBaseline {
            name: line(&format!("{} ({})", against.name, described(baseline))),
            changes: counted.into_iter().filter(|count| count.cases > 0).collect(),
            said: said.map(|said| line(&said)).collect(),
            left: comparison.of(Category::OnlyBefore).map(|case| line(&case.key.to_string())).collect(),
        };
        let cases = comparison.cases.into_iter().map(|case| (case.key.clone(), case)).collect();
        Self { cases, header: Some(header) }
    }

    fn said(name: &str, why: &str) -> Self {
        let said = vec![line(&format!("Nothing is compared with the baseline: {why}"))];
        let header = SinceBaseline { name: line(name), said, ..SinceBaseline::default() };
        Self { header: Some(header), ..Self::default() }
    }

    pub(super) fn header(&self) -> Option<SinceBaseline> {
        self.header.clone()
    }

    /// The case of a test on both sides. A skipped test, or one without a run, is on neither.
    pub(super) fn case(&self, test: &TestResult<'_>) -> Option<&ComparedCase> {
        self.cases.get(&key(test)?).filter(|case| case.now.is_some())
    }
}

fn category(comparison: &Comparison, test: &TestResult<'_>) -> Option<Category> {
    let key = key(test)?;
    let at = comparison.cases.binary_search_by(|case| case.key.cmp(&key)).ok()?;
    let case = &comparison.cases[at];
    case.now.as_ref().map(|_| case.category)
}

/// `1a2b3c4 of 2026-11-14, 10 runs a case`.
fn described(baseline: &Baseline) -> String {
    let commits: BTreeSet<String> =
        baseline.lines().filter_map(|line| line.from.commit.as_deref()).map(Revision::short).collect();
    let days: BTreeSet<&str> = baseline.lines().map(|line| line.from.at.as_str()).collect();
    let runs: BTreeSet<usize> = baseline.lines().map(|line| line.runs).collect();
    let commits = match commits.len() {
        0 => "no commit known".to_owned(),
        1 => commits.into_iter().collect(),
        several => count(several, "commit"),
    };
    let ends = |first: String, last: String| if first == last { first } else { format!("{first} to {last}") };
    let days =
        days.first().zip(days.last()).map(|(first, last)| ends((*first).to_owned(), (*last).to_owned()));
    let runs = runs.first().zip(runs.last()).map(|(fewest, most)| match most {
        most if fewest == most => format!("{} a case", count(*most, "run")),
        most => format!("{fewest} to {} a case", count(*most, "run")),
    });
    let of = days.map(|days| format!(" of {days}")).unwrap_or_default();
    [Some(commits + &of), runs].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The line of a row with the category of its case; `None` for a case that is the same.
pub(super) fn row(case: &ComparedCase) -> Option<String> {
    let passes = || format!("{} → {}", passes(case.before.as_ref()), passes(case.now.as_ref()));
    match (case.category, &case.incomparable) {
        (Category::Same | Category::OnlyNow, _) => None,
        (category, Some(why)) => Some(line(&format!("{} with the baseline: {why}", category.words()))),
        (category, None) => Some(line(&format!("{} since the baseline: {}", category.words(), passes()))),
    }
}

/// A case on both sides, as its details show it.
pub fn case_since(case: &ComparedCase) -> CaseSince {
    CaseSince {
        category: case.category.words(),
        before: passes(case.before.as_ref()),
        now: passes(case.now.as_ref()),
        p: case.p.map(p_value),
        why: case.why().as_deref().map(line),
        tokens: case.tokens().map(|median| Some(format!("{:.0}", median?))),
        calls: case.calls().map(|median| Some(median?.to_string())),
        metrics: case.metrics.iter().map(metric).collect(),
        from: case.before.as_ref().map(|it| line(&from(it))),
    }
}

fn metric(change: &MetricChange) -> MetricSince {
    let passed = |runs: Option<[usize; 2]>| {
        let [passed, scored] = runs?;
        Some(PassCount::new(passed.min(scored), scored).unwrap_or_default().to_string())
    };
    MetricSince {
        name: line(&change.name),
        before: passed(change.before),
        now: passed(change.now),
        scores: change.scores.map(|score| Some(short(score?, None))),
        incomparable: change.incomparable.as_deref().map(line),
    }
}

/// `of commit 1a2b3c4, 2026-11-14, in run 2026-11-14T..`.
fn from(before: &Line) -> String {
    let from = &before.from;
    let commit = from.commit.as_deref().map(|commit| format!("commit {}", Revision::short(commit)));
    let runs = (!from.runs.is_empty())
        .then(|| format!("{} {}", if from.runs.len() == 1 { "run" } else { "runs" }, from.runs.join(", ")));
    let parts = [commit, Some(from.at.clone()).filter(|at| !at.is_empty()), runs];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
