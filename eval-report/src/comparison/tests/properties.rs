//! Properties of comparisons of any two sides.

use proptest::prelude::*;

use super::{line, same};
use crate::baseline::{Baseline, Line};
use crate::comparison::{Category, ComparedCase, Comparison, GateOptions, Gated};
use crate::decide::gate::Policy;
use crate::output::Outcome;
use crate::statistics::PassCount;

/// One of the lines that a case may have on a side, or none.
fn any_line(case: usize) -> impl Strategy<Value = Option<Line>> {
    let counts = (1_usize..6)
        .prop_flat_map(|runs| (Just(runs), 0..=runs))
        .prop_flat_map(|(runs, errors)| (Just(runs), Just(errors), 0..=runs - errors));
    let kinds = (counts, 0_usize..4, 0_usize..4, 0_usize..4);
    proptest::option::weighted(0.9, kinds).prop_map(move |kinds| {
        let ((runs, errors, passed), asks, expects, criterion) = kinds?;
        let mut line = line(&format!("{case:03}"), passed, runs, errors);
        line.asks = format!("a{}", asks / 3);
        line.expects = format!("e{}", expects / 3);
        line.metrics.values_mut().for_each(|metric| metric.criterion = format!("c{}", criterion / 3));
        Some(line)
    })
}

fn any_side() -> impl Strategy<Value = Vec<Option<Line>>> {
    (0..8).map(any_line).collect::<Vec<_>>()
}

/// The categories that fit a case, by their definitions. `better` is the same case with its sides in each other's place.
fn fitting(worse: &ComparedCase, better: &ComparedCase) -> Vec<Category> {
    let (before, now) = (worse.before.as_ref(), worse.now.as_ref());
    let Some((one, other)) = before.zip(now) else {
        return vec![if before.is_some() { Category::OnlyBefore } else { Category::OnlyNow }];
    };
    let criterion = |line: &Line| line.metrics["safety_v1"].criterion.clone();
    if (&one.asks, &one.expects, criterion(one)) != (&other.asks, &other.expects, criterion(other)) {
        return vec![Category::Incomparable];
    }
    let of = |line: &Line| (line.passed, line.runs - line.errors);
    let ((passed, judged), (passed_now, judged_now)) = (of(one), of(other));
    let is_shown = |case: &ComparedCase| case.compared.is_some_and(|(_, decision)| decision.is_shown);
    let is_shown = is_shown(worse) || is_shown(better);
    let is_dead = |passed: usize, judged: usize, now: usize| 2 * passed > judged && now == 0;
    let is_open = judged > 0 && judged_now > 0 && !is_shown;
    let is_lower = passed_now * judged < passed * judged_now;
    let is_higher = passed_now * judged > passed * judged_now;
    let newly = is_dead(passed, judged, passed_now) || is_dead(passed_now, judged_now, passed);
    let all = [
        (Category::NoVerdict, judged == 0 && judged_now == 0),
        (Category::Recovered, judged == 0 && judged_now > 0),
        (Category::ErrorNow, judged > 0 && judged_now == 0),
        (Category::Regressed, judged > 0 && judged_now > 0 && is_shown && is_lower),
        (Category::Improved, judged > 0 && judged_now > 0 && is_shown && is_higher),
        (Category::NewlyFailing, is_open && is_lower && newly),
        (Category::NewlyPassing, is_open && is_higher && newly),
        (Category::Fell, is_open && is_lower && !newly),
        (Category::Rose, is_open && is_higher && !newly),
        (Category::Same, is_open && !is_lower && !is_higher),
    ];
    all.into_iter().filter(|(_, fits)| *fits).map(|(category, _)| category).collect()
}

/// The category of the same case if the sides change places.
fn mirrored(category: Category) -> Category {
    let pairs = [
        (Category::Regressed, Category::Improved),
        (Category::NewlyFailing, Category::NewlyPassing),
        (Category::ErrorNow, Category::Recovered),
        (Category::Fell, Category::Rose),
        (Category::OnlyBefore, Category::OnlyNow),
    ];
    let other = pairs.into_iter().find_map(|(one, other)| match category {
        _ if category == one => Some(other),
        _ if category == other => Some(one),
        _ => None,
    });
    other.unwrap_or(category)
}

