//! All cases of two sides, each in a category, and what a gate decides of those that can be compared.

use std::collections::{BTreeMap, BTreeSet};

use super::category::Category;
use super::pair::{MetricChange, metrics_that_fell};
use crate::baseline::{Baseline, Key, Line, incomparable};
use crate::decide::gate::{CaseDecision, CaseRuns, Counts, Decision, Policy, stopped_working};
use crate::decide::usage::{UsageRatio, median};
use crate::statistics::float;

/// A case of either side.
#[derive(Clone, Debug)]
pub struct ComparedCase {
    /// Its identity.
    pub key: Key,
    /// Its runs before.
    pub before: Option<Line>,
    /// Its runs now.
    pub now: Option<Line>,
    /// Its category.
    pub category: Category,
    /// The reason why it cannot be compared.
    pub incomparable: Option<String>,
    /// The probability of a change as large as this one in either direction, if nothing changed: 0 to 1. `None` if it is not
    /// compared, or has no verdict on a side.
    pub p: Option<f64>,
    /// Its counts and what the gate decided of it; `None` if it is not compared.
    #[doc(hidden)]
    pub compared: Option<(Counts, CaseDecision)>,
    /// Its metrics; empty if only one side has it.
    pub metrics: Vec<MetricChange>,
}

impl ComparedCase {
    /// The reason why it cannot be compared, else the metrics that fewer runs passed (a hint, no test).
    pub fn why(&self) -> Option<String> {
        self.incomparable.clone().or_else(|| metrics_that_fell(&self.metrics))
    }

    /// Whether fewer of its runs passed a metric, with the same verdict. Such cases are listed apart.
    pub fn is_same_but_for_a_metric(&self) -> bool {
        self.category == Category::Same && metrics_that_fell(&self.metrics).is_some()
    }

    /// The median of the tokens of a run before, and now.
    pub fn tokens(&self) -> [Option<f64>; 2] {
        self.medians(tokens)
    }

    /// The median of the tool calls of a run before, and now.
    pub fn calls(&self) -> [Option<f64>; 2] {
        self.medians(calls)
    }

    fn medians(&self, numbers: fn(&Line) -> Vec<f64>) -> [Option<f64>; 2] {
        [&self.before, &self.now].map(|line| median(&numbers(line.as_ref()?)))
    }
}

#[expect(clippy::cast_precision_loss, reason = "tokens of a run are far below 2^53")]
fn tokens(line: &Line) -> Vec<f64> {
    line.tokens.iter().flatten().map(|tokens| *tokens as f64).collect()
}

fn calls(line: &Line) -> Vec<f64> {
    line.calls.iter().map(|calls| float(*calls)).collect()
}

/// Two builds compared.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The cases of either side, sorted.
    pub cases: Vec<ComparedCase>,
    /// The probability of a change as large as this one over the cases together in either direction, if nothing changed: 0 to 1.
    pub p: f64,
    /// The decision of a gate on the cases that can be compared.
    #[doc(hidden)]
    pub decision: Decision,
    /// The tokens of the cases that ask the same; `None` if none has any on both sides.
    pub tokens: Option<UsageRatio>,
    /// Their tool calls.
    pub calls: Option<UsageRatio>,
    /// The levels of the gate.
    #[doc(hidden)]
    pub policy: Policy,
}

impl Comparison {
    /// Compares two sides. `first` has the first runs of each case now; further runs of suspects are in `now` alone.
    #[doc(hidden)]
    pub fn new(before: &Baseline, now: &Baseline, first: &Baseline, policy: Policy) -> Self {
        let keys: BTreeSet<Key> = before.lines().chain(now.lines()).map(Line::key).collect();
        let pairs: Vec<Pair<'_>> = keys
            .into_iter()
            .map(|key| Pair::new(before.get(&key), now.get(&key), first.get(&key), key))
            .collect();
        // Each direction has its own cases: one without a verdict before shows no drop, and one without a verdict now shows no rise.
        let (decision, worse) = decided(policy, pairs.iter().map(Pair::counts));
        let (mirrored, better) = decided(policy, pairs.iter().map(Pair::mirrored));
        let cases = pairs.iter().zip(worse).zip(better).map(|((pair, worse), better)| ComparedCase {
            key: pair.key.clone(),
            before: pair.before.cloned(),
            now: pair.now.cloned(),
            category: pair.category(is_shown(worse), is_shown(better)),
            incomparable: pair.incomparable.clone(),
            p: worse.zip(better).map(|((_, worse), (_, better))| two_sided(worse.p, better.p)),
            compared: worse,
            metrics: pair.both().map(|(before, now)| MetricChange::all(before, now)).unwrap_or_default(),
        });
        let (tokens, calls) = (usage(&pairs, tokens), usage(&pairs, calls));
        let p = two_sided(decision.p, mirrored.p);
        Self { cases: cases.collect(), p, decision, tokens, calls, policy }
    }

