//! Reading of recordings: their shape, and duplicates of questions and samples.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::file::{Recording, VERSION};
use super::question::{RecordedQuestion, RecordedReply};
use crate::problem::{JsonPath, Problem, ProblemCode, Problems};
use crate::reader::parse;
use crate::schema::{Place, RECORDED_QUESTION, RECORDING, Record, Walker, from_record};
use crate::syntax::{Kind, Node};
use crate::text;
use crate::value::Value;

/// A checked recording.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CheckedRecording {
    /// The name of the file as it is shown.
    pub file: String,
    /// The text that ranges point into.
    pub text: String,
    /// The recording; `None` if a problem is an error.
    pub recording: Option<Recording>,
    /// The places of the questions.
    pub questions: Vec<QuestionSpan>,
    /// All problems, in the order of the text.
    pub problems: Vec<Problem>,
}

/// The place of a question in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct QuestionSpan {
    /// The question, in bytes.
    pub range: Range<usize>,
    /// The ids of the cases that ask it.
    pub cases: Vec<String>,
}

impl CheckedRecording {
    /// The recording, or its problems if one of them is an error.
    pub fn into_result(self) -> Result<Recording, Problems> {
        self.recording.ok_or(Problems { file: self.file, text: self.text, items: self.problems })
    }
}

/// Reads and checks a recording. `file` is the name shown in messages.
///
/// ```
/// let checked = eval_format::recording::check_recording("x.evalset.judge.json", b"{\"judge_recording\": 1}");
/// assert!(checked.recording.is_none());
/// assert!(checked.problems[0].message.contains("questions"));
/// ```
pub fn check_recording(file: &str, bytes: &[u8]) -> CheckedRecording {
    let explain = |text: &str, problem| conflict(text).unwrap_or(problem);
    let (text, read, problems) = text::read(bytes, explain, recording);
    let (recording, questions) = read.unzip();
    let questions = questions.unwrap_or_default();
    CheckedRecording { file: file.to_owned(), text, recording, questions, problems }
}

impl Recording {
    /// Reads a recording.
    pub fn parse(text: &str) -> Result<Self, Problems> {
        check_recording("<recording>", text.as_bytes()).into_result()
    }
}

impl RecordedQuestion {
    /// Reads one question from its own slice of a file, as [`QuestionSpan::range`] gives it.
    pub fn parse(slice: &str) -> Result<Self, Problems> {
        let read = parse(slice, |root, problems| {
            let record = Walker { problems }.record(root, &RECORDED_QUESTION, &Place::Root)?;
            check_texts(root, &Place::Root, problems);
            Some(Self::from(record).without_checks())
        });
        read.map(|(question, _)| question)
    }
}

fn recording(root: &Node<'_>, problems: &mut Vec<Problem>) -> Option<(Recording, Vec<QuestionSpan>)> {
    let mut record = Walker { problems }.record(root, &RECORDING, &Place::Root)?;
    let entry = |name| RECORDING.entry(root.object()?, name);
    if let (Some(version), Some(entry)) = (record.take::<i64>("judge_recording"), entry("judge_recording"))
        && version != VERSION
    {
        problems.push(foreign_version(&entry.value));
        return None;
    }
    let questions: Vec<RecordedQuestion> = record.take("questions")?;
    let entry = entry("questions")?;
    let (nodes, place) = (entry.value.array()?, Place::Key(&Place::Root, &entry.key));
    for (at, node) in nodes.iter().enumerate() {
        check_texts(node, &Place::Index(&place, at), problems);
    }
    // The walker returns a question for each node, or no questions at all.
    let questions: Vec<Placed<'_>> = questions.into_iter().zip(nodes).collect();
    check_unique(&questions, &place, problems);
    check_edited(&questions, &place, problems);
    let span = |(question, node): &Placed<'_>| QuestionSpan {
        range: node.range.clone(),
        cases: question.cases.clone(),
    };
    let places = questions.iter().map(span).collect();
    let mut recording = Recording::default();
    for (question, _) in questions {
        recording.add(question.without_checks());
    }
    Some((recording, places))
}

type Placed<'n> = (RecordedQuestion, &'n Node<'n>);

fn foreign_version(version: &Node<'_>) -> Problem {
    let path = JsonPath::default().key("judge_recording");
    Problem::error(ProblemCode::WrongType, path, version.range.clone(), "a recording of another version")
        .label(format!("this build reads version {VERSION}"))
        .help("use the version of eval-core that wrote it, or delete it and record again")
}

/// Prompts and replies are strings, or arrays of lines.
fn check_texts(question: &Node<'_>, place: &Place<'_>, problems: &mut Vec<Problem>) {
    let Some(entries) = question.object() else { return };
    for entry in entries {
        let place = Place::Key(place, &entry.key);
        match entry.key.as_ref() {
            "prompt" => problems.extend(not_text(&entry.value, &place)),
            "replies" => {
                for (at, reply) in entry.value.array().unwrap_or_default().iter().enumerate() {
                    check_reply(reply, &Place::Index(&place, at), problems);
                }
            }
            _ => {}
        }
    }
}

