//! The result of a metric: a score per turn, or one for the whole run.

use eval_format::{Bound, TurnAggregation};
use eval_support::setters;

use super::loosened::LoosenedPoint;
use crate::score::mean;

/// The score of one turn, or the reason why there is none, with notes for the report.
///
/// ```
/// use eval_core::Score;
///
/// let score = Score::from(0.5).note("half of the words are there");
/// assert_eq!(score.value(), Some(0.5));
/// assert_eq!(Score::from(true).value(), Some(1.0));
/// assert_eq!(Score::not_evaluated("no reference").value(), None);
/// ```
///
/// A score is any finite number. The range is up to the metric; [`METRICS`](eval_format::metric::METRICS) has the
/// ranges of the built-in metrics.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    kind: Kind,
    notes: Vec<String>,
    rubrics: Vec<RubricScore>,
    /// `None` unless rules of the case were applied.
    loosely: Option<Box<Loosely>>,
}

/// The points at which the case says what may vary, and the score without these rules.
#[derive(Clone, Debug, PartialEq)]
struct Loosely {
    points: Vec<LoosenedPoint>,
    literal: Option<f64>,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Value(f64),
    NotEvaluated(String),
    LeftOut(String),
}

impl Score {
    fn of(kind: Kind) -> Self {
        Self { kind, notes: Vec::new(), rubrics: Vec::new(), loosely: None }
    }

    /// No score, for this reason. One such turn makes the metric NOT EVALUATED, whatever its other turns score.
    pub fn not_evaluated(reason: impl Into<String>) -> Self {
        Self::of(Kind::NotEvaluated(reason.into()))
    }

    /// No score, since nothing is expected of this turn: it stays out of the mean, and the other turns decide.
    ///
    /// ```
    /// use eval_core::{Score, Scores};
    ///
    /// let scores: Scores = [Score::from(0.0), Score::left_out("nothing is expected")].into_iter().collect();
    /// assert_eq!(scores.overall(), Some(0.0));
    /// ```
    ///
    /// If all turns are left out, the metric is NOT EVALUATED.
    pub fn left_out(reason: impl Into<String>) -> Self {
        Self::of(Kind::LeftOut(reason.into()))
    }

    setters! {
        /// Adds a sentence that a failure prints below this turn: a rationale, an explanation.
        note(note: impl Into<String>) { notes.push(note.into()) }

        /// Sets the scores of the single rubrics that this score is computed from.
        with_rubrics(rubrics: Vec<RubricScore>) { rubrics = rubrics }
    }

    /// The number; `None` if the turn was not evaluated or is left out.
    pub fn value(&self) -> Option<f64> {
        if let Kind::Value(value) = self.kind { Some(value) } else { None }
    }

    /// The reason why the turn was not evaluated; `None` if it has a score or is left out.
    pub fn reason(&self) -> Option<&str> {
        if let Kind::NotEvaluated(reason) = &self.kind { Some(reason) } else { None }
    }

    /// The reason why the turn stays out of the mean; `None` if it does not.
    pub fn why_left_out(&self) -> Option<&str> {
        if let Kind::LeftOut(reason) = &self.kind { Some(reason) } else { None }
    }

    /// The notes, in the order in which they were added.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The scores of the single rubrics; empty for a metric without rubrics.
    pub fn rubrics(&self) -> &[RubricScore] {
        &self.rubrics
    }

    /// The points at which the case says what may vary in this turn, as the metric applied them; empty for a turn
    /// without such rules.
    pub fn loosened(&self) -> &[LoosenedPoint] {
        self.loosely.as_ref().map_or(&[], |loosely| &loosely.points)
    }

    /// The number without the rules of the case, which is ADK's. It is [`value`](Self::value) if there are none, and
    /// `None` if the calls are too many to be compared.
    pub fn literal(&self) -> Option<f64> {
        self.loosely.as_ref().map_or(self.value(), |loosely| loosely.literal)
    }

    /// Adds the points at which the case says what may vary, and the score without them.
    pub(crate) fn with_loosened(mut self, points: Vec<LoosenedPoint>, literal: Option<f64>) -> Self {
        self.loosely = Some(Box::new(Loosely { points, literal }));
        self
    }

    /// Whether the turn was scored under rules of the case, even if none of them was applied.
    pub(crate) fn is_ruled(&self) -> bool {
        self.loosely.is_some()
    }

