//! Results of a metric: on one run, and over all runs of a case.

use std::borrow::Cow;

use eval_format::metric::{MetricGroup, metric};
use eval_format::{Bound, Criterion};
use eval_support::words::count;

use crate::judge_outcome::JudgeUse;
use crate::metric::{LoosenedPoint, Loosening, Score, Scores};
use crate::score::mean::round_3;
use crate::verdict::{Role, TurnVerdict, Verdict};

/// One metric, scored on one run.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredMetric {
    /// The name of the metric.
    pub name: String,
    /// Whether the metric is the user's own. It may have the name of a built-in one.
    pub custom: bool,
    /// Threshold and options; `None` for informational metrics.
    pub criterion: Option<Criterion>,
    /// Its scores, or why there are none.
    pub outcome: MetricOutcome,
    /// The questions to judges; empty if it asked none.
    pub judge: Vec<JudgeUse>,
    /// The verdict on this run alone.
    pub verdict: Verdict,
    /// The verdict on each of its scores: one per turn, or a single one for the run as a whole; empty if it has no
    /// scores.
    pub turns: Vec<TurnVerdict>,
}

impl ScoredMetric {
    /// The points at which the case says what may vary, with the number of their turn, from 1.
    pub fn loosened(&self) -> impl Iterator<Item = (usize, &LoosenedPoint)> {
        let scores = if let MetricOutcome::Scored(scores) = &self.outcome { scores.scores() } else { &[] };
        (1..).zip(scores).flat_map(|(turn, score)| score.loosened().iter().map(move |point| (turn, point)))
    }

    /// The score of the run without these rules, which is ADK's: the exact mean of its turns. `None` if no rule was
    /// applied, or if a turn has no such score.
    pub fn literal_score(&self) -> Option<f64> {
        let MetricOutcome::Scored(scores) = &self.outcome else { return None };
        Loosening::of(&[scores])?.literal_score
    }
}

/// The result of one metric on one run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum MetricOutcome {
    /// It has scores.
    Scored(Scores),
    /// It does not apply, for this reason.
    Skipped(String),
    /// There is no judge to ask, which `EVALSET_MISSING_JUDGE=skip` allows; the reason.
    Unjudged(String),
    /// It failed.
    Error {
        /// The part that failed: the metric itself, or the judge it asked.
        role: Role,
        /// The error.
        message: String,
    },
}

impl MetricOutcome {
    /// The state of the metric in reports as JSON: `scored`, `not_evaluated` (a turn has no score), `skipped`
    /// or `error`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Scored(scores) if unscored(scores).is_some() => "not_evaluated",
            Self::Scored(_) => "scored",
            Self::Skipped(_) | Self::Unjudged(_) => "skipped",
            Self::Error { .. } => "error",
        }
    }

    /// The reason why a score is missing; `None` if none is.
    pub fn reason(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Scored(scores) => unscored(scores).map(Cow::Borrowed),
            Self::Skipped(reason) | Self::Unjudged(reason) => Some(Cow::Borrowed(reason)),
            Self::Error { role, message } => Some(Cow::Owned(format!("{role} error: {message}"))),
        }
    }
}

fn unscored(scores: &Scores) -> Option<&str> {
    scores.scores().iter().find_map(Score::reason)
}

/// The result of one metric on a case, over all runs.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricReport {
    /// The name of the metric.
    pub name: String,
    /// Threshold and options; `None` for informational metrics.
    pub criterion: Option<Criterion>,
    /// The exact mean of the scores of all turns of all runs; `None` if there is no score.
    ///
    /// For an informational metric, the mean of its overall scores of the runs.
    pub score: Option<f64>,
    /// The number of turns with a score; for a metric that scores a run as a whole, the number of runs.
    pub scored: usize,
    /// The number of turns, over all runs; for a metric that scores a run as a whole, the number of runs.
    pub total: usize,
    /// In how many runs the metric passed; `None` unless runs are decided one by one (`pass` other than `mean`).
    pub passed_runs: Option<usize>,
    /// The points at which the case says what may vary, with ADK's score; `None` if no such rule was applied.
    pub loosened: Option<Loosening>,
    /// The number of its arithmetic, if that was changed since the first version:
    /// [`MetricInfo::arithmetic`](eval_format::metric::MetricInfo::arithmetic). `None` is 1, as for metrics of the user's own.
    pub arithmetic: Option<u32>,
    /// The verdict on the metric.
    pub verdict: Verdict,
    /// Remarks on the score.
    pub notes: Vec<String>,
}

