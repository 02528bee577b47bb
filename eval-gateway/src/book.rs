//! The recording of one case in use: all runs of the case in this process share it.

use std::collections::HashMap;
use std::sync::MutexGuard;

use eval_support::mutex::Mutex;

use crate::canonical::Masks;
use crate::mode::ModelMode;
use crate::recording::{Answer, CaseRecording, Exchange};
use crate::store::{Loaded, ModelsFolder};

#[derive(Debug)]
pub(crate) struct Book {
    eval_id: String,
    masks: Masks,
    shown: String,
    folder: ModelsFolder,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    recording: CaseRecording,
    exists: bool,
    /// Whether this process adds to the file. Else a run that is recorded anew starts a new one.
    is_kept: bool,
}

impl Book {
    pub(crate) fn new(folder: ModelsFolder, loaded: Loaded) -> Self {
        let Loaded { recording, shared, exists } = loaded;
        Self {
            eval_id: recording.eval_id.clone(),
            masks: shared.masks,
            shown: folder.shown_file(&recording.eval_id),
            folder,
            state: Mutex::new(State { recording, exists, is_kept: false }),
        }
    }

    pub(crate) fn eval_id(&self) -> &str {
        &self.eval_id
    }

    pub(crate) fn masks(&self) -> &Masks {
        &self.masks
    }

    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    pub(crate) fn exists(&self) -> bool {
        self.state.lock().exists
    }

    pub(crate) fn recording(&self) -> CaseRecordingGuard<'_> {
        CaseRecordingGuard(self.state.lock())
    }

    /// The answer of a run to a request, after so many others to it.
    pub(crate) fn answer(&self, key: &str, run: usize, used: usize) -> Option<Answer> {
        self.state.lock().recording.find(key)?.answers_of(run).nth(used).cloned()
    }

    /// The number of answers of a run to a request.
    pub(crate) fn number(&self, key: &str, run: usize) -> usize {
        self.state.lock().recording.find(key).map_or(0, |exchange| exchange.answers_of(run).count())
    }

    /// Adds what a run asked, and writes the file. It may wait for the disk and for another process.
    pub(crate) fn write(&self, mode: ModelMode, run: usize, fresh: Vec<Exchange>) -> Result<(), String> {
        let mut state = self.state.lock();
        let recording = self.folder.change(&self.eval_id, |on_disk| {
            let mut recording = match (mode, state.is_kept) {
                (ModelMode::RecordAll, false) => CaseRecording::new(&self.eval_id),
                _ => on_disk?,
            };
            if mode == ModelMode::RecordAll {
                recording.forget_run(run);
                for exchange in fresh {
                    recording.add(exchange);
                }
            } else {
                merge(&mut recording, &state.recording, run, fresh);
            }
            Ok(recording)
        })?;
        *state = State { recording, exists: true, is_kept: true };
        Ok(())
    }

    /// Keeps what is recorded when later runs of this process are recorded anew, since one of its runs wrote nothing.
    pub(crate) fn keep(&self) {
        self.state.lock().is_kept = true;
    }

    /// Puts answers under requests that changed, and writes the file. It may wait for the disk and for another process.
    pub(crate) fn rebind(&self, rebound: Vec<(String, Exchange)>) -> Result<(), String> {
        let mut state = self.state.lock();
        let recording = self.folder.change(&self.eval_id, |on_disk| {
            let mut recording = on_disk?;
            for (key, exchange) in rebound {
                let known = recording.exchanges.iter_mut().find(|known| known.key == key);
                if let Some(known) = known
                    && let Some(at) =
                        known.answers.iter().position(|answer| exchange.answers.contains(answer))
                {
                    known.answers.remove(at);
                }
                recording.add(exchange);
            }
            recording.exchanges.retain(|exchange| !exchange.answers.is_empty());
            Ok(recording)
        })?;
        *state = State { recording, exists: true, is_kept: true };
        Ok(())
    }
}

/// Adds what a run asked to the recording on the disk. Answers that another writer added for the same request and run, since
/// `known` was read, take the place of as many fresh ones.
fn merge(on_disk: &mut CaseRecording, known: &CaseRecording, run: usize, fresh: Vec<Exchange>) {
    let number = |recording: &CaseRecording, key: &str| {
        recording.find(key).map_or(0, |exchange| exchange.answers_of(run).count())
    };
    let mut added: HashMap<String, usize> = HashMap::new();
    for exchange in &fresh {
        let by_others = number(on_disk, &exchange.key).saturating_sub(number(known, &exchange.key));
        added.insert(exchange.key.clone(), by_others);
    }
    for exchange in fresh {
        match added.get_mut(&exchange.key) {
            Some(left) if *left > 0 && !exchange.answers.is_empty() => *left -= 1,
            _ => on_disk.add(exchange),
        }
    }
}

/// The recording, while no other run changes it.
pub(crate) struct CaseRecordingGuard<'a>(MutexGuard<'a, State>);

impl std::ops::Deref for CaseRecordingGuard<'_> {
    type Target = CaseRecording;

    fn deref(&self) -> &CaseRecording {
        &self.0.recording
    }
}
