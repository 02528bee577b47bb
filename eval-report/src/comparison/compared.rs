//! All cases of two sides, each in a category, and what a gate decides of those that can be compared.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::category::Category;
use super::pair::{MetricChange, incomparable};
use crate::baseline::{Baseline, Key, Line};
use crate::decide::gate::{CaseDecision, Counts, Decision, Policy, Side};
use crate::decide::usage::Usage;
use crate::statistics::{PassCount, float};

/// A case of either side.
#[derive(Clone, Debug)]
pub struct ComparedCase {
    /// Its identity.
    pub key: Key,
    /// Its runs before.
    pub before: Option<Line>,
    /// Its runs now.
    pub now: Option<Line>,
    /// What became of it.
    pub category: Category,
    /// Why it cannot be compared.
    pub incomparable: Option<String>,
    /// What the gate decided of it; `None` if it is not compared.
    pub decision: Option<CaseDecision>,
    /// Its metrics; empty if only one side has it.
    pub metrics: Vec<MetricChange>,
}

/// Two builds compared.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The cases of either side, sorted.
    pub cases: Vec<ComparedCase>,
    /// What a gate decides of the cases that can be compared.
    pub decision: Decision,
    /// The runs of these cases, in their order in `cases`.
    pub counts: Vec<Counts>,
    /// The tokens of the cases that ask the same; `None` if none has any on both sides.
    pub tokens: Option<Usage>,
    /// Their tool calls.
    pub calls: Option<Usage>,
    /// The levels of the gate.
    pub policy: Policy,
}

impl Comparison {
    /// Compares two sides. `first` has the first runs of each case now; further runs of suspects are in `now` alone.
    #[expect(clippy::cast_precision_loss, reason = "tokens of a run are far below 2^53")]
    pub fn new(before: &Baseline, now: &Baseline, first: &Baseline, policy: Policy) -> Self {
        let keys: BTreeSet<Key> = before.lines().chain(now.lines()).map(Line::key).collect();
        let pairs: Vec<Pair<'_>> = keys
            .into_iter()
            .map(|key| Pair::new(before.get(&key), now.get(&key), first.get(&key), key))
            .collect();
        // Each direction has its own cases: one without a verdict before shows no drop, and one without a verdict now shows no rise.
        let worse = Direction::new(&pairs, policy, |pair, cases| pair.counts(policy, cases));
        let better = Direction::new(&pairs, policy, |pair, _| pair.mirrored());
        let cases = pairs.iter().enumerate().map(|(at, pair)| {
            let of = |direction: &Direction| Some(direction.decision.cases[*direction.index.get(&at)?]);
            let decision = of(&worse);
            ComparedCase {
                key: pair.key.clone(),
                before: pair.before.cloned(),
                now: pair.now.cloned(),
                category: pair.category(decision, of(&better)),
                incomparable: pair.incomparable.clone(),
                decision,
                metrics: pair.both().map(|(before, now)| MetricChange::all(before, now)).unwrap_or_default(),
            }
        });
        let tokens =
            usage(&pairs, |line| line.tokens.iter().flatten().map(|tokens| *tokens as f64).collect());
        let calls = usage(&pairs, |line| line.calls.iter().map(|calls| float(*calls)).collect());
        Self { cases: cases.collect(), decision: worse.decision, counts: worse.counts, tokens, calls, policy }
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

    /// Whether fewer than half of the cases that both sides should have can be compared.
    pub fn is_mostly_incomparable(&self) -> bool {
        2 * self.counts.len() < self.cases.len()
    }
}

/// The decision on the cases that can show a drop, or a rise.
struct Direction {
    decision: Decision,
    counts: Vec<Counts>,
    /// The index of the counts of each pair that has any.
    index: HashMap<usize, usize>,
}

impl Direction {
    fn new(pairs: &[Pair<'_>], policy: Policy, counts: impl Fn(&Pair<'_>, usize) -> Option<Counts>) -> Self {
        let compared = pairs.iter().filter(|pair| counts(pair, 1).is_some()).count();
        let of = |(at, pair): (usize, &Pair<'_>)| Some((at, counts(pair, compared)?));
        let (at, counts): (Vec<usize>, Vec<Counts>) = pairs.iter().enumerate().filter_map(of).unzip();
        let index = at.into_iter().zip(0..).collect();
        Self { decision: policy.decide(&counts), counts, index }
    }
}

/// What cases took on both sides. A case may expect something else now: what it takes is compared all the same, if it asks the
/// same.
fn usage(pairs: &[Pair<'_>], numbers: impl Fn(&Line) -> Vec<f64>) -> Option<Usage> {
    let both = pairs.iter().filter_map(Pair::both).filter(|(before, now)| before.asks == now.asks);
    let numbers: Vec<(Vec<f64>, Vec<f64>)> =
        both.map(|(before, now)| (numbers(before), numbers(now))).collect();
    Usage::new(numbers.iter().map(|(before, now)| (before.as_slice(), now.as_slice())))
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
    fn counts(&self, policy: Policy, cases: usize) -> Option<Counts> {
        let (before, now) = self.sides()?;
        let first = self.first.map_or(now, Line::side);
        let mut counts = Counts { before, first, now, planned: 0 };
        counts.planned = policy.planned(&counts, cases);
        (before.runs.total() > 0).then_some(counts)
    }

    /// The runs that can show a rise: the sides change places.
    fn mirrored(&self) -> Option<Counts> {
        let (before, now) = self.sides()?;
        (now.runs.total() > 0).then(|| Counts::new(now, before))
    }

    fn sides(&self) -> Option<(Side, Side)> {
        let (before, now) = self.both().filter(|_| self.incomparable.is_none())?;
        Some((before.side(), now.side()))
    }

    fn category(&self, worse: Option<CaseDecision>, better: Option<CaseDecision>) -> Category {
        let Some((before, now)) = self.both() else {
            return if self.before.is_some() { Category::OnlyBefore } else { Category::OnlyNow };
        };
        if self.incomparable.is_some() {
            return Category::Incomparable;
        }
        let has_verdict = |line: &Line| line.with_verdict().total() > 0;
        match (has_verdict(before), has_verdict(now)) {
            (false, false) => return Category::NoVerdict,
            (false, true) => return Category::Recovered,
            (true, false) => return Category::ErrorNow,
            (true, true) => {}
        }
        let [one, other] = [before, now].map(Line::with_verdict);
        let is_dead =
            |one: PassCount, other: PassCount| 2 * one.passed() > one.total() && other.passed() == 0;
        let is_shown = |decision: Option<CaseDecision>| decision.is_some_and(|decision| decision.is_shown);
        if is_shown(worse) {
            Category::Regressed
        } else if is_shown(better) {
            Category::Improved
        } else if is_dead(one, other) {
            Category::NewlyFailing
        } else if is_dead(other, one) {
            Category::NewlyPassing
        } else if other.is_below(one) {
            Category::Fell
        } else if one.is_below(other) {
            Category::Rose
        } else {
            Category::Same
        }
    }
}
