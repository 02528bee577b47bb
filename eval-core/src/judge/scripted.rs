use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::{Judge, JudgeError, JudgeErrorKind, JudgeReply, JudgeRequest};

/// A judge that answers from a list, in the order of the requests. It serves tests of metrics.
///
/// ```
/// use eval_core::judge::{Judge, JudgeRequest, Scripted};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let judge = Scripted::new(["yes", "no"]);
/// let request = JudgeRequest::new("any", "Is it polite?");
/// assert_eq!(judge.ask(&request).await?.text, "yes");
/// assert_eq!(judge.ask(&request).await?.text, "no");
/// assert!(judge.ask(&request).await.is_err(), "the list is at its end");
/// assert_eq!(judge.requests().len(), 3);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// It [is offline](Judge::is_offline). When the list is used up, it answers with an error.
#[derive(Default)]
pub struct Scripted {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    replies: VecDeque<Result<JudgeReply, JudgeError>>,
    requests: Vec<JudgeRequest>,
}

impl Scripted {
    /// A judge that answers with these texts.
    pub fn new<T: Into<String>>(replies: impl IntoIterator<Item = T>) -> Self {
        Self::results(replies.into_iter().map(|text| Ok(JudgeReply::new(text))))
    }

    /// A judge that answers with these replies and errors.
    pub fn results(results: impl IntoIterator<Item = Result<JudgeReply, JudgeError>>) -> Self {
        let state = State { replies: results.into_iter().collect(), requests: Vec::new() };
        Self { state: Mutex::new(state) }
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<JudgeRequest> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).requests.clone()
    }
}

impl fmt::Debug for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scripted(..)")
    }
}

impl Judge for Scripted {
    async fn ask(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.requests.push(request.clone());
        let asked = state.requests.len();
        state.replies.pop_front().unwrap_or_else(|| {
            let message = format!("the script has no reply to question {asked}");
            Err(JudgeError::new(JudgeErrorKind::Failed, message))
        })
    }

    fn is_offline(&self) -> bool {
        true
    }

    fn time_limit(&self) -> Option<Duration> {
        None
    }
}
