//! The name of a judge's model: whose model it is, and what it is called there.

use super::environment::{self, BASE_URL};
use super::{JudgeError, JudgeErrorKind, Provider};

/// A model of a provider.
#[derive(Debug, PartialEq)]
pub(super) struct Model {
    pub(super) provider: Provider,
    /// What the provider calls it.
    pub(super) name: String,
}

impl Model {
    /// Reads a criterion's `judge_model`: `provider/name` as in LiteLLM, or a name that only one provider gives.
    pub(super) fn parse(written: &str) -> Result<Self, JudgeError> {
        let (provider, name) = match written.split_once('/') {
            Some((prefix, name)) => {
                let provider = Provider::of_prefix(prefix).ok_or_else(|| unsupported(written, prefix))?;
                (provider, name)
            }
            None => (Provider::of_name(written).ok_or_else(|| unknown(written))?, written),
        };
        if name.trim().is_empty() {
            return Err(error(format!("the judge model `{written}` has no name after the `/`")));
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
    error(format!(
        "the judge model `{written}` {why} (a server that is compatible with OpenAI is asked with \
         `openai/<its name of the model>` and `EVALSET_JUDGE_BASE_URL`)"
    ))
}

fn unknown(written: &str) -> JudgeError {
    let names = prefixed(written, "or");
    error(format!("the judge model `{written}` names no known provider; write {names}"))
}

/// A name with the prefix of each provider: `` `openai/x`, `anthropic/x` or `ollama/x` ``.
fn prefixed(name: &str, conjunction: &str) -> String {
    let names = Provider::ALL.map(|provider| format!("`{}/{name}`", provider.prefix()));
    let [others @ .., last] = &names;
    format!("{} {conjunction} {last}", others.join(", "))
}

fn error(message: String) -> JudgeError {
    JudgeError::new(JudgeErrorKind::Failed, message)
}

/// Checks whether a judge's model could be asked over the network, as the environment is now. Nothing is sent.
///
/// It is an error if the name of the model does not say whose model it is, or if the key that it takes is not set.
///
/// ```
/// let error = eval_core::judge::check_judge_model("llama3").unwrap_err();
/// assert!(error.to_string().contains("names no known provider"));
/// ```
pub fn check_judge_model(model: &str) -> Result<(), JudgeError> {
    let provider = Model::parse(model)?.provider;
    let any_is_set = |names: &[&str]| names.iter().any(|name| environment::get(name).is_some());
    // A server of one's own may need no key.
    let needs_key = provider.needs_key() && !any_is_set(provider.base_variables());
    if needs_key && !any_is_set(provider.key_variables()) {
        return Err(missing_key(model, provider));
    }
    Ok(())
}

/// The error for a model whose provider takes a key, if none is set.
pub(super) fn missing_key(model: &str, provider: Provider) -> JudgeError {
    let variables: Vec<String> =
        provider.key_variables().iter().rev().map(|variable| format!("`{variable}`")).collect();
    let mut message = format!(
        "no key for the judge `{model}`: set {}, or replay recordings with `EVALSET_JUDGE=replay`",
        variables.join(" or ")
    );
    let reads_base_url = |provider: &Provider| provider.base_variables().contains(&BASE_URL);
    if !reads_base_url(&provider) && environment::get(BASE_URL).is_some() {
        let names: Vec<String> = Provider::ALL
            .into_iter()
            .filter(reads_base_url)
            .map(|provider| format!("`{}/..`", provider.prefix()))
            .collect();
        message.push_str(&format!("; `{BASE_URL}` is for models named {}", names.join(" and ")));
    }
    JudgeError::new(JudgeErrorKind::NoJudge, message)
}

#[cfg(test)]
mod tests {
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
