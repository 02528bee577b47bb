use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use eval_format::{RecordedQuestion, Recording};

use super::file::{self, Loaded};
use super::{miss, secrets};
use crate::judge::{JudgeError, JudgeErrorKind, JudgeReply, JudgeRequest};
use crate::message::count;

/// A recording in use.
#[derive(Debug)]
pub(crate) struct RecordingStore {
    path: PathBuf,
    /// The path in messages.
    shown: String,
    text: RecordingText,
    /// What cargo rebuilds for: touched when the recording is written for the first time.
    touched: Option<PathBuf>,
    /// The command that records, where there is one.
    command: Option<String>,
    state: Mutex<State>,
}

/// Where the text of a recording is.
#[derive(Clone, Debug)]
pub(crate) enum RecordingText {
    /// There is none.
    Absent,
    /// In the program, with the slices of the questions that the case asks.
    Compiled {
        /// The whole file.
        all: &'static str,
        /// The questions of the case.
        own: Vec<&'static str>,
    },
    /// In its file, if that exists.
    OnDisk,
}

#[derive(Debug, Default)]
struct State {
    /// The questions of the case alone; a test reads no more than that while nothing is missing.
    own: Option<Recording>,
    /// Everything.
    all: Option<Loaded>,
    /// The places of the questions of each case in `all`, once somebody wants to know.
    by_case: Option<HashMap<String, Vec<usize>>>,
    /// Whether the file can be written.
    has_place: bool,
    /// What was asked: keys and samples.
    used: HashSet<(String, u32)>,
}

impl RecordingStore {
    pub(crate) fn new(path: PathBuf, shown: impl Into<String>, text: RecordingText) -> Self {
        Self { path, shown: shown.into(), text, touched: None, command: None, state: Mutex::default() }
    }

    /// The recording in a file, whether that exists or not.
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
        self.command = Some(command);
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

    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// What to run so that an answer is recorded.
    pub(crate) fn command(&self) -> String {
        match &self.command {
            Some(command) => format!("EVALSET_JUDGE=record {command}"),
            None => "EVALSET_JUDGE=record and the same command again".to_owned(),
        }
    }

    /// Reads the file; an error where it cannot be read.
    pub(crate) fn load(&self) -> Result<(), JudgeError> {
        self.state().all(self).map(drop)
    }

    /// The recorded answer; an error where there is none, which shows what the case asked instead.
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
            return Err(miss::no_recording(Some(self)));
        }
        let all = state.all(self)?;
        find(all.recording(), &question, request.sample)
            .ok_or_else(|| miss::not_recorded(all.recording(), &question, request.sample, self))
    }

    /// The recorded answer, else that of the judge, which is recorded.
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
        secrets::refuse(&question.key(), "the question", &self.shown)?;
        self.try_place()?;
        let reply = ask.await?;
        secrets::refuse(&reply.text, "the answer", &self.shown)?;
        self.keep(question.clone().reply(request.sample, &reply.text, reply.usage.clone()))?;
        // Another process may have been faster; it is its answer that will be replayed, but the judge was asked.
        let kept = self.known(&question, request.sample)?.unwrap_or(reply);
        Ok(JudgeReply { replayed: false, ..kept })
    }

    /// The answer in the file, which from now on names the case too.
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

    /// Fails where the file cannot be written; an answer that cannot be kept is not worth its price.
    fn try_place(&self) -> Result<(), JudgeError> {
        let mut state = self.state();
        if !state.has_place {
            file::try_place(&self.path).map_err(|wrong| cannot_record(&wrong))?;
            state.has_place = true;
        }
        Ok(())
    }

    /// Adds a question to the file, together with what other processes have added meanwhile.
    fn keep(&self, question: RecordedQuestion) -> Result<(), JudgeError> {
        let mut state = self.state();
        let loaded = state.all.get_or_insert_default();
        let is_new = file::add(&self.path, loaded, question).map_err(|wrong| cannot_record(&wrong))?;
        if is_new && let Some(path) = &self.touched {
            file::touch(path);
        }
        Ok(())
    }

    /// The recorded answers of a case (of all cases) that nobody asked for, one line per prompt.
    ///
    /// None where nothing was asked at all: then the answers are another test's of the same cases.
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
        // What cannot be read has been said when it was asked for.
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
                    own.add(
                        question.map_err(|problems| {
                            JudgeError::new(JudgeErrorKind::Failed, problems.to_string())
                        })?,
                    );
                }
            }
            self.own = Some(own);
        }
        Ok(self.own.get_or_insert_default())
    }

    /// The questions of a case: found once for all cases of a file.
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
        let places = self.by_case.as_ref().and_then(|by_case| by_case.get(case)).cloned().unwrap_or_default();
        let questions = self.all(store)?.recording().questions();
        Ok(places.into_iter().filter_map(|at| questions.get(at)).collect())
    }

    /// The whole recording, read once.
    fn all(&mut self, store: &RecordingStore) -> Result<&Loaded, JudgeError> {
        if self.all.is_none() {
            let loaded = match &store.text {
                RecordingText::Absent => Ok(Loaded::default()),
                RecordingText::Compiled { all, .. } => Loaded::parse(&store.shown, all),
                RecordingText::OnDisk => file::load(&store.path),
            };
            let loaded = loaded.map_err(|wrong| JudgeError::new(JudgeErrorKind::Failed, wrong))?;
            self.all = Some(loaded);
        }
        Ok(self.all.get_or_insert_default())
    }
}

fn cannot_record(why: &str) -> JudgeError {
    JudgeError::new(JudgeErrorKind::Failed, format!("cannot record: {why}"))
}

/// The question as it stands in a recording, without what must not stand there.
fn question(request: &JudgeRequest) -> RecordedQuestion {
    let mut question = RecordedQuestion::new(&request.model, &request.prompt);
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
    let mut left: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for question in questions {
        let mut asked = (question.key(), 0);
        for reply in &question.replies {
            asked.1 = reply.sample;
            if !used.contains(&asked) {
                *left.entry((&question.template, &question.model)).or_default() += 1;
            }
        }
    }
    let line = |((template, model), left): ((&str, &str), usize)| {
        let template = if template.is_empty() { "a prompt without a name" } else { template };
        format!("{} to {template}, `{model}`", count(left, "answer"))
    };
    left.into_iter().map(line).collect()
}
