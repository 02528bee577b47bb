//! A recording in use: its answers, and the samples that were asked for.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use eval_format::recording::{RecordedQuestion, Recording};
use eval_format::{Map, Value};
use eval_support::mutex::Mutex;
use eval_support::secrets::{is_secret_entry, mask_shapes, secret_variables};
use eval_support::words::count;

use super::miss::{self, RecordingLabel};
use super::shared::{Landed, SharedRecording, User};
use crate::blocking::blocking;
use crate::judge::{JudgeError, JudgeReply, JudgeRequest};

#[derive(Debug)]
pub(crate) struct RecordingStore {
    label: RecordingLabel,
    text: RecordingText,
    /// The questions of the case alone, parsed on first use. A test parses no more as long as no answer is
    /// missing.
    own: OnceLock<Result<Recording, JudgeError>>,
    compiled: OnceLock<Result<Recording, JudgeError>>,
    /// The file. `loaded` is the outcome of reading it.
    user: User,
    loaded: Arc<OnceLock<Result<(), JudgeError>>>,
    /// The keys of the questions that were asked. Samples that could not change the outcome are skipped, so one
    /// asked sample marks its whole question as used.
    used: Mutex<HashSet<String>>,
}

#[derive(Clone, Debug)]
pub(crate) enum RecordingText {
    Absent,
    /// In the program, together with its slices for the questions of the case.
    Compiled {
        all: &'static str,
        own: Vec<&'static str>,
    },
    OnDisk,
}

impl RecordingStore {
    pub(crate) fn new(path: &Path, shown: impl Into<String>, text: RecordingText) -> Self {
        Self {
            label: RecordingLabel { shown: shown.into(), command: None },
            text,
            own: OnceLock::new(),
            compiled: OnceLock::new(),
            user: User::of(path),
            loaded: Arc::default(),
            used: Mutex::default(),
        }
    }

    pub(crate) fn on_disk(path: &Path) -> Self {
        Self::new(path, path.display().to_string(), RecordingText::OnDisk)
    }

    pub(crate) fn touching(self, path: PathBuf) -> Self {
        self.user.0.touch_at_first(path);
        self
    }

    pub(crate) fn recorded_by(mut self, command: String) -> Self {
        self.label.command = Some(command);
        self
    }

    pub(crate) fn exists(&self) -> bool {
        match self.text {
            RecordingText::Absent => false,
            RecordingText::Compiled { .. } => true,
            RecordingText::OnDisk => match self.loaded.get() {
                Some(_) => self.user.0.exists(),
                None => self.user.0.path.exists(),
            },
        }
    }

    pub(crate) fn shown(&self) -> &str {
        &self.label.shown
    }

    /// Reads the recording, so that an error shows before a question is asked. It may wait for the disk.
    pub(crate) fn load(&self) -> Result<(), JudgeError> {
        match &self.text {
            RecordingText::Absent => Ok(()),
            RecordingText::Compiled { all, .. } => self.all(all).map(drop),
            RecordingText::OnDisk => load(&self.user.0, &self.loaded),
        }
    }

    /// The recorded answer. The error for a missing one shows the nearest recorded question.
    pub(crate) async fn replay(
        &self,
        request: &JudgeRequest,
        case: Option<&str>,
    ) -> Result<JudgeReply, JudgeError> {
        let mut question = question(request);
        question.cases.extend(case.map(str::to_owned));
        let sample = request.sample;
        self.used.lock().insert(question.key());
        match &self.text {
            RecordingText::Absent => Err(miss::no_recording(Some(&self.label))),
            RecordingText::Compiled { all, own } => {
                if let Some(reply) = find(self.own(own)?, &question, sample) {
                    return Ok(reply);
                }
                let all = self.all(all)?;
                find(all, &question, sample)
                    .ok_or_else(|| miss::not_recorded(all, &question, sample, &self.label))
            }
            RecordingText::OnDisk => {
                let (loaded, label) = (Arc::clone(&self.loaded), self.label.clone());
                self.on_disk_do(move |file| {
                    load(file, &loaded)?;
                    if !file.exists() {
                        return Err(miss::no_recording(Some(&label)));
                    }
                    file.with(|all| {
                        find(all, &question, sample)
                            .ok_or_else(|| miss::not_recorded(all, &question, sample, &label))
                    })
                })
                .await
            }
        }
    }

