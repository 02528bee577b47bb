use std::time::Duration;

use super::{Judge, JudgeError, JudgeReply, JudgeRequest, Slots};
use crate::judge::limit;

/// A judge that is asked only as often at once as there are [`Slots`].
///
/// ```
/// use eval_core::judge::{Judge, Limited, Scripted, Slots};
///
/// let judge = Limited::new(Scripted::new(["yes"]), Slots::in_process(2));
/// assert!(judge.is_offline(), "it is what the judge inside is");
/// ```
///
/// It belongs inside of [`Retrying`](crate::Retrying), so that nobody keeps a slot while waiting to ask again,
/// and waiting for a slot does not count toward the [time limit](Judge::time_limit) of the judge inside.
#[derive(Clone, Debug)]
pub struct Limited<J> {
    judge: J,
    slots: Slots,
}

impl<J: Judge> Limited<J> {
    /// A judge that shares these slots.
    pub fn new(judge: J, slots: Slots) -> Self {
        Self { judge, slots }
    }
}

impl<J: Judge> Judge for Limited<J> {
    async fn ask(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        let _slot = self.slots.take().await;
        limit::ask(&self.judge, request).await
    }

    fn is_offline(&self) -> bool {
        self.judge.is_offline()
    }

    /// The judge inside has the time that it says; waiting for a slot does not count.
    fn time_limit(&self) -> Option<Duration> {
        None
    }
}
