//! Counting and measuring what a judge is asked.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use eval_format::UsageMetadata;

use super::kept::Kept;
use super::{BoxJudge, Judge, JudgeError, JudgeErrorKind, JudgeReply, JudgeRequest};
use crate::guard::{Waited, catch_panic};
use crate::judge_outcome::JudgeUse;

/// The judge of one metric in one run, or of a simulated user. It counts what is asked, measures how long the judge is
/// waited for, and keeps the first error about a judge or a recorded answer that is missing.
#[derive(Debug)]
pub(crate) struct MeteredJudge {
    judge: BoxJudge,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The first error about a judge or a recorded answer that is missing.
    missed: Option<JudgeError>,
    /// How many questions are open now.
    open: usize,
    /// Since when at least one question is open.
    since: Option<Instant>,
    /// How long questions were open before that.
    waited: Duration,
    /// What was asked, one entry per model.
    used: Vec<JudgeUse>,
    /// The texts of it.
    kept: Kept,
}

impl MeteredJudge {
    pub(crate) fn new(judge: BoxJudge) -> Arc<Self> {
        Arc::new(Self { judge, state: Mutex::default() })
    }

    /// The judge that the metric asks.
    pub(crate) fn judge(self: &Arc<Self>) -> BoxJudge {
        BoxJudge::shared(self.clone())
    }

    /// The error of the first question that had no judge to ask, or no recorded answer.
    ///
    /// Other errors are left to the metric: one sample of five may fail.
    pub(crate) fn missed(&self) -> Option<JudgeError> {
        self.state().missed.clone()
    }

    /// How long the judge was waited for. Questions that were open at the same time count once.
    pub(crate) fn waited(&self) -> Waited {
        let state = self.state();
        let now = state.since.map_or(Duration::ZERO, |since| since.elapsed());
        Waited { total: state.waited + now, still: state.since.is_some() }
    }

    /// What was asked so far of each model, and the tokens that it took.
    pub(crate) fn used(&self) -> Vec<JudgeUse> {
        let state = self.state();
        let with_texts =
            |used: &JudgeUse| JudgeUse { questions: state.kept.of_model(&used.model), ..used.clone() };
        state.used.iter().map(with_texts).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Judge for MeteredJudge {
    async fn ask(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        let question = Question::open(self);
        let kept = self.state().kept.asked(request);
        let answer = catch_panic(self.judge.ask(request)).await.unwrap_or_else(|panic| {
            Err(JudgeError::new(JudgeErrorKind::Failed, format!("the judge panicked: {panic}")))
        });
        drop(question);
        {
            let mut state = self.state();
            state.count(&request.model, &answer);
            if let Some(kept) = kept {
                state.kept.answered(kept, request.sample, &answer);
            }
        }
        if let Err(error) = &answer
            && matches!(error.kind(), JudgeErrorKind::NoJudge | JudgeErrorKind::NotRecorded)
        {
            self.state().missed.get_or_insert_with(|| error.clone());
        }
        answer
    }

    fn is_offline(&self) -> bool {
        self.judge.is_offline()
    }

    fn time_limit(&self) -> Option<Duration> {
        None
    }
}

impl State {
    fn count(&mut self, model: &str, answer: &Result<JudgeReply, JudgeError>) {
        let place = self.used.iter().position(|used| used.model == model).unwrap_or_else(|| {
            self.used.push(JudgeUse { model: model.to_owned(), replayed: Some(0), ..JudgeUse::default() });
            self.used.len() - 1
        });
        let Some(used) = self.used.get_mut(place) else { return };
        used.asked += 1;
        match answer {
            Ok(reply) => {
                used.replayed = used.replayed.map(|replayed| replayed + usize::from(reply.replayed));
                reply.usage.iter().for_each(|usage| add(&mut used.usage, usage));
            }
            Err(_) => used.failed += 1,
        }
    }
}

/// Adds the counts of an answer to a sum. A count that no answer states stays `None`.
fn add(sum: &mut UsageMetadata, usage: &UsageMetadata) {
    let add = |sum: &mut Option<i64>, count: Option<i64>| {
        if let Some(count) = count {
            *sum = Some(sum.unwrap_or_default().saturating_add(count));
        }
    };
    add(&mut sum.prompt_token_count, usage.prompt_token_count);
    add(&mut sum.candidates_token_count, usage.candidates_token_count);
    add(&mut sum.total_token_count, usage.total_token_count);
    add(&mut sum.cached_content_token_count, usage.cached_content_token_count);
    add(&mut sum.thoughts_token_count, usage.thoughts_token_count);
    add(&mut sum.tool_use_prompt_token_count, usage.tool_use_prompt_token_count);
}

/// An open question. Dropping it closes the question, also if the metric no longer waits for the answer.
struct Question<'a>(&'a MeteredJudge);

impl<'a> Question<'a> {
    fn open(metered: &'a MeteredJudge) -> Self {
        let mut state = metered.state();
        state.open += 1;
        state.since.get_or_insert_with(Instant::now);
        Self(metered)
    }
}

impl Drop for Question<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.open -= 1;
        if state.open == 0
            && let Some(since) = state.since.take()
        {
            state.waited += since.elapsed();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Scripted;
    use crate::judge_outcome::JudgeQuestion;

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
    }

