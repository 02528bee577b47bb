//! The recording of one case in use: all runs of the case in this process share it.

use std::collections::HashMap;
use std::sync::{MutexGuard, OnceLock};

use eval_support::mutex::Mutex;

use crate::canonical::Masks;
use crate::mode::ModelMode;
use crate::recording::{Answer, CaseRecording, Exchange, Shared};
use crate::store::{Loaded, ModelsFolder};

#[derive(Debug)]
pub(crate) struct Cassette {
    eval_id: String,
    shared: Shared,
    by_hand: Vec<Exchange>,
    shown: String,
    folder: ModelsFolder,
    plan: PlannedRuns,
    writable: OnceLock<Result<(), String>>,
    state: Mutex<State>,
}

/// The runs of a case in this process.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PlannedRuns {
    /// The number of runs; `None` if it is not known.
    pub(crate) runs: Option<usize>,
    /// Whether other variants of the agent have answers in the same file.
    pub(crate) is_variant: bool,
}

/// The state of a request in a run: an answer is left, all were given, or none is recorded.
#[derive(Debug)]
pub(crate) enum Has {
    /// An answer that was not given yet.
    Unused(Answer),
    /// Answers, and all were given: the last one.
    Used(Answer),
    /// No answer.
    Nothing,
}

/// An answer that was put under a request that changed.
#[derive(Clone, Debug)]
pub(crate) struct Rebound {
    /// The request that had it, and the one that it was given to.
    pub(crate) key: String,
    pub(crate) answered: Option<String>,
    /// The request that has it now.
    pub(crate) exchange: Exchange,
}

#[derive(Debug)]
struct State {
    recording: CaseRecording,
    exists: bool,
    /// Whether the first run was recorded in this process.
    is_fresh: bool,
}

impl Cassette {
    pub(crate) fn new(folder: ModelsFolder, loaded: Loaded) -> Self {
        let Loaded { recording, shared, by_hand, exists } = loaded;
        Self {
            eval_id: recording.eval_id.clone(),
            shared,
            by_hand,
            shown: folder.shown_file(&recording.eval_id),
            folder,
            plan: PlannedRuns::default(),
            writable: OnceLock::new(),
            state: Mutex::new(State { recording, exists, is_fresh: false }),
        }
    }

    /// The same cassette for these runs.
    pub(crate) fn planned(self, plan: PlannedRuns) -> Self {
        Self { plan, ..self }
    }

    pub(crate) fn is_variant(&self) -> bool {
        self.plan.is_variant
    }

    /// The run whose answers a run gets.
    pub(crate) fn played_by(&self, run: usize) -> usize {
        if self.shared.is_one_run { 1 } else { run }
    }

    /// The number of runs whose answers this process asks for; `None` if it is not known.
    pub(crate) fn played_runs(&self) -> Option<usize> {
        if self.shared.is_one_run { Some(1) } else { self.plan.runs }
    }

    /// Whether the first run was recorded in this process.
    pub(crate) fn is_fresh(&self) -> bool {
        self.state.lock().is_fresh
    }

    pub(crate) fn eval_id(&self) -> &str {
        &self.eval_id
    }

    pub(crate) fn masks(&self) -> &Masks {
        &self.shared.masks
    }

    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    pub(crate) fn exists(&self) -> bool {
        self.state.lock().exists
    }

    /// Fails if the recording could not be written: a call would be paid for in vain. It is checked once.
    pub(crate) fn check_writable(&self) -> Result<(), String> {
        self.writable.get_or_init(|| self.folder.check_writable(&self.eval_id)).clone()
    }

    pub(crate) fn recording(&self) -> CaseRecordingGuard<'_> {
        CaseRecordingGuard(self.state.lock())
    }

    /// The state of a request in a run, after a number of answers to it.
    pub(crate) fn has(&self, key: &str, run: usize, used: usize) -> Has {
        let state = self.state.lock();
        let run = self.played_by(run);
        match state.recording.answers_to(key, run).nth(used) {
            Some(answer) => Has::Unused(answer.clone()),
            None => match self.by_hand(key) {
                Some(answer) => Has::Unused(answer),
                None => match state.recording.answers_to(key, run).last() {
                    Some(answer) => Has::Used(answer.clone()),
                    None => Has::Nothing,
                },
            },
        }
    }

    /// The number of answers of a run to a request.
    pub(crate) fn number(&self, key: &str, run: usize) -> usize {
        self.state.lock().recording.answers_to(key, self.played_by(run)).count()
    }

    /// The answer that a person made for a request.
    fn by_hand(&self, key: &str) -> Option<Answer> {
        self.by_hand.iter().find(|made| made.key == key)?.answers.first().cloned()
    }

    /// Whether there is an answer of a run, to any request.
    pub(crate) fn has_run(&self, run: usize) -> bool {
        let run = self.played_by(run);
        self.recording().exchanges.iter().any(|exchange| exchange.answers_of(run).next().is_some())
    }

    /// Adds the calls of a run to the file. Calls that are recorded anew replace those of the same run. It may wait for the disk and
    /// for another process.
    pub(crate) fn write(&self, mode: ModelMode, run: usize, fresh: Vec<Exchange>) -> Result<(), String> {
        let mut state = self.state.lock();
        let recording = self.folder.change(&self.eval_id, |on_disk| {
            if mode != ModelMode::RecordAll {
                let mut recording = on_disk?;
                merge(&mut recording, &state.recording, run, fresh);
                return Ok(recording);
            }
            // A recording that cannot be read is replaced.
            let mut recording = on_disk.unwrap_or_else(|_| CaseRecording::new(&self.eval_id));
            let most = self.played_runs().unwrap_or(usize::MAX);
            recording.keep_runs(|of| of != run && of <= most);
            for exchange in fresh {
                recording.add(exchange);
            }
            Ok(recording)
        })?;
        let exists = !recording.exchanges.is_empty();
        *state = State { recording, exists, is_fresh: state.is_fresh || run == 1 };
        Ok(())
    }

    /// Puts answers under requests that changed, and writes the file. It may wait for the disk and for another process.
    pub(crate) fn rebind(&self, rebound: Vec<Rebound>) -> Result<(), String> {
        let mut state = self.state.lock();
        let recording = self.folder.change(&self.eval_id, |on_disk| {
            let mut recording = on_disk?;
            for Rebound { key, answered, exchange } in rebound {
                let mut all = recording.exchanges.iter_mut();
                if let Some(known) = all.find(|known| known.key == key && known.answered == answered)
                    && let Some(at) =
                        known.answers.iter().position(|answer| exchange.answers.contains(answer))
                {
                    known.answers.remove(at);
                    // A request that a fault answered has no answers from the beginning, and stays.
                    if known.answers.is_empty() {
                        recording.exchanges.retain(|it| it.key != key || it.answered != answered);
                    }
                }
                recording.add(exchange);
            }
            Ok(recording)
        })?;
        *state = State { recording, exists: true, is_fresh: state.is_fresh };
        Ok(())
    }
}

/// Adds what a run asked to the recording on the disk. Answers that another writer added for the same request and run, since
/// `known` was read, take the place of as many fresh ones.
fn merge(on_disk: &mut CaseRecording, known: &CaseRecording, run: usize, fresh: Vec<Exchange>) {
    let number = |recording: &CaseRecording, key: &str| recording.answers_to(key, run).count();
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