    #[cfg(feature = "judges")]
    pub(crate) fn without_notes(&self) -> Self {
        Self { notes: Vec::new(), ..self.clone() }
    }
}

impl From<f64> for Score {
    /// `NaN` and the infinities are not evaluated: a division by zero would reach any threshold.
    fn from(value: f64) -> Self {
        if !value.is_finite() {
            return Self::not_evaluated(format!("the metric returned {value}"));
        }
        Self::of(Kind::Value(value))
    }
}

impl From<bool> for Score {
    /// 1 for `true`, 0 for `false`.
    fn from(passed: bool) -> Self {
        Self::from(f64::from(u8::from(passed)))
    }
}

impl From<Option<f64>> for Score {
    /// `None` is not evaluated.
    fn from(value: Option<f64>) -> Self {
        value.map_or_else(|| Self::not_evaluated("the metric returned no score"), Self::from)
    }
}

/// The score of one rubric of a turn.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RubricScore {
    /// The id of the rubric.
    pub rubric_id: String,
    /// 1 if the rubric is met, 0 if it is not; `None` if the judge gave no verdict.
    pub score: Option<f64>,
    /// The reason, in the judge's words; `None` if the judge gave none.
    pub rationale: Option<String>,
}

impl RubricScore {
    /// A verdict without a reason. `passed` is `None` if the judge gave no verdict.
    pub fn new(rubric_id: impl Into<String>, passed: Option<bool>) -> Self {
        let score = passed.map(|passed| f64::from(u8::from(passed)));
        Self { rubric_id: rubric_id.into(), score, rationale: None }
    }

    setters! {
        /// Adds the reason.
        rationale(rationale: impl Into<String>) { rationale = Some(rationale.into()) }
    }
}

/// The scores of one run: one per turn, or one for the run as a whole.
///
/// ```
/// use eval_core::{Score, Scores};
///
/// let by_turn: Scores = [Score::from(1.0), Score::from(0.5).note("half of it")].into_iter().collect();
/// assert_eq!(by_turn.overall(), Some(0.75));
///
/// let of_run = Scores::whole_run(true);
/// assert!(of_run.is_whole_run() && of_run.overall() == Some(1.0));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Scores {
    #[expect(clippy::struct_field_names, reason = "the name that records have")]
    pub(crate) scores: Vec<Score>,
    pub(crate) overall: Option<f64>,
    pub(crate) whole_run: bool,
}

impl FromIterator<Score> for Scores {
    /// One score per turn. The overall score is ADK's naive mean: summed left to right, then divided.
    fn from_iter<I: IntoIterator<Item = Score>>(scores: I) -> Self {
        Self::of_turns(scores.into_iter().collect())
    }
}

impl Scores {
    pub(crate) fn of_turns(scores: Vec<Score>) -> Self {
        let values: Vec<f64> = scores.iter().filter_map(Score::value).collect();
        Self { overall: mean::naive(&values), scores, whole_run: false }
    }

    /// One score for the whole run, for metrics that do not look at single turns.
    pub fn whole_run(score: impl Into<Score>) -> Self {
        let score = score.into();
        Self { overall: score.value(), scores: vec![score], whole_run: true }
    }

    setters! {
        /// Replaces the overall score, for metrics whose overall score is not the naive mean.
        with_overall(overall: Option<f64>) { overall = overall }
    }

    /// The scores: one per turn, or a single one for the whole run.
    pub fn scores(&self) -> &[Score] {
        &self.scores
    }

    /// The metric's own overall score of the run; `None` if no turn has a score.
    pub fn overall(&self) -> Option<f64> {
        self.overall
    }

    /// Whether this run alone meets a bound: by the exact mean of its scores, or by each of them.
    ///
    /// A run without scores, or with a turn that was not evaluated, meets no bound.
    pub fn meets(&self, bound: Bound, gate: TurnAggregation) -> bool {
        Pool::from_runs(&[self]).meets(bound, gate)
    }

    /// Whether there is one score for the whole run instead of one per turn.
    pub fn is_whole_run(&self) -> bool {
        self.whole_run
    }
}

/// The scores of several runs in one list.
#[derive(Debug)]
pub struct Pool {
    /// The scores that are numbers.
    pub values: Vec<f64>,
    /// The number of turns that count: turns that have a number, and turns that were not evaluated.
    pub total: usize,
}