    #[test]
    fn what_is_not_recorded_is_remembered_and_a_failure_is_not() {
        let error = |kind| Err(JudgeError::new(kind, "no"));
        let script = [
            error(JudgeErrorKind::Failed),
            error(JudgeErrorKind::NotRecorded),
            error(JudgeErrorKind::NoJudge),
            Ok(JudgeReply::new("yes")),
        ];
        let metered = MeteredJudge::new(Scripted::results(script).boxed());
        let judge = metered.judge();
        let mut missed = Vec::new();
        for _ in 0..4 {
            let _ = run(judge.ask(&JudgeRequest::new("m", "?")));
            missed.push(metered.missed().map(|error| error.kind()));
        }
        let first = Some(JudgeErrorKind::NotRecorded);
        assert_eq!(missed, [None, first, first, first]);
    }

    #[test]
    fn questions_and_tokens_are_counted_by_model() {
        let usage = |prompt| UsageMetadata::default().with_prompt_token_count(prompt);
        let reply = |prompt| Ok(JudgeReply { usage: Some(usage(prompt)), ..JudgeReply::new("yes") });
        let replayed = Ok(JudgeReply { replayed: true, ..JudgeReply::new("no") });
        let failed = Err(JudgeError::new(JudgeErrorKind::Timeout, "late"));
        let metered = MeteredJudge::new(Scripted::results([reply(3), failed, reply(4), replayed]).boxed());
        for model in ["a", "a", "a", "b"] {
            let _ = run(metered.judge().ask(&JudgeRequest::new(model, "?")));
        }
        let a = JudgeUse {
            model: "a".to_owned(),
            asked: 3,
            failed: 1,
            replayed: Some(0),
            usage: usage(7),
            questions: Vec::new(),
        };
        let b = JudgeUse { model: "b".to_owned(), asked: 1, replayed: Some(1), ..JudgeUse::default() };
        let mut used = metered.used();
        let questions: Vec<_> = used.iter_mut().map(|used| std::mem::take(&mut used.questions)).collect();
        assert_eq!(used, [a, b]);
        let answers = |of: &[JudgeQuestion]| of.iter().map(|it| it.answers.clone()).collect::<Vec<_>>();
        assert_eq!(answers(&questions[0]), [["yes", "no answer: late", "yes"]]);
        assert_eq!(answers(&questions[1]), [["no"]]);
    }

    #[test]
    fn a_panic_of_the_judge_is_its_error() {
        struct Broken;
        impl Judge for Broken {
            async fn ask(&self, _: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
                panic!("out of paper")
            }
        }
        let metered = MeteredJudge::new(Broken.boxed());
        let error = run(metered.judge().ask(&JudgeRequest::new("m", "?"))).unwrap_err();
        assert_eq!(error.to_string(), "the judge panicked: out of paper");
        assert!(!metered.waited().still, "the question is closed");
    }
}