fn check_reply(reply: &Node<'_>, place: &Place<'_>, problems: &mut Vec<Problem>) {
    if let Some(entry) = reply.get("text") {
        problems.extend(not_text(&entry.value, &Place::Key(place, &entry.key)));
    }
    if let Some(entry) = reply.get("sample")
        && let Kind::Number(number) = &entry.value.kind
        && number.parse::<u32>().is_err()
    {
        let place = Place::Key(place, &entry.key);
        let what = "the number of a sample is a whole number, from 0";
        problems.push(place.error(ProblemCode::WrongType, entry.value.range.clone(), what));
    }
}

/// Reports a value that is not a text. The walker has refused `null`.
fn not_text(node: &Node<'_>, place: &Place<'_>) -> Option<Problem> {
    let is_text = match &node.kind {
        Kind::String(_) | Kind::Null => true,
        Kind::Array(lines) => lines.iter().all(|line| line.string().is_some()),
        _ => false,
    };
    let problem = || {
        let what = "a text is a string, or an array of its lines";
        place
            .error(ProblemCode::WrongType, node.range.clone(), what)
            .label("neither of them")
            .help(r#"write `"one line"` or `["first line", "second line"]`"#)
    };
    (!is_text).then(problem)
}

/// Reports answers that were edited after they were recorded: verdicts that no judge gave.
fn check_edited(questions: &[Placed<'_>], place: &Place<'_>, problems: &mut Vec<Problem>) {
    for (at, (question, node)) in questions.iter().enumerate() {
        let Some(edited) = question.edited() else { continue };
        let place = Place::Index(place, at);
        let replies = Place::Key(&place, "replies");
        let Some(reply) = node.get("replies").and_then(|entry| entry.value.array()?.get(edited)) else {
            continue;
        };
        let what = "this answer was not recorded to this question: one of both was edited";
        problems.push(
            Place::Index(&replies, edited)
                .error(ProblemCode::WrongType, reply.range.clone(), what)
                .label("its `check` belongs to another question or answer")
                .help("restore the recording, or delete the question and record it again with `EVALSET_JUDGE=record`"),
        );
    }
}

/// Reports duplicates of questions and samples: it is unclear which answer counts.
fn check_unique(questions: &[Placed<'_>], place: &Place<'_>, problems: &mut Vec<Problem>) {
    let mut seen: HashMap<String, Range<usize>> = HashMap::new();
    for (at, (question, node)) in questions.iter().enumerate() {
        let place = Place::Index(place, at);
        let twice = |what: &str| {
            place
                .error(ProblemCode::DuplicateRecording, node.range.clone(), what)
                .help("keep one of them; two branches may have recorded the same")
        };
        match seen.entry(question.key()) {
            Entry::Occupied(first) => problems.push(
                twice("this question is recorded twice").related(first.get().clone(), "first recorded here"),
            ),
            Entry::Vacant(vacant) => {
                vacant.insert(node.range.clone());
            }
        }
        let mut samples = HashSet::new();
        if !question.replies.iter().all(|reply| samples.insert(reply.sample)) {
            problems.push(twice("a sample of this question is answered twice"));
        }
    }
}

/// Finds the marks of an unfinished merge, which are not JSON.
fn conflict(text: &str) -> Option<Problem> {
    let mark = "<<<<<<< ";
    let start =
        if text.starts_with(mark) { 0 } else { text.find(&format!("\n{mark}")).map(|before| before + 1)? };
    let range = start..start + mark.trim_end().len();
    let what = "the file holds the marks of a merge conflict";
    let problem = Problem::error(ProblemCode::Syntax, JsonPath::default(), range, what);
    Some(problem.help("keep the questions of both sides, or delete the recording and record again"))
}

from_record!(RecordedQuestion, RecordedReply);

impl From<Record> for RecordedQuestion {
    fn from(mut record: Record) -> Self {
        Self {
            cases: record.take("cases").unwrap_or_default(),
            template: record.take("template").filter(|template: &String| !template.is_empty()),
            model: record.take("model").unwrap_or_default(),
            temperature: record.take("temperature"),
            config: record.take("config").unwrap_or_default(),
            schema: record.take("schema"),
            prompt: joined(record.take("prompt")),
            replies: record.take("replies").unwrap_or_default(),
        }
    }
}

impl From<Record> for RecordedReply {
    fn from(mut record: Record) -> Self {
        let sample = record.take("sample").and_then(|sample: i64| u32::try_from(sample).ok());
        Self {
            sample: sample.unwrap_or_default(),
            text: joined(record.take("text")),
            usage: record.take("usage"),
            check: record.take("check"),
        }
    }
}

/// A text from one string or an array of lines.
fn joined(value: Option<Value>) -> String {
    match value {
        Some(Value::String(text)) => text,
        Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).collect::<Vec<&str>>().join("\n"),
        _ => String::new(),
    }
}
