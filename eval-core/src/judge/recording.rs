//! Recordings in use: asking through them, writing them, and saying what is not in them.

mod file;
mod lock;
mod miss;
mod secrets;
mod store;

use std::fmt;
use std::path::Path;
use std::time::Duration;

use super::{Judge, JudgeError, JudgeErrorKind, JudgeMode, JudgeReply, JudgeRequest};

pub(crate) use miss::no_recording;
pub(crate) use store::{RecordingStore, RecordingText};

/// A judge whose answers are kept in a file.
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
/// `EVALSET_JUDGE` says what happens: `replay` (also where it says nothing) answers from the file alone, `record`
/// asks what is not in the file and adds it, `live` asks everything and keeps nothing. The attribute and
/// [`EvalRunner::run_dir`](crate::EvalRunner::run_dir) put the recordings beside their sets in front of any
/// judge by themselves; this is for all the others.
pub struct RecordedJudge<J> {
    judge: J,
    store: RecordingStore,
    mode: JudgeMode,
}

impl<J: Judge> RecordedJudge<J> {
    /// A judge in front of which the recording of this path is put, whether the file exists or not.
    ///
    /// Fails where the file cannot be read, and where `EVALSET_JUDGE` has an unknown value.
    pub fn open(path: impl AsRef<Path>, judge: J) -> Result<Self, JudgeError> {
        let mode = JudgeMode::from_env().map_err(|wrong| JudgeError::new(JudgeErrorKind::Failed, wrong))?;
        Self::with_mode(path, judge, mode.unwrap_or(JudgeMode::Replay))
    }

    /// The same, whatever `EVALSET_JUDGE` says.
    ///
    /// ```
    /// use eval_core::judge::{RecordedJudge, Judge, JudgeMode, JudgeRequest, Scripted};
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// # let path = std::env::temp_dir().join(format!("evalset-doc-{}.judge.json", std::process::id()));
    /// let question = JudgeRequest::new("any", "Is it polite?");
    /// let recording = RecordedJudge::with_mode(&path, Scripted::new(["yes"]), JudgeMode::Record)?;
    /// assert_eq!(recording.ask(&question).await?.text, "yes");
    ///
    /// let replaying = RecordedJudge::with_mode(&path, Scripted::new([""; 0]), JudgeMode::Replay)?;
    /// assert_eq!(replaying.ask(&question).await?.text, "yes");
    /// # std::fs::remove_file(path)?;
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_mode(path: impl AsRef<Path>, judge: J, mode: JudgeMode) -> Result<Self, JudgeError> {
        let store = RecordingStore::on_disk(path.as_ref());
        if mode != JudgeMode::Live {
            store.load()?;
        }
        Ok(Self { judge, store, mode })
    }

    /// The recorded answers that nobody asked for so far, one line per question.
    pub fn unused(&self) -> Vec<String> {
        self.store.unused(None)
    }
}

impl<J: Judge> Judge for RecordedJudge<J> {
    async fn ask(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        match self.mode {
            JudgeMode::Live => self.judge.ask(request).await,
            JudgeMode::Record => self.store.record(request, None, self.judge.ask(request)).await,
            JudgeMode::Replay => self.store.replay(request, None),
        }
    }

    /// It is itself what decides whether to ask.
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

#[cfg(test)]
mod tests;
