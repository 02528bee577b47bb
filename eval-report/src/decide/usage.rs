//! The signed-rank test of what cases take: tokens, calls.
//!
//! Sums and means of such numbers have long tails, so that a limit of 10% on a mean is broken by chance in many builds. The
//! signed-rank test reads the ratio of the medians of each case.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::statistics::float;

/// The ratios of cases that have a number on both sides, and what they show.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct UsageRatio {
    /// The cases with a number on both sides.
    pub cases: usize,
    /// The median of the ratios of now to before.
    pub ratio: f64,
    /// The probability of ratios that are as high or higher, if nothing changed. 0 to 1.
    pub p_of_more: f64,
    /// The probability of ratios that are as low or lower, if nothing changed. 0 to 1.
    pub p_of_less: f64,
}

impl UsageRatio {
    /// The probability of ratios as far from 1 in either direction, if nothing changed. 0 to 1.
    pub fn p(&self) -> f64 {
        (2.0 * self.p_of_more.min(self.p_of_less)).min(1.0)
    }

    /// Compares the runs of each case before and now. Cases without runs on a side, and those whose median is 0 on one, are left out.
    /// `None` without a case.
    ///
    /// Wilcoxon, *Individual Comparisons by Ranking Methods* (1945), exact for the ranks that there are, with ties and without cases
    /// whose medians are equal. For many cases it is the normal approximation of Hollander and Wolfe, *Nonparametric Statistical
    /// Methods* (1973), section 3.1, with the variance for ties and a correction for continuity.
    pub fn new<'n>(cases: impl IntoIterator<Item = (&'n [f64], &'n [f64])>) -> Option<Self> {
        let logs: Vec<f64> = cases
            .into_iter()
            .filter_map(|(before, now)| Some((median(now)? / median(before)?).ln()))
            .filter(|log| log.is_finite())
            .collect();
        let ratio = median(&logs)?.exp();
        let changed: Vec<f64> = logs.iter().copied().filter(|log| *log != 0.0).collect();
        let ranks = doubled_ranks(&changed);
        let signed = |is_counted: fn(f64) -> bool| -> usize {
            changed.iter().zip(&ranks).filter(|(log, _)| is_counted(**log)).map(|(_, rank)| rank).sum()
        };
        let (up, down) = (signed(|log| log > 0.0), signed(|log| log < 0.0));
        let [p_of_more, p_of_less] = at_most(&ranks, [down, up]);
        Some(Self { cases: logs.len(), ratio, p_of_more, p_of_less })
    }
}

/// The middle one of some numbers, or the mean of the two in the middle.
pub(crate) fn median(numbers: &[f64]) -> Option<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    if sorted.len() % 2 == 1 { Some(upper) } else { Some(f64::midpoint(sorted[middle - 1], upper)) }
}

/// Twice the rank of each number by its size, so that the ranks of equal ones, which are means, are whole.
fn doubled_ranks(numbers: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|one, other| numbers[*one].abs().total_cmp(&numbers[*other].abs()));
    let mut ranks = vec![0; numbers.len()];
    let mut at = 0;
    for equal in order.chunk_by(|one, other| numbers[*one].abs().total_cmp(&numbers[*other].abs()).is_eq()) {
        // The ranks from `at + 1` to `at + length` have this mean.
        for index in equal {
            ranks[*index] = 2 * at + equal.len() + 1;
        }
        at += equal.len();
    }
    ranks
}

/// The most cases whose distribution is computed: the work grows with their third power.
const MAX_EXACT: usize = 200;

