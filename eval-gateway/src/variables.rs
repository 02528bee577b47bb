//! The variables of a program whose clients of models ask the gateway.

use std::env;

use eval_support::variables::MODELS_OFFLINE;
use reqwest::Url;

use crate::mode::ModelMode;
use crate::provider::Provider;

/// The key of clients that would ask for one before any request.
const NO_KEY: &str = "evalset-replays";

/// Variables without which a program asks other hosts, or sends requests that differ from run to run.
const STEADY: [(&str, &str); 5] = [
    // Traces go to OpenAI's own host, whatever the base URL is.
    ("OPENAI_AGENTS_DISABLE_TRACING", "1"),
    // litellm fetches its price list when it is imported.
    ("LITELLM_LOCAL_MODEL_COST_MAP", "True"),
    ("PYTHONHASHSEED", "0"),
    // The program of Anthropic's agents reports to hosts of its own, and asks models for titles.
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("DISABLE_TELEMETRY", "1"),
];

/// Keys of clients that are given the address of the gateway by hand.
const OTHER_KEYS: [&str; 6] = [
    "AZURE_OPENAI_API_KEY",
    "GOOGLE_GENERATIVE_AI_API_KEY",
    "GROQ_API_KEY",
    "MISTRAL_API_KEY",
    "OPENROUTER_API_KEY",
    "TOGETHER_API_KEY",
];

/// Without it node reads no proxy.
const NODE_PROXY: &str = "NODE_USE_ENV_PROXY";

const PROXIES: [&str; 2] = ["HTTPS_PROXY", "https_proxy"];
/// The proxies of hosts that are asked without TLS.
const PLAIN_PROXIES: [&str; 2] = ["HTTP_PROXY", "http_proxy"];
/// The proxies of hosts that have no other one.
const OTHER_PROXIES: [&str; 2] = ["ALL_PROXY", "all_proxy"];
/// The hosts that no proxy is asked for.
const NO_PROXY: [&str; 2] = ["NO_PROXY", "no_proxy"];

/// The variables of a child of this process.
pub(crate) fn of_child(
    address: &str,
    proxy: &str,
    mode: ModelMode,
    is_offline: bool,
) -> Vec<(&'static str, String)> {
    beside(address, proxy, mode, is_offline, set)
}

/// The proxy of the user's own that tunnels of the gateway go through, if there is one that it can ask.
pub(crate) fn proxy_behind() -> Option<Url> {
    behind(set)
}

/// A remark if a proxy of the user's own keeps clients that were not redirected from being found.
pub(crate) fn note(mode: ModelMode, is_offline: bool) -> Option<String> {
    note_beside(mode, is_offline, set)
}

/// A remark if a proxy of the user's own keeps clients in this process from the gateway.
pub(crate) fn note_of_here() -> Option<String> {
    note_of_proxy(set)
}

