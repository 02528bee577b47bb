//! The providers of models.
//!
//! To add one: a variant of [`Provider`] with its entry, and in `client/wire` a file that implements `Wire`. A provider that is
//! asked as another one is needs no file.

use std::fmt;

use super::environment::BASE_URL;

/// The company or program that offers a model. It decides where the model is asked, how, and with which key.
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

/// What is known of a provider.
struct Entry {
    /// Its name in messages.
    name: &'static str,
    /// What stands before the `/` in the names of its models.
    prefix: &'static str,
    /// What else may stand there.
    other_prefixes: &'static [&'static str],
    /// How the names of its models begin that have no prefix.
    beginnings: &'static [&'static str],
    /// The variables that may hold its key. The first one that is set counts.
    key_variables: &'static [&'static str],
    /// The variables that may hold its address. The first one that is set counts.
    ///
    /// The provider's own variable is among them: a key that is meant for a company's proxy must not be sent elsewhere.
    base_variables: &'static [&'static str],
    /// Its address, if no variable holds one.
    own_base: &'static str,
    /// Whether its own address wants a key.
    needs_key: bool,
}

impl Provider {
    /// All providers, in the order in which messages name them.
    pub(super) const ALL: [Self; 4] = [Self::OpenAi, Self::Anthropic, Self::Gemini, Self::Ollama];

    const fn entry(self) -> &'static Entry {
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
                // Google's own clients prefer `GOOGLE_API_KEY` too, so that both ask with the same key.
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

    /// The provider of models whose names have this prefix.
    pub(super) fn of_prefix(prefix: &str) -> Option<Self> {
        let has = |entry: &Entry| entry.prefix == prefix || entry.other_prefixes.contains(&prefix);
        Self::ALL.into_iter().find(|provider| has(provider.entry()))
    }

    /// The provider of the model of this name, which has no prefix.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        let begins = |provider: &Self| provider.entry().beginnings.iter().any(|it| name.starts_with(it));
        Self::ALL.into_iter().find(begins)
    }

    /// What stands before the `/` in the names of its models.
    pub(super) fn prefix(self) -> &'static str {
        self.entry().prefix
    }

    /// The variables that may hold its key. The first one that is set counts.
    pub fn key_variables(self) -> &'static [&'static str] {
        self.entry().key_variables
    }

    /// The variables that may hold its address. The first one that is set counts.
    pub(super) fn base_variables(self) -> &'static [&'static str] {
        self.entry().base_variables
    }

    /// Its address, if no variable holds one.
    #[cfg_attr(not(feature = "model-judge"), expect(dead_code, reason = "no judge is asked over HTTP"))]
    pub(super) fn own_base(self) -> &'static str {
        self.entry().own_base
    }

    /// Whether its own address wants a key.
    pub(super) fn needs_key(self) -> bool {
        self.entry().needs_key
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.entry().name)
    }
}