    /// The cases that are compared, each with its counts and what was decided of it.
    #[doc(hidden)]
    pub fn compared(&self) -> impl Iterator<Item = (&ComparedCase, Counts, CaseDecision)> {
        self.cases.iter().filter_map(|case| case.compared.map(|(counts, decision)| (case, counts, decision)))
    }

    /// The counts of the cases that are compared.
    #[doc(hidden)]
    pub fn counts(&self) -> Vec<Counts> {
        self.compared().map(|(_, counts, _)| counts).collect()
    }

    /// The cases of a category.
    pub fn of(&self, category: Category) -> impl Iterator<Item = &ComparedCase> {
        self.cases.iter().filter(move |case| case.category == category)
    }

    /// The number of cases of each category that has any.
    pub fn counted(&self) -> BTreeMap<Category, usize> {
        let mut counted = BTreeMap::new();
        for case in &self.cases {
            *counted.entry(case.category).or_insert(0) += 1;
        }
        counted
    }

    /// Whether no case is compared, or fewer than half of the cases that both sides should have.
    pub fn is_mostly_incomparable(&self) -> bool {
        let compared = self.compared().count();
        compared == 0 || 2 * compared < self.cases.len()
    }
}

/// A case that can show a drop, or a rise, with what was decided of it.
type Shown = Option<(Counts, CaseDecision)>;

/// The decision on the cases that have counts, as a whole and in their places.
fn decided(policy: Policy, counts: impl Iterator<Item = Option<Counts>>) -> (Decision, Vec<Shown>) {
    let counts: Vec<Option<Counts>> = counts.collect();
    let decision = policy.decide(&counts.iter().copied().flatten().collect::<Vec<_>>());
    let mut of_cases = decision.cases.iter().copied();
    let cases = counts.into_iter().map(|counts| Some((counts?, of_cases.next()?))).collect();
    (decision, cases)
}

/// The p-value of both directions: twice the smaller one of the two. Each is the highest that runs without a verdict allow.
fn two_sided(worse: f64, better: f64) -> f64 {
    (2.0 * worse.min(better)).min(1.0)
}

fn is_shown(case: Shown) -> bool {
    case.is_some_and(|(_, decision)| decision.is_shown)
}

/// The usage of cases on both sides. A case may expect something else now: what it takes is compared anyway, if it asks the
/// same.
fn usage(pairs: &[Pair<'_>], numbers: impl Fn(&Line) -> Vec<f64>) -> Option<UsageRatio> {
    let both = pairs.iter().filter_map(Pair::both).filter(|(before, now)| before.asks == now.asks);
    let numbers: Vec<(Vec<f64>, Vec<f64>)> =
        both.map(|(before, now)| (numbers(before), numbers(now))).collect();
    UsageRatio::new(numbers.iter().map(|(before, now)| (before.as_slice(), now.as_slice())))
}

struct Pair<'l> {
    key: Key,
    before: Option<&'l Line>,
    now: Option<&'l Line>,
    first: Option<&'l Line>,
    incomparable: Option<String>,
}

impl<'l> Pair<'l> {
    fn new(before: Option<&'l Line>, now: Option<&'l Line>, first: Option<&'l Line>, key: Key) -> Self {
        let incomparable = before.zip(now).and_then(|(before, now)| incomparable(before, now));
        Self { key, before, now, first, incomparable }
    }

    fn both(&self) -> Option<(&'l Line, &'l Line)> {
        self.before.zip(self.now)
    }

    /// The runs that can show a drop. A case without any verdict before shows none. One without any verdict now may have
    /// dropped.
    fn counts(&self) -> Option<Counts> {
        let (before, now) = self.runs()?;
        let first = self.first.map_or(now, Line::case_runs);
        (before.judged.total() > 0).then_some(Counts { before, first, now })
    }

    /// The runs that can show a rise: the sides change places.
    fn mirrored(&self) -> Option<Counts> {
        let (before, now) = self.runs()?;
        (now.judged.total() > 0).then(|| Counts::new(now, before))
    }

    fn runs(&self) -> Option<(CaseRuns, CaseRuns)> {
        let (before, now) = self.both().filter(|_| self.incomparable.is_none())?;
        Some((before.case_runs(), now.case_runs()))
    }

    fn category(&self, is_worse: bool, is_better: bool) -> Category {
        let Some((before, now)) = self.both() else {
            return if self.before.is_some() { Category::OnlyBefore } else { Category::OnlyNow };
        };
        if self.incomparable.is_some() {
            return Category::Incomparable;
        }
        let [before, now] = [before, now].map(Line::with_verdict);
        match (before.total() > 0, now.total() > 0) {
            (false, false) => return Category::NoVerdict,
            (false, true) => return Category::Recovered,
            (true, false) => return Category::ErrorNow,
            (true, true) => {}
        }
        if is_worse {
            Category::Regressed
        } else if is_better {
            Category::Improved
        } else if stopped_working(before, now) {
            Category::NewlyFailing
        } else if stopped_working(now, before) {
            Category::NewlyPassing
        } else if now.is_below(before) {
            Category::Fell
        } else if before.is_below(now) {
            Category::Rose
        } else {
            Category::Same
        }
    }
}
