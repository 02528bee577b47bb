//! The providers of models.
//!
//! To add one: a variant of [`Provider`] with its entry, and in `client/wire` a file that implements `Wire`.
//! A provider with the API of another one needs no file.

use std::fmt;

use super::environment::{self, BASE_URL};
use super::{JudgeError, JudgeErrorKind};

/// The company or program that offers a model. It determines the address, the API and the key of a request.
///
/// ```
/// use eval_core::judge::Provider;
///
/// assert_eq!(Provider::OpenAi.to_string(), "OpenAI");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Provider {
    /// OpenAI, and every server that answers `/chat/completions` as it does.
    OpenAi,
    /// Anthropic.
    Anthropic,
    /// Google's Gemini API.
    Gemini,
    /// Ollama: models on this machine.
    Ollama,
}

pub(super) struct Entry {
    name: &'static str,
    /// The prefix of the names of its models, before the `/`.
    pub(super) prefix: &'static str,
    other_prefixes: &'static [&'static str],
    /// The beginnings of the names of its models without a prefix.
    beginnings: &'static [&'static str],
    /// The variables that may hold its key. The first one that is set counts.
    key_variables: &'static [&'static str],
    /// The variables that may hold its address. The first one that is set counts.
    ///
    /// The provider's own variable is among them: a key that is meant for a company's proxy must not be sent elsewhere.
    pub(super) base_variables: &'static [&'static str],
    #[cfg_attr(not(feature = "model-judge"), expect(dead_code, reason = "no judge is asked over HTTP"))]
    pub(super) own_base: &'static str,
    pub(super) needs_key: bool,
}

impl Provider {
    /// All providers, in the order in which messages name them.
    pub(super) const ALL: [Self; 4] = [Self::OpenAi, Self::Anthropic, Self::Gemini, Self::Ollama];

    pub(super) const fn entry(self) -> &'static Entry {
        match self {
            Self::OpenAi => &Entry {
                name: "OpenAI",
                prefix: "openai",
                other_prefixes: &[],
                beginnings: &["gpt-", "chatgpt-", "o1", "o3", "o4"],
                key_variables: &["OPENAI_API_KEY"],
                base_variables: &[BASE_URL, "OPENAI_BASE_URL"],
                own_base: "https://api.openai.com/v1",
                needs_key: true,
            },
            Self::Anthropic => &Entry {
                name: "Anthropic",
                prefix: "anthropic",
                other_prefixes: &[],
                beginnings: &["claude-"],
                key_variables: &["ANTHROPIC_API_KEY"],
                base_variables: &["ANTHROPIC_BASE_URL"],
                own_base: "https://api.anthropic.com",
                needs_key: true,
            },
            Self::Gemini => &Entry {
                name: "Gemini",
                prefix: "gemini",
                other_prefixes: &["models"],
                beginnings: &["gemini-", "gemma-"],
                // Google's own clients prefer `GOOGLE_API_KEY` too, so both use the same key.
                key_variables: &["GOOGLE_API_KEY", "GEMINI_API_KEY"],
                base_variables: &["GOOGLE_GEMINI_BASE_URL"],
                own_base: "https://generativelanguage.googleapis.com",
                needs_key: true,
            },
            Self::Ollama => &Entry {
                name: "Ollama",
                prefix: "ollama",
                other_prefixes: &["ollama_chat"],
                beginnings: &[],
                key_variables: &["OLLAMA_API_KEY"],
                base_variables: &[BASE_URL],
                own_base: "http://localhost:11434/v1",
                needs_key: false,
            },
        }
    }

    pub(super) fn of_prefix(prefix: &str) -> Option<Self> {
        let has = |entry: &Entry| entry.prefix == prefix || entry.other_prefixes.contains(&prefix);
        Self::ALL.into_iter().find(|provider| has(provider.entry()))
    }

    pub(super) fn of_name(name: &str) -> Option<Self> {
        let begins = |provider: &Self| provider.entry().beginnings.iter().any(|it| name.starts_with(it));
        Self::ALL.into_iter().find(begins)
    }

    /// The variables that may hold its key. The first one that is set counts.
    pub fn key_variables(self) -> &'static [&'static str] {
        self.entry().key_variables
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.entry().name)
    }
}

#[derive(Debug, PartialEq)]
pub(super) struct Model {
    pub(super) provider: Provider,
    pub(super) name: String,
}

impl Model {
    /// Reads a criterion's `judge_model`: `provider/name` as in LiteLLM, or a name whose beginning identifies
    /// the provider.
    pub(super) fn parse(written: &str) -> Result<Self, JudgeError> {
        let (provider, name) = match written.split_once('/') {
            Some((prefix, name)) => {
                let provider = Provider::of_prefix(prefix).ok_or_else(|| unsupported(written, prefix))?;
                (provider, name)
            }
            None => {
                let unknown =
                    |names| format!("the judge model `{written}` names no known provider; write {names}");
                let provider = Provider::of_name(written);
                (provider.ok_or_else(|| JudgeError::failed(unknown(prefixed(written, "or"))))?, written)
            }
        };
        if name.trim().is_empty() {
            return Err(JudgeError::failed(format!("the judge model `{written}` has no name after the `/`")));
        }
        Ok(Self { provider, name: name.to_owned() })
    }
}

