//! A judge that answers from a list, for tests.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use eval_support::mutex::Mutex;

use super::in_case::{RunningCase, current};
use super::{Judge, JudgeError, JudgeReply, JudgeRequest};

/// A judge that answers from a list, in the order of the requests. It serves tests of metrics.
///
/// ```
/// use eval_core::judge::{Judge, JudgeRequest, ScriptedJudge};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let judge = ScriptedJudge::new(["yes", "no"]);
/// let request = JudgeRequest::new("any", "Is it polite?");
/// assert_eq!(judge.ask(&request).await?.text, "yes");
/// assert_eq!(judge.ask(&request).await?.text, "no");
/// assert!(judge.ask(&request).await.is_err(), "the list is at its end");
/// assert_eq!(judge.requests().len(), 3);
/// # Ok(()) }
/// ```
///
/// It [is offline](Judge::is_offline). When the list is used up, it answers with an error.
///
/// The order of replies is certain only if one case asks after the other. If cases run at the same time, the
/// list belongs to the first case that asks, and a question of another case is an error.
/// [`judge_fn`](super::judge_fn) answers by the content of the question, so it serves any number of cases.
#[derive(Default)]
pub struct ScriptedJudge {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    replies: VecDeque<Result<JudgeReply, JudgeError>>,
    requests: Vec<JudgeRequest>,
    /// The cases that asked: those that still run, and the one that ended last.
    cases: Vec<Arc<RunningCase>>,
}

impl State {
    fn give_to(&mut self, case: &Arc<RunningCase>) -> Result<(), JudgeError> {
        let beside = self.cases.iter().find(|other| !Arc::ptr_eq(case, other) && case.runs_beside(other));
        if let Some(other) = beside {
            return Err(JudgeError::failed(format!(
                "the case `{}` asks a script that the case `{}` asks too, and both run at the same time, so it is not known \
                     whose reply is next; run one case at a time, or answer by what is asked with `judge_fn`",
                case.eval_id, other.eval_id
            )));
        }
        if !self.cases.iter().any(|known| Arc::ptr_eq(case, known)) {
            let last = self.cases.iter().filter_map(|case| case.ended.get().copied()).max();
            self.cases.retain(|case| case.ended.get().is_none_or(|ended| Some(*ended) == last));
            self.cases.push(Arc::clone(case));
        }
        Ok(())
    }
}

impl ScriptedJudge {
    /// A judge that answers with these texts.
    pub fn new<T: Into<String>>(replies: impl IntoIterator<Item = T>) -> Self {
        Self::results(replies.into_iter().map(|text| Ok(JudgeReply::new(text))))
    }

    /// A judge that answers with these replies and errors.
    pub fn results(results: impl IntoIterator<Item = Result<JudgeReply, JudgeError>>) -> Self {
        let state = State { replies: results.into_iter().collect(), ..State::default() };
        Self { state: Mutex::new(state) }
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<JudgeRequest> {
        self.state.lock().requests.clone()
    }
}

impl fmt::Debug for ScriptedJudge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ScriptedJudge(..)")
    }
}

impl Judge for ScriptedJudge {
    async fn ask(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        let mut state = self.state.lock();
        if let Some(case) = current() {
            state.give_to(&case)?;
        }
        state.requests.push(request.clone());
        let asked = state.requests.len();
        state.replies.pop_front().unwrap_or_else(|| {
            let message = format!("the script has no reply to question {asked}");
            Err(JudgeError::failed(message))
        })
    }

    fn is_offline(&self) -> bool {
        true
    }

    fn time_limit(&self) -> Option<Duration> {
        None
    }
}
