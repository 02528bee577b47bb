//! A recording in use: which answers it has, and which of them were asked for.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use eval_format::recording::{RecordedQuestion, Recording};

use super::error::FileError;
use super::file::{self, Loaded};
use super::label::RecordingLabel;
use super::{miss, secrets};
use crate::judge::{JudgeError, JudgeErrorKind, JudgeReply, JudgeRequest};
use crate::message::count;
use crate::secrets::mask_shapes;

/// A recording in use.
#[derive(Debug)]
pub(crate) struct RecordingStore {
    path: PathBuf,
    label: RecordingLabel,
    text: RecordingText,
    /// A file whose change makes cargo rebuild. It is touched when the recording is written for the first time.
    touched: Option<PathBuf>,
    state: Mutex<State>,
}

/// Where the text of a recording stands.
#[derive(Clone, Debug)]
pub(crate) enum RecordingText {
    /// Nowhere: there is no recording.
    Absent,
    /// In the program, together with the parts of it that are questions of the case.
    Compiled {
        /// The whole file.
        all: &'static str,
        /// The questions of the case.
        own: Vec<&'static str>,
    },
    /// In its file, if the file exists.
    OnDisk,
}

#[derive(Debug, Default)]
struct State {
    /// The questions of the case alone, once they were read. A test reads no more as long as no answer is missing.
    own: Option<Recording>,
    /// All questions, once they were read.
    all: Option<Loaded>,
    /// The indices in `all` of the questions of each case, once they were needed.
    by_case: Option<HashMap<String, Vec<usize>>>,
    /// Whether the file is known to be writable.
    is_writable: bool,
    /// What was asked: keys of questions, and numbers of samples.
    used: HashSet<(String, u32)>,
}

impl RecordingStore {
    pub(crate) fn new(path: PathBuf, shown: impl Into<String>, text: RecordingText) -> Self {
        let label = RecordingLabel { shown: shown.into(), command: None };
        Self { path, label, text, touched: None, state: Mutex::default() }
    }

    /// The recording in a file, which need not exist.
    pub(crate) fn on_disk(path: &Path) -> Self {
        Self::new(path.to_owned(), path.display().to_string(), RecordingText::OnDisk)
    }

    /// Touches a file when the recording is written for the first time.
    pub(crate) fn touching(mut self, path: PathBuf) -> Self {
        self.touched = Some(path);
        self
    }

    /// Names the command that records.
    pub(crate) fn recorded_by(mut self, command: String) -> Self {
        self.label.command = Some(command);
        self
    }

    /// Whether there is a recording.
    pub(crate) fn exists(&self) -> bool {
        match self.text {
            RecordingText::Absent => false,
            RecordingText::Compiled { .. } => true,
            RecordingText::OnDisk => self.path.exists(),
        }
    }

    /// The path, as messages show it.
    pub(crate) fn shown(&self) -> &str {
        &self.label.shown
    }

    /// Reads the recording, so that an error shows before a question is asked.
    pub(crate) fn load(&self) -> Result<(), JudgeError> {
        self.state().all(self).map(drop)
    }

    /// The recorded answer. The error for a missing one shows the nearest question that is recorded.
    pub(crate) fn replay(
        &self,
        request: &JudgeRequest,
        case: Option<&str>,
    ) -> Result<JudgeReply, JudgeError> {
        let mut question = question(request);
        question.cases.extend(case.map(str::to_owned));
        let mut state = self.state();
        state.used.insert((question.key(), request.sample));
        if let Some(reply) = find(state.own(self)?, &question, request.sample) {
            return Ok(reply);
        }
        if !self.exists() {
            return Err(miss::no_recording(Some(&self.label)));
        }
        let all = state.all(self)?;
        find(all.recording(), &question, request.sample)
            .ok_or_else(|| miss::not_recorded(all.recording(), &question, request.sample, &self.label))
    }

    /// The recorded answer, else the answer of the judge, which is recorded then.
    pub(crate) async fn record(
        &self,
        request: &JudgeRequest,
        case: Option<&str>,
        ask: impl Future<Output = Result<JudgeReply, JudgeError>>,
    ) -> Result<JudgeReply, JudgeError> {
        let mut question = question(request);
        question.cases.extend(case.map(str::to_owned));
        if let Some(reply) = self.known(&question, request.sample)? {
            return Ok(reply);
        }
        secrets::refuse(&question.key(), "the question", self.shown())?;
        self.check_writable()?;
        let reply = ask.await?;
        secrets::refuse(&reply.text, "the answer", self.shown())?;
        let text = mask_shapes(&reply.text);
        self.keep(question.clone().reply(request.sample, &*text, reply.usage.clone()))?;
        // If another process was faster, its answer is the one that will be replayed. The judge was asked all the same.
        let kept = self.known(&question, request.sample)?.unwrap_or(reply);
        Ok(JudgeReply { replayed: false, ..kept })
    }

    /// The answer in the file. From now on the file names the case at the question.
    fn known(&self, question: &RecordedQuestion, sample: u32) -> Result<Option<JudgeReply>, JudgeError> {
        let mut state = self.state();
        state.used.insert((question.key(), sample));
        let all = state.all(self)?;
        let Some(reply) = find(all.recording(), question, sample) else { return Ok(None) };
        let named = all
            .recording()
            .find(question)
            .is_some_and(|known| question.cases.iter().all(|case| known.cases.contains(case)));
        drop(state);
        if !named {
            self.keep(question.clone())?;
        }
        Ok(Some(reply))
    }