impl MetricReport {
    /// The points at which the case says what may vary, beside the score without these rules: `2 points loosened, 1 needed
    /// (ADK: 0.0)`. `None` if no rule was applied.
    pub fn loosened_text(&self) -> Option<String> {
        let Loosening { points, needed, literal_score } = self.loosened.as_ref()?;
        let needed = match needed {
            needed if needed == points => String::new(),
            0 => ", none needed".to_owned(),
            needed => format!(", {needed} needed"),
        };
        let literal = literal_score.map_or_else(|| "-".to_owned(), |score| short(score, self.bound()));
        let is_adks = metric(&self.name).is_some_and(|info| info.group == MetricGroup::AdkLexical);
        let whose = if is_adks { "ADK" } else { "literally" };
        Some(format!("{} loosened{needed} ({whose}: {literal})", count(*points, "point")))
    }

    /// The threshold with its direction; `None` for informational metrics.
    pub fn bound(&self) -> Option<Bound> {
        self.criterion.as_ref().map(Criterion::bound)
    }

    /// The threshold that the score is compared with; `None` for informational metrics.
    pub fn threshold(&self) -> Option<f64> {
        self.criterion.as_ref().map(|criterion| criterion.threshold)
    }
}

/// A score in few digits, never rounded across its threshold.
///
/// It has up to two digits after the point, or more if rounding would cross the threshold, and is cut if six are too few. A score
/// without a threshold, such as a count or a time, has up to three. Formats for machines have all digits.
///
/// ```
/// use eval_core::format::Bound;
/// use eval_core::report::short;
///
/// assert_eq!(short(2.0 / 3.0, Some(Bound::at_least(0.8))), "0.67");
/// assert_eq!(short(0.7999, Some(Bound::at_least(0.8))), "0.7999");
/// assert_eq!(short(5.0001, Some(Bound::at_most(5.0))), "5.0001");
/// assert_eq!(short(0.7999999999999999, Some(Bound::at_least(0.8))), "0.799999…");
/// assert_eq!(short(1.234_56, None), "1.235");
/// ```
pub fn short(score: f64, bound: Option<Bound>) -> String {
    let Some(bound) = bound else { return format!("{:?}", round_3(score)) };
    let is_on_its_side = |shown: &f64| bound.is_met(*shown) == bound.is_met(score);
    let mut rounded = (2..17).filter_map(|digits| format!("{score:.digits$}").parse::<f64>().ok());
    // No score is shown as `-0.0`.
    let exact = format!("{:?}", rounded.find(is_on_its_side).unwrap_or(score) + 0.0);
    match exact.split_once('.') {
        // A score that only a computer tells from its threshold. A small one has zeros first, which say how small it is.
        Some((whole, digits))
            if digits.len() > MAX_DIGITS && !digits.starts_with("000") && !digits.contains('e') =>
        {
            format!("{whole}.{}…", &digits[..MAX_DIGITS])
        }
        _ => exact,
    }
}

/// The most digits after the point of a score.
const MAX_DIGITS: usize = 6;

#[cfg(test)]
mod short_tests {
    use super::*;

    #[test]
    fn a_score_never_looks_as_if_it_were_on_the_other_side_of_the_threshold() {
        for (score, threshold, shown) in [
            (0.5, Some(0.8), "0.5"),
            (0.912, Some(0.8), "0.91"),
            (0.799_9, Some(0.8), "0.7999"),
            (0.8, Some(0.8), "0.8"),
            (0.799_999_999_999_999_9, Some(0.8), "0.799999…"),
            (0.000_123_456_78, Some(0.000_123_456_77), "0.0001235"),
            (0.846, Some(0.85), "0.846"),
            (0.999_999, Some(1.0), "0.999999"),
            (2.0 / 3.0, Some(0.667), "0.6667"),
            (-0.001, Some(-1.0), "0.0"),
            (1.0, None, "1.0"),
            (1_234.0, None, "1234.0"),
            (0.012_345, None, "0.012"),
        ] {
            assert_eq!(short(score, threshold.map(Bound::at_least)), shown, "{score} {threshold:?}");
        }
    }
}
