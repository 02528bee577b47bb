//! Tests of a recorded run that run again. Their attempts are recorded in the same run, and the last attempt at a test counts.

use std::ffi::OsString;

use eval_core::journal::runs::is_id;
use eval_support::untrusted::one_line;
use eval_support::variables::{ATTEMPT, DIR, RUN_ID};

use super::run::LoadedRun;
use crate::journal::RecordedRun;
use crate::output::CommandError;

impl LoadedRun {
    /// The variables with which test processes record the next attempt in this run; of several parts, in the last.
    ///
    /// Fails if the folder cannot be that of a run.
    pub fn next_attempt(&self) -> Result<[(&'static str, OsString); 3], CommandError> {
        let attempts = self.run.tests.iter().flat_map(|test| &test.attempts);
        let last = attempts.map(|attempt| attempt.started.attempt).max().unwrap_or(1);
        let attempt = u16::try_from(last).unwrap_or(u16::MAX).saturating_add(1);
        let folder = self.folders.last().and_then(|folder| folder.canonicalize().ok());
        let named = folder.as_deref().and_then(|folder| {
            let id = folder.file_name()?.to_str().filter(|id| is_id(id))?;
            Some([(DIR, folder.parent()?.into()), (RUN_ID, id.into()), (ATTEMPT, attempt.to_string().into())])
        });
        named.ok_or_else(|| {
            let shown = self.folders.last().map(|folder| one_line(&folder.display().to_string()));
            CommandError::new(
                format!(
                    "nothing can be recorded in `{}`, whose name is not that of a run",
                    shown.unwrap_or_default()
                ),
                "give the folder a plain name: `a-z`, `0-9`, `-`, `_` and `.`",
            )
        })
    }

    /// The run as it is now, without what agents and judges said.
    pub fn read_again(&self) -> Result<Self, CommandError> {
        let run = RecordedRun::outline(&self.folders);
        let run = run.map_err(|error| {
            CommandError::new(
                error.to_string(),
                "the folder was changed while the tests ran: run all tests again",
            )
        })?;
        Ok(self.reread(run))
    }
}
