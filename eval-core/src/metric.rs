//! Metrics: from what was expected and what happened to scores.
//!
//! One struct per metric, one file per metric: its documentation, its algorithm and its tests side
//! by side, all entered in one list, [`BUILT_IN`]. Their names, ranges and criterion fields are data in
//! `eval_format::METRICS`, and a test holds the two lists equal.

mod answers;
mod calls;
#[cfg(feature = "judges")]
mod conversation_checks;
mod custom;
mod final_response_match;
#[cfg(feature = "judges")]
mod final_response_match_v2;
#[cfg(feature = "judges")]
mod hallucinations;
mod inference_call_count;
mod invocation_duration;
#[cfg(feature = "judges")]
mod judged;
#[cfg(all(test, feature = "judges"))]
mod judged_vectors;
#[cfg(feature = "judges")]
mod multi_turn_task_success;
#[cfg(feature = "judges")]
mod multi_turn_tool_use_quality;
#[cfg(feature = "judges")]
mod multi_turn_trajectory_quality;
#[cfg(feature = "judges")]
mod response_evaluation;
mod response_match;
pub(crate) mod response_similarity;
#[cfg(feature = "judges")]
mod rubric_final_response_quality;
#[cfg(feature = "judges")]
mod rubric_multi_turn_trajectory;
#[cfg(feature = "judges")]
mod rubric_tool_use_quality;
#[cfg(feature = "judges")]
mod rubrics;
#[cfg(feature = "judges")]
mod safety;
mod session_state;
#[cfg(all(test, feature = "judges"))]
pub(crate) mod testing;
mod token_usage;
mod tool_call_count;
mod tool_trajectory;
mod trajectory_any_order_match;
mod trajectory_exact_match;
mod trajectory_in_order_match;
mod trajectory_match_ratio;
mod trajectory_precision;
mod trajectory_recall;
mod trajectory_single_tool_use;
#[cfg(feature = "judges")]
mod user_simulator_quality;

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use eval_format::{Criterion, EvalCase, Gate, Invocation, Map};

use crate::agent::{BoxError, BoxFuture};
use crate::judge::BoxJudge;
#[cfg(feature = "judges")]
use crate::judge::Judging;
use crate::score::mean;

pub use custom::MetricFn;
#[cfg(feature = "reports")]
pub(crate) use invocation_duration::NAME as INVOCATION_DURATION;
pub(crate) use session_state::NAME as FINAL_SESSION_STATE_MATCH;
#[cfg(feature = "reports")]
pub(crate) use token_usage::NAME as TOKEN_USAGE;

/// What a metric looks at: one run of one case.
///
/// ```
/// use eval_core::{MetricInput, Score, Scores};
///
/// /// Whether each turn made no more tool calls than expected.
/// fn thrift(input: &MetricInput<'_>) -> Scores {
///     let turns = input.turns().map(|(actual, expected)| match expected {
///         Some(expected) => Score::from(actual.tool_calls().count() <= expected.tool_calls().count()),
///         None => Score::not_evaluated("nothing is expected of this turn"),
///     });
///     turns.collect()
/// }
/// # let _ = thrift;
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct MetricInput<'a> {
    /// The case as it stands in the file.
    pub case: &'a EvalCase,
    /// What happened, one per turn.
    pub actual: &'a [Invocation],
    /// What was expected, one per turn.
    pub expected: &'a [Invocation],
    /// The session state at the end.
    pub state: &'a Map,
    /// Threshold and options.
    pub criterion: &'a Criterion,
    /// Whom to ask.
    pub(crate) judge: &'a BoxJudge,
}

impl<'a> MetricInput<'a> {
    /// The turns: actual and expected side by side.
    pub fn turns(&self) -> impl Iterator<Item = (&'a Invocation, Option<&'a Invocation>)> + use<'a> {
        let expected = self.expected;
        self.actual.iter().enumerate().map(move |(at, actual)| (actual, expected.get(at)))
    }

    #[cfg(feature = "judges")]
    /// The judge, asked as the criterion's `judge_model_options` say.
    pub fn judging(&self) -> Judging {
        Judging::new(self.judge.clone(), self.criterion)
    }

    /// Scores each turn on its own. Most metrics do, so it is compiled once for all of them.
    pub(crate) fn score_turns(&self, score: &dyn Fn(&Invocation, Option<&Invocation>) -> Score) -> Scores {
        Scores::of_turns(self.turns().map(|(actual, expected)| score(actual, expected)).collect())
    }
}

