//! What asking a judge takes. Generated code names it only where something may ask, so that all others do not compile it:
//! what is reached from here alone is `#[inline]`.

use super::{Test, shown_beside};
use crate::failure;
use crate::judge::{JudgeMode, Judges, Named, Settings, Tape, Text};
use crate::metric::{FindMetric, judged};
use crate::stale;

/// The metrics that ask a judge, and the judges.
#[derive(Debug)]
pub struct Asking {
    metrics: FindMetric,
    judges: fn(&Test, Settings) -> Judges,
}

/// All of it.
pub const ASKING: Asking = Asking { metrics: judged, judges };

impl Asking {
    pub(super) fn metrics(&self) -> FindMetric {
        self.metrics
    }

    pub(super) fn judges(&self, test: &Test, settings: Settings) -> Judges {
        (self.judges)(test, settings)
    }
}

/// The judge of the attribute, behind the recording beside the set.
#[inline]
fn judges(test: &Test, settings: Settings) -> Judges {
    let Test { set, .. } = test;
    let recording = &set.recording;
    let root = stale::root(set.manifest_dir);
    let text = match (settings.mode, recording.text) {
        (Some(JudgeMode::Record), _) => Text::OnDisk,
        (_, Some(all)) => Text::Compiled { all, own: test.recorded().collect() },
        (_, None) => Text::Absent,
    };
    let tape = Tape::new(root.join(recording.file), shown_beside(set), text)
        .touching(root.join(set.file))
        .recorded_by(failure::rerun(test));
    Judges::new(settings, set.judge.map_or(Named::Nobody, Named::Function), Some(tape))
}
