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
        // Vercel's client of Anthropic puts the version into the base URL.
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
        // Several regions together.
        Some(location @ ("us" | "eu")) => format!("https://aiplatform.{location}.rep.googleapis.com"),
        Some(location) if location != "global" => format!("https://{location}-aiplatform.googleapis.com"),
        _ => "https://aiplatform.googleapis.com".to_owned(),
    }
}

/// The hosts of models. A client that asks one of them while calls are replayed was not redirected. A star is any text, such as
/// a region.
const HOSTS: [&str; 44] = [
    "*-aiplatform.googleapis.com",
    "*-generativelanguage.googleapis.com",
    "*.cognitiveservices.azure.com",
    "*.endpoints.huggingface.cloud",
    "*.openai.azure.com",
    "*.services.ai.azure.com",
    "ai-gateway.vercel.sh",
    "aiplatform.*.rep.googleapis.com",
    "aiplatform.googleapis.com",
    "api-inference.huggingface.co",
    "api.*.mistral.ai",
    "api.ai21.com",
    "api.anthropic.com",
    "api.cerebras.ai",
    "api.cohere.ai",
    "api.cohere.com",
    "api.deepinfra.com",
    "api.deepseek.com",
    "api.fireworks.ai",
    "api.githubcopilot.com",
    "api.groq.com",
    "api.mistral.ai",
    "api.moonshot.*",
    "api.openai.com",
    "api.perplexity.ai",
    "api.replicate.com",
    "api.sambanova.ai",
    "api.studio.nebius.*",
    "api.together.ai",
    "api.together.xyz",
    "api.tokenfactory.nebius.com",
    "api.x.ai",
    "aws-external-anthropic.*.api.aws",
    "bedrock-mantle.*.api.aws",
    "bedrock-runtime*.amazonaws.com",
    "codestral.mistral.ai",
    "dashscope*.aliyuncs.com",
    "gateway.ai.cloudflare.com",
    "generativelanguage.googleapis.com",
    "integrate.api.nvidia.com",
    "models.github.ai",
    "models.inference.ai.azure.com",
    "openrouter.ai",
    "router.huggingface.co",
];

/// Whether a host answers calls of models. It may be one of a region, such as `eu.api.openai.com`, and end with a dot.
pub(crate) fn is_host_of_models(host: &str) -> bool {
    let host = spelt(host);
    HOSTS.iter().any(|known| is_of(&host, known))
}

fn spelt(host: &str) -> String {
    let host = host.to_ascii_lowercase();
    host.strip_suffix('.').map_or_else(|| host.clone(), str::to_owned)
}

fn is_of(host: &str, known: &str) -> bool {
    match known.split_once('*') {
        Some((begin, end)) => {
            host.strip_prefix(begin).is_some_and(|rest| rest.len() >= end.len() && rest.ends_with(end))
        }
        None => host.strip_suffix(known).is_some_and(|before| before.is_empty() || before.ends_with('.')),
    }
}

/// Advice for redirecting a host's client. The first matching host counts.
const ADVICE: [(&str, &str); 14] = [
    ("api.openai.com", "give its client the address in `OPENAI_BASE_URL`"),
    ("api.anthropic.com", "give its client the address in `ANTHROPIC_BASE_URL`"),
    (
        "generativelanguage.googleapis.com",
        "give its client the address in `GOOGLE_GEMINI_BASE_URL`, which is `baseUrl` in LangChain.js",
    ),
    ("api.groq.com", "set `GROQ_BASE_URL` to the value of `ANTHROPIC_BASE_URL`"),
    ("api.together.ai", TOGETHER),
    ("api.together.xyz", TOGETHER),
    (
        "mistral.ai",
        "give its client the value of `ANTHROPIC_BASE_URL` as `server_url`, in pydantic-ai as `base_url`",
    ),
    ("*.openai.azure.com", AZURE),
    ("*.cognitiveservices.azure.com", AZURE),
    ("*.services.ai.azure.com", AZURE),
    (
        "bedrock-*.amazonaws.com",
        "calls of Bedrock have a form that the gateway does not know, so they cannot be recorded",
    ),
    ("*aiplatform.googleapis.com", VERTEX),
    ("aiplatform.*.rep.googleapis.com", VERTEX),
    (
        "openrouter.ai",
        "give its client the address in `OPENAI_BASE_URL`, and record with `EVALSET_MODELS_UPSTREAM_OPENAI` at its server",
    ),
];