/// A way to score a run.
///
/// ```
/// use eval_core::{BoxError, Metric, MetricInput, Score, Scores};
///
/// /// At most as many words as the criterion's `max_words`.
/// struct Brevity;
///
/// impl Metric for Brevity {
///     async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
///         let max = input.criterion.get("max_words").and_then(|v| v.as_i64()).unwrap_or(50);
///         Ok(input
///             .turns()
///             .map(|(actual, _)| Score::from(actual.response_text().split_whitespace().count() as i64 <= max))
///             .collect())
///     }
/// }
/// ```
///
/// A metric that looks at one turn at a time can be a function: see [`MetricFn`]. An error, a panic, or a number of
/// scores that is not the number of turns makes the metric an ERROR; its siblings are not touched.
pub trait Metric: Send + Sync {
    /// Scores one run, turn by turn.
    fn score(&self, input: MetricInput<'_>) -> impl Future<Output = Result<Scores, BoxError>> + Send;
}

/// The twin of [`Metric`] that can stand behind a pointer.
trait Erased: Send + Sync {
    fn score<'a>(&'a self, input: MetricInput<'a>) -> BoxFuture<'a, Result<Scores, BoxError>>;
}

impl<M: Metric> Erased for M {
    fn score<'a>(&'a self, input: MetricInput<'a>) -> BoxFuture<'a, Result<Scores, BoxError>> {
        Box::pin(Metric::score(self, input))
    }
}

/// A metric behind a pointer, cheap to clone.
#[derive(Clone)]
pub struct BoxMetric(Arc<dyn Erased>);

impl BoxMetric {
    /// Puts a metric behind a pointer.
    pub fn new(metric: impl Metric + 'static) -> Self {
        Self(Arc::new(metric))
    }
}

impl fmt::Debug for BoxMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BoxMetric(..)")
    }
}

impl Metric for BoxMetric {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        self.0.score(input).await
    }
}

/// The score of one turn, and what there is to say about it.
///
/// ```
/// use eval_core::Score;
///
/// let score = Score::from(0.5).note("half of the words are there");
/// assert_eq!(score.value(), Some(0.5));
/// assert_eq!(Score::from(true).value(), Some(1.0));
/// assert_eq!(Score::not_evaluated("no reference").value(), None);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    kind: Kind,
    notes: Vec<String>,
    rubrics: Vec<RubricScore>,
}

/// What a judge found on one rubric.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RubricScore {
    /// The id of the rubric.
    pub rubric_id: String,
    /// 1 where it is met, 0 where it is not, absent where the judge gave no verdict.
    pub score: Option<f64>,
    /// Why, in the judge's words.
    pub rationale: Option<String>,
}

impl RubricScore {
    /// A verdict without a reason; `passed` is `None` where the judge gave no verdict.
    pub fn new(rubric_id: impl Into<String>, passed: Option<bool>) -> Self {
        let score = passed.map(|passed| f64::from(u8::from(passed)));
        Self { rubric_id: rubric_id.into(), score, rationale: None }
    }

    /// Adds the reason.
    #[must_use]
    pub fn rationale(mut self, rationale: impl Into<String>) -> Self {
        self.rationale = Some(rationale.into());
        self
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Value(f64),
    NotEvaluated(String),
}

impl Score {
    /// No score, for this reason. The metric is `NotEvaluated`, whatever its other turns score.
    pub fn not_evaluated(reason: impl Into<String>) -> Self {
        Self { kind: Kind::NotEvaluated(reason.into()), notes: Vec::new(), rubrics: Vec::new() }
    }

    /// Adds a sentence that a failure prints below this turn: a rationale, an explanation.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// The same without what there is to say about it.
    fn without_notes(&self) -> Self {
        Self { notes: Vec::new(), ..self.clone() }
    }

    /// The number, if there is one.
    pub fn value(&self) -> Option<f64> {
        match self.kind {
            Kind::Value(value) => Some(value),
            Kind::NotEvaluated(_) => None,
        }
    }

    /// Why there is no number.
    pub fn reason(&self) -> Option<&str> {
        match &self.kind {
            Kind::NotEvaluated(reason) => Some(reason),
            Kind::Value(_) => None,
        }
    }

