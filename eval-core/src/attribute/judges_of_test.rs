//! The judges of a generated test: the judge that the attribute names, behind the recording beside the set.

use eval_format::conventions::recording_path;

use super::function::Functions;
use crate::compiled::Test;
use crate::failure::rerun_command;
use crate::judge::{
    JudgeFn, JudgeMode, JudgeRouter, JudgeSource, Making, RecordingStore, RecordingText, Settings,
};
use crate::stale;

/// The future of the judge that a function makes. Compiles only for functions that `judge = ..` can name.
pub fn judge<Shape, F: JudgeFn<Shape>>(function: F) -> Making {
    Box::pin(function.make())
}

pub(super) fn judges(test: &Test, functions: &Functions, settings: Settings) -> JudgeRouter {
    let source = functions.judge.map_or(JudgeSource::Nobody, JudgeSource::Function);
    let Some(recording) = &test.set.recording else { return JudgeRouter::new(settings, source, None) };
    let root = stale::root(test.set.manifest_dir);
    let text = match (settings.mode, recording.text) {
        (Some(JudgeMode::Record), _) => RecordingText::OnDisk,
        (_, Some(all)) => RecordingText::Compiled { all, own: test.recorded().collect() },
        (_, None) => RecordingText::Absent,
    };
    let shown = recording_path(test.set.shown);
    let store = RecordingStore::new(&root.join(recording.file), shown, text)
        .touching(root.join(test.set.file))
        .recorded_by(rerun_command(test));
    JudgeRouter::new(settings, source, Some(store))
}
