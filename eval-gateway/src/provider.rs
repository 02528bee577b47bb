//! Providers of models: the addresses of their servers, and the variables in which clients look for an address or a key.

use std::env;

use eval_support::variables::{MODELS_UPSTREAM_ANTHROPIC, MODELS_UPSTREAM_GEMINI, MODELS_UPSTREAM_OPENAI};

/// A provider whose wire the gateway speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Provider {
    /// Chat Completions, Responses, embeddings, and what speaks like them.
    OpenAi,
    /// Messages.
    Anthropic,
    /// `generateContent` and its like, of Gemini's API and of Vertex.
    Gemini,
}

struct Facts {
    name: &'static str,
    /// The path of a base URL below the address of a conversation.
    base: &'static str,
    /// The variables of clients that hold the base URL, and the path that each needs.
    addresses: &'static [(&'static str, &'static str)],
    keys: &'static [&'static str],
    upstream: &'static str,
    server: &'static str,
}

const OPENAI: Facts = Facts {
    name: "OpenAI",
    base: "/v1",
    addresses: &[("OPENAI_BASE_URL", "/v1"), ("OPENAI_API_BASE", "/v1")],
    keys: &["OPENAI_API_KEY"],
    upstream: MODELS_UPSTREAM_OPENAI,
    server: "https://api.openai.com/v1",
};

const ANTHROPIC: Facts = Facts {
    name: "Anthropic",
    base: "",
    addresses: &[("ANTHROPIC_BASE_URL", ""), ("ANTHROPIC_API_BASE", ""), ("ANTHROPIC_API_URL", "")],
    keys: &["ANTHROPIC_API_KEY"],
    upstream: MODELS_UPSTREAM_ANTHROPIC,
    server: "https://api.anthropic.com",
};

const GEMINI: Facts = Facts {
    name: "Gemini",
    base: "",
    addresses: &[
        ("GOOGLE_GEMINI_BASE_URL", ""),
        ("GOOGLE_VERTEX_BASE_URL", ""),
        // litellm reads this one alone.
        ("GEMINI_API_BASE", "/v1beta"),
    ],
    // Google's client warns if `GEMINI_API_KEY` is set beside it.
    keys: &["GOOGLE_API_KEY"],
    upstream: MODELS_UPSTREAM_GEMINI,
    server: "https://generativelanguage.googleapis.com",
};

impl Provider {
    /// All providers.
    pub const ALL: [Self; 3] = [Self::OpenAi, Self::Anthropic, Self::Gemini];

    const fn facts(self) -> &'static Facts {
        match self {
            Self::OpenAi => &OPENAI,
            Self::Anthropic => &ANTHROPIC,
            Self::Gemini => &GEMINI,
        }
    }

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// The path of its base URL below the address of a conversation.
    pub fn base(self) -> &'static str {
        self.facts().base
    }

    pub(crate) fn addresses(self) -> &'static [(&'static str, &'static str)] {
        self.facts().addresses
    }

    pub(crate) fn keys(self) -> &'static [&'static str] {
        self.facts().keys
    }

    /// The variable with an address in place of its server.
    pub(crate) fn upstream_variable(self) -> &'static str {
        self.facts().upstream
    }

    /// The address to which a request goes while calls are recorded. `rest` is its path below the base URL.
    ///
    /// The first of these that is there: the given one, the variable of the provider's own client in this process, the
    /// provider's server.
    pub(crate) fn upstream(self, given: Option<&str>, rest: &str) -> String {
        let set = |name: &str| env::var(name).ok().filter(|value| !value.trim().is_empty());
        let facts = self.facts();
        // Of Anthropic's clients, the one of Vercel takes the version for a part of the base URL.
        let lacks_version = self == Self::Anthropic && !rest.starts_with("/v1/");
        let joined = |base: &str, rest: &str| {
            let base = base.trim_end_matches('/');
            let version = if lacks_version && !base.ends_with("/v1") { "/v1" } else { "" };
            format!("{base}{version}{rest}")
        };
        if let Some(base) = given {
            return joined(base, rest);
        }
        let is_vertex =
            self == Self::Gemini && (rest.contains("/projects/") || rest.contains("/publishers/"));
        let own = facts.addresses.iter().find_map(|(name, path)| {
            let fits = (*name == "GOOGLE_VERTEX_BASE_URL") == is_vertex;
            let base = set(name).filter(|_| fits)?;
            // The path below the base URL has it already.
            let base =
                if facts.base.is_empty() { base.trim_end_matches('/').trim_end_matches(path) } else { &base };
            Some(base.to_owned())
        });
        match own {
            Some(base) => joined(&base, rest),
            None if is_vertex => joined(&vertex_server(rest), rest),
            None => joined(facts.server, rest),
        }
    }
}