    /// Sets what the score is made of, rubric by rubric.
    #[must_use]
    pub fn with_rubrics(mut self, rubrics: Vec<RubricScore>) -> Self {
        self.rubrics = rubrics;
        self
    }

    /// What the score is made of, where it is made of rubrics.
    pub fn rubrics(&self) -> &[RubricScore] {
        &self.rubrics
    }

    /// What there is to say about it.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl From<f64> for Score {
    /// `NaN` and the infinities are no scores: a division by zero would reach any threshold.
    fn from(value: f64) -> Self {
        if !value.is_finite() {
            return Self::not_evaluated(format!("the metric returned {value}"));
        }
        Self { kind: Kind::Value(value), notes: Vec::new(), rubrics: Vec::new() }
    }
}

impl From<bool> for Score {
    /// 1 or 0.
    fn from(passed: bool) -> Self {
        Self::from(f64::from(u8::from(passed)))
    }
}

impl From<Option<f64>> for Score {
    fn from(value: Option<f64>) -> Self {
        value.map_or_else(|| Self::not_evaluated("the metric returned no score"), Self::from)
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
    all: Vec<Score>,
    overall: Option<f64>,
    whole_run: bool,
}

impl FromIterator<Score> for Scores {
    /// One score per turn. The overall score is ADK's naive mean: summed left to right, then divided.
    fn from_iter<I: IntoIterator<Item = Score>>(scores: I) -> Self {
        Self::of_turns(scores.into_iter().collect())
    }
}

impl Scores {
    fn of_turns(scores: Vec<Score>) -> Self {
        let values: Vec<f64> = scores.iter().filter_map(Score::value).collect();
        Self { overall: mean::naive(&values), all: scores, whole_run: false }
    }

    /// One score for the whole run, for metrics that do not look at single turns.
    pub fn whole_run(score: impl Into<Score>) -> Self {
        let score = score.into();
        Self { overall: score.value(), all: vec![score], whole_run: true }
    }

    /// Replaces the overall score, for metrics whose mean is another one.
    #[must_use]
    pub(crate) fn with_overall(mut self, overall: Option<f64>) -> Self {
        self.overall = overall;
        self
    }

    /// The scores: one per turn, or a single one for the whole run.
    pub fn scores(&self) -> &[Score] {
        &self.all
    }

    /// The metric's own overall score of the run; absent where no turn has a score.
    pub fn overall(&self) -> Option<f64> {
        self.overall
    }

    /// Whether this run, taken alone, reaches a threshold: its exact mean, or each of its scores. What has no score
    /// reaches none.
    pub fn reaches(&self, threshold: f64, gate: Gate) -> bool {
        Self::reach(&[self], threshold, gate)
    }

    /// Whether these runs, taken together, reach the threshold. There is no tolerance, as in ADK.
    pub(crate) fn reach(runs: &[&Self], threshold: f64, gate: Gate) -> bool {
        let mut values = runs.iter().flat_map(|scores| scores.scores()).map(Score::value);
        match gate {
            Gate::EveryTurn => values.all(|value| value.is_some_and(|value| value >= threshold)),
            _ => {
                let values: Option<Vec<f64>> = values.collect();
                values.and_then(|values| mean::exact(&values)).is_some_and(|mean| mean >= threshold)
            }
        }
    }

