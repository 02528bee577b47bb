//! Statistics of repeated runs: rates, confidence intervals, pass@k.
//!
//! A [`PassCount`] counts how many attempts of the same thing passed: runs of a case, or cases of a set.
//!
//! ```
//! use eval_report::statistics::PassCount;
//!
//! let runs = PassCount::new(4, 5)?;
//! assert!(runs.is_flaky());
//! assert_eq!(runs.to_string(), "4/5");
//!
//! // Three passes out of three show little.
//! let interval = PassCount::new(3, 3)?.interval().ok_or("nothing was counted")?;
//! assert_eq!(format!("{interval}"), "44%-100%");
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is in it
//!
//! | you want | use |
//! | --- | --- |
//! | the share that passed | [`PassCount::rate`] |
//! | how sure that share is | [`PassCount::interval`], an [`Interval`] |
//! | whether the attempts differ | [`PassCount::is_flaky`] |
//! | the chance that at least one of `k` attempts passes | [`PassCount::pass_at`] |
//! | the chance that all of `k` attempts pass | [`PassCount::pass_all`] |

use std::fmt;

use eval_support::words::count;

/// The number of attempts that passed, of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PassCount {
    passed: usize,
    total: usize,
}

/// An error of a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StatisticsError {
    /// More attempts passed than there are.
    MorePassedThanTotal {
        /// The attempts that passed.
        passed: usize,
        /// All attempts.
        total: usize,
    },
    /// `k` is 0, or greater than the number of attempts.
    TooFewRuns {
        /// The number of attempts to draw.
        k: usize,
        /// The number of attempts there are.
        total: usize,
    },
}

impl fmt::Display for StatisticsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MorePassedThanTotal { passed, total } => {
                write!(f, "{passed} of {total} cannot have passed")
            }
            Self::TooFewRuns { k: 0, .. } => f.write_str("k is 0, and it is at least 1"),
            Self::TooFewRuns { k, total } => {
                write!(f, "k is {k}, and there are no more than {}", count(*total, "run"))
            }
        }
    }
}

impl std::error::Error for StatisticsError {}

impl PassCount {
    /// `passed` of `total` attempts. `passed` above `total` is an error.
    pub fn new(passed: usize, total: usize) -> Result<Self, StatisticsError> {
        if passed > total {
            return Err(StatisticsError::MorePassedThanTotal { passed, total });
        }
        Ok(Self { passed, total })
    }

    /// The number of attempts that passed.
    pub fn passed(self) -> usize {
        self.passed
    }

    /// The number of attempts.
    pub fn total(self) -> usize {
        self.total
    }

    /// The share that passed, 0 to 1; `None` if there are no attempts.
    pub fn rate(self) -> Option<f64> {
        (self.total > 0).then(|| float(self.passed) / float(self.total))
    }

    /// Whether a smaller share passed than of the other attempts. Without attempts on either side it is not.
    pub fn is_below(self, other: Self) -> bool {
        self.passed * other.total < other.passed * self.total
    }

    /// Whether some passed and some did not.
    pub fn is_flaky(self) -> bool {
        0 < self.passed && self.passed < self.total
    }

    /// pass@k: the probability that at least one of `k` attempts passes.
    ///
    /// ```
    /// use eval_report::statistics::PassCount;
    ///
    /// let runs = PassCount::new(2, 5)?;
    /// assert_eq!(format!("{:.3}", runs.pass_at(2)?), "0.700");
    /// assert!(PassCount::new(3, 3)?.pass_at(5).is_err());
    /// # Ok::<_, eval_report::statistics::StatisticsError>(())
    /// ```
    ///
    /// The unbiased estimate of Chen et al., *Evaluating Large Language Models Trained on Code* (2021), equation 1:
    /// one minus the share of draws of `k` of the attempts in which none passed. `k` must be from 1 to the number of
    /// attempts.
    pub fn pass_at(self, k: usize) -> Result<f64, StatisticsError> {
        Ok(1.0 - self.share_of_draws(self.total - self.passed, k)?)
    }