/// The server of Vertex for a path with a location.
fn vertex_server(rest: &str) -> String {
    let location = rest.split("/locations/").nth(1).and_then(|after| after.split('/').next());
    // Anything else could name the host of another owner, to which the key would go.
    let is_name = |location: &str| {
        location.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    match location.filter(|location| !location.is_empty() && is_name(location)) {
        Some(location) if location != "global" => format!("https://{location}-aiplatform.googleapis.com"),
        _ => "https://aiplatform.googleapis.com".to_owned(),
    }
}

/// The hosts of models. A client that asks one of them while calls are replayed was not redirected.
const HOSTS: [&str; 14] = [
    "api.openai.com",
    "api.anthropic.com",
    "generativelanguage.googleapis.com",
    "aiplatform.googleapis.com",
    "api.mistral.ai",
    "api.groq.com",
    "api.cohere.com",
    "api.deepseek.com",
    "api.x.ai",
    "openrouter.ai",
    "api.together.xyz",
    "api.fireworks.ai",
    "api.perplexity.ai",
    "models.github.ai",
];

/// Whether a host answers calls of models. It may be one of a region, such as `eu.api.openai.com`, and end with a dot.
pub(crate) fn is_host_of_models(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let host = host.strip_suffix('.').unwrap_or(&host);
    let is_of = |known: &&str| {
        host.strip_suffix(known).is_some_and(|before| before.is_empty() || before.ends_with('.'))
    };
    let ends = ["-aiplatform.googleapis.com", ".openai.azure.com", ".services.ai.azure.com"];
    let is_bedrock = host.starts_with("bedrock-runtime.") && host.ends_with(".amazonaws.com");
    HOSTS.iter().any(is_of) || is_bedrock || ends.iter().any(|end| host.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_go_to_the_servers_of_their_providers() {
        for (provider, rest, expected) in [
            (Provider::OpenAi, "/chat/completions", "https://api.openai.com/v1/chat/completions"),
            (Provider::Anthropic, "/v1/messages", "https://api.anthropic.com/v1/messages"),
            (Provider::Anthropic, "/messages", "https://api.anthropic.com/v1/messages"),
            (
                Provider::Gemini,
                "/v1beta/models/m:x",
                "https://generativelanguage.googleapis.com/v1beta/models/m:x",
            ),
            (
                Provider::Gemini,
                "/v1beta1/projects/p/locations/us-east1/publishers/google/models/m:x",
                "https://us-east1-aiplatform.googleapis.com/v1beta1/projects/p/locations/us-east1/publishers/google/models/m:x",
            ),
            (
                Provider::Gemini,
                "/v1/projects/p/locations/evil.example%2F@x#/publishers/google/models/m:x",
                "https://aiplatform.googleapis.com/v1/projects/p/locations/evil.example%2F@x#/publishers/google/models/m:x",
            ),
            (
                Provider::Gemini,
                "/v1beta1/publishers/google/models/m:x",
                "https://aiplatform.googleapis.com/v1beta1/publishers/google/models/m:x",
            ),
        ] {
            assert_eq!(provider.upstream(None, rest), expected);
        }
    }

    #[test]
    fn hosts_of_models_are_known() {
        for (host, expected) in [
            ("api.openai.com", true),
            ("API.OpenAI.com", true),
            ("api.openai.com.", true),
            ("eu.api.openai.com", true),
            ("EU.API.openai.com.", true),
            ("models.github.ai", true),
            ("notapi.openai.com", false),
            ("api.openai.com.example", false),
            ("us-central1-aiplatform.googleapis.com", true),
            ("bedrock-runtime.eu-west-1.amazonaws.com", true),
            ("raw.githubusercontent.com", false),
            ("example.com", false),
        ] {
            assert_eq!(is_host_of_models(host), expected, "{host}");
        }
    }
}
