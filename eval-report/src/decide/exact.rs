//! Exact tests of passes: whether fewer runs pass now than before.
//!
//! All are one-sided and conditional on the totals. They need no seed and hold at any number of runs.

use statrs::distribution::{Binomial, Discrete, DiscreteCDF, Hypergeometric};

use crate::statistics::{PassCount, float};

/// The share of decisions that may call a difference where there is none: the level of a test, over all that it compares.
pub const SIGNIFICANCE_LEVEL: f64 = 0.05;

/// The runs of a case before and now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stratum {
    /// The runs of the baseline.
    pub before: PassCount,
    /// The runs of this build.
    pub now: PassCount,
}

impl Stratum {
    /// The passes now, if runs passed equally often before and now: totals are given. `None` without runs on both sides.
    fn passes_now(self) -> Option<Hypergeometric> {
        let (before, now) = (self.before, self.now);
        if before.total() == 0 || now.total() == 0 {
            return None;
        }
        let all = before.total() + now.total();
        let passed = before.passed() + now.passed();
        Hypergeometric::new(all as u64, passed as u64, now.total() as u64).ok()
    }
}

/// Fisher's exact test of a case: the probability of at most this number of passes now, if nothing changed. 1 without runs on
/// both sides.
///
/// Fisher, *The Logic of Inductive Inference* (1935).
pub fn fisher(case: Stratum) -> f64 {
    case.passes_now().map_or(1.0, |passes| passes.cdf(case.now.passed() as u64).min(1.0))
}

/// The exact conditional test over the cases of a set as strata: the probability of at most this number of passes now in all cases
/// together, if none of them changed. For one case it is [`fisher`], and for one run on each side McNemar's test.
///
/// Birch, *The Detection of Partial Association, I: The 2 x 2 Case* (1964). The distribution of the sum is the
/// convolution of one hypergeometric distribution for each case.
pub fn over_cases(cases: &[Stratum]) -> f64 {
    let mut sum = vec![1.0];
    let mut seen = 0;
    for case in cases {
        let Some(passes) = case.passes_now() else { continue };
        let (before, now) = (case.before, case.now);
        seen += now.passed();
        let most = now.total().min(before.passed() + now.passed());
        let least = (before.passed() + now.passed()).saturating_sub(before.total());
        if least == most {
            // All passed, or none did: such a case says nothing, and only moves the sum.
            sum.splice(0..0, std::iter::repeat_n(0.0, least));
            continue;
        }
        let shares: Vec<f64> = (0..=most).map(|count| passes.pmf(count as u64)).collect();
        let mut next = vec![0.0; sum.len() + most];
        for (at, so_far) in sum.iter().enumerate().filter(|(_, so_far)| **so_far > 0.0) {
            for (sum, share) in next[at..].iter_mut().zip(&shares) {
                *sum += so_far * share;
            }
        }
        sum = next;
    }
    sum.iter().take(seen + 1).sum::<f64>().min(1.0)
}

/// The exact binomial test against a demanded share: the probability of at most this number of passes, if the share that passes is the
/// demanded one. 1 without runs, and for a demand outside of 0 to 1.
pub fn below_share(runs: PassCount, demanded: f64) -> f64 {
    Binomial::new(demanded, runs.total() as u64)
        .map_or(1.0, |passes| passes.cdf(runs.passed() as u64).min(1.0))
}

/// Whether a p-value is at most a limit. A sum of shares misses a limit that it equals by its rounding.
pub fn is_at_most(p: f64, limit: f64) -> bool {
    p <= limit * (1.0 + 1e-9)
}

/// The hypotheses that Holm's procedure rejects at a level, for all p-values together: the probability that it rejects any that is
/// true is at most the level.
///
/// Holm, *A Simple Sequentially Rejective Multiple Test Procedure* (1979).
pub fn holm(p_values: &[f64], level: f64) -> Vec<bool> {
    let mut rejected = vec![false; p_values.len()];
    for (index, limit) in holm_order(p_values, level) {
        if !is_at_most(p_values[index], limit) {
            break;
        }
        rejected[index] = true;
    }
    rejected
}

/// The limit that [`holm`] applies to each p-value, if it comes to it.
pub fn holm_limits(p_values: &[f64], level: f64) -> Vec<f64> {
    let mut limits = vec![0.0; p_values.len()];
    for (index, limit) in holm_order(p_values, level) {
        limits[index] = limit;
    }
    limits
}

