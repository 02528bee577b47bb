//! Models of several providers, asked over HTTP.

use std::fmt;
use std::time::Duration;

use eval_support::http::Clients;
use reqwest::Url;
use reqwest::header::HeaderValue;

use super::faults::Asked;
use super::http::post;
use super::secret::Key;
use super::wire::{Wire, WireRequest, anthropic, gemini, open_ai};
use crate::judge::environment::{self, EnvironmentError};
use crate::judge::provider::{Model, missing_key};
use crate::judge::{Judge, JudgeError, JudgeReply, JudgeRequest, Provider};

/// A judge that asks models of several providers over HTTP.
#[doc = crate::pages::page!("../../../docs/models.md")]
#[derive(Clone)]
pub struct ModelJudge {
    clients: Clients,
    keys: Vec<(Provider, Key)>,
    bases: Vec<(Provider, String)>,
    timeout: Duration,
}

impl Default for ModelJudge {
    fn default() -> Self {
        Self::new()
    }
}

impl ModelJudge {
    /// A judge without keys, at the providers' own addresses.
    pub fn new() -> Self {
        Self {
            clients: Clients::default(),
            keys: Vec::new(),
            bases: Vec::new(),
            timeout: environment::DEFAULT_TIME_LIMIT,
        }
    }

    /// A judge with the keys, the addresses and the time limit that the environment sets.
    ///
    /// It is an error if a variable cannot be read. A missing key is an error only when a model that needs it
    /// is asked.
    pub fn from_env() -> Result<Self, JudgeError> {
        Ok(Self::from_variables(environment::get)?)
    }

    fn from_variables(get: impl Fn(&str) -> Option<String> + Copy) -> Result<Self, EnvironmentError> {
        let mut judge = Self::new();
        for provider in Provider::ALL {
            let find =
                |names: &'static [&'static str]| names.iter().find_map(|&name| Some((name, get(name)?)));
            if let Some((variable, value)) = find(provider.key_variables()) {
                judge.keys.push((provider, Key { value, variable: Some(variable) }));
            }
            if let Some((variable, base)) = find(provider.entry().base_variables) {
                if address(&base).is_none() {
                    let expected = "an address, such as `http://localhost:8000/v1`";
                    return Err(EnvironmentError::unfit(variable, expected));
                }
                judge.bases.push((provider, base));
            }
        }
        if let Some(seconds) = environment::number(get, environment::TIMEOUT, 1)? {
            judge.timeout = Duration::from_secs(seconds as u64);
        }
        Ok(judge)
    }

    /// Sets the key of a provider. White space around it is dropped.
    #[must_use]
    pub fn key(mut self, provider: Provider, key: impl Into<String>) -> Self {
        self.keys.retain(|(of, _)| *of != provider);
        self.keys.push((provider, Key { value: key.into().trim().to_owned(), variable: None }));
        self
    }

    /// Sets the address of a provider: for [`Provider::OpenAi`] and [`Provider::Ollama`] with the version at its end
    /// (`http://localhost:8000/v1`), for the others without a version.
    #[must_use]
    pub fn base_url(mut self, provider: Provider, url: impl Into<String>) -> Self {
        self.bases.retain(|(of, _)| *of != provider);
        self.bases.push((provider, url.into()));
        self
    }

    /// Sets how long one request may take, from connecting to the last byte of the answer. The default is 120 s.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The address at which a provider is asked, and whether it is the provider's own.
    fn base(&self, provider: Provider) -> Result<(Url, bool), JudgeError> {
        let given = self.bases.iter().find(|(of, _)| *of == provider);
        let base = given.map_or(provider.entry().own_base, |(_, base)| base);
        let url = address(base).ok_or_else(|| {
            JudgeError::failed(format!(
                "HTTP cannot reach the address of {provider} (it is not shown, as it may hold a password)"
            ))
        })?;
        Ok((url, given.is_none()))
    }

    fn key_of(&self, provider: Provider) -> Option<&Key> {
        self.keys.iter().find(|(of, key)| *of == provider && !key.value.is_empty()).map(|(_, key)| key)
    }
}

