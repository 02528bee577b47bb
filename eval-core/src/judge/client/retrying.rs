//! The judge of tests that name none, with retries after transient errors.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use eval_support::variables;
use eval_support::words::count;

use super::model_judge::ModelJudge;
use super::slots::{Limited, Slots};
use crate::judge::ask::ask_within;
use crate::judge::environment::{self, RETRIES};
use crate::judge::{BoxJudge, Judge, JudgeError, JudgeReply, JudgeRequest};

const DEFAULT_RETRIES: usize = 5;
/// The first wait. Each wait is twice the one before, plus a random part of up to the same length.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const MAX_WAIT: Duration = Duration::from_secs(30);
const MAX_RETRY_AFTER: Duration = Duration::from_mins(2);

/// A judge with retries if its error [is transient](JudgeError::is_transient).
///
/// The waits grow, and each has a random part, so that tests do not all retry at the same moment. If a judge
/// [asks for a wait](JudgeError::retry_after), the wait is at least that long. If a judge asks for more than
/// two minutes, there is no retry: a test must not hang for an hour.
#[derive(Clone, Debug)]
struct Retrying<J> {
    judge: J,
    retries: usize,
    /// The first wait, which doubles each time, and the longest one.
    waits: [Duration; 2],
}

/// A judge with retries, with waits that tests choose.
pub fn patient(judge: impl Judge, retries: usize, waits: [Duration; 2]) -> impl Judge {
    Retrying { judge, retries, waits }
}

impl<J: Judge> Judge for Retrying<J> {
    async fn ask(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        let [first, longest] = self.waits;
        let waits = ExponentialBuilder::new().with_jitter().with_min_delay(first).with_max_delay(longest);
        let asked = AtomicUsize::new(0);
        let ask = || {
            asked.fetch_add(1, Ordering::Relaxed);
            ask_within(&self.judge, request)
        };
        let result = ask
            .retry(waits.with_max_times(self.retries))
            .sleep(tokio::time::sleep)
            .when(JudgeError::is_transient)
            .adjust(|error, wait| {
                let wait = wait?.max(error.retry_after().unwrap_or_default());
                (wait <= MAX_RETRY_AFTER).then_some(wait)
            })
            .await;
        result.map_err(|error| gave_up(error, asked.into_inner()))
    }

    fn is_offline(&self) -> bool {
        self.judge.is_offline()
    }

    /// `None`: the judge inside has its own limit for each attempt.
    fn time_limit(&self) -> Option<Duration> {
        None
    }
}

fn gave_up(mut error: JudgeError, asked: usize) -> JudgeError {
    if asked > 1 {
        error.message.push_str(&format!(" (the last answer of {})", count(asked, "attempt")));
    }
    if let Some(wait) = error.retry_after.filter(|wait| *wait > MAX_RETRY_AFTER) {
        error.message.push_str(&format!(
            "; it asks to wait {} s, and the longest wait is {} s",
            wait.as_secs(),
            MAX_RETRY_AFTER.as_secs()
        ));
    }
    error
}

/// The judge of tests that name none: a [`ModelJudge`] with retries after transient errors, and with a limit
/// on concurrent questions over all test processes. The environment sets both.
///
/// ```no_run
/// use eval_core::judge::{Judge, JudgeRequest, default_judge};
///
/// # async fn ask() -> Result<(), Box<dyn std::error::Error>> {
/// let reply = default_judge()?.ask(&JudgeRequest::new("gemini-2.5-flash", "Is this polite? ...")).await?;
/// println!("{}", reply.text);
/// # Ok(())
/// # }
/// ```
///
/// It is an error if a variable cannot be read. A missing key is an error only when a model that needs it is
/// asked.
pub fn default_judge() -> Result<BoxJudge, JudgeError> {
    variables::check().map_err(JudgeError::failed)?;
    let judge = Limited::new(ModelJudge::from_env()?, Slots::from_env()?);
    let retries = environment::number(environment::get, RETRIES, 0)?.unwrap_or(DEFAULT_RETRIES);
    Ok(Retrying { judge, retries, waits: [FIRST_WAIT, MAX_WAIT] }.boxed())
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;
    use crate::judge::{JudgeErrorKind, ScriptedJudge};

    fn failed(message: &str) -> JudgeError {
        JudgeError::new(JudgeErrorKind::Failed, message)
    }

    fn busy(retry_after: Option<u64>) -> Result<JudgeReply, JudgeError> {
        Err(failed("busy").transient(retry_after.map(Duration::from_secs)))
    }

    /// Asks once; the result, how often the judge was asked, and how many seconds the waits took.
    fn ask(
        results: Vec<Result<JudgeReply, JudgeError>>,
        retries: usize,
    ) -> (Result<JudgeReply, JudgeError>, usize, f64) {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let waits = [FIRST_WAIT, MAX_WAIT];
            let judge = Retrying { judge: ScriptedJudge::results(results), retries, waits };
            let begun = Instant::now();
            let result = judge.ask(&JudgeRequest::new("m", "p")).await;
            (result, judge.judge.requests().len(), begun.elapsed().as_secs_f64())
        })
    }

    #[test]
    fn transient_errors_are_tried_again_after_growing_waits() {
        let (result, asked, waited) =
            ask(vec![busy(None), busy(None), busy(None), Ok(JudgeReply::new("yes"))], 5);
        assert_eq!((result.unwrap().text.as_str(), asked), ("yes", 4));
        assert!((7.0..=14.1).contains(&waited), "1 + 2 + 4 s, each with up to as much again: {waited}");
    }

    #[test]
    fn a_wait_that_the_judge_names_is_kept() {
        let (result, asked, waited) = ask(vec![busy(Some(90)), Ok(JudgeReply::new("yes"))], 5);
        assert_eq!((result.is_ok(), asked), (true, 2));
        assert!((90.0..91.0).contains(&waited), "{waited}");
    }

    #[test]
    fn a_wait_that_is_too_long_ends_it_at_once() {
        let (result, asked, waited) = ask(vec![busy(Some(3600))], 5);
        assert_eq!(
            result.unwrap_err().to_string(),
            "busy; it asks to wait 3600 s, and the longest wait is 120 s"
        );
        assert_eq!(asked, 1);
        assert!(waited < 1.0, "{waited}");
    }

    #[test]
    fn it_ends_after_the_retries_and_says_how_often_it_tried() {
        for retries in [0, 1, 2] {
            let (result, asked, _) = ask(vec![busy(None); 4], retries);
            let error = result.unwrap_err();
            assert_eq!((asked, error.kind()), (retries + 1, JudgeErrorKind::Failed));
            let said = if retries == 0 {
                "busy".to_owned()
            } else {
                format!("busy (the last answer of {asked} attempts)")
            };
            assert_eq!(error.to_string(), said);
        }
    }

    #[test]
    fn other_errors_are_not_tried_again() {
        let (result, asked, _) = ask(vec![Err(failed("wrong key"))], 5);
        assert_eq!((result.unwrap_err(), asked), (failed("wrong key"), 1));
    }
}
