//! The input of a metric.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use eval_format::expect::Rules;
use eval_format::{Criterion, EvalCase, Invocation, Map};

use super::scores::{Score, Scores};
#[cfg(feature = "judges")]
use crate::judge::JudgeClient;
use crate::judge::{BoxJudge, nobody};

const STOPPED: &str = "scoring was stopped";

/// The input of a metric: one run of one case.
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
    /// The case as it is in the file.
    pub case: &'a EvalCase,
    /// The actual conversation, one invocation per turn.
    pub actual: &'a [Invocation],
    /// The expected conversation, one invocation per turn. Empty for a scenario.
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
    pub(crate) stopped: Option<&'a AtomicBool>,
    /// The name of the metric; empty in a unit test.
    pub(crate) name: &'a str,
    /// The time limit of custom metrics; `None` in a unit test.
    pub(crate) time_limit: Option<Duration>,
    /// The rules of the case's key `_expect` for calls; `None` if calls are judged as ADK does.
    pub(crate) rules: Option<&'a Rules>,
    /// The rules for answers, on which demands hold in any case.
    pub(crate) demands: Option<&'a Rules>,
}

impl<'a> MetricInput<'a> {
    /// The input of a unit test: the case with its expected turns, the actual turns, and the criterion.
    ///
    /// ```
    /// use eval_core::{BoxError, Criterion, EvalCase, Invocation, Metric, MetricInput, Score, Scores};
    ///
    /// /// At most as many words as the criterion's `max_words`.
    /// struct Brevity;
    ///
    /// impl Metric for Brevity {
    ///     async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
    ///         let max = input.criterion.get("max_words").and_then(|max| max.as_i64()).ok_or("no `max_words`")?;
    ///         let words = |turn: &Invocation| turn.response_text().split_whitespace().count() as i64;
    ///         Ok(input.turns().map(|(actual, _)| Score::from(words(actual) <= max)).collect())
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BoxError> {
    /// let case = EvalCase::new("sunny").turn(Invocation::user("Paris?").response("It is sunny."));
    /// let actual = [Invocation::user("Paris?").response("It is very, very sunny.")];
    /// let criterion = Criterion::new(1.0).with("max_words", 3);
    ///
    /// let scores = Brevity.score(MetricInput::new(&case, &actual, &criterion)).await?;
    /// assert_eq!(scores.overall(), Some(0.0));
    /// # Ok(()) }
    /// ```
    ///
    /// The session state is empty and there is no judge, unless `with_state` and `with_judge` set them.
    pub fn new(case: &'a EvalCase, actual: &'a [Invocation], criterion: &'a Criterion) -> Self {
        static EMPTY: Map = Map::new();
        Self {
            case,
            actual,
            expected: &case.conversation,
            state: &EMPTY,
            criterion,
            judge: nobody(),
            stopped: None,
            name: "",
            time_limit: None,
            rules: None,
            demands: None,
        }
    }

    /// Sets the session state at the end of the run.
    #[must_use]
    pub fn with_state(mut self, state: &'a Map) -> Self {
        self.state = state;
        self
    }

    /// The turns, actual and expected side by side. The expected turn is `None` if the case expects fewer turns.
    pub fn turns(&self) -> impl Iterator<Item = (&'a Invocation, Option<&'a Invocation>)> + use<'a> {
        let expected = self.expected;
        self.actual.iter().enumerate().map(move |(at, actual)| (actual, expected.get(at)))
    }

    /// Scores each turn on its own, counted from 0. It takes a reference to a function so that it is compiled once for all
    /// metrics.
    pub(crate) fn score_turns(
        &self,
        score: &dyn Fn(usize, &Invocation, Option<&Invocation>) -> Score,
    ) -> Scores {
        let mut scores = Vec::with_capacity(self.actual.len());
        for (at, (actual, expected)) in self.turns().enumerate() {
            // There may be thousands of turns, and each may take a tenth of a second.
            let is_stopped = self.stopped.is_some_and(|stopped| stopped.load(Ordering::Relaxed));
            scores.push(if is_stopped { Score::not_evaluated(STOPPED) } else { score(at, actual, expected) });
        }
        Scores::of_turns(scores)
    }
}

#[cfg(feature = "judges")]
impl<'a> MetricInput<'a> {
    /// Sets the judge that is asked. It is asked directly, whatever `EVALSET_JUDGE` says.
    ///
    /// ```
    /// use eval_core::judge::{Judge, ScriptedJudge};
    /// use eval_core::{Criterion, EvalCase, Invocation, MetricInput};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let case = EvalCase::new("sunny").turn(Invocation::user("Paris?"));
    /// let actual = [Invocation::user("Paris?").response("It is sunny.")];
    /// let (criterion, judge) = (Criterion::new(1.0), ScriptedJudge::new(["yes"]).boxed());
    /// let input = MetricInput::new(&case, &actual, &criterion).with_judge(&judge);
    ///
    /// let judging = input.judging();
    /// let reply = judging.ask(&judging.request("polite/1", "Is this polite?", 0)).await?;
    /// assert_eq!(reply.text, "yes");
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn with_judge(mut self, judge: &'a BoxJudge) -> Self {
        self.judge = judge;
        self
    }

    /// The judge, with the criterion's `judge_model_options`.
    pub fn judging(&self) -> JudgeClient {
        JudgeClient::new(self.judge.clone(), self.criterion)
    }
}

#[cfg(all(test, feature = "judges"))]
mod tests {
    use eval_format::{Criterion, EvalCase};

    use super::*;
    use crate::judge::{Judge, JudgeErrorKind};
    use crate::test_support::ready;

    #[test]
    fn an_input_without_a_judge_asks_nobody_and_says_so() {
        let (case, criterion) = (EvalCase::new("c"), Criterion::new(1.0));
        let input = MetricInput::new(&case, &[], &criterion);
        assert!(input.judge.is_offline());
        let error = ready(input.judging().rate("t/1", "how many?", |_| Ok(1.0))).unwrap_err();
        assert_eq!(error.kind(), JudgeErrorKind::NoJudge);
    }
}
