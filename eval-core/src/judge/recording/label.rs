//! How messages name a recording.

/// The name of a recording, and the command that writes it.
#[derive(Clone, Debug)]
pub(in crate::judge) struct RecordingLabel {
    /// The path, as messages show it.
    pub(super) shown: String,
    /// The command that runs what asks the questions, if it is known.
    pub(super) command: Option<String>,
}

impl RecordingLabel {
    /// What to run so that a missing answer is recorded.
    pub(super) fn how_to_record(&self) -> String {
        match &self.command {
            Some(command) => format!("EVALSET_JUDGE=record {command}"),
            None => "EVALSET_JUDGE=record and the same command again".to_owned(),
        }
    }
}