    /// Whether there is one score for the whole run instead of one per turn.
    pub fn is_whole_run(&self) -> bool {
        self.whole_run
    }
}

/// Makes the built-in metric of a name; `None` if there is none, or if it asks a judge and the feature `judges` is off.
pub(crate) fn built_in(name: &str) -> Option<BoxMetric> {
    let (_, make) = BUILT_IN.iter().find(|(known, _)| *known == name)?;
    Some(make())
}

/// Makes a metric.
pub type MakeMetric = fn() -> BoxMetric;

/// Every built-in metric.
static BUILT_IN: &[(&str, MakeMetric)] = &[
    (tool_trajectory::NAME, || BoxMetric::new(tool_trajectory::ToolTrajectory)),
    (response_match::NAME, || BoxMetric::new(response_match::ResponseMatch)),
    (tool_call_count::NAME, || BoxMetric::new(tool_call_count::ToolCallCount)),
    (inference_call_count::NAME, || BoxMetric::new(inference_call_count::InferenceCallCount)),
    (token_usage::NAME, || BoxMetric::new(token_usage::TokenUsage)),
    (invocation_duration::NAME, || BoxMetric::new(invocation_duration::InvocationDuration)),
    (trajectory_exact_match::NAME, || BoxMetric::new(trajectory_exact_match::TrajectoryExactMatch)),
    (trajectory_in_order_match::NAME, || BoxMetric::new(trajectory_in_order_match::TrajectoryInOrderMatch)),
    (trajectory_any_order_match::NAME, || {
        BoxMetric::new(trajectory_any_order_match::TrajectoryAnyOrderMatch)
    }),
    (trajectory_precision::NAME, || BoxMetric::new(trajectory_precision::TrajectoryPrecision)),
    (trajectory_recall::NAME, || BoxMetric::new(trajectory_recall::TrajectoryRecall)),
    (trajectory_single_tool_use::NAME, || {
        BoxMetric::new(trajectory_single_tool_use::TrajectorySingleToolUse)
    }),
    (final_response_match::NAME, || BoxMetric::new(final_response_match::FinalResponseMatch)),
    (trajectory_match_ratio::NAME, || BoxMetric::new(trajectory_match_ratio::TrajectoryMatchRatio)),
    (response_similarity::NAME, || BoxMetric::new(response_similarity::ResponseSimilarity)),
    (session_state::NAME, || BoxMetric::new(session_state::FinalSessionStateMatch)),
    #[cfg(feature = "judges")]
    (final_response_match_v2::NAME, || BoxMetric::new(final_response_match_v2::FinalResponseMatchV2)),
    #[cfg(feature = "judges")]
    (rubric_final_response_quality::NAME, || {
        BoxMetric::new(rubric_final_response_quality::RubricFinalResponseQuality)
    }),
    #[cfg(feature = "judges")]
    (rubric_tool_use_quality::NAME, || BoxMetric::new(rubric_tool_use_quality::RubricToolUseQuality)),
    #[cfg(feature = "judges")]
    (rubric_multi_turn_trajectory::NAME, || {
        BoxMetric::new(rubric_multi_turn_trajectory::RubricMultiTurnTrajectory)
    }),
    #[cfg(feature = "judges")]
    (hallucinations::NAME, || BoxMetric::new(hallucinations::Hallucinations)),
    #[cfg(feature = "judges")]
    (safety::NAME, || BoxMetric::new(safety::Safety)),
    #[cfg(feature = "judges")]
    (response_evaluation::NAME, || BoxMetric::new(response_evaluation::ResponseEvaluation)),
    #[cfg(feature = "judges")]
    (multi_turn_task_success::NAME, || BoxMetric::new(multi_turn_task_success::MultiTurnTaskSuccess)),
    #[cfg(feature = "judges")]
    (multi_turn_trajectory_quality::NAME, || {
        BoxMetric::new(multi_turn_trajectory_quality::MultiTurnTrajectoryQuality)
    }),
    #[cfg(feature = "judges")]
    (multi_turn_tool_use_quality::NAME, || {
        BoxMetric::new(multi_turn_tool_use_quality::MultiTurnToolUseQuality)
    }),
    #[cfg(feature = "judges")]
    (user_simulator_quality::NAME, || BoxMetric::new(user_simulator_quality::UserSimulatorQuality)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_the_format_is_the_list_here() {
        for info in eval_format::METRICS {
            let asks = info.needs.contains(&eval_format::Need::Judge);
            let is_here = !asks || cfg!(feature = "judges");
            assert_eq!(built_in(info.name).is_some(), is_here, "{}", info.name);
        }
        for (name, _) in BUILT_IN {
            assert!(eval_format::metric(name).is_some(), "{name}");
            assert_eq!(BUILT_IN.iter().filter(|(other, _)| other == name).count(), 1, "{name}");
        }
    }

    #[test]
    fn what_is_not_finite_is_no_score() {
        for (value, reason) in [(f64::NAN, "NaN"), (1.0 / 0.0, "inf"), (-1.0 / 0.0, "-inf")] {
            let score = Score::from(value);
            assert_eq!(score.value(), None);
            assert_eq!(score.reason(), Some(format!("the metric returned {reason}").as_str()));
        }
    }

    #[test]
    fn scores_keep_adks_naive_mean() {
        let scores: Scores = [0.1, 0.2, 0.3].into_iter().map(Score::from).collect();
        assert_eq!(scores.overall(), Some(0.200_000_000_000_000_04));
        let none: Scores = std::iter::empty().collect();
        assert_eq!(none.overall(), None);
    }
}