/// The line of a case that was run again.
fn run_again(line: &Line, passed: usize, failed: usize) -> Line {
    let (runs, passed) = (line.runs + passed + failed, line.passed + passed);
    let mut again = Line { runs, passed, ..line.clone() };
    for metric in again.metrics.values_mut() {
        metric.passed = passed;
        metric.scores.resize(runs, None);
    }
    again
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_case_has_one_category_and_swapped_sides_mirror_it(one in any_side(), other in any_side()) {
        let (one, other): (Baseline, Baseline) =
            (one.into_iter().flatten().collect(), other.into_iter().flatten().collect());
        let there = Comparison::new(&one, &other, &other, Policy::default());
        let back = Comparison::new(&other, &one, &one, Policy::default());
        let all: std::collections::BTreeSet<_> = one.lines().chain(other.lines()).map(Line::key).collect();
        prop_assert!(there.cases.iter().map(|case| &case.key).eq(all.iter()));
        for (there, back) in there.cases.iter().zip(&back.cases) {
            prop_assert_eq!(fitting(there, back), [there.category], "{}", there.key);
            prop_assert_eq!(mirrored(there.category), back.category, "{}", there.key);
            prop_assert!(same(there.p, back.p), "{}: {:?} and {:?}", there.key, there.p, back.p);
        }
        prop_assert!(same(Some(there.p), Some(back.p)), "{} and {}", there.p, back.p);
        // What is decided is about the cases that both sides have and that have a verdict before, and about no others.
        let compared: Vec<_> = there.compared().map(|(case, ..)| case.key.clone()).collect();
        let can_be = |case: &&ComparedCase| {
            let had_verdict = case.before.as_ref().is_some_and(|line| line.with_verdict() != PassCount::default());
            case.now.is_some() && case.incomparable.is_none() && had_verdict
        };
        let expected: Vec<_> = there.cases.iter().filter(can_be).map(|case| case.key.clone()).collect();
        prop_assert_eq!(compared, expected);
        let gated = Gated::new(there, &GateOptions { allow_removed: true, ..GateOptions::default() });
        if gated.outcome() == Outcome::Passed {
            prop_assert!(gated.comparison.compared().count() > 0);
            let worse = [Category::Regressed, Category::NewlyFailing, Category::ErrorNow];
            prop_assert!(worse.into_iter().all(|category| gated.comparison.of(category).next().is_none()));
        }
    }

    #[test]
    fn suspects_that_ran_again_have_one_category_and_leave_the_test_of_the_set_alone(
        one in any_side(),
        other in any_side(),
        further in proptest::collection::vec((0_usize..4, 0_usize..4), 8),
    ) {
        let again: Baseline = other
            .iter()
            .zip(further)
            .filter_map(|(line, (passed, failed))| Some(run_again(line.as_ref()?, passed, failed)))
            .collect();
        let (one, first): (Baseline, Baseline) =
            (one.into_iter().flatten().collect(), other.into_iter().flatten().collect());
        let comparison = Comparison::new(&one, &again, &first, Policy::default());
        let without = Comparison::new(&one, &first, &first, Policy::default());
        let all: std::collections::BTreeSet<_> = one.lines().chain(again.lines()).map(Line::key).collect();
        prop_assert_eq!(comparison.counted().into_values().sum::<usize>(), all.len());
        let mirror = Comparison::new(&again, &one, &one, Policy::default());
        for (case, back) in comparison.cases.iter().zip(&mirror.cases) {
            prop_assert_eq!(fitting(case, back), [case.category], "{}", case.key);
        }
        // A case without a verdict first may have one now, and is compared in both.
        prop_assert_eq!(comparison.decision.p.to_bits(), without.decision.p.to_bits());
        prop_assert_eq!(comparison.decision.p_of_worst.to_bits(), without.decision.p_of_worst.to_bits());
        for (case, counts, _) in comparison.compared() {
            prop_assert_eq!(Some(counts.first), first.get(&case.key).map(Line::case_runs));
        }
    }
}