/// The indices of the p-values from the least, each with its limit.
fn holm_order(p_values: &[f64], level: f64) -> impl Iterator<Item = (usize, f64)> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|one, other| p_values[*one].total_cmp(&p_values[*other]));
    let all = order.len();
    order.into_iter().enumerate().map(move |(at, index)| (index, level / float(all - at)))
}

/// The decision of [`over_cases`] at a level, without its p-value where the sum is far from the limit.
pub(crate) fn is_shown_over_cases(cases: &[Stratum], level: f64) -> bool {
    let (mut mean, mut variance, mut seen) = (0.0, 0.0, 0.0);
    for Stratum { before, now } in cases.iter().filter(|case| case.before.total() * case.now.total() > 0) {
        let (all, drawn) = (float(before.total() + now.total()), float(now.total()));
        let share = float(before.passed() + now.passed()) / all;
        mean += drawn * share;
        variance += drawn * share * (1.0 - share) * (all - drawn) / (all - 1.0);
        seen += float(now.passed());
    }
    if variance >= NORMAL_VARIANCE {
        // The sum of many is close to normal: p is about 0.0002 at -3.5, and 0.16 at -1.
        let distance = (seen + 0.5 - mean) / variance.sqrt();
        if (0.005..0.1).contains(&level) && !(-3.5..-1.0).contains(&distance) {
            return distance < -3.5;
        }
    }
    is_at_most(over_cases(cases), level)
}

