//! A judge behind a recording.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use super::store::RecordingStore;
use crate::judge::{Judge, JudgeError, JudgeMode, JudgeReply, JudgeRequest};

/// A judge behind a recording: a file of its answers.
///
/// ```no_run
/// use eval_core::EvalRunner;
/// use eval_core::judge::{RecordedJudge, Judge, JudgeError};
///
/// fn runner(client: impl Judge + 'static) -> Result<EvalRunner, JudgeError> {
///     Ok(EvalRunner::new().judge(RecordedJudge::open("evals/weather.judge.json", client)?))
/// }
/// ```
///
/// `EVALSET_JUDGE` says what happens to a question; see [`JudgeMode`]. If it is not set, the recording alone answers.
///
/// An answer is recorded in the file, or beside it, before it is returned. When the last judge of a file is dropped,
/// all answers are in the file: see [judges](crate::judge#recordings).
///
/// The attribute and [`EvalRunner::run_dir`](crate::EvalRunner::run_dir) use the recording beside a set by
/// themselves. This type is for sets without a file, and for questions of your own.
pub struct RecordedJudge<J> {
    judge: J,
    store: RecordingStore,
    mode: JudgeMode,
}

impl<J: Judge> RecordedJudge<J> {
    /// A judge behind the recording at this path, in the mode that `EVALSET_JUDGE` names. The file need not exist.
    ///
    /// It is an error if the file cannot be read, or if `EVALSET_JUDGE` has an unknown value.
    pub fn open(path: impl AsRef<Path>, judge: J) -> Result<Self, JudgeError> {
        Self::with_mode(path, judge, JudgeMode::from_env()?.unwrap_or(JudgeMode::Replay))
    }

    /// A judge behind the recording at this path, in this mode. The file need not exist.
    ///
    /// ```
    /// use eval_core::judge::{RecordedJudge, Judge, JudgeMode, JudgeRequest, ScriptedJudge};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let path = std::env::temp_dir().join(format!("evalset-doc-{}.judge.json", std::process::id()));
    /// let question = JudgeRequest::new("any", "Is it polite?");
    /// let recorded = RecordedJudge::with_mode(&path, ScriptedJudge::new(["yes"]), JudgeMode::Record)?;
    /// assert_eq!(recorded.ask(&question).await?.text, "yes");
    ///
    /// let replayed = RecordedJudge::with_mode(&path, ScriptedJudge::new([""; 0]), JudgeMode::Replay)?;
    /// assert_eq!(replayed.ask(&question).await?.text, "yes");
    /// # std::fs::remove_file(path)?;
    /// # Ok(()) }
    /// ```
    ///
    /// It is an error if the file cannot be read.
    pub fn with_mode(path: impl AsRef<Path>, judge: J, mode: JudgeMode) -> Result<Self, JudgeError> {
        let store = RecordingStore::on_disk(path.as_ref());
        if mode != JudgeMode::Live {
            store.load()?;
        }
        Ok(Self { judge, store, mode })
    }

    /// The recorded answers that were not asked for so far: a line per prompt and model, such as
    /// ``2 answers to polite/1, `gemini-2.5-flash` ``.
    pub fn unused(&self) -> Vec<String> {
        self.store.unused(None)
    }
}

impl<J: Judge> Judge for RecordedJudge<J> {
    async fn ask(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        match self.mode {
            JudgeMode::Live => self.judge.ask(request).await,
            JudgeMode::Record => self.store.record(request, None, self.judge.ask(request)).await,
            JudgeMode::Replay => self.store.replay(request, None).await,
        }
    }

    /// `true`: it decides by itself whether the judge is asked.
    fn is_offline(&self) -> bool {
        true
    }

    fn time_limit(&self) -> Option<Duration> {
        self.judge.time_limit()
    }
}

impl<J> fmt::Debug for RecordedJudge<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordedJudge")
            .field("store", &self.store)
            .field("mode", &self.mode)
            .finish_non_exhaustive()
    }
}