const TOGETHER: &str = "set `TOGETHER_BASE_URL` to the value of `OPENAI_BASE_URL`";
const AZURE: &str = "give its client the value of `ANTHROPIC_BASE_URL` as `azure_endpoint`, or of `OPENAI_BASE_URL` as `base_url`";
const VERTEX: &str = "give Google's client the address in `GOOGLE_VERTEX_BASE_URL`; Anthropic's client for Vertex takes it with `/v1` behind it as `base_url`";

/// Advice for redirecting the client of a host.
pub(crate) fn advice(host: &str) -> &'static str {
    let host = spelt(host);
    let known = ADVICE.iter().find(|(known, _)| is_of(&host, known));
    known.map_or(
        "give its client the address in `OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL` or `GOOGLE_GEMINI_BASE_URL`, by the form of its \
         requests",
        |(_, advice)| advice,
    )
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
                "/v1/projects/p/locations/eu/publishers/google/models/m:x",
                "https://aiplatform.eu.rep.googleapis.com/v1/projects/p/locations/eu/publishers/google/models/m:x",
            ),
            (
                Provider::Gemini,
                "/v1/projects/p/locations/global/publishers/google/models/m:x",
                "https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google/models/m:x",
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
            ("bedrock-runtime-fips.us-east-1.amazonaws.com", true),
            ("bedrock-mantle.us-east-1.api.aws", true),
            ("aws-external-anthropic.us-west-2.api.aws", true),
            ("api.together.ai", true),
            ("my-resource.cognitiveservices.azure.com", true),
            ("my-resource.services.ai.azure.com", true),
            ("my-resource.openai.azure.com", true),
            ("models.inference.ai.azure.com", true),
            ("router.huggingface.co", true),
            ("api-inference.huggingface.co", true),
            ("aiplatform.eu.rep.googleapis.com", true),
            ("us-central1-generativelanguage.googleapis.com", true),
            ("api.eu.mistral.ai", true),
            ("ai-gateway.vercel.sh", true),
            ("api.moonshot.cn", true),
            ("dashscope.aliyuncs.com", true),
            ("dashscope-intl.aliyuncs.com", true),
            ("api.studio.nebius.com", true),
            ("api.githubcopilot.com", true),
            ("console.mistral.ai", false),
            ("bedrock.us-east-1.amazonaws.com", false),
            ("s3.us-east-1.amazonaws.com", false),
            ("huggingface.co", false),
            ("api.github.com", false),
            ("storage.googleapis.com", false),
            ("raw.githubusercontent.com", false),
            ("example.com", false),
        ] {
            assert_eq!(is_host_of_models(host), expected, "{host}");
        }
    }

    #[test]
    fn a_client_that_was_not_redirected_is_told_what_redirects_it() {
        for (host, expected) in [
            ("api.openai.com", "`OPENAI_BASE_URL`"),
            ("API.groq.com", "`GROQ_BASE_URL`"),
            ("api.together.xyz", "`TOGETHER_BASE_URL`"),
            ("api.eu.mistral.ai", "`server_url`"),
            ("r.openai.azure.com", "`azure_endpoint`"),
            ("us-east5-aiplatform.googleapis.com", "Anthropic's client for Vertex"),
            ("bedrock-runtime.eu-west-1.amazonaws.com", "cannot be recorded"),
            ("vm:8000", "by the form of its requests"),
        ] {
            assert!(advice(host).contains(expected), "{host}: {}", advice(host));
        }
        assert!(HOSTS.is_sorted(), "{HOSTS:?}");
    }
}
