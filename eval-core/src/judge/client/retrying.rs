use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};

use super::{Judge, JudgeError, JudgeReply, JudgeRequest};
use crate::judge::limit;
use crate::message::count;

/// How often a judge is asked again unless something else is said.
const RETRIES: usize = 5;
/// The first wait; each one is twice the one before, plus up to as much again by chance.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// No wait of our own is longer than about twice this.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// JudgeRouter that want to be left alone for longer are not waited for.
const LONGEST_RETRY_AFTER: Duration = Duration::from_mins(2);

/// A judge that is asked again where its error [is transient](JudgeError::is_transient).
///
/// ```
/// use std::time::Duration;
/// use eval_core::judge::{Judge, JudgeError, JudgeErrorKind, JudgeReply, JudgeRequest, Retrying, Scripted};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
/// let busy = JudgeError::new(JudgeErrorKind::Failed, "busy").transient(Some(Duration::ZERO));
/// let judge = Scripted::results([Err(busy), Ok(JudgeReply::new("yes"))]);
/// let judge = Retrying::new(judge).waits(Duration::from_millis(1), Duration::from_millis(1));
/// assert_eq!(judge.ask(&JudgeRequest::new("any", "Is it polite?")).await?.text, "yes");
/// # Ok::<_, JudgeError>(())
/// # })?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// The waits grow and are jittered, so that many tests do not come back together. A judge that names a wait is
/// left alone at least that long; one that wants more than two minutes has failed, since a test that hangs for
/// an hour helps nobody.
#[derive(Clone, Debug)]
pub struct Retrying<J> {
    judge: J,
    retries: usize,
    waits: ExponentialBuilder,
}

impl<J: Judge> Retrying<J> {
    /// Asks up to five times again: after about 1, 2, 4, 8 and 16 s.
    pub fn new(judge: J) -> Self {
        let waits = ExponentialBuilder::new().with_jitter();
        Self { judge, retries: RETRIES, waits }.waits(FIRST_WAIT, LONGEST_WAIT)
    }

    /// Sets how often it is asked again.
    #[must_use]
    pub fn retries(self, retries: usize) -> Self {
        Self { retries, ..self }
    }

    /// Sets the first wait, which doubles each time, and the longest.
    #[must_use]
    pub fn waits(self, first: Duration, longest: Duration) -> Self {
        Self { waits: self.waits.with_min_delay(first).with_max_delay(longest), ..self }
    }
}

impl<J: Judge> Judge for Retrying<J> {
    async fn ask(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        let asked = AtomicUsize::new(0);
        let ask = || {
            asked.fetch_add(1, Ordering::Relaxed);
            limit::ask(&self.judge, request)
        };
        let result = ask
            .retry(self.waits.with_max_times(self.retries))
            .sleep(tokio::time::sleep)
            .when(JudgeError::is_transient)
            .adjust(|error, wait| {
                let wait = wait?.max(error.retry_after().unwrap_or_default());
                (wait <= LONGEST_RETRY_AFTER).then_some(wait)
            })
            .await;
        result.map_err(|error| gave_up(error, asked.into_inner()))
    }

    fn is_offline(&self) -> bool {
        self.judge.is_offline()
    }

    /// The judge inside has the time that it says for each attempt.
    fn time_limit(&self) -> Option<Duration> {
        None
    }
}

/// The last error, with how often it was tried and why no longer.
fn gave_up(error: JudgeError, asked: usize) -> JudgeError {
    let wait = error.retry_after().filter(|wait| *wait > LONGEST_RETRY_AFTER);
    error.told(|last| {
        let mut message = last.to_owned();
        if asked > 1 {
            message.push_str(&format!(" (the last answer of {})", count(asked, "attempt")));
        }
        if let Some(wait) = wait {
            message.push_str(&format!(
                "; it wants to be left alone for {} s, and is waited for at most {} s",
                wait.as_secs(),
                LONGEST_RETRY_AFTER.as_secs()
            ));
        }
        message
    })
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;
    use crate::judge::{JudgeErrorKind, Scripted};

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
            let judge = Retrying::new(Scripted::results(results)).retries(retries);
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
            "busy; it wants to be left alone for 3600 s, and is waited for at most 120 s"
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
