//! What a metric that asks a judge is given.

use super::input::MetricInput;
use crate::judge::{BoxJudge, Judging};

impl<'a> MetricInput<'a> {
    /// Sets the judge that is asked. It is asked directly, whatever `EVALSET_JUDGE` says.
    ///
    /// ```
    /// use eval_core::judge::{Judge, Scripted};
    /// use eval_core::{Criterion, EvalCase, Invocation, MetricInput};
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let case = EvalCase::new("sunny").turn(Invocation::user("Paris?"));
    /// let actual = [Invocation::user("Paris?").response("It is sunny.")];
    /// let (criterion, judge) = (Criterion::new(1.0), Scripted::new(["yes"]).boxed());
    /// let input = MetricInput::new(&case, &actual, &criterion).with_judge(&judge);
    ///
    /// let judging = input.judging();
    /// let reply = judging.ask(&judging.request("polite/1", "Is this polite?", 0)).await?;
    /// assert_eq!(reply.text, "yes");
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_judge(mut self, judge: &'a BoxJudge) -> Self {
        self.judge = judge;
        self
    }

    /// The judge, asked as the criterion's `judge_model_options` say.
    pub fn judging(&self) -> Judging {
        Judging::new(self.judge.clone(), self.criterion)
    }
}

#[cfg(test)]
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