    /// The recorded answer, else the answer of the judge, which is then recorded. Of equal concurrent questions of
    /// this process, one asks for all.
    pub(crate) async fn record(
        &self,
        request: &JudgeRequest,
        case: Option<&str>,
        ask: impl Future<Output = Result<JudgeReply, JudgeError>>,
    ) -> Result<JudgeReply, JudgeError> {
        let mut question = question(request);
        question.cases.extend(case.map(str::to_owned));
        let asked = (question.key(), request.sample);
        self.used.lock().insert(asked.0.clone());
        let (loaded, known) = (Arc::clone(&self.loaded), question.clone());
        let known = self.on_disk_do(move |file| {
            file.begin_recording();
            load(file, &loaded)?;
            known_in(file, &known, asked.1)
        });
        if let Some(reply) = known.await? {
            return Ok(reply);
        }
        refuse(&question.key(), "the question", self.shown())?;
        let asking = Box::pin(self.ask(question.clone(), request.sample, ask));
        match self.user.0.flights.ask((question.key(), request.sample), asking).await {
            Landed::Asked(answer) => answer,
            Landed::Shared(Err(error)) => Err(error),
            Landed::Shared(Ok(reply)) => {
                // This case is added to the question in the file.
                self.on_disk_do(move |file| file.add(question).map_err(cannot_record)).await?;
                Ok(JudgeReply { replayed: true, ..reply })
            }
        }
    }

    /// Asks a question whose answer this process does not know, and records the answer.
    async fn ask(
        &self,
        question: RecordedQuestion,
        sample: u32,
        ask: impl Future<Output = Result<JudgeReply, JudgeError>>,
    ) -> Result<JudgeReply, JudgeError> {
        let asked = question.clone();
        let found = self.on_disk_do(move |file| {
            // Another process may have recorded it meanwhile.
            file.catch_up().map_err(cannot_record)?;
            let known = known_in(file, &asked, sample)?;
            if known.is_none() {
                // Before an answer is paid for that could not be kept.
                file.check_writable().map_err(cannot_record)?;
            }
            Ok(known)
        });
        if let Some(reply) = found.await? {
            return Ok(reply);
        }
        let reply = ask.await?;
        refuse(&reply.text, "the answer", self.shown())?;
        let text = mask_shapes(&reply.text).into_owned();
        let kept = self.on_disk_do(move |file| {
            let answered = question.clone().reply(sample, text, reply.usage.clone());
            file.add(answered).map_err(cannot_record)?;
            // If another process was faster, its answer is the recorded one. The judge was still asked, so
            // `replayed` is false.
            Ok(file.with(|all| find(all, &question, sample)).unwrap_or(reply))
        });
        Ok(JudgeReply { replayed: false, ..kept.await? })
    }

    /// The recorded answers that were not asked for, of a case or of all cases: one line per prompt and model.
    /// Empty if nothing was asked at all: then the answers belong to another test of the same cases.
    pub(crate) fn unused(&self, case: Option<&str>) -> Vec<String> {
        let used = self.used.lock();
        if used.is_empty() {
            return Vec::new();
        }
        // The error of a recording that cannot be read was shown when a question was asked.
        match &self.text {
            RecordingText::Absent => Vec::new(),
            RecordingText::Compiled { all, own } => {
                let recorded = if case.is_some() { self.own(own) } else { self.all(all) };
                recorded.map(|recorded| unused(recorded.questions(), &used)).unwrap_or_default()
            }
            RecordingText::OnDisk => match case {
                Some(case) => self.user.0.with_case(case, |questions| unused(questions, &used)),
                None => self.user.0.with(|all| unused(all.questions(), &used)),
            },
        }
    }

    fn own(&self, slices: &[&'static str]) -> Result<&Recording, JudgeError> {
        let read = || {
            let mut own = Recording::default();
            for slice in slices {
                own.add(RecordedQuestion::parse(slice).map_err(|problems| failed(&problems))?);
            }
            Ok(own)
        };
        self.own.get_or_init(read).as_ref().map_err(Clone::clone)
    }

    fn all(&self, text: &str) -> Result<&Recording, JudgeError> {
        let read = || {
            let checked = eval_format::recording::check_recording(self.shown(), text.as_bytes());
            checked.into_result().map_err(|problems| failed(&problems))
        };
        self.compiled.get_or_init(read).as_ref().map_err(Clone::clone)
    }

    async fn on_disk_do<T: Send + 'static>(
        &self,
        work: impl FnOnce(&SharedRecording) -> Result<T, JudgeError> + Send + 'static,
    ) -> Result<T, JudgeError> {
        let file = Arc::clone(&self.user.0);
        blocking(move || work(&file)).await
    }
}

