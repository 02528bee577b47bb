//! The decision of a gate: whether the runs of this build show that it is worse than a baseline.
//!
//! Two tests decide, each at half of the level: one over the cases of the set together, and one for each case with Holm's
//! correction over all compared cases. Runs without a verdict count as bounds: a decision holds only if it holds for the best and
//! for the worst that they could have been.

use super::exact::{
    SIGNIFICANCE_LEVEL, Stratum, fisher, holm, holm_limits, is_at_most, is_shown_over_cases, over_cases,
};
use crate::statistics::{PassCount, float};

/// The runs of a case in one build.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaseRuns {
    /// The runs with a verdict.
    pub judged: PassCount,
    /// The runs without one.
    pub errors: usize,
}

impl CaseRuns {
    /// The number of runs that were made, with a verdict or without.
    pub fn made(self) -> usize {
        self.judged.total() + self.errors
    }

    /// All runs, if those without a verdict had passed or failed.
    fn with_errors(self, passed: bool) -> PassCount {
        let more = if passed { self.errors } else { 0 };
        counted(self.judged.passed() + more, self.made())
    }
}

/// Whether a case that passed more than half of its runs before passes none now.
pub(crate) fn stopped_working(before: PassCount, now: PassCount) -> bool {
    2 * before.passed() > before.total() && now.passed() == 0 && now.total() > 0
}

fn counted(passed: usize, total: usize) -> PassCount {
    PassCount::new(passed, total).unwrap_or_default()
}

/// A compared case: its runs in the baseline and now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// The runs of the baseline.
    pub before: CaseRuns,
    /// The first runs of this build, as many as each case has. The test over the cases reads no others: a case is run again because
    /// it failed, so its further runs would bias a sum.
    pub first: CaseRuns,
    /// All runs of this build, the first ones too.
    pub now: CaseRuns,
}

impl Counts {
    /// A case that was not run again.
    pub fn new(before: CaseRuns, now: CaseRuns) -> Self {
        Self { before, first: now, now }
    }

    /// Whether a smaller share of its runs passed than before.
    pub fn fell(&self) -> bool {
        self.now.judged.is_below(self.before.judged)
    }

    /// The case as the test of cases sees it. `best` says what runs without a verdict would have been. The planned runs that
    /// were not made always count as passed: a case is stopped only once they could change nothing.
    fn stratum(&self, planned: usize, best: bool) -> Stratum {
        let now = self.now.with_errors(best);
        let left = planned.saturating_sub(now.total());
        Stratum {
            before: self.before.with_errors(!best),
            now: counted(now.passed() + left, now.total() + left),
        }
    }

    fn first_stratum(&self, best: bool) -> Stratum {
        Stratum { before: self.before.with_errors(!best), now: self.first.with_errors(best) }
    }

    fn is_dead(&self, best: bool) -> bool {
        stopped_working(self.before.with_errors(!best), self.now.with_errors(best))
    }
}

/// The levels of a gate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// The share of builds in which nothing changed that may be called a regression, 0 to 1. Each of the two tests has half of it.
    pub level: f64,
    /// The runs that a suspect gets at most, its first ones too.
    pub max_runs: usize,
}

impl Default for Policy {
    fn default() -> Self {
        Self { level: SIGNIFICANCE_LEVEL, max_runs: 20 }
    }
}

/// The number of further runs of a suspect that no number of runs could show.
const RUNS_OF_HOPELESS: usize = 5;

impl Policy {
    /// The level of each of the two tests.
    pub fn level_of_test(&self) -> f64 {
        self.level / 2.0
    }

    /// The p-value up to which the first of a number of cases is shown to be worse.
    pub fn limit_of_case(&self, cases: usize) -> f64 {
        self.level_of_test() / float(cases.max(1))
    }

    /// The next step of a case after its runs so far. `cases` is the number of compared cases.
    pub fn next(&self, case: &Counts, cases: usize) -> Next {
        self.next_by(case, cases, &mut fisher)
    }

