//! Recordings: what judges were asked and answered, to be replayed.

mod check;
mod growing;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

pub use check::{CheckedRecording, QuestionSpan, check_recording};
pub use growing::GrowingRecording;

use crate::model::UsageMetadata;
use crate::value::{Map, Value, write_pretty};

/// What judges were asked, and what they answered.
///
/// ```
/// use eval_format::{RecordedQuestion, Recording};
///
/// let mut recording = Recording::default();
/// let question = RecordedQuestion::new("gemini-2.5-flash", "Is it polite?\nAnswer yes or no.");
/// recording.add(question.clone().case("refund declined").reply(0, "yes", None));
///
/// let text = recording.to_json();
/// assert!(text.contains(r#""Answer yes or no.""#), "a line of a prompt is a line of the file");
/// let read = Recording::parse(&text)?;
/// assert_eq!(read.find(&question).unwrap().replies[0].text, "yes");
/// # Ok::<(), eval_format::Problems>(())
/// ```
///
/// It stands beside its set, under the name that [`recording_path`] gives, and is made to be read in review:
/// questions are sorted, and texts are written line by line.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    questions: Vec<RecordedQuestion>,
    /// The place of each question by its key.
    places: HashMap<String, usize>,
}

/// One request to a judge, with the answer to each sample of it.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RecordedQuestion {
    /// The ids of the cases that asked it, for the reader, and for telling what is no longer asked.
    pub cases: Vec<String>,
    /// Which prompt it is, with its version: `final_response_match_v2/1`.
    pub template: String,
    /// The model.
    pub model: String,
    /// The temperature.
    pub temperature: Option<f64>,
    /// The rest of the model's configuration.
    pub config: Map,
    /// The JSON schema that the answer should follow.
    pub schema: Option<Value>,
    /// The prompt.
    pub prompt: String,
    /// The answers, by sample.
    pub replies: Vec<RecordedReply>,
}

/// The answer to one sample of a question.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RecordedReply {
    /// Which sample, from 0.
    pub sample: u32,
    /// What the judge answered.
    pub text: String,
    /// The tokens it took.
    pub usage: Option<UsageMetadata>,
}

impl Recording {
    /// Reads a recording.
    pub fn parse(text: &str) -> Result<Self, crate::Problems> {
        check_recording("<recording>", text.as_bytes()).into_result()
    }

    /// The questions, in no particular order.
    pub fn questions(&self) -> &[RecordedQuestion] {
        &self.questions
    }

    /// The recorded question that asks the same: everything but case, template and replies is equal.
    pub fn find(&self, question: &RecordedQuestion) -> Option<&RecordedQuestion> {
        self.questions.get(*self.places.get(&question.key())?)
    }

    /// Adds what is not there yet: the question, the cases that ask it, the samples that have no answer.
    ///
    /// Answers at which place in [`questions`](Self::questions) it stands.
    pub fn add(&mut self, question: RecordedQuestion) -> usize {
        let place = match self.places.entry(question.key()) {
            Entry::Vacant(vacant) => {
                let place = *vacant.insert(self.questions.len());
                self.questions.push(question);
                return place;
            }
            Entry::Occupied(occupied) => *occupied.get(),
        };
        let Some(known) = self.questions.get_mut(place) else { return place };
        for case in question.cases {
            if !known.cases.contains(&case) {
                known.cases.push(case);
            }
        }
        for reply in question.replies {
            if known.sample(reply.sample).is_none() {
                known.replies.push(reply);
            }
        }
        place
    }

    /// The text of the file: sorted by case, template, model and prompt, indented by two.
    ///
    /// The same questions give the same text, in whatever order they were added.
    pub fn to_json(&self) -> String {
        let mut pieces: Vec<(Order, String)> =
            self.questions.iter().map(|question| (question.order(), question.piece())).collect();
        pieces.sort_unstable();
        growing::assemble(pieces.iter().map(|(_, piece)| piece))
    }
}

/// Where a question stands in its file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Order {
    case: Option<String>,
    template: String,
    key: String,
}