impl Pool {
    /// Collects the scores of these runs.
    pub fn from_runs(runs: &[&Scores]) -> Self {
        let mut pool = Self { values: Vec::new(), total: 0 };
        for scores in runs {
            for score in scores.scores() {
                match score.kind {
                    Kind::Value(value) => pool.values.push(value),
                    Kind::NotEvaluated(_) => {}
                    Kind::LeftOut(_) => continue,
                }
                pool.total += 1;
            }
        }
        pool
    }

    /// Whether each turn that counts has a number.
    pub fn is_whole(&self) -> bool {
        self.values.len() == self.total
    }

    /// The exact mean; `None` if there are no numbers.
    pub fn mean(&self) -> Option<f64> {
        mean::exact(&self.values)
    }

    /// Whether these scores meet a bound.
    pub fn meets(&self, bound: Bound, gate: TurnAggregation) -> bool {
        self.is_whole()
            && match gate {
                TurnAggregation::EveryTurn => {
                    !self.values.is_empty() && self.values.iter().all(|value| bound.is_met(*value))
                }
                TurnAggregation::Mean => self.mean().is_some_and(|mean| bound.is_met(mean)),
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_finite_is_no_score() {
        for (value, reason) in [(f64::NAN, "NaN"), (1.0 / 0.0, "inf"), (-1.0 / 0.0, "-inf")] {
            let score = Score::from(value);
            assert_eq!(score.value(), None);
            assert_eq!(score.reason(), Some(format!("the metric returned {reason}").as_str()));
        }
    }

    #[test]
    fn what_was_not_evaluated_reaches_no_threshold() {
        let unscored: Scores = [Score::from(1.0), Score::not_evaluated("no answer")].into_iter().collect();
        let none: Scores = std::iter::empty().collect();
        for gate in [TurnAggregation::Mean, TurnAggregation::EveryTurn] {
            assert!(
                !unscored.meets(Bound::at_least(0.0), gate) && !none.meets(Bound::at_most(9.0), gate),
                "{gate:?}"
            );
        }
    }

    #[test]
    fn what_is_left_out_stays_out_of_the_mean() {
        let half: Scores = [Score::from(0.0), Score::left_out("x"), Score::from(1.0)].into_iter().collect();
        assert_eq!(half.overall(), Some(0.5));
        let meets = |scores: &Scores, threshold, gate| scores.meets(Bound::at_least(threshold), gate);
        assert!(meets(&half, 0.5, TurnAggregation::Mean) && !meets(&half, 0.6, TurnAggregation::Mean));
        assert!(!meets(&half, 0.5, TurnAggregation::EveryTurn));
        assert!(
            half.meets(Bound::at_most(0.5), TurnAggregation::Mean)
                && !half.meets(Bound::at_most(0.5), TurnAggregation::EveryTurn)
        );
        let full: Scores = [Score::left_out("x"), Score::from(1.0)].into_iter().collect();
        assert!(meets(&full, 1.0, TurnAggregation::EveryTurn));
        let none: Scores = [Score::left_out("x")].into_iter().collect();
        assert!(!meets(&none, 0.0, TurnAggregation::Mean) && !meets(&none, 0.0, TurnAggregation::EveryTurn));
        assert_eq!((none.scores()[0].reason(), none.scores()[0].why_left_out()), (None, Some("x")));
    }

    #[test]
    fn scores_keep_adks_naive_mean() {
        let scores: Scores = [0.1, 0.2, 0.3].into_iter().map(Score::from).collect();
        assert_eq!(scores.overall(), Some(0.200_000_000_000_000_04));
        let none: Scores = std::iter::empty().collect();
        assert_eq!(none.overall(), None);
    }

    #[test]
    fn a_metric_that_returns_no_score_says_so() {
        assert_eq!(Score::from(None).reason(), Some("the metric returned no score"));
        assert_eq!(Score::from(Some(0.5)), Score::from(0.5));
        assert_eq!((Score::from(true).value(), Score::from(false).value()), (Some(1.0), Some(0.0)));
    }

    #[cfg(feature = "judges")]
    #[test]
    fn a_score_without_its_notes_keeps_the_rest() {
        let rubrics = vec![RubricScore::new("a", Some(true)).rationale("because")];
        let plain = Score::from(0.5).with_rubrics(rubrics.clone());
        let score = plain.clone().note("a note");
        assert_eq!((score.notes(), score.rubrics()), (&["a note".to_owned()][..], &rubrics[..]));
        assert_eq!(score.without_notes(), plain);
    }
}