    /// The next step of a case after its runs so far, with a way to Fisher's test that may know its values.
    pub(crate) fn next_by(&self, case: &Counts, cases: usize, p_of: &mut impl FnMut(Stratum) -> f64) -> Next {
        if self.left_by(case, cases, p_of) > 0 { Next::Run } else { Next::Stop }
    }

    /// The most further runs of a case after its runs so far; 0 if it is no suspect, and if what they would be decides nothing.
    ///
    /// A suspect that passes again as often as before stays one: its runs that are left could still fail.
    ///
    /// ```
    /// use eval_report::decide::gate::{CaseRuns, Counts, Policy};
    /// use eval_report::statistics::PassCount;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let runs = |passed, total| Ok::<_, Box<dyn std::error::Error>>(CaseRuns { judged: PassCount::new(passed, total)?, errors: 0 });
    /// let policy = Policy::default();
    /// assert_eq!(policy.left(&Counts::new(runs(10, 10)?, runs(0, 3)?), 20), 17);
    /// // No number of runs shows it, so that five more tell whether it works at all.
    /// assert_eq!(policy.left(&Counts::new(runs(1, 1)?, runs(0, 1)?), 20), 5);
    /// assert_eq!(policy.left(&Counts::new(runs(10, 10)?, runs(3, 3)?), 20), 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn left(&self, case: &Counts, cases: usize) -> usize {
        self.left_by(case, cases, &mut fisher)
    }

    fn left_by(&self, case: &Counts, cases: usize, p_of: &mut impl FnMut(Stratum) -> f64) -> usize {
        let limit = self.limit_of_case(cases);
        let before = case.before.judged;
        // A run without a verdict is a run that was made: an agent that only breaks would be run for ever.
        let made = case.now.made();
        let left = self.max_runs.saturating_sub(made);
        if !case.first.judged.is_below(before) || left == 0 {
            return 0;
        }
        let mut of_all = |passed| p_of(Stratum { before, now: counted(passed, self.max_runs) });
        if !is_at_most(of_all(0), limit) {
            // No number of runs shows it. A single pass tells that the case still works.
            let further = made.saturating_sub(case.first.made());
            let of_hopeless = RUNS_OF_HOPELESS.saturating_sub(further).min(left);
            return if case.is_dead(false) { of_hopeless } else { 0 };
        }
        // A regression holds for the best that runs without a verdict could have been.
        let passed = case.now.judged.passed() + case.now.errors;
        let is_certain = is_at_most(of_all(passed + left), limit);
        let is_out_of_reach = !is_at_most(of_all(passed), limit);
        if is_certain || is_out_of_reach { 0 } else { left }
    }

    /// The runs that are planned for a case. Of one that was run again it is `max_runs`, unless no number of runs could show it: if it
    /// was stopped early, that is more than were made.
    pub fn planned(&self, case: &Counts, cases: usize) -> usize {
        self.planned_by(case, cases, &mut fisher)
    }

    pub(crate) fn planned_by(
        &self,
        case: &Counts,
        cases: usize,
        p_of: &mut impl FnMut(Stratum) -> f64,
    ) -> usize {
        let made = case.now.made();
        let worst = Stratum { before: case.before.judged, now: counted(0, self.max_runs) };
        if made > case.first.made() && is_at_most(p_of(worst), self.limit_of_case(cases)) {
            made.max(self.max_runs)
        } else {
            made
        }
    }

    /// Whether a drop is shown by runs that all have a verdict, and nothing else about it.
    pub(crate) fn is_shown_by(&self, cases: &[Counts], p_of: &mut impl FnMut(Stratum) -> f64) -> bool {
        // Holm's procedure rejects any only if it rejects the least.
        let limit = self.limit_of_case(cases.len());
        let mut is_shown = |case: &Counts| {
            let planned = self.planned_by(case, cases.len(), p_of);
            is_at_most(p_of(case.stratum(planned, true)), limit)
        };
        cases.iter().any(&mut is_shown) || {
            let first: Vec<Stratum> = cases.iter().map(|case| case.first_stratum(true)).collect();
            is_shown_over_cases(&first, self.level_of_test())
        }
    }

    /// The failures in a row now that show a case which passed a number of runs before; `None` if no number up to `most` does.
    pub fn failures_needed(&self, before: PassCount, cases: usize, most: usize) -> Option<usize> {
        let limit = self.limit_of_case(cases);
        let is_enough =
            |failures: usize| is_at_most(fisher(Stratum { before, now: counted(0, failures) }), limit);
        // More failures show more.
        let (mut low, mut high) = (1, most);
        if most == 0 || !is_enough(most) {
            return None;
        }
        while low < high {
            let middle = low.midpoint(high);
            if is_enough(middle) { high = middle } else { low = middle + 1 }
        }
        Some(low)
    }

    /// Decides. `cases` are all compared cases: those on both sides that mean the same, with a verdict before.
    pub fn decide(&self, cases: &[Counts]) -> Decision {
        let [best, worst] = [true, false].map(|best| World::new(self, cases, best));
        let verdict = match (best.verdict(), worst.verdict()) {
            (GateVerdict::Regression, _) => GateVerdict::Regression,
            (best, worst) if best == worst => best,
            _ => GateVerdict::Unmeasurable,
        };
        let limits = holm_limits(&best.p_values, self.level_of_test());
        let decided = |at: usize| CaseDecision {
            limit: limits[at],
            p: best.p_values[at],
            p_of_worst: worst.p_values[at],
            is_shown: best.is_shown[at],
            is_dead: best.is_dead[at],
            may_be_worse: worst.is_shown[at] && !best.is_shown[at] || worst.is_dead[at] && !best.is_dead[at],
        };
        Decision {
            verdict,
            p: best.p,
            p_of_worst: worst.p,
            is_shown: is_at_most(best.p, self.level_of_test()),
            cases: (0..cases.len()).map(decided).collect(),
        }
    }
}