/// The variance of a sum from which it is compared with a normal distribution, where that is clear.
const NORMAL_VARIANCE: f64 = 16.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn stratum((before, m): (usize, usize), (now, n): (usize, usize)) -> Stratum {
        Stratum { before: PassCount::new(before, m).unwrap(), now: PassCount::new(now, n).unwrap() }
    }

    #[track_caller]
    fn near(value: f64, expected: f64, of: &str) {
        assert!((value - expected).abs() < 1e-9, "{of}: {value} is not {expected}");
    }

    #[test]
    fn a_case_is_tested_as_scipy_does() {
        // `fisher_exact(.., alternative="greater")` of scipy 1.17.1.
        for (before, now, p) in [
            ((1, 1), (0, 1), 0.5),
            ((2, 2), (0, 2), 0.166_666_666_666_666_66),
            ((3, 3), (0, 3), 0.05),
            ((5, 5), (0, 5), 0.003_968_253_968_253_969),
            ((5, 5), (2, 5), 0.083_333_333_333_333_33),
            ((5, 5), (1, 5), 0.023_809_523_809_523_836),
            ((10, 10), (5, 10), 0.016_253_869_969_040_248),
            ((10, 10), (7, 10), 0.105_263_157_894_736_84),
            ((20, 20), (15, 20), 0.023_562_023_562_023_564),
            ((19, 20), (10, 20), 0.001_671_025_864_574_251_6),
            ((3, 3), (0, 13), 0.001_785_714_285_714_285_7),
            ((5, 5), (3, 15), 0.003_611_971_104_231_165_6),
            ((1, 1), (0, 19), 0.05),
            ((7, 8), (2, 5), 0.118_881_118_881_118_88),
            ((0, 3), (0, 3), 1.0),
            ((3, 3), (3, 3), 1.0),
            ((0, 0), (0, 3), 1.0),
            ((3, 3), (0, 0), 1.0),
        ] {
            near(fisher(stratum(before, now)), p, &format!("{before:?} {now:?}"));
            near(over_cases(&[stratum(before, now)]), p, &format!("{before:?} {now:?} as the only stratum"));
        }
    }

    #[test]
    fn cases_are_tested_together_as_by_brute_force() {
        let of = |m: usize, n: usize, before: &[usize], now: &[usize]| -> Vec<Stratum> {
            before.iter().zip(now).map(|(a, b)| stratum((*a, m), (*b, n))).collect()
        };
        let before = [3, 2, 3, 3, 3, 2, 3, 2, 3, 3, 3, 3, 3, 2, 3, 3, 2, 3, 3, 2];
        let now = [3, 1, 1, 1, 3, 1, 3, 3, 1, 1, 1, 2, 2, 3, 2, 1, 1, 2, 3, 2];
        let five = [4, 3, 5, 5, 4, 5, 5, 5, 4, 3, 4, 4, 4, 5, 4, 5, 4, 5, 4, 5];
        let fewer = [3, 4, 2, 4, 3, 5, 4, 3, 4, 3, 3, 2, 3, 3, 2, 3, 2, 3, 3, 4];
        for (strata, p) in [
            (of(5, 5, &[5], &[1]), 0.023_809_523_809_523_78),
            (of(3, 3, &[3, 2, 3], &[2, 1, 2]), 0.15),
            (of(2, 5, &[2, 2, 2, 2], &[4, 2, 4, 3]), 0.069_415_521_310_564_9),
            (of(1, 1, &[1; 6], &[1, 0, 0, 0, 1, 1]), 0.125),
            (of(3, 3, &before, &now), 0.000_277_884_525_000_892_85),
            (of(5, 5, &five, &fewer), 8.869_455_528_532_47e-5),
            (Vec::new(), 1.0),
        ] {
            near(over_cases(&strata), p, &format!("{strata:?}"));
        }
    }

    #[test]
    fn with_one_run_on_each_side_it_is_the_sign_test_of_the_cases_that_differ() {
        // `binomtest(worse, worse + better, 0.5, alternative="greater")` of scipy 1.17.1.
        for (worse, better, p) in [
            (5, 0, 0.03125),
            (4, 0, 0.0625),
            (6, 1, 0.0625),
            (6, 0, 0.015_625),
            (1, 0, 0.5),
            (0, 0, 1.0),
            (10, 3, 0.046_142_578_125),
        ] {
            let mut strata = vec![stratum((1, 1), (0, 1)); worse];
            strata.extend(vec![stratum((0, 1), (1, 1)); better]);
            // Cases that did not change say nothing.
            strata.extend([stratum((1, 1), (1, 1)), stratum((0, 1), (0, 1))]);
            near(over_cases(&strata), p, &format!("{worse} worse, {better} better"));
        }
    }

    #[test]
    fn a_demanded_share_is_tested_as_scipy_does() {
        // `binomtest(.., alternative="less")` of scipy 1.17.1.
        for (passed, total, demanded, p) in [
            (0, 1, 0.8, 0.2),
            (0, 2, 0.8, 0.04),
            (0, 3, 0.8, 0.008),
            (1, 3, 0.9, 0.028),
            (0, 3, 0.9, 0.001),
            (2, 5, 0.8, 0.057_92),
            (6, 10, 0.9, 0.012_795_198_4),
            (14, 20, 0.9, 0.011_253_134_164_508_988),
            (0, 0, 0.9, 1.0),
            (3, 3, 1.0, 1.0),
            (2, 3, 1.0, 0.0),
            (0, 3, 1.5, 1.0),
        ] {
            let runs = PassCount::new(passed, total).unwrap();
            near(below_share(runs, demanded), p, &format!("{passed}/{total} of {demanded}"));
        }
    }

    #[test]
    fn holm_goes_on_until_the_first_that_is_not_rejected() {
        for (p_values, expected) in [
            (&[][..], &[][..]),
            (&[0.02, 0.01, 0.04], &[true, true, true]),
            (&[0.02, 0.03, 0.04], &[false, false, false]),
            // 0.05 / 3, 0.05 / 2, 0.05
            (&[0.016, 0.026, 0.03], &[true, false, false]),
            (&[0.03, 0.016, 0.025], &[true, true, true]),
        ] {
            assert_eq!(holm(p_values, 0.05), expected, "{p_values:?}");
        }
    }

    #[test]
    fn the_limit_of_a_case_depends_on_its_rank() {
        let limits = holm_limits(&[0.03, 0.016, 0.025], 0.06);
        for (limit, expected) in limits.into_iter().zip([0.06, 0.02, 0.03]) {
            near(limit, expected, "a limit");
        }
    }

    #[test]
    fn a_sum_far_from_the_limit_is_decided_as_its_p_value_does() {
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..300 {
            let (cases, drop) = (rng.usize(1..120), rng.f64() * 0.3);
            let drawn = |share: f64, rng: &mut fastrand::Rng| (0..5).filter(|_| rng.f64() < share).count();
            let strata: Vec<Stratum> = (0..cases)
                .map(|_| stratum((drawn(0.9, &mut rng), 5), (drawn(0.9 - drop, &mut rng), 5)))
                .collect();
            assert_eq!(is_shown_over_cases(&strata, 0.025), over_cases(&strata) <= 0.025, "{strata:?}");
        }
    }
}
