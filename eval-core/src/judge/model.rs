use super::provider::Provider;
use crate::judge::{JudgeError, JudgeErrorKind};

/// Where a model is asked, and what it is called there.
#[derive(Debug, PartialEq)]
pub(super) struct Model {
    pub(super) provider: Provider,
    pub(super) name: String,
}

impl Model {
    /// Reads a criterion's `judge_model`: a name of Gemini, or `provider/name` as in LiteLLM.
    pub(super) fn parse(written: &str) -> Result<Self, JudgeError> {
        let (provider, name) = match written.split_once('/') {
            Some(("gemini" | "models", name)) => (Provider::Gemini, name),
            Some(("openai", name)) => (Provider::OpenAi, name),
            Some(("anthropic", name)) => (Provider::Anthropic, name),
            Some(("ollama" | "ollama_chat", name)) => (Provider::Ollama, name),
            Some((prefix, _)) => return Err(unsupported(written, prefix)),
            None => (bare(written).ok_or_else(|| unknown(written))?, written),
        };
        if name.trim().is_empty() {
            return Err(error(format!("the judge model `{written}` has no name after the `/`")));
        }
        Ok(Self { provider, name: name.to_owned() })
    }
}

/// The provider that a name without a prefix belongs to.
fn bare(name: &str) -> Option<Provider> {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    if starts(&["gemini-", "gemma-"]) {
        Some(Provider::Gemini)
    } else if starts(&["gpt-", "chatgpt-", "o1", "o3", "o4"]) {
        Some(Provider::OpenAi)
    } else if starts(&["claude-"]) {
        Some(Provider::Anthropic)
    } else {
        None
    }
}

fn unsupported(written: &str, prefix: &str) -> JudgeError {
    let why = match prefix {
        "projects" | "publishers" | "vertex_ai" | "vertex_ai_beta" | "endpoints" => {
            "is on Vertex AI, whose login this client does not speak; name the model of the Gemini API \
             (`gemini-2.5-flash`), or reach Vertex AI's OpenAI-compatible address through a proxy"
        }
        "apigee" => "is behind Apigee, which this client does not speak",
        _ => {
            "has a prefix that this client does not know; it knows `gemini/`, `openai/`, `anthropic/` and `ollama/`"
        }
    };
    error(format!(
        "the judge model `{written}` {why} (a server that is compatible with OpenAI is asked with \
         `openai/<its name of the model>` and `EVALSET_JUDGE_BASE_URL`)"
    ))
}

fn unknown(written: &str) -> JudgeError {
    error(format!(
        "the judge model `{written}` does not say whose it is; write `openai/{written}`, `anthropic/{written}`, \
         `gemini/{written}` or `ollama/{written}`"
    ))
}

fn error(message: String) -> JudgeError {
    JudgeError::new(JudgeErrorKind::Failed, message)
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
            ("", "does not say whose it is"),
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