/// The next step of a case after its runs so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It is no suspect, or what further runs would be decides nothing.
    Stop,
    /// It is run again.
    Run,
}

/// The verdict of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateVerdict {
    /// No drop is shown.
    Pass,
    /// The set or a case is shown to be worse.
    Regression,
    /// A case that passed more than half of its runs passes none now, and the numbers of runs are too small to show it. Or there is no
    /// case to compare.
    CannotTell,
    /// The verdict depends on what runs without a verdict would have been.
    Unmeasurable,
}

/// The decision of a gate, and its numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The verdict.
    pub verdict: GateVerdict,
    /// The p-value over the cases, if runs without a verdict were the best they could be.
    pub p: f64,
    /// The p-value over the cases, if runs without a verdict were the worst.
    pub p_of_worst: f64,
    /// Whether the set is shown to be worse, whatever runs without a verdict were.
    pub is_shown: bool,
    /// The decision on each case, in the order of the cases.
    pub cases: Vec<CaseDecision>,
}

/// The decision of a gate on a case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CaseDecision {
    /// The p-value of the case, if runs without a verdict were the best they could be. Planned runs that were not made count as
    /// passed, so that it is at most this.
    pub p: f64,
    /// The p-value of the case, if runs without a verdict were the worst.
    pub p_of_worst: f64,
    /// The limit that Holm's procedure applies to `p`: its rank decides.
    pub limit: f64,
    /// Whether the case is shown to be worse, whatever runs without a verdict were.
    pub is_shown: bool,
    /// Whether it passed more than half of its runs before and none now, and is not shown.
    pub is_dead: bool,
    /// Whether it would be shown, or dead, if runs without a verdict had failed.
    pub may_be_worse: bool,
}

/// The decision, if runs without a verdict were all the best or all the worst that they could be.
struct World {
    p: f64,
    is_set_shown: bool,
    p_values: Vec<f64>,
    is_shown: Vec<bool>,
    is_dead: Vec<bool>,
}

impl World {
    fn new(policy: &Policy, cases: &[Counts], best: bool) -> Self {
        let first: Vec<Stratum> = cases.iter().map(|case| case.first_stratum(best)).collect();
        let p = over_cases(&first);
        let p_values: Vec<f64> =
            cases.iter().map(|case| fisher(case.stratum(policy.planned(case, cases.len()), best))).collect();
        let is_shown = holm(&p_values, policy.level_of_test());
        let is_dead = cases.iter().zip(&is_shown).map(|(case, shown)| !shown && case.is_dead(best)).collect();
        Self { p, is_set_shown: is_at_most(p, policy.level_of_test()), p_values, is_shown, is_dead }
    }

