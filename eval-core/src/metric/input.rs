//! What a metric is given.

use eval_format::{Criterion, EvalCase, Invocation, Map};

use super::scores::{Score, Scores};
use crate::judge::BoxJudge;
#[cfg(feature = "judges")]
use crate::judge::Judging;

/// What a metric scores: one run of one case.
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
    /// What happened, one invocation per turn.
    pub actual: &'a [Invocation],
    /// What was expected, one invocation per turn. Empty for a scenario.
    pub expected: &'a [Invocation],
    /// The session state at the end of the run.
    pub state: &'a Map,
    /// The threshold, and the metric's options in the config.
    pub criterion: &'a Criterion,
    /// The judge of the case.
    #[cfg_attr(
        not(feature = "judges"),
        expect(dead_code, reason = "without the feature no metric asks a judge")
    )]
    pub(crate) judge: &'a BoxJudge,
}

impl<'a> MetricInput<'a> {
    /// The turns, actual and expected side by side. The expected turn is `None` if the case expects fewer turns.
    pub fn turns(&self) -> impl Iterator<Item = (&'a Invocation, Option<&'a Invocation>)> + use<'a> {
        let expected = self.expected;
        self.actual.iter().enumerate().map(move |(at, actual)| (actual, expected.get(at)))
    }

    /// The judge, asked as the criterion's `judge_model_options` say.
    #[cfg(feature = "judges")]
    pub fn judging(&self) -> Judging {
        Judging::new(self.judge.clone(), self.criterion)
    }

    /// Scores each turn on its own. It takes a reference to a function so that it is compiled once for all metrics.
    pub(crate) fn score_turns(&self, score: &dyn Fn(&Invocation, Option<&Invocation>) -> Score) -> Scores {
        Scores::of_turns(self.turns().map(|(actual, expected)| score(actual, expected)).collect())
    }
}
