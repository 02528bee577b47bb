//! The recording of one case in use: all runs of the case in this process share it.

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
    /// Whether this process has written it.
    is_written: bool,
}

impl Book {
    pub(crate) fn new(folder: ModelsFolder, loaded: Loaded) -> Self {
        let Loaded { recording, shared, exists } = loaded;
        Self {
            eval_id: recording.eval_id.clone(),
            masks: shared.masks,
            shown: folder.shown_file(&recording.eval_id),
            folder,
            state: Mutex::new(State { recording, exists, is_written: false }),
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

    /// Adds what a run asked, and writes the file. It may wait for the disk and for another process.
    pub(crate) fn write(&self, mode: ModelMode, run: usize, fresh: Vec<Exchange>) -> Result<(), String> {
        let mut state = self.state.lock();
        let mut recording = match (mode, state.is_written) {
            (ModelMode::RecordAll, false) => CaseRecording::new(&self.eval_id),
            _ => state.recording.clone(),
        };
        if mode == ModelMode::RecordAll {
            recording.forget_run(run);
        }
        for exchange in fresh {
            recording.add(exchange);
        }
        recording.sort();
        self.folder.write(&recording)?;
        *state = State { recording, exists: true, is_written: true };
        Ok(())
    }

    /// Puts answers under requests that changed, and writes the file. It may wait for the disk and for another process.
    pub(crate) fn rebind(&self, rebound: Vec<(String, Exchange)>) -> Result<(), String> {
        let mut state = self.state.lock();
        let mut recording = state.recording.clone();
        for (key, exchange) in rebound {
            let known = recording.exchanges.iter_mut().find(|known| known.key == key);
            if let Some(known) = known
                && let Some(at) = known.answers.iter().position(|answer| exchange.answers.contains(answer))
            {
                known.answers.remove(at);
            }
            recording.add(exchange);
        }
        recording.exchanges.retain(|exchange| !exchange.answers.is_empty());
        recording.sort();
        self.folder.write(&recording)?;
        *state = State { recording, exists: true, is_written: true };
        Ok(())
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
