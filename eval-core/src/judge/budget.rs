//! The time that one question may take: all of its samples and attempts together.

use std::collections::HashMap;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use eval_support::hash::content_hash;
use eval_support::mutex::Mutex;
use tokio::time::Instant;

use super::environment::BUDGET;
use super::judging::without_remark;
use super::{JudgeError, JudgeErrorKind, JudgeReply, JudgeRequest};

/// The minimum time between two checks of the clock while a question waits for its turn.
const MIN_CHECK_INTERVAL: Duration = Duration::from_millis(10);

#[derive(Debug, Default)]
pub(super) struct Budgets {
    questions: Mutex<HashMap<u64, Arc<Clock>>>,
}

impl Budgets {
    /// Awaits the answer to a request as long as its question has time left. Waiting for a [turn](queued)
    /// does not count.
    pub(super) async fn spend(
        &self,
        request: &JudgeRequest,
        limit: Duration,
        answer: impl Future<Output = Result<JudgeReply, JudgeError>>,
    ) -> Result<JudgeReply, JudgeError> {
        let clock = self.clock(request);
        let mut left = limit.saturating_sub(clock.spent());
        if left.is_zero() {
            return Err(used_up(limit));
        }
        let _running = clock.run();
        let mut answer = pin!(QUESTION.scope(clock.clone(), answer));
        loop {
            match tokio::time::timeout(left, &mut answer).await {
                Ok(answer) => return answer,
                Err(_) if clock.spent() < limit => {
                    left = limit.saturating_sub(clock.spent()).max(MIN_CHECK_INTERVAL);
                }
                Err(_) => return Err(used_up(limit)),
            }
        }
    }

    /// The clock of a question. All samples of the question share it, and so do repeated requests.
    fn clock(&self, request: &JudgeRequest) -> Arc<Clock> {
        let JudgeRequest { model, template, prompt, .. } = request;
        let template = template.as_deref().unwrap_or_default();
        let key = content_hash(format!("{model}\0{template}\0{}", without_remark(prompt)).as_bytes());
        let mut questions = self.questions.lock();
        questions.entry(key).or_default().clone()
    }
}

tokio::task_local! {
    static QUESTION: Arc<Clock>;
}

/// Awaits a turn to ask. The time does not count towards the budget of the question.
#[cfg(feature = "model-judge")]
pub(super) async fn queued<T>(turn: impl Future<Output = T>) -> T {
    let Ok(clock) = QUESTION.try_with(Arc::clone) else { return turn.await };
    let _pause = clock.pause();
    turn.await
}

/// The time with an open request. Requests that run at the same time count once.
#[derive(Debug, Default)]
pub(super) struct Clock(Mutex<Running>);

#[derive(Debug, Default)]
struct Running {
    requests: usize,
    since: Option<Instant>,
    before: Duration,
}

impl Clock {
    pub(super) fn spent(&self) -> Duration {
        let running = self.0.lock();
        running.before + running.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    pub(super) fn is_running(&self) -> bool {
        self.0.lock().since.is_some()
    }

    fn start(&self) {
        let mut running = self.0.lock();
        running.requests += 1;
        running.since.get_or_insert_with(Instant::now);
    }

    fn stop(&self) {
        let mut running = self.0.lock();
        running.requests = running.requests.saturating_sub(1);
        if running.requests == 0
            && let Some(since) = running.since.take()
        {
            running.before += since.elapsed();
        }
    }

    /// Counts time until the returned value is dropped.
    pub(super) fn run(self: &Arc<Self>) -> Guard {
        self.start();
        Guard { clock: self.clone(), end: Self::stop }
    }

    /// Counts no time for one request until the returned value is dropped.
    #[cfg(feature = "model-judge")]
    fn pause(self: &Arc<Self>) -> Guard {
        self.stop();
        Guard { clock: self.clone(), end: Self::start }
    }
}

/// Starts or stops a clock when it is dropped, also if the question was cancelled.
pub(super) struct Guard {
    clock: Arc<Clock>,
    end: fn(&Clock),
}

impl Drop for Guard {
    fn drop(&mut self) {
        (self.end)(&self.clock);
    }
}

fn used_up(limit: Duration) -> JudgeError {
    let message = format!(
        "the judge did not answer this question within {limit:?}, all samples and attempts together; `{BUDGET}` says \
         how many seconds they may take"
    );
    JudgeError::new(JudgeErrorKind::Timeout, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run<T>(future: impl Future<Output = T>) -> T {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(future)
    }

    async fn after(seconds: u64) -> Result<JudgeReply, JudgeError> {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        Ok(JudgeReply::new("yes"))
    }

    fn request(prompt: &str, sample: u32) -> JudgeRequest {
        JudgeRequest { sample, ..JudgeRequest::new("m", prompt) }
    }

    const LIMIT: Duration = Duration::from_secs(100);

    #[test]
    fn samples_and_attempts_of_a_question_share_one_budget() {
        run(async {
            let budgets = Budgets::default();
            let begun = Instant::now();
            assert!(budgets.spend(&request("?", 0), LIMIT, after(60)).await.is_ok());
            let again = format!("?{}it is no verdict. Answer again.", super::super::judging::REMARK);
            let error = budgets.spend(&request(&again, 1), LIMIT, after(60)).await.unwrap_err();
            assert_eq!((error.kind(), begun.elapsed()), (JudgeErrorKind::Timeout, LIMIT));
            assert!(error.to_string().contains("`EVALSET_JUDGE_BUDGET`"), "{error}");
            assert!(budgets.spend(&request("?", 2), LIMIT, after(0)).await.is_err(), "it is used up");
            assert_eq!(begun.elapsed(), LIMIT, "and nobody is asked");
            assert!(budgets.spend(&request("another?", 0), LIMIT, after(60)).await.is_ok());
        });
    }

    #[test]
    fn what_runs_at_the_same_time_counts_once() {
        run(async {
            let budgets = Budgets::default();
            let (one, two) = (request("?", 0), request("?", 1));
            let both =
                tokio::join!(budgets.spend(&one, LIMIT, after(60)), budgets.spend(&two, LIMIT, after(60)));
            assert!(both.0.is_ok() && both.1.is_ok());
            assert!(budgets.spend(&request("?", 2), LIMIT, after(30)).await.is_ok());
        });
    }

    #[cfg(feature = "model-judge")]
    #[test]
    fn waiting_for_a_turn_takes_no_time() {
        run(async {
            let budgets = Budgets::default();
            let waits = async {
                queued(tokio::time::sleep(Duration::from_secs(1_000))).await;
                after(60).await
            };
            assert!(budgets.spend(&request("?", 0), LIMIT, waits).await.is_ok());
            assert!(budgets.spend(&request("?", 1), LIMIT, after(60)).await.is_err());
        });
    }
}