    /// Fails if the file cannot be written, so that no answer is paid for that cannot be kept.
    fn check_writable(&self) -> Result<(), JudgeError> {
        let mut state = self.state();
        if !state.is_writable {
            file::check_writable(&self.path).map_err(|error| cannot_record(&error))?;
            state.is_writable = true;
        }
        Ok(())
    }

    /// Adds a question to the file, and takes over what other processes have added.
    fn keep(&self, question: RecordedQuestion) -> Result<(), JudgeError> {
        let mut state = self.state();
        let loaded = state.all.get_or_insert_default();
        let is_new = file::add(&self.path, loaded, question).map_err(|error| cannot_record(&error))?;
        if is_new && let Some(path) = &self.touched {
            file::touch(path);
        }
        Ok(())
    }

    /// The recorded answers that were not asked for, of a case or of all cases: one line per prompt.
    ///
    /// It is empty if nothing was asked at all: the answers belong to another test of the same cases then.
    pub(crate) fn unused(&self, case: Option<&str>) -> Vec<String> {
        let mut state = self.state();
        if state.used.is_empty() {
            return Vec::new();
        }
        let used = std::mem::take(&mut state.used);
        let lines = match case {
            Some(case) => state.of_case(self, case).map(|questions| unused(questions, &used)),
            None => state.all(self).map(|all| unused(all.recording().questions(), &used)),
        };
        state.used = used;
        // The error of a recording that cannot be read was shown when a question was asked.
        lines.unwrap_or_default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RecordingStore {
    fn drop(&mut self) {
        if let RecordingText::OnDisk = self.text
            && let Some(loaded) = self.state().all.take()
        {
            file::give_back(&self.path, loaded);
        }
    }
}

impl State {
    /// The questions of the case.
    fn own(&mut self, store: &RecordingStore) -> Result<&Recording, JudgeError> {
        if self.own.is_none() {
            let mut own = Recording::default();
            if let RecordingText::Compiled { own: slices, .. } = &store.text {
                for slice in slices {
                    let question = RecordedQuestion::parse(slice);
                    own.add(question.map_err(|problems| failed(&problems))?);
                }
            }
            self.own = Some(own);
        }
        Ok(self.own.get_or_insert_default())
    }

    /// The questions of a case. The index over all cases is made once.
    fn of_case(&mut self, store: &RecordingStore, case: &str) -> Result<Vec<&RecordedQuestion>, JudgeError> {
        if let RecordingText::Compiled { .. } = store.text {
            return Ok(self.own(store)?.questions().iter().collect());
        }
        if self.by_case.is_none() {
            let mut by_case: HashMap<String, Vec<usize>> = HashMap::new();
            for (at, question) in self.all(store)?.recording().questions().iter().enumerate() {
                for case in &question.cases {
                    by_case.entry(case.clone()).or_default().push(at);
                }
            }
            self.by_case = Some(by_case);
        }
        let indices =
            self.by_case.as_ref().and_then(|by_case| by_case.get(case)).cloned().unwrap_or_default();
        let questions = self.all(store)?.recording().questions();
        Ok(indices.into_iter().filter_map(|at| questions.get(at)).collect())
    }

    /// The whole recording, read once.
    fn all(&mut self, store: &RecordingStore) -> Result<&Loaded, JudgeError> {
        if self.all.is_none() {
            let loaded = match &store.text {
                RecordingText::Absent => Ok(Loaded::default()),
                RecordingText::Compiled { all, .. } => Loaded::parse(store.shown(), all),
                RecordingText::OnDisk => file::load(&store.path),
            };
            let loaded = loaded.map_err(|error| failed(&error))?;
            self.all = Some(loaded);
        }
        Ok(self.all.get_or_insert_default())
    }
}

fn failed(error: &dyn fmt::Display) -> JudgeError {
    JudgeError::new(JudgeErrorKind::Failed, error.to_string())
}

fn cannot_record(error: &FileError) -> JudgeError {
    JudgeError::new(JudgeErrorKind::Failed, format!("cannot record: {error}"))
}

/// The question as it stands in a recording: without headers and keys.
fn question(request: &JudgeRequest) -> RecordedQuestion {
    // What looks like a key is masked in the same way wherever the question is asked; values of variables are refused.
    let mut question = RecordedQuestion::new(&request.model, &*mask_shapes(&request.prompt));
    question.template.clone_from(&request.template);
    question.temperature = request.temperature;
    question.config = secrets::without(&request.config);
    question.schema.clone_from(&request.schema);
    question
}

fn find(recording: &Recording, question: &RecordedQuestion, sample: u32) -> Option<JudgeReply> {
    let reply = recording.find(question)?.sample(sample)?;
    Some(JudgeReply { text: reply.text.clone(), usage: reply.usage.clone(), replayed: true })
}

fn unused<'a>(
    questions: impl IntoIterator<Item = &'a RecordedQuestion>,
    used: &HashSet<(String, u32)>,
) -> Vec<String> {
    // Samples that could not change the outcome are not asked for, so the others of a question count as used.
    let used: HashSet<&str> = used.iter().map(|(key, _)| key.as_str()).collect();
    let mut left: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for question in questions {
        if !used.contains(question.key().as_str()) && !question.replies.is_empty() {
            *left.entry((&question.template, &question.model)).or_default() += question.replies.len();
        }
    }
    let line = |((template, model), left): ((&str, &str), usize)| {
        let template = if template.is_empty() { "a prompt without a name" } else { template };
        format!("{} to {template}, `{model}`", count(left, "answer"))
    };
    left.into_iter().map(line).collect()
}
