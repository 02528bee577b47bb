//! One question to a judge with its answers, and its text in a recording.

use eval_support::hash::content_hash;

use crate::model::UsageMetadata;
use crate::model::saved::{Saved, object, setters, some};
use crate::value::{Map, Value};

/// One request to a judge, with the answer to each sample of it.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RecordedQuestion {
    /// The ids of the cases that asked it. They tell readers where it comes from, and which questions are obsolete.
    pub cases: Vec<String>,
    /// The name of the prompt, with its version: `final_response_match_v2/1`. `None` if the prompt has no name.
    pub template: Option<String>,
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
    /// The index of the sample, from 0.
    pub sample: u32,
    /// The judge's answer.
    pub text: String,
    /// The tokens that the answer took.
    pub usage: Option<UsageMetadata>,
    /// The checksum in the file. It is removed once it has been compared.
    pub(super) check: Option<String>,
}

impl RecordedQuestion {
    /// A question without an answer.
    pub fn new(model: impl Into<String>, prompt: impl Into<String>) -> Self {
        Self { model: model.into(), prompt: prompt.into(), ..Self::default() }
    }

    setters! {
        /// Adds a case that asks it.
        case(eval_id: impl Into<String>) { cases.push(eval_id.into()) }

        /// Adds the answer to a sample.
        reply(sample: u32, text: impl Into<String>, usage: Option<UsageMetadata>) { replies.push(RecordedReply { sample, text: text.into(), usage, check: None }) }
    }

    /// The answer to a sample.
    pub fn sample(&self, sample: u32) -> Option<&RecordedReply> {
        self.replies.iter().find(|reply| reply.sample == sample)
    }

    /// Whether the question has all cases and samples of another one.
    pub fn holds(&self, other: &Self) -> bool {
        other.cases.iter().all(|case| self.cases.contains(case))
            && other.replies.iter().all(|reply| self.sample(reply.sample).is_some())
    }

    /// A text that is different for different questions.
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

    /// The position of the first answer whose checksum is wrong: the question or the answer was edited.
    pub(super) fn edited(&self) -> Option<usize> {
        let mut key = None;
        self.replies.iter().position(|reply| {
            let key = key.get_or_insert_with(|| self.key());
            reply.check.as_deref().is_some_and(|check| check != reply.checksum(key))
        })
    }

    /// Removes the checksums of the file: they are no part of a question.
    pub(super) fn without_checks(mut self) -> Self {
        self.replies.iter_mut().for_each(|reply| reply.check = None);
        self
    }

    /// The sort key of the question in its file: case, template, key.
    pub(super) fn order(&self) -> (Option<&String>, Option<&String>, String) {
        (self.cases.iter().min(), self.template.as_ref(), self.key())
    }

    pub(super) fn to_value(&self) -> Value {
        let mut cases: Vec<&str> = self.cases.iter().map(String::as_str).collect();
        cases.sort_unstable();
        let mut replies: Vec<&RecordedReply> = self.replies.iter().collect();
        replies.sort_by_key(|reply| reply.sample);
        let key = self.key();
        Value::Object(object([
            ("cases", Some(cases.into_iter().collect())),
            ("template", some(&self.template).filter(|template| template.as_str() != Some(""))),
            ("model", Some(self.model.saved())),
            ("temperature", some(&self.temperature)),
            ("config", some(&self.config)),
            ("schema", some(&self.schema)),
            ("prompt", Some(lines(&self.prompt))),
            ("replies", Some(replies.into_iter().map(|reply| reply.to_value(&key)).collect())),
        ]))
    }
}

impl RecordedReply {
    /// The checksum that shows whether the question or the answer was edited. `key` is the key of the
    /// question.
    fn checksum(&self, key: &str) -> String {
        let whole = format!("{key}\0{}\0{}", self.sample, self.text);
        format!("{:016x}", content_hash(whole.as_bytes()))
    }

    fn to_value(&self, key: &str) -> Value {
        Value::Object(object([
            ("sample", Some(i64::from(self.sample).saved())),
            ("text", Some(lines(&self.text))),
            ("usage", some(&self.usage)),
            ("check", Some(self.checksum(key).saved())),
        ]))
    }
}

/// A text as a string, or as an array of its lines if it has several.
fn lines(text: &str) -> Value {
    if text.contains('\n') {
        Value::Array(text.split('\n').map(Value::from).collect())
    } else {
        Value::from(text)
    }
}

/// Writes a value with the keys of its objects sorted, since their order has no meaning.
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
            entries.sort_by_key(|(key, _)| *key);
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
