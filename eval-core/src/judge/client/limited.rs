//! A judge that is asked a few questions at a time.

use std::time::Duration;

use super::slots::Slots;
use crate::judge::{Judge, JudgeError, JudgeReply, JudgeRequest};
use crate::judge::{budget, in_time};

/// A judge that is asked at most as many questions at the same time as there are [`Slots`].
///
/// ```
/// use eval_core::judge::{Judge, Limited, Scripted, Slots};
///
/// let judge = Limited::new(Scripted::new(["yes"]), Slots::in_process(2));
/// assert!(judge.is_offline(), "the judge inside is");
/// ```
///
/// It belongs inside of [`Retrying`](super::Retrying), so that no slot is held during the wait before another attempt.
/// Waiting for a slot does not count toward the [time limit](Judge::time_limit) of the judge inside.
#[derive(Clone, Debug)]
pub struct Limited<J> {
    judge: J,
    slots: Slots,
}

impl<J: Judge> Limited<J> {
    /// A judge that takes a slot for each question.
    pub fn new(judge: J, slots: Slots) -> Self {
        Self { judge, slots }
    }
}

impl<J: Judge> Judge for Limited<J> {
    async fn ask(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        let _slot = budget::queued(self.slots.take()).await;
        in_time::ask(&self.judge, request).await
    }

    fn is_offline(&self) -> bool {
        self.judge.is_offline()
    }

    /// `None`: the judge inside has its own limit, which begins when there is a slot.
    fn time_limit(&self) -> Option<Duration> {
        None
    }
}
