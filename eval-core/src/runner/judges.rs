//! The judge of a runner. A build without the feature `judges` has none, as no metric asks one.

use std::path::Path;
#[cfg(feature = "judges")]
use std::path::PathBuf;

use super::error::RunnerError;
use crate::judge::JudgeRouter;
#[cfg(feature = "judges")]
use crate::judge::{BoxJudge, JudgeSource, RecordingStore, Settings};

#[derive(Debug, Default)]
pub(super) struct JudgeChoice {
    #[cfg(feature = "judges")]
    pub(super) judge: Option<BoxJudge>,
    /// The model, whatever the criteria name.
    #[cfg(feature = "judges")]
    pub(super) model: Option<String>,
    /// The recording. Without it, sets in files have recordings beside them.
    #[cfg(feature = "judges")]
    pub(super) recording: Option<PathBuf>,
}

impl JudgeChoice {
    /// The judge, behind the recording that the program names, else the one beside the file of the set.
    #[cfg(feature = "judges")]
    pub(super) fn router(&self, set: Option<&Path>) -> Result<JudgeRouter, RunnerError> {
        let mut settings = Settings::from_env().map_err(RunnerError::environment)?;
        settings.model = self.model.clone().or(settings.model);
        let beside = || {
            let set = set?;
            let name = set.file_name().unwrap_or_default().to_string_lossy();
            Some(set.with_file_name(eval_format::conventions::recording_path(&name)))
        };
        let recording = self.recording.clone().or_else(beside);
        let source = self.judge.clone().map_or(JudgeSource::Nobody, JudgeSource::Judge);
        Ok(JudgeRouter::new(settings, source, recording.as_deref().map(RecordingStore::on_disk)))
    }

    #[cfg(not(feature = "judges"))]
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "it has the signature of the function with the feature `judges`"
    )]
    pub(super) fn router(&self, _: Option<&Path>) -> Result<JudgeRouter, RunnerError> {
        Ok(JudgeRouter::default())
    }
}