/// The probabilities that ranks with a sign by chance sum to at most these.
fn at_most(doubled_ranks: &[usize], sums: [usize; 2]) -> [f64; 2] {
    if doubled_ranks.len() > MAX_EXACT {
        let ranks = || doubled_ranks.iter().map(|rank| float(*rank));
        let mean = ranks().sum::<f64>() / 2.0;
        // Each sign is independent, so the variance of the ranks as they are is the one for ties.
        let deviation = ranks().map(|rank| rank * rank).sum::<f64>().sqrt() / 2.0;
        // Sums of ranks are whole, and sums of doubled ranks are two apart.
        return sums.map(|sum| Normal::standard().cdf((float(sum) + 1.0 - mean) / deviation));
    }
    let mut shares = vec![1.0];
    for rank in doubled_ranks {
        let mut next = vec![0.0; shares.len() + rank];
        for (at, share) in shares.iter().enumerate() {
            next[at] += share / 2.0;
            next[at + rank] += share / 2.0;
        }
        shares = next;
    }
    sums.map(|sum| shares.iter().take(sum + 1).sum::<f64>().min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The usage of cases with one run on each side.
    fn usage(before: &[f64], now: &[f64]) -> UsageRatio {
        let pairs = before
            .iter()
            .zip(now)
            .map(|(before, now)| (std::slice::from_ref(before), std::slice::from_ref(now)));
        UsageRatio::new(pairs).unwrap()
    }

    #[test]
    fn more_is_tested_as_scipy_does() {
        // `wilcoxon(log(now / before), alternative=.., method="exact")` of scipy 1.17.1.
        let before = [100.0; 6];
        let all = usage(&before, &[110.0, 120.0, 130.0, 140.0, 150.0, 160.0]);
        assert!((all.p_of_more - 1.0 / 64.0).abs() < 1e-12 && (all.p_of_less - 1.0).abs() < 1e-12, "{all:?}");
        assert!((all.ratio - (1.3_f64 * 1.4).sqrt()).abs() < 1e-12);
        // Ranks 1 to 6, of which 2 is down: sums of at most 2 are {}, {1} and {2}.
        let one_down = usage(&before, &[101.0, 98.0, 103.0, 104.0, 105.0, 106.0]);
        assert!((one_down.p_of_more - 3.0 / 64.0).abs() < 1e-12, "{one_down:?}");
    }

    #[test]
    fn equal_cases_say_nothing_and_equal_changes_share_a_rank() {
        let none = usage(&[5.0, 7.0], &[5.0, 7.0]);
        assert_eq!((none.cases, none.ratio, none.p_of_more, none.p_of_less), (2, 1.0, 1.0, 1.0));
        assert_eq!(doubled_ranks(&[0.5, -0.5, 0.1]), [5, 5, 2]);
        let tied = usage(&[1.0, 1.0, 1.0], &[2.0, 2.0, 2.0]);
        assert!((tied.p_of_more - 0.125).abs() < 1e-12);
    }

    /// A number of cases of which 7 in 13 or so take more, by amounts that may be equal.
    fn many(cases: i32, is_tied: bool) -> UsageRatio {
        let change = |at: i32| {
            let size = if is_tied { at * 37 % 101 } else { at } + 1;
            // Of powers of two, the logarithms are as far from 0 in both directions.
            2.0_f64.powi(if at * 7_919 % 13 < 7 { size } else { -size })
        };
        let now: Vec<f64> = (0..cases).map(change).collect();
        usage(&vec![1.0; now.len()], &now)
    }

    #[test]
    fn many_cases_are_tested_as_scipy_does_exactly_or_nearly_so() {
        // `wilcoxon(.., alternative="greater")` of scipy 1.17.1, `method="exact"` up to 200 cases, else `"approx"` with `correction`.
        for (cases, is_tied, p) in [
            (200, false, 0.150_326_285_722_902_08),
            (201, false, 0.182_173_623_826_367_35),
            (201, true, 0.135_470_434_643_759_13),
            (400, true, 0.070_497_161_434_373_35),
        ] {
            let usage = many(cases, is_tied);
            assert!((usage.p_of_more - p).abs() < 1e-8, "{cases} {is_tied}: {usage:?}");
        }
        // `method="exact"` has 0.182564 and 0.817756.
        let near = many(201, false);
        assert!(
            (near.p_of_more - 0.182_564).abs() < 5e-4 && (near.p_of_less - 0.817_756).abs() < 5e-4,
            "{near:?}"
        );
        // Exactly, this would take minutes.
        let most = many(20_000, true);
        assert!(most.p_of_more < 1e-6 && most.p_of_less > 0.999, "{most:?}");
    }

    /// Cases of five runs on each side, which take `more` times as many tokens now. The tail is Pareto's, whose
    /// means hardly settle.
    fn draw(rng: &mut fastrand::Rng, more: f64, tail: f64) -> UsageRatio {
        let cases: Vec<(Vec<f64>, Vec<f64>)> = (0..20)
            .map(|_| {
                let base = 200.0 + 2_000.0 * rng.f64();
                let mut side = |more: f64| -> Vec<f64> {
                    (0..5).map(|_| base * more * (1.0 - rng.f64()).powf(-1.0 / tail)).collect()
                };
                (side(1.0), side(more))
            })
            .collect();
        UsageRatio::new(cases.iter().map(|(before, now)| (before.as_slice(), now.as_slice()))).unwrap()
    }

    #[test]
    fn long_tails_are_called_more_in_few_builds_where_nothing_changed() {
        let mut rng = fastrand::Rng::with_seed(19);
        let found = |rng: &mut fastrand::Rng, more: f64, tail: f64| -> usize {
            (0..1_000).filter(|_| draw(rng, more, tail).p_of_more <= 0.05).count()
        };
        for tail in [1.5, 3.0] {
            let alarms = found(&mut rng, 1.0, tail);
            assert!(alarms <= 60, "{alarms} of 1000 builds, with a tail of {tail}");
        }
        // The same test finds twice as many tokens.
        let found = found(&mut rng, 2.0, 3.0);
        assert!(found >= 950, "{found} of 1000 builds");
    }

    #[test]
    fn medians_of_runs_are_compared_and_cases_without_a_number_are_left_out() {
        let runs: [(&[f64], &[f64]); 4] =
            [(&[1.0, 100.0, 2.0], &[4.0]), (&[], &[1.0]), (&[0.0], &[1.0]), (&[1.0], &[])];
        let usage = UsageRatio::new(runs).unwrap();
        assert_eq!((usage.cases, usage.ratio), (1, 2.0));
        assert_eq!(UsageRatio::new([(&[][..], &[1.0][..])]), None);
    }
}