fn set(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// The address of a proxy that is asked without TLS. Some write it without a scheme.
fn behind(set: impl Fn(&str) -> Option<String>) -> Option<Url> {
    let own = PROXIES.iter().find_map(|name| set(name))?;
    let own = if own.contains("://") { own } else { format!("http://{own}") };
    Url::parse(&own).ok().filter(|url| url.scheme() == "http" && url.has_host())
}

fn note_beside(mode: ModelMode, is_offline: bool, set: impl Fn(&str) -> Option<String>) -> Option<String> {
    let own = PROXIES.iter().find(|name| set(name).is_some()).filter(|_| !mode.asks() && !is_offline)?;
    behind(set).is_none().then(|| {
        format!(
            "`{own}` is no `http://` proxy, so a client that asks a host of models itself is not found; {MODELS_OFFLINE}=1 puts the \
             gateway in its place"
        )
    })
}

fn note_of_proxy(set: impl Fn(&str) -> Option<String>) -> Option<String> {
    let proxy = PLAIN_PROXIES.into_iter().chain(OTHER_PROXIES).find(|name| set(name).is_some())?;
    let spared = NO_PROXY.iter().filter_map(|name| set(name)).collect::<Vec<_>>().join(",");
    // Also a whole net.
    let is_here = |host: &str| host == "*" || host.starts_with("127.");
    let is_spared = spared.split(',').any(|host| is_here(host.trim()));
    (!is_spared).then(|| {
        format!(
            "`{proxy}` is set and `NO_PROXY` has no `127.0.0.1`, so a client in this process may ask the proxy for the address of \
             the gateway; NO_PROXY=127.0.0.1,localhost lets it reach the gateway itself"
        )
    })
}

/// The variables beside the ones that are set.
fn beside(
    address: &str,
    proxy: &str,
    mode: ModelMode,
    is_offline: bool,
    set: impl Fn(&str) -> Option<String>,
) -> Vec<(&'static str, String)> {
    let is_offline = is_offline && !mode.asks();
    let mut variables: Vec<(&'static str, String)> = Vec::new();
    for provider in Provider::ALL {
        variables.extend(provider.addresses().iter().map(|(name, path)| (*name, format!("{address}{path}"))));
    }
    // Clients read one of both names, so each has the hosts of both. Offline they would be reached past the gateway.
    let mut spared: Vec<String> = NO_PROXY.into_iter().filter(|_| !is_offline).filter_map(&set).collect();
    spared.dedup();
    spared.push("127.0.0.1,localhost".to_owned());
    variables.extend(NO_PROXY.map(|name| (name, spared.join(","))));
    let steady = STEADY.iter().filter(|(name, _)| set(name).is_none());
    variables.extend(steady.map(|(name, value)| (*name, (*value).to_owned())));
    if !mode.asks() {
        let keys = Provider::ALL.iter().flat_map(|provider| provider.keys());
        // No project of Google: its client takes none together with a key.
        let unset = keys.copied().chain(OTHER_KEYS).filter(|name| set(name).is_none());
        variables.extend(unset.map(|name| (name, NO_KEY.to_owned())));
        // It finds clients that were not redirected, and goes through the user's own proxy. One that it cannot ask is left alone,
        // but for an agent that may reach no other host.
        let has_none = |names: &[&str]| names.iter().all(|name| set(name).is_none());
        let ours = |names: [&'static str; 2]| names.map(|name| (name, proxy.to_owned()));
        if is_offline || has_none(&PROXIES) || behind(&set).is_some() {
            variables.extend(ours(PROXIES));
            if set(NODE_PROXY).is_none() {
                variables.push((NODE_PROXY, "1".to_owned()));
            }
        }
        if is_offline || has_none(&[PLAIN_PROXIES, OTHER_PROXIES].concat()) {
            variables.extend(ours(PLAIN_PROXIES));
        }
        if is_offline {
            variables.extend(ours(OTHER_PROXIES));
        }
    }
    variables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_finds_its_address_in_the_form_that_it_needs() {
        let at = "http://127.0.0.1:1/c/t";
        let (v1, v1beta) = (&*format!("{at}/v1"), &*format!("{at}/v1beta"));
        let here = "127.0.0.1,localhost";
        let in_any_mode = [
            ("OPENAI_BASE_URL", v1),
            ("OPENAI_API_BASE", v1),
            ("ANTHROPIC_BASE_URL", at),
            ("ANTHROPIC_API_BASE", at),
            ("ANTHROPIC_API_URL", at),
            ("GOOGLE_GEMINI_BASE_URL", at),
            ("GOOGLE_VERTEX_BASE_URL", at),
            ("GEMINI_API_BASE", v1beta),
            ("NO_PROXY", here),
            ("no_proxy", here),
            ("OPENAI_AGENTS_DISABLE_TRACING", "1"),
            ("LITELLM_LOCAL_MODEL_COST_MAP", "True"),
            ("PYTHONHASHSEED", "0"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_TELEMETRY", "1"),
        ];
        // No `GEMINI_API_KEY`: Google's client warns if both keys are set.
        let in_replays = [
            ("OPENAI_API_KEY", NO_KEY),
            ("ANTHROPIC_API_KEY", NO_KEY),
            ("GOOGLE_API_KEY", NO_KEY),
            ("AZURE_OPENAI_API_KEY", NO_KEY),
            ("GOOGLE_GENERATIVE_AI_API_KEY", NO_KEY),
            ("GROQ_API_KEY", NO_KEY),
            ("MISTRAL_API_KEY", NO_KEY),
            ("OPENROUTER_API_KEY", NO_KEY),
            ("TOGETHER_API_KEY", NO_KEY),
            ("HTTPS_PROXY", "http://p"),
            ("https_proxy", "http://p"),
            ("NODE_USE_ENV_PROXY", "1"),
            ("HTTP_PROXY", "http://p"),
            ("http_proxy", "http://p"),
        ];
        let given = |mode, set: &dyn Fn(&str) -> Option<String>| beside(at, "http://p", mode, false, set);
        let owned = |variables: &[(&'static str, &str)]| -> Vec<(&'static str, String)> {
            variables.iter().map(|(name, value)| (*name, (*value).to_owned())).collect()
        };
        for mode in [ModelMode::Record, ModelMode::RecordAll] {
            assert_eq!(given(mode, &|_| None), owned(&in_any_mode), "{mode:?}");
        }
        let all = owned(&[&in_any_mode[..], &in_replays].concat());
        assert_eq!(given(ModelMode::Replay, &|_| None), all);
        // What is set stays, but for the addresses and for the hosts of this machine.
        for kept in [&in_any_mode[10..], &in_replays].concat() {
            let set = |name: &str| (name == kept.0).then(|| "https://own".to_owned());
            assert!(given(ModelMode::Replay, &set).iter().all(|(name, _)| *name != kept.0), "{}", kept.0);
        }
        for (name, expected) in &in_any_mode[..8] {
            let set = |of: &str| (of == *name).then(|| "http://own".to_owned());
            let found = given(ModelMode::Replay, &set).into_iter().find(|(known, _)| known == name);
            assert_eq!(found, Some((*name, (*expected).to_owned())));
        }
    }

    #[test]
    fn a_proxy_that_the_gateway_cannot_ask_is_left_alone_and_noted_unless_the_agent_is_offline() {
        let own = |name: &str| {
            let own = [("HTTPS_PROXY", "https://own"), ("NO_PROXY", "api.openai.com")];
            own.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        let get = |is_offline: bool, name: &str| {
            let variables = beside("a", "http://gateway", ModelMode::Replay, is_offline, own);
            variables.into_iter().find(|(known, _)| *known == name).map(|(_, value)| value)
        };
        assert_eq!((get(false, "HTTPS_PROXY"), get(false, "https_proxy")), (None, None));
        // Node would ask the user's proxy, which it does not ask otherwise.
        assert_eq!((get(false, NODE_PROXY), get(true, NODE_PROXY)), (None, Some("1".to_owned())));
        assert_eq!(get(true, "HTTPS_PROXY").as_deref(), Some("http://gateway"));
        assert_eq!(get(true, "https_proxy").as_deref(), Some("http://gateway"));
        for name in ["HTTP_PROXY", "http_proxy"] {
            assert_eq!(get(false, name).as_deref(), Some("http://gateway"), "{name}");
        }
        for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
            assert_eq!(get(true, name).as_deref(), Some("http://gateway"), "{name}");
        }
        assert_eq!(get(false, "ALL_PROXY"), None);
        assert_eq!(get(true, "NO_PROXY").as_deref(), Some("127.0.0.1,localhost"));
        assert_eq!(get(false, "NO_PROXY").as_deref(), Some("api.openai.com,127.0.0.1,localhost"));
        // Python reads the other name first.
        assert_eq!(get(false, "no_proxy").as_deref(), Some("api.openai.com,127.0.0.1,localhost"));
        let note = |mode, is_offline| note_beside(mode, is_offline, own);
        assert!(
            note(ModelMode::Replay, false)
                .is_some_and(|note| note.starts_with("`HTTPS_PROXY` is no `http://` proxy"))
        );
        assert_eq!((note(ModelMode::Replay, true), note(ModelMode::Record, false)), (None, None));
        assert_eq!(note_beside(ModelMode::Replay, false, |_| None), None);
    }

    #[test]
    fn the_gateway_is_before_a_proxy_of_the_users_own() {
        for own in ["http://me:p%40ss@own:3128", "own:3128"] {
            let set = |name: &str| (name == "https_proxy").then(|| own.to_owned());
            let variables = beside("a", "http://gateway", ModelMode::Replay, false, set);
            assert!(variables.contains(&("HTTPS_PROXY", "http://gateway".to_owned())), "{own}");
            assert_eq!(note_beside(ModelMode::Replay, false, set), None);
            assert_eq!(behind(set).map(|url| url.port()), Some(Some(3128)), "{own}");
        }
    }

    #[test]
    fn a_proxy_before_the_gateway_is_noted_for_clients_of_this_process_unless_it_is_spared() {
        let note = |own: &[(&str, &str)]| {
            note_of_proxy(|name| {
                own.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            })
        };
        for proxy in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
            for spared in [None, Some("localhost"), Some("internal.example, 10.0.0.0/8")] {
                let own = [(proxy, "http://own"), ("NO_PROXY", spared.unwrap_or_default())];
                let told = note(&own).unwrap_or_default();
                assert!(told.starts_with(&format!("`{proxy}` is set")), "{own:?}: {told}");
                assert!(told.contains("NO_PROXY=127.0.0.1,localhost"), "{told}");
            }
            for spared in ["127.0.0.1", "localhost, 127.0.0.1", "127.0.0.0/8", "*"] {
                for name in NO_PROXY {
                    assert_eq!(note(&[(proxy, "http://own"), (name, spared)]), None, "{name}={spared}");
                }
            }
        }
        // The gateway is asked without TLS.
        assert_eq!(note(&[("HTTPS_PROXY", "http://own")]), None);
    }
}