    /// pass^k: the probability that all of `k` attempts pass.
    ///
    /// ```
    /// use eval_report::statistics::PassCount;
    ///
    /// // The rate to the power of k would be 0.51.
    /// assert_eq!(format!("{:.2}", PassCount::new(4, 5)?.pass_all(3)?), "0.40");
    /// # Ok::<_, eval_report::statistics::StatisticsError>(())
    /// ```
    ///
    /// The unbiased estimate of Yao et al., *tau-bench* (2024), section 5: the share of draws of `k` of the attempts
    /// in which all passed. `k` must be from 1 to the number of attempts.
    pub fn pass_all(self, k: usize) -> Result<f64, StatisticsError> {
        self.share_of_draws(self.passed, k)
    }

    /// The share of draws of `k` attempts without replacement that are all of one kind, of which there are `of_kind`.
    fn share_of_draws(self, of_kind: usize, k: usize) -> Result<f64, StatisticsError> {
        if k == 0 || k > self.total {
            return Err(StatisticsError::TooFewRuns { k, total: self.total });
        }
        if of_kind < k {
            return Ok(0.0);
        }
        if of_kind == self.total {
            return Ok(1.0);
        }
        // Factor by factor: the binomial coefficients themselves soon exceed the range of a float.
        Ok((0..k).map(|drawn| float(of_kind - drawn) / float(self.total - drawn)).product())
    }

    /// Wilson's 95% confidence interval for the share that passes; `None` if there are no attempts.
    ///
    /// Of such intervals, each made from new attempts, 95% contain the true share, provided that the attempts are
    /// independent. Runs of one case are independent, and so are cases with one run each. Runs of several cases counted
    /// together are not.
    ///
    /// Wilson, *Probable inference, the law of succession, and statistical inference* (1927), without a correction
    /// for continuity.
    pub fn interval(self) -> Option<Interval> {
        let rate = self.rate()?;
        let n = float(self.total);
        let square = NORMAL_QUANTILE * NORMAL_QUANTILE;
        let centre = (rate + square / (2.0 * n)) / (1.0 + square / n);
        let half =
            NORMAL_QUANTILE / (1.0 + square / n) * (rate * (1.0 - rate) / n + square / (4.0 * n * n)).sqrt();
        // If none or all passed, that end is exactly 0 or 1; rounding could miss it.
        let low = if self.passed == 0 { 0.0 } else { (centre - half).max(0.0) };
        let high = if self.passed == self.total { 1.0 } else { (centre + half).min(1.0) };
        Some(Interval { low, high })
    }
}

/// For example `4/5`.
impl fmt::Display for PassCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.passed, self.total)
    }
}

/// A 95% interval for a share, both ends from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// In percent, for example `72%-100%`: with as many digits as it takes to tell the two ends apart, and to tell them from 0%
/// and 100%.
impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = digits_of(self.low).max(digits_of(self.high));
        let shown = |share: f64, digits: usize| format!("{:.digits$}", share * 100.0);
        let differ = |digits: &usize| shown(self.low, *digits) != shown(self.high, *digits);
        let digits = (digits..=MAX_DIGITS).find(differ).unwrap_or(digits);
        write!(f, "{}%-{}%", percent_with(self.low, digits), percent_with(self.high, digits))
    }
}

/// A share in percent: whole, or with as many digits as it takes to tell it from 0% and 100%.
pub(crate) fn percent(share: f64) -> String {
    format!("{}%", percent_with(share, digits_of(share)))
}

/// Enough digits to tell the share of any count from 0 and 1.
const MAX_DIGITS: usize = 20;

/// The digits after the point that tell a share from 0% and 100%, if it is neither.
fn digits_of(share: f64) -> usize {
    if share <= 0.0 || share >= 1.0 {
        return 0;
    }
    let is_told = |digits: &usize| {
        let shown: f64 = format!("{:.digits$}", share * 100.0, digits = *digits).parse().unwrap_or_default();
        shown > 0.0 && shown < 100.0
    };
    (0..=MAX_DIGITS).find(is_told).unwrap_or(MAX_DIGITS)
}

/// A share in percent with this many digits after the point. 0 and 100 are whole.
fn percent_with(share: f64, digits: usize) -> String {
    let digits = if share <= 0.0 || share >= 1.0 { 0 } else { digits };
    format!("{:.digits$}", share * 100.0)
}

/// The quantile of the normal distribution that leaves 2.5% above it.
const NORMAL_QUANTILE: f64 = 1.959_963_984_540_054;

