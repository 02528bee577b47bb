use std::fmt;

/// Whose model a judge is: which wire is spoken, where, and with which key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Provider {
    /// Google's Gemini API.
    Gemini,
    /// OpenAI, and every server that answers `/chat/completions` as it does.
    OpenAi,
    /// Anthropic.
    Anthropic,
    /// Models on this machine, behind Ollama.
    Ollama,
}

impl Provider {
    #[cfg(feature = "model-judge")]
    pub(in crate::judge) const ALL: [Self; 4] = [Self::Gemini, Self::OpenAi, Self::Anthropic, Self::Ollama];

    /// The variables that may hold its key; the first that is set counts.
    ///
    /// Google's own clients prefer `GOOGLE_API_KEY` too, so that both ask with the same key.
    pub(in crate::judge) fn key_variables(self) -> &'static [&'static str] {
        match self {
            Self::Gemini => &["GOOGLE_API_KEY", "GEMINI_API_KEY"],
            Self::OpenAi => &["OPENAI_API_KEY"],
            Self::Anthropic => &["ANTHROPIC_API_KEY"],
            Self::Ollama => &["OLLAMA_API_KEY"],
        }
    }

    /// The variables that may hold its address; the first that is set counts.
    ///
    /// The provider's own variable is read too: a key meant for a company's proxy must not travel elsewhere.
    pub(in crate::judge) fn base_variables(self) -> &'static [&'static str] {
        match self {
            Self::Gemini => &["GOOGLE_GEMINI_BASE_URL"],
            Self::OpenAi => &["EVALSET_JUDGE_BASE_URL", "OPENAI_BASE_URL"],
            Self::Anthropic => &["ANTHROPIC_BASE_URL"],
            Self::Ollama => &["EVALSET_JUDGE_BASE_URL"],
        }
    }

    /// Where it is found unless something else is said.
    #[cfg(feature = "model-judge")]
    pub(in crate::judge) fn own_base(self) -> &'static str {
        match self {
            Self::Gemini => "https://generativelanguage.googleapis.com",
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com",
            Self::Ollama => "http://localhost:11434/v1",
        }
    }

    /// Whether its own address wants a key.
    pub(in crate::judge) fn needs_key(self) -> bool {
        self != Self::Ollama
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gemini => "Gemini",
            Self::OpenAi => "OpenAI",
            Self::Anthropic => "Anthropic",
            Self::Ollama => "Ollama",
        })
    }
}