impl Judge for ModelJudge {
    /// `None`: the timeout of each request is the limit.
    fn time_limit(&self) -> Option<Duration> {
        None
    }

    async fn ask(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        let Model { provider, name } = Model::parse(&request.model)?;
        let (base, is_own) = self.base(provider)?;
        let key = self.key_of(provider);
        if key.is_none() && is_own && provider.entry().needs_key {
            return Err(missing_key(&request.model, provider));
        }
        let wire = wire(provider);
        let mut headers: Vec<(&'static str, HeaderValue)> = Vec::new();
        headers.extend(wire.headers().iter().map(|(name, value)| (*name, HeaderValue::from_static(value))));
        if let Some(key) = key {
            let header = secret_header(wire.key_header(&key.value));
            headers.push(header.ok_or_else(|| unusable_key(key, provider))?);
        }
        let provider = provider.to_string();
        let body = wire.body(&WireRequest { request, model: &name, provider: &provider, is_own })?;
        let keys: Vec<Key> = self.keys.iter().map(|(_, key)| key.clone()).collect();
        let asked = Asked {
            model: &request.model,
            host: base.host_str().unwrap_or_default(),
            key,
            keys: &keys,
            timeout: self.timeout,
        };
        let url = below(base.clone(), wire.path(&name));
        let answer = post(&self.clients, url, headers, &body, self.timeout).await;
        let answer = answer.map_err(|fault| asked.fault(fault))?;
        let answer = wire.answer(&answer).map_err(|lacks| asked.unlike(lacks))?;
        let mut reply = asked.reply(answer)?;
        if request.schema.is_some() {
            reply.text = without_fence(&reply.text).to_owned();
        }
        Ok(reply)
    }
}

/// Shows which providers have keys, but no key.
impl fmt::Debug for ModelJudge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelJudge")
            .field("keys", &self.keys)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// A header that is not shown in `Debug` output. `None` if its value has characters that no header takes.
fn secret_header((name, value): (&'static str, String)) -> Option<(&'static str, HeaderValue)> {
    let mut value = HeaderValue::from_str(&value).ok()?;
    value.set_sensitive(true);
    Some((name, value))
}

/// A reply without the code fence around it. Models that are asked for JSON often write one.
fn without_fence(text: &str) -> &str {
    let inside = || text.trim().strip_prefix("```")?.strip_suffix("```")?.split_once('\n');
    inside().map_or(text, |(_, inside)| inside.trim())
}

fn unusable_key(key: &Key, provider: Provider) -> JudgeError {
    let what = key.variable.map_or_else(|| format!("the key of {provider}"), |name| format!("`{name}`"));
    JudgeError::failed(format!(
        "{what} has characters that a key cannot have; is it the key alone, on one line?"
    ))
}

fn address(base: &str) -> Option<Url> {
    let url = Url::parse(base).ok()?;
    (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(url)
}

fn below(mut base: Url, path: Vec<String>) -> Url {
    // Addresses with a host have paths.
    if let Ok(mut segments) = base.path_segments_mut() {
        segments.pop_if_empty().extend(path);
    }
    base
}

fn wire(provider: Provider) -> &'static dyn Wire {
    match provider {
        Provider::OpenAi => &open_ai::OPEN_AI,
        Provider::Anthropic => &anthropic::Anthropic,
        Provider::Gemini => &gemini::Gemini,
        Provider::Ollama => &open_ai::COMPATIBLE,
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod address_tests {
    use super::*;

    #[test]
    fn paths_are_appended_to_any_base() {
        let url = |model: &str, base: &str| {
            let Model { provider, name } = Model::parse(model).unwrap();
            below(address(base).unwrap(), wire(provider).path(&name)).to_string()
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
}