fn unsupported(written: &str, prefix: &str) -> JudgeError {
    let why = match prefix {
        "projects" | "publishers" | "vertex_ai" | "vertex_ai_beta" | "endpoints" => {
            "is on Vertex AI, whose login this client does not speak; name the model of the Gemini API \
             (`gemini-2.5-flash`), or reach Vertex AI's OpenAI-compatible address through a proxy"
                .to_owned()
        }
        "apigee" => "is behind Apigee, which this client does not speak".to_owned(),
        _ => format!("has a prefix that this client does not know; it knows {}", prefixed("", "and")),
    };
    JudgeError::failed(format!(
        "the judge model `{written}` {why} (a server that is compatible with OpenAI is asked with \
         `openai/<its name of the model>` and `EVALSET_JUDGE_BASE_URL`)"
    ))
}

/// A name with the prefix of each provider: `` `openai/x`, `anthropic/x` or `ollama/x` ``.
fn prefixed(name: &str, conjunction: &str) -> String {
    let names = Provider::ALL.map(|provider| format!("`{}/{name}`", provider.entry().prefix));
    let [others @ .., last] = &names;
    format!("{} {conjunction} {last}", others.join(", "))
}

/// Checks whether a judge's model could be asked over the network in the current environment. Nothing is
/// sent.
///
/// It is an error if the name of the model does not identify its provider, or if the required key is not set.
///
/// ```
/// let error = eval_core::judge::check_judge_model("llama3").unwrap_err();
/// assert!(error.to_string().contains("names no known provider"));
/// ```
pub fn check_judge_model(model: &str) -> Result<(), JudgeError> {
    let provider = Model::parse(model)?.provider;
    let any_is_set = |names: &[&str]| names.iter().any(|name| environment::get(name).is_some());
    // A server at another address may need no key.
    let needs_key = provider.entry().needs_key && !any_is_set(provider.entry().base_variables);
    if needs_key && !any_is_set(provider.key_variables()) {
        return Err(missing_key(model, provider));
    }
    Ok(())
}

pub(super) fn missing_key(model: &str, provider: Provider) -> JudgeError {
    let variables: Vec<String> =
        provider.key_variables().iter().rev().map(|variable| format!("`{variable}`")).collect();
    let mut message = format!(
        "no key for the judge `{model}`: set {}, or replay recordings with `EVALSET_JUDGE=replay`",
        variables.join(" or ")
    );
    let reads_base_url = |provider: &Provider| provider.entry().base_variables.contains(&BASE_URL);
    if !reads_base_url(&provider) && environment::get(BASE_URL).is_some() {
        let names: Vec<String> = Provider::ALL
            .into_iter()
            .filter(reads_base_url)
            .map(|provider| format!("`{}/..`", provider.entry().prefix))
            .collect();
        message.push_str(&format!("; `{BASE_URL}` is for models named {}", names.join(" and ")));
    }
    JudgeError::new(JudgeErrorKind::NoJudge, message)
}

#[cfg(test)]
mod model_tests {
    use super::*;

    #[test]
    fn names_say_whose_they_are() {
        for (written, provider, name) in [
            ("gemini-2.5-flash", Provider::Gemini, "gemini-2.5-flash"),
            ("gemini/gemini-2.5-pro", Provider::Gemini, "gemini-2.5-pro"),
            ("models/gemini-2.5-pro", Provider::Gemini, "gemini-2.5-pro"),
            ("gemma-3-27b-it", Provider::Gemini, "gemma-3-27b-it"),
            ("openai/gpt-4o", Provider::OpenAi, "gpt-4o"),
            ("openai/meta-llama/Llama-3.1-8B", Provider::OpenAi, "meta-llama/Llama-3.1-8B"),
            ("gpt-5-mini", Provider::OpenAi, "gpt-5-mini"),
            ("o4-mini", Provider::OpenAi, "o4-mini"),
            ("anthropic/claude-sonnet-4-5", Provider::Anthropic, "claude-sonnet-4-5"),
            ("claude-haiku-4-5", Provider::Anthropic, "claude-haiku-4-5"),
            ("ollama/llama3.2:3b", Provider::Ollama, "llama3.2:3b"),
            ("ollama_chat/qwen3", Provider::Ollama, "qwen3"),
        ] {
            assert_eq!(Model::parse(written), Ok(Model { provider, name: name.to_owned() }), "{written}");
        }
    }

    #[test]
    fn other_names_say_what_to_write_instead() {
        for (written, says) in [
            ("projects/p/locations/l/publishers/google/models/gemini-2.5-flash", "is on Vertex AI"),
            ("vertex_ai/gemini-2.5-flash", "is on Vertex AI"),
            ("apigee/gemini-2.5-flash", "is behind Apigee"),
            ("groq/llama-3.3-70b", "a prefix that this client does not know"),
            ("openai/", "no name after the `/`"),
            ("llama3", "write `openai/llama3`"),
            ("", "names no known provider"),
        ] {
            let error = Model::parse(written).unwrap_err();
            assert!(error.to_string().contains(says), "{written}: {error}");
            assert_eq!(
                error.kind(),
                JudgeErrorKind::Failed,
                "{written}: a typing mistake is not a missing judge"
            );
        }
    }
}
