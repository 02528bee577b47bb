//! The variables of a program whose clients of models ask the gateway.

use std::env;

use crate::mode::ModelMode;
use crate::provider::Provider;

/// The key of clients that would ask for one before any request.
const NO_KEY: &str = "evalset-replays";

/// Variables without which a program asks other hosts, or sends requests that differ from run to run.
const STEADY: [(&str, &str); 3] = [
    // Traces go to OpenAI's own host, whatever the base URL is.
    ("OPENAI_AGENTS_DISABLE_TRACING", "1"),
    // litellm fetches its price list when it is imported.
    ("LITELLM_LOCAL_MODEL_COST_MAP", "True"),
    ("PYTHONHASHSEED", "0"),
];

const PROXIES: [&str; 2] = ["HTTPS_PROXY", "https_proxy"];

pub(crate) fn of_child(address: &str, proxy: &str, mode: ModelMode) -> Vec<(&'static str, String)> {
    let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    let mut variables: Vec<(&'static str, String)> = Vec::new();
    for provider in Provider::ALL {
        variables.extend(provider.addresses().iter().map(|(name, path)| (*name, format!("{address}{path}"))));
    }
    for name in ["NO_PROXY", "no_proxy"] {
        let before = env::var(name).ok().filter(|value| !value.is_empty());
        let before = before.map(|value| format!("{value},")).unwrap_or_default();
        variables.push((name, format!("{before}127.0.0.1,localhost")));
    }
    let steady = STEADY.iter().filter(|(name, _)| !is_set(name));
    variables.extend(steady.map(|(name, value)| (*name, (*value).to_owned())));
    if !mode.asks() {
        let keys = Provider::ALL.iter().flat_map(|provider| provider.keys());
        let unset = keys.copied().chain(["GOOGLE_CLOUD_PROJECT"]).filter(|name| !is_set(name));
        variables.extend(unset.map(|name| (name, NO_KEY.to_owned())));
        // It finds clients that were not redirected. A proxy of the user's own is left alone.
        if !PROXIES.iter().any(|name| is_set(name)) {
            variables.extend(PROXIES.map(|name| (name, proxy.to_owned())));
        }
    }
    variables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_finds_its_address_in_the_form_that_it_needs() {
        let variables = of_child("http://127.0.0.1:1/c/t", "http://p", ModelMode::Replay);
        let get =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str());
        for (name, expected) in [
            ("OPENAI_BASE_URL", "http://127.0.0.1:1/c/t/v1"),
            ("ANTHROPIC_BASE_URL", "http://127.0.0.1:1/c/t"),
            ("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:1/c/t"),
            ("GEMINI_API_BASE", "http://127.0.0.1:1/c/t/v1beta"),
        ] {
            assert_eq!(get(name), Some(expected), "{name}");
        }
        assert!(get("NO_PROXY").is_some_and(|value| value.ends_with("127.0.0.1,localhost")));
        assert_eq!(get("GEMINI_API_KEY"), None, "Google's client warns if both keys are set");
        let recording = of_child("a", "p", ModelMode::Record);
        assert!(!recording.iter().any(|(name, _)| name.ends_with("_KEY") || *name == "HTTPS_PROXY"));
    }
}