#[expect(clippy::cast_precision_loss, reason = "counts of runs and cases are far below 2^53")]
pub(crate) fn float(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(passed: usize, total: usize) -> PassCount {
        PassCount::new(passed, total).unwrap()
    }

    #[track_caller]
    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 5e-5, "{value} is not {expected}");
    }

    #[test]
    fn pass_at_k_and_pass_all_k_count_draws() {
        // Counted by hand: of n attempts of which c pass, all draws of k.
        for (c, n, k, at_least_one, all) in [
            (0, 3, 1, 0.0, 0.0),
            (0, 3, 3, 0.0, 0.0),
            (1, 3, 1, 1.0 / 3.0, 1.0 / 3.0),
            (1, 3, 2, 2.0 / 3.0, 0.0),
            (1, 3, 3, 1.0, 0.0),
            (2, 5, 2, 0.7, 0.1),
            (4, 5, 3, 1.0, 0.4),
            (3, 3, 3, 1.0, 1.0),
            (1, 1, 1, 1.0, 1.0),
            (5, 10, 5, 251.0 / 252.0, 1.0 / 252.0),
        ] {
            near(tally(c, n).pass_at(k).unwrap(), at_least_one);
            near(tally(c, n).pass_all(k).unwrap(), all);
        }
    }

    #[test]
    fn many_runs_do_not_overflow() {
        near(tally(5000, 10_000).pass_at(10).unwrap(), 0.999_02);
        near(tally(9_999, 10_000).pass_all(5_000).unwrap(), 0.5);
    }

    #[test]
    fn more_draws_than_runs_are_an_error_and_so_are_none() {
        for k in [0, 4, usize::MAX] {
            let expected = Err(StatisticsError::TooFewRuns { k, total: 3 });
            assert_eq!(tally(3, 3).pass_at(k), expected);
            assert_eq!(tally(0, 3).pass_all(k), expected);
        }
        assert!(PassCount::default().pass_at(1).is_err());
        assert_eq!(PassCount::new(4, 3), Err(StatisticsError::MorePassedThanTotal { passed: 4, total: 3 }));
    }

    #[test]
    fn intervals_are_wilsons() {
        // As scipy's `binomtest(c, n).proportion_ci(0.95, "wilson")` gives them.
        for (c, n, low, high) in [
            (3, 3, 0.43850, 1.0),
            (10, 10, 0.72247, 1.0),
            (20, 20, 0.83887, 1.0),
            (35, 35, 0.90110, 1.0),
            (0, 10, 0.0, 0.27753),
            (5, 10, 0.23659, 0.76341),
            (28, 32, 0.71932, 0.95030),
            (1, 2, 0.09453, 0.90547),
        ] {
            let interval = tally(c, n).interval().unwrap();
            near(interval.low, low);
            near(interval.high, high);
        }
        assert_eq!(PassCount::default().interval(), None);
        assert_eq!(tally(28, 32).interval().unwrap().to_string(), "72%-95%");
    }

    #[test]
    fn an_interval_never_looks_like_none_or_all_or_like_one_number() {
        for (passed, total, expected) in [
            (1, 1_000_000, "0.00002%-0.00057%"),
            (999_999, 1_000_000, "99.99943%-99.99998%"),
            (500_000, 1_000_000, "49.9%-50.1%"),
            (0, 10, "0%-28%"),
            (0, 1_000_000, "0%-0.0004%"),
            (3, 3, "44%-100%"),
            (1_000_000, 1_000_000, "99.9996%-100%"),
            (28, 32, "72%-95%"),
            (1, 200, "0.1%-2.8%"),
        ] {
            assert_eq!(tally(passed, total).interval().unwrap().to_string(), expected, "{passed}/{total}");
        }
        assert_eq!([0.0, 0.404, 1.0].map(percent), ["0%", "40%", "100%"]);
        assert_eq!([0.000_001, 0.999].map(percent), ["0.0001%", "99.9%"]);
        assert_eq!([1e-300, f64::EPSILON, 0.5, 1.0 - f64::EPSILON].map(percent)[2], "50%");
        assert!(!percent(1.0 - f64::EPSILON).starts_with("100"));
    }

    #[test]
    fn flaky_is_only_what_is_in_between() {
        let flaky: Vec<usize> = (0..=3).filter(|passed| tally(*passed, 3).is_flaky()).collect();
        assert_eq!(flaky, [1, 2]);
        assert!(!tally(1, 1).is_flaky() && !PassCount::default().is_flaky());
        assert_eq!(PassCount::default().rate(), None);
    }
}