/// How a file begins, what stands between two questions, how it ends; and one without questions.
const OPENING: &str = "{\n  \"judge_recording\": 1,\n  \"questions\": [\n    ";
const SEPARATOR: &str = ",\n    ";
const CLOSING: &str = "\n  ]\n}\n";
const EMPTY: &str = "{\n  \"judge_recording\": 1,\n  \"questions\": []\n}\n";

/// The version of the format.
const VERSION: i64 = 1;

impl RecordedQuestion {
    /// A question without an answer.
    pub fn new(model: impl Into<String>, prompt: impl Into<String>) -> Self {
        Self { model: model.into(), prompt: prompt.into(), ..Self::default() }
    }

    /// Adds a case that asks it.
    #[must_use]
    pub fn case(mut self, eval_id: impl Into<String>) -> Self {
        self.cases.push(eval_id.into());
        self
    }

    /// Adds the answer to a sample.
    #[must_use]
    pub fn reply(mut self, sample: u32, text: impl Into<String>, usage: Option<UsageMetadata>) -> Self {
        self.replies.push(RecordedReply { sample, text: text.into(), usage });
        self
    }

    /// The answer to a sample.
    pub fn sample(&self, sample: u32) -> Option<&RecordedReply> {
        self.replies.iter().find(|reply| reply.sample == sample)
    }

    /// Reads one question from its own slice of a file, as [`QuestionSpan::range`] gives it.
    pub fn parse(slice: &str) -> Result<Self, crate::Problems> {
        check::question(slice)
    }

    /// What tells this question from others, as a text.
    pub fn key(&self) -> String {
        let mut key = format!("{}\0{:?}\0", self.model, self.temperature);
        write_sorted(&Value::Object(self.config.clone()), &mut key);
        key.push('\0');
        if let Some(schema) = &self.schema {
            write_sorted(schema, &mut key);
        }
        key.push('\0');
        key.push_str(&self.prompt);
        key
    }

    fn order(&self) -> Order {
        Order { case: self.cases.iter().min().cloned(), template: self.template.clone(), key: self.key() }
    }

    /// Its text in a file.
    fn piece(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = write_pretty(&self.to_value(), &mut text);
        // No string holds a line break, so every one of them is followed by the indent.
        text.replace('\n', "\n    ")
    }

    fn to_value(&self) -> Value {
        let mut fields = Map::new();
        let mut cases: Vec<&str> = self.cases.iter().map(String::as_str).collect();
        cases.sort_unstable();
        let mut replies: Vec<&RecordedReply> = self.replies.iter().collect();
        replies.sort_by_key(|reply| reply.sample);
        fields.insert("cases", Value::Array(cases.into_iter().map(Value::from).collect()));
        if !self.template.is_empty() {
            fields.insert("template", self.template.as_str());
        }
        fields.insert("model", self.model.as_str());
        if let Some(temperature) = self.temperature {
            fields.insert("temperature", temperature);
        }
        if !self.config.is_empty() {
            fields.insert("config", self.config.clone());
        }
        if let Some(schema) = &self.schema {
            fields.insert("schema", schema.clone());
        }
        fields.insert("prompt", lines(&self.prompt));
        fields.insert("replies", Value::Array(replies.into_iter().map(RecordedReply::to_value).collect()));
        Value::Object(fields)
    }
}

impl RecordedReply {
    fn to_value(&self) -> Value {
        let mut fields =
            Map::from([("sample", Value::from(i64::from(self.sample))), ("text", lines(&self.text))]);
        if let Some(usage) = &self.usage {
            fields.insert("usage", usage.to_value());
        }
        Value::Object(fields)
    }
}

/// A text as a string, or line by line where it has several.
fn lines(text: &str) -> Value {
    if text.contains('\n') {
        Value::Array(text.split('\n').map(Value::from).collect())
    } else {
        Value::from(text)
    }
}

/// Writes a value with the keys of its objects in order: they mean the same in any.
fn write_sorted(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for item in items {
                write_sorted(item, out);
                out.push(',');
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut entries: Vec<(&str, &Value)> = map.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            out.push('{');
            for (key, item) in entries {
                out.push_str(&Value::from(key).to_string());
                out.push(':');
                write_sorted(item, out);
                out.push(',');
            }
            out.push('}');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

#[cfg(test)]
mod tests;