    fn verdict(&self) -> GateVerdict {
        if self.is_set_shown || self.is_shown.contains(&true) {
            GateVerdict::Regression
        } else if self.is_dead.contains(&true) || self.p_values.is_empty() {
            GateVerdict::CannotTell
        } else {
            GateVerdict::Pass
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use GateVerdict::{CannotTell, Pass, Regression, Unmeasurable};

    use super::*;

    fn side((passed, total): (usize, usize)) -> CaseRuns {
        CaseRuns { judged: counted(passed, total), errors: 0 }
    }

    fn case(before: (usize, usize), now: (usize, usize)) -> Counts {
        Counts::new(side(before), side(now))
    }

    /// A case with errors now.
    fn broken(before: (usize, usize), now: (usize, usize), errors: usize) -> Counts {
        Counts::new(side(before), CaseRuns { errors, ..side(now) })
    }

    /// This case, and a number of cases that did not change.
    fn among(cases: usize, first: Counts, other: Counts) -> Vec<Counts> {
        let mut all = vec![other; cases - 1];
        all.insert(0, first);
        all
    }

    fn verdict(cases: &[Counts]) -> GateVerdict {
        Policy::default().decide(cases).verdict
    }

    #[test]
    fn a_case_that_stopped_working_is_shown_by_runs_enough_and_otherwise_nothing_can_be_told() {
        let once = among(20, case((1, 1), (0, 1)), case((1, 1), (1, 1)));
        assert_eq!(verdict(&once), CannotTell);
        let five_more = Counts { now: side((0, 6)), ..once[0] };
        assert_eq!(verdict(&among(20, five_more, once[1])), CannotTell);
        // One that passes again works.
        let again = Counts { now: side((1, 2)), ..once[0] };
        assert_eq!(verdict(&among(20, again, once[1])), Pass);
        assert_eq!(verdict(&among(20, case((10, 10), (0, 4)), case((10, 10), (4, 4)))), Regression);
        // By itself it is not shown, and over the cases it is.
        assert_eq!(verdict(&among(20, case((10, 10), (0, 3)), case((10, 10), (3, 3)))), Regression);
        assert_eq!(verdict(&among(20, case((5, 5), (0, 1)), case((5, 5), (1, 1)))), CannotTell);
        assert_eq!(verdict(&among(20, case((3, 3), (2, 3)), case((3, 3), (3, 3)))), Pass);
        assert_eq!(verdict(&among(20, case((3, 3), (0, 3)), case((3, 3), (3, 3)))), CannotTell);
        // It passed half of its runs before: none now is no surprise.
        assert_eq!(verdict(&among(20, case((1, 2), (0, 1)), case((2, 2), (1, 1)))), Pass);
        // Nothing was compared.
        assert_eq!(verdict(&[]), CannotTell);
    }

    #[test]
    fn many_small_drops_are_a_regression_of_the_set_and_gains_elsewhere_are_counted_against_them() {
        let worse = vec![case((1, 1), (0, 1)); 6];
        let decision = Policy::default().decide(&worse);
        assert_eq!((decision.verdict, decision.is_shown), (Regression, true));
        assert!(decision.cases.iter().all(|case| !case.is_shown));
        let mixed = [vec![case((1, 1), (0, 1)); 20], vec![case((0, 1), (1, 1)); 20]].concat();
        let decision = Policy::default().decide(&mixed);
        assert!(!decision.is_shown && decision.p > 0.5);
    }

    #[test]
    fn runs_without_a_verdict_decide_only_what_holds_for_the_best_and_the_worst_of_them() {
        for (case, expected) in [
            (broken((10, 10), (0, 7), 3), Regression),
            (broken((10, 10), (2, 9), 1), Regression),
            (broken((10, 10), (6, 8), 2), Pass),
            (broken((10, 10), (8, 8), 2), Pass),
            (broken((5, 5), (0, 3), 2), Unmeasurable),
            (broken((5, 5), (0, 0), 5), Unmeasurable),
            (Counts { before: CaseRuns { errors: 3, ..side((2, 2)) }, ..case((2, 2), (0, 5)) }, Unmeasurable),
        ] {
            assert_eq!(verdict(&[case]), expected, "{case:?}");
        }
        let decision = Policy::default().decide(&[broken((5, 5), (0, 3), 2)]);
        let [of_case] = decision.cases[..] else { unreachable!() };
        assert!(
            (of_case.p - 0.083_333_333_333).abs() < 1e-9
                && (of_case.p_of_worst - 0.003_968_253_968).abs() < 1e-9
        );
        assert!(of_case.may_be_worse);
    }

    /// The counts of a suspect after these runs, made until the policy stops it.
    fn run_again(policy: &Policy, first: Counts, cases: usize, outcomes: impl Fn(usize) -> bool) -> Counts {
        let mut case = first;
        while policy.next(&case, cases) == Next::Run {
            let (made, passed) = (case.now.judged.total(), case.now.judged.passed());
            let further = made - first.now.judged.total();
            case.now.judged = counted(passed + usize::from(outcomes(further)), made + 1);
        }
        case
    }

    #[test]
    fn a_suspect_that_is_stopped_early_has_the_verdict_of_all_its_runs() {
        let policy = Policy { max_runs: 12, ..Policy::default() };
        for (before, first, cases) in
            [((10, 10), (1, 3), 1), ((10, 10), (0, 1), 20), ((8, 10), (1, 4), 5), ((3, 3), (0, 2), 1)]
        {
            let first = case(before, first);
            let left = policy.max_runs - first.now.judged.total();
            let limit = policy.limit_of_case(cases);
            for outcomes in 0..1_u32 << left {
                let passed = |at: usize| outcomes >> at & 1 == 1;
                let stopped = run_again(&policy, first, cases, passed);
                let all = counted(
                    first.now.judged.passed() + (0..left).filter(|at| passed(*at)).count(),
                    policy.max_runs,
                );
                let of_all = is_at_most(fisher(Stratum { before: first.before.judged, now: all }), limit);
                let planned = policy.planned(&stopped, cases);
                assert_eq!(
                    is_at_most(fisher(stopped.stratum(planned, true)), limit),
                    of_all,
                    "{first:?} {outcomes:b}"
                );
            }
        }
    }

    /// All states of suspects of up to twenty runs: what follows depends on the runs made and on how many passed.
    #[test]
    fn a_suspect_of_twenty_runs_that_is_stopped_early_has_the_verdict_of_all() {
        let policy = Policy::default();
        let starts = [1, 5, 20].into_iter().flat_map(|cases| {
            let before = [(10, 10), (8, 10), (6, 10), (5, 5), (3, 3), (19, 20)].into_iter();
            let first =
                before.flat_map(|before| [(0, 1), (0, 3), (1, 3), (2, 3)].map(|first| case(before, first)));
            first.map(move |first| (cases, first))
        });
        let mut stopped = 0;
        for (cases, first) in starts.filter(|(_, first)| first.fell()) {
            let limit = policy.limit_of_case(cases);
            let is_shown = |now| is_at_most(fisher(Stratum { before: first.before.judged, now }), limit);
            if !is_shown(counted(0, policy.max_runs)) {
                continue;
            }
            let (mut seen, mut open) = (HashSet::new(), vec![first]);
            while let Some(suspect) = open.pop() {
                let (passed, made) = (suspect.now.judged.passed(), suspect.now.judged.total());
                if policy.next(&suspect, cases) == Next::Run {
                    let further = [passed, passed + 1].map(|passed| counted(passed, made + 1));
                    let new = further.into_iter().filter(|runs| seen.insert((runs.passed(), runs.total())));
                    open.extend(new.map(|judged| Counts { now: CaseRuns { judged, errors: 0 }, ..suspect }));
                    continue;
                }
                stopped += 1;
                let planned = policy.planned(&suspect, cases);
                let decided = is_at_most(fisher(suspect.stratum(planned, true)), limit);
                for more in 0..=policy.max_runs - made {
                    let all = is_shown(counted(passed + more, policy.max_runs));
                    assert_eq!(decided, all, "{suspect:?} of {cases} cases, then {more} more passed");
                }
            }
        }
        assert!(stopped > 100, "{stopped}");
    }

    /// Holm's procedure has a looser limit for the second suspect, and each is stopped by the strictest one.
    #[test]
    fn two_suspects_that_are_stopped_early_leave_the_build_the_verdict_of_all_their_runs() {
        let policy = Policy { max_runs: 8, ..Policy::default() };
        let mut verdicts = Vec::new();
        // By their first runs the test over the cases shows nothing.
        for (one, other, steady) in [
            (case((10, 10), (1, 2)), case((8, 10), (1, 2)), 1),
            (case((10, 10), (0, 1)), case((9, 10), (2, 3)), 3),
        ] {
            let cases = 2 + steady;
            let builds = |suspects: [Counts; 2]| {
                let mut build = vec![case((10, 10), (4, 4)); steady];
                build.extend(suspects);
                policy.decide(&build).verdict
            };
            // Each sequence of further runs: where the suspect is stopped, and with all its runs.
            let ends = |first: Counts| {
                let left = policy.max_runs - first.now.judged.total();
                let end = move |outcomes: u32| {
                    let stopped = run_again(&policy, first, cases, |at| outcomes >> at & 1 == 1);
                    let passed = first.now.judged.passed() + outcomes.count_ones() as usize;
                    [stopped, Counts { now: side((passed, policy.max_runs)), ..first }]
                };
                (0..1_u32 << left).map(end).collect::<Vec<_>>()
            };
            for [one, one_of_all] in ends(one) {
                for [other, other_of_all] in ends(other) {
                    let verdict = builds([one, other]);
                    assert_eq!(verdict, builds([one_of_all, other_of_all]), "{one:?} {other:?}");
                    verdicts.push(verdict);
                }
            }
        }
        let counted = |wanted| verdicts.iter().filter(|verdict| **verdict == wanted).count();
        assert!(counted(Regression) > 100 && counted(Pass) > 100, "{}", counted(Regression));
    }

    #[test]
    fn a_suspect_is_run_again_until_the_rest_decides_nothing() {
        let policy = Policy::default();
        let all = |passes: bool| move |_: usize| passes;
        let runs = |first: Counts, passes| run_again(&policy, first, 20, all(passes)).now.judged;
        // Shown after 13, whatever 7 more would have been.
        assert_eq!(runs(case((10, 10), (0, 3)), false), counted(0, 13));
        assert!(runs(case((10, 10), (0, 3)), true).total() < 12);
        // One run before shows nothing: five more, or until one passes.
        assert_eq!(runs(case((1, 1), (0, 1)), false), counted(0, 6));
        assert_eq!(runs(case((1, 1), (0, 1)), true), counted(1, 2));
        // No suspect.
        assert_eq!(runs(case((10, 10), (3, 3)), false), counted(3, 3));
        assert_eq!(runs(case((1, 2), (0, 1)), false), counted(0, 1));
    }

    #[test]
    fn a_suspect_that_only_breaks_is_not_run_for_ever() {
        let policy = Policy::default();
        for (before, first) in [((10, 10), (0, 1)), ((1, 1), (0, 1)), ((10, 10), (0, 0))] {
            let mut suspect = case(before, first);
            let mut further = 0;
            while policy.next(&suspect, 20) == Next::Run {
                suspect.now.errors += 1;
                further += 1;
                assert!(further <= policy.max_runs, "{suspect:?}");
            }
        }
    }

    #[test]
    fn the_failures_that_show_a_dead_case_are_as_in_the_table() {
        let policy = Policy::default();
        for (runs, cases, expected) in [
            (1, 1, Some(39)),
            (1, 20, Some(799)),
            (2, 20, Some(39)),
            (3, 20, Some(15)),
            (5, 20, Some(8)),
            (10, 20, Some(4)),
            (20, 500, Some(5)),
            (1, 100, None),
        ] {
            assert_eq!(
                policy.failures_needed(counted(runs, runs), cases, 3_000),
                expected,
                "{runs} of {cases}"
            );
        }
    }
}