/// Reads the file once for each store, so that later writes of other processes do not disturb a replay.
fn load(file: &SharedRecording, loaded: &OnceLock<Result<(), JudgeError>>) -> Result<(), JudgeError> {
    loaded.get_or_init(|| file.load().map_err(|error| failed(&error))).clone()
}

/// The recorded answer, if there is one. The current case is then added to the question in the file.
fn known_in(
    file: &SharedRecording,
    question: &RecordedQuestion,
    sample: u32,
) -> Result<Option<JudgeReply>, JudgeError> {
    let (reply, named) = file.with(|all| {
        let named = all.find(question).is_some_and(|known| known.holds(question));
        (find(all, question, sample), named)
    });
    if reply.is_some() && !named {
        file.check_writable().map_err(cannot_record)?;
        file.add(question.clone()).map_err(cannot_record)?;
    }
    Ok(reply)
}

fn failed(error: &dyn fmt::Display) -> JudgeError {
    JudgeError::failed(error.to_string())
}

fn cannot_record(mut error: String) -> JudgeError {
    error.insert_str(0, "cannot record: ");
    JudgeError::failed(error)
}

/// The question in the form of a recording: without headers and keys.
fn question(request: &JudgeRequest) -> RecordedQuestion {
    // Texts that look like keys are masked, in the same way on every machine. Values of secret variables are
    // refused instead.
    let mut question = RecordedQuestion::new(&request.model, &*mask_shapes(&request.prompt));
    question.template.clone_from(&request.template);
    question.temperature = request.temperature;
    question.config = without(&request.config);
    question.schema.clone_from(&request.schema);
    question
}

fn find(recording: &Recording, question: &RecordedQuestion, sample: u32) -> Option<JudgeReply> {
    let reply = recording.find(question)?.sample(sample)?;
    Some(JudgeReply { text: reply.text.clone(), usage: reply.usage.clone(), replayed: true })
}

fn unused<'a>(
    questions: impl IntoIterator<Item = &'a RecordedQuestion>,
    used: &HashSet<String>,
) -> Vec<String> {
    let mut left: BTreeMap<(Option<&str>, &str), usize> = BTreeMap::new();
    for question in questions {
        if !used.contains(&question.key()) && !question.replies.is_empty() {
            *left.entry((question.template.as_deref(), &question.model)).or_default() +=
                question.replies.len();
        }
    }
    let line = |((template, model), left): ((Option<&str>, &str), usize)| {
        let template = template.unwrap_or("a prompt without a name");
        format!("{} to {template}, `{model}`", count(left, "answer"))
    };
    left.into_iter().map(line).collect()
}

/// Fails if a text holds the value of a variable that is named like a secret.
fn refuse(text: &str, what: &str, recording: &str) -> Result<(), JudgeError> {
    match secret_variables().find(|(_, value)| text.contains(value.as_str())) {
        None => Ok(()),
        Some((name, _)) => Err(JudgeError::failed(format!(
            "cannot record: {what} holds the value of `{name}`, which must not be written to `{recording}`; keep it \
                 out of what the agent says, or unset the variable"
        ))),
    }
}

fn without(config: &Map) -> Map {
    let kept = config.iter().filter(|(key, _)| !is_secret_entry(key));
    kept.map(|(key, value)| (key.to_owned(), plain_value(value))).collect()
}

fn plain_value(value: &Value) -> Value {
    match value {
        Value::Object(map) => Value::Object(without(map)),
        Value::Array(items) => Value::Array(items.iter().map(plain_value).collect()),
        scalar => scalar.clone(),
    }
}

#[cfg(test)]
mod secrets_tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn headers_and_keys_of_a_configuration_are_left_out_and_limits_of_tokens_stay() {
        let config = Value::from(json!({
            "max_output_tokens": 10, "http_options": { "x": 1 }, "extra-headers": { "a": "b" },
            "nested": [{ "apiKey": "k", "top_k": 3 }],
        }));
        let kept = without(config.as_object().unwrap());
        let expected = json!({ "max_output_tokens": 10, "nested": [{ "top_k": 3 }] });
        assert_eq!(Value::from(kept), Value::from(expected));
    }
}
