//! The three ways in which providers are asked: what is sent, and what is read of the answer.

mod anthropic;
mod gemini;
mod open_ai;

use eval_format::UsageMetadata;
use reqwest::Url;
use reqwest::header::HeaderValue;
use serde_json::Value;

use super::Provider;
use crate::judge::model::Model;
use crate::judge::{JudgeError, JudgeRequest};

/// What an answer came to.
#[derive(Debug, PartialEq)]
pub(super) struct Answer {
    /// The text, without thoughts. It may be empty.
    pub(super) text: String,
    pub(super) end: End,
    pub(super) usage: Option<UsageMetadata>,
}

/// Why an answer ended where it does.
#[derive(Debug, PartialEq)]
pub(super) enum End {
    /// It was done.
    Complete,
    /// The limit of tokens was reached.
    Cut,
    /// The model or its provider declined, for this reason.
    Refused(String),
    /// The provider said in an answer that it failed, with a status where it named one.
    Failed { status: Option<u16>, message: String },
}

impl Answer {
    fn refused(reason: impl Into<String>) -> Self {
        Self { text: String::new(), end: End::Refused(reason.into()), usage: None }
    }
}

/// The address that answers for a model, under the base of its provider.
pub(super) fn url(model: &Model, mut base: Url) -> Url {
    if let Ok(mut path) = base.path_segments_mut() {
        path.pop_if_empty();
        match model.provider {
            Provider::Gemini => {
                path.extend(["v1beta", "models", &format!("{}:generateContent", model.name)]);
            }
            Provider::OpenAi | Provider::Ollama => {
                path.extend(["chat", "completions"]);
            }
            Provider::Anthropic => {
                path.extend(["v1", "messages"]);
            }
        }
    }
    base
}

/// The headers besides the key.
pub(super) fn headers(provider: Provider) -> Vec<(&'static str, HeaderValue)> {
    match provider {
        Provider::Anthropic => vec![("anthropic-version", HeaderValue::from_static("2023-06-01"))],
        _ => Vec::new(),
    }
}

/// The header that carries a key; `None` where the key has characters that no header takes.
pub(super) fn authorization(provider: Provider, key: &str) -> Option<(&'static str, HeaderValue)> {
    let (name, value) = match provider {
        Provider::Gemini => ("x-goog-api-key", key.to_owned()),
        Provider::Anthropic => ("x-api-key", key.to_owned()),
        Provider::OpenAi | Provider::Ollama => ("authorization", format!("Bearer {key}")),
    };
    let mut value = HeaderValue::from_str(&value).ok()?;
    value.set_sensitive(true);
    Some((name, value))
}

/// What is sent. `own` says that it goes to the provider itself, not to something compatible with it.
pub(super) fn body(model: &Model, request: &JudgeRequest, own: bool) -> Result<Value, JudgeError> {
    match model.provider {
        Provider::Gemini => gemini::body(request),
        Provider::OpenAi => open_ai::body(model, request, own),
        Provider::Ollama => open_ai::body(model, request, false),
        Provider::Anthropic => anthropic::body(model, request),
    }
}

/// Reads an answer; what it lacks, where it is not one.
pub(super) fn answer(provider: Provider, body: &Value) -> Result<Answer, &'static str> {
    match provider {
        Provider::Gemini => gemini::answer(body),
        Provider::OpenAi | Provider::Ollama => open_ai::answer(body),
        Provider::Anthropic => anthropic::answer(body),
    }
}

/// The text of those parts that have one, as all wires write it.
fn texts<'a>(parts: impl Iterator<Item = &'a Value>) -> String {
    parts.filter_map(|part| part["text"].as_str()).collect()
}

/// Numbers of tokens, where there is any.
fn usage(usage: UsageMetadata) -> Option<UsageMetadata> {
    (usage != UsageMetadata::default()).then_some(usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_appended_to_any_base() {
        let url = |model: &str, base: &str| {
            let model = Model::parse(model).unwrap();
            url(&model, Url::parse(base).unwrap()).to_string()
        };
        for (model, base, expected) in [
            (
                "gemini-2.5-flash",
                "https://g.test",
                "https://g.test/v1beta/models/gemini-2.5-flash:generateContent",
            ),
            (
                "gemini/a/../b?c",
                "https://g.test/",
                "https://g.test/v1beta/models/a%2F..%2Fb%3Fc:generateContent",
            ),
            ("openai/gpt", "http://h.test:8000/v1", "http://h.test:8000/v1/chat/completions"),
            (
                "openai/gpt",
                "http://h.test/v1/?api-version=2",
                "http://h.test/v1/chat/completions?api-version=2",
            ),
            ("ollama/llama", "http://localhost:11434/v1", "http://localhost:11434/v1/chat/completions"),
            ("claude-x", "https://a.test", "https://a.test/v1/messages"),
        ] {
            assert_eq!(url(model, base), expected);
        }
    }

    #[test]
    fn headers_with_keys_are_not_in_debug_output() {
        for provider in Provider::ALL {
            let header = authorization(provider, "correct-horse").unwrap();
            assert!(!format!("{header:?}").contains("horse"), "{header:?}");
            assert!(authorization(provider, "two\nlines").is_none());
        }
    }
}
