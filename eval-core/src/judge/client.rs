//! JudgeRouter over the network: models of several providers, asked again where that may help, a few at a time.

mod faults;
mod http;
mod limited;
mod options;
mod retrying;
mod schema;
mod secret;
mod slots;
mod wire;

use std::fmt;
use std::time::Duration;

use reqwest::Url;

use super::model::Model;
use super::preflight::missing_key;
use super::{BoxJudge, Judge, JudgeError, JudgeErrorKind, JudgeReply, JudgeRequest, Provider, env};
use faults::Asked;
use http::Http;
use secret::Key;

pub use limited::Limited;
pub use retrying::Retrying;
pub use slots::{Slot, Slots};

/// How long a model may take for an answer.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(2);

/// A judge that is a model of one of several providers, asked over HTTP.
#[doc = crate::pages::page!("../../docs/models.md")]
#[derive(Clone)]
pub struct ModelJudge {
    http: Http,
    keys: Vec<(Provider, Key)>,
    bases: Vec<(Provider, String)>,
    timeout: Duration,
}

/// The judge that is asked where a test names none: [`ModelJudge`] with [`Retrying`] and [`Limited`], as the
/// environment says.
///
/// The error is about a variable that cannot be read. A missing key is no error here: which key is needed shows
/// when a criterion names its model.
pub fn default_judge() -> Result<BoxJudge, JudgeError> {
    let judge = Limited::new(ModelJudge::from_env()?, Slots::from_env()?);
    let judge = Retrying::new(judge);
    Ok(match env::number(env::get, env::RETRIES, 0)? {
        Some(retries) => judge.retries(retries),
        None => judge,
    }
    .boxed())
}

impl Default for ModelJudge {
    fn default() -> Self {
        Self::new()
    }
}

impl ModelJudge {
    /// A judge without keys, at the providers' own addresses.
    pub fn new() -> Self {
        Self { http: Http::default(), keys: Vec::new(), bases: Vec::new(), timeout: DEFAULT_TIMEOUT }
    }

    /// A judge with the keys, addresses and the time limit of the environment.
    pub fn from_env() -> Result<Self, JudgeError> {
        Self::from_variables(env::get)
    }

    fn from_variables(get: impl Fn(&str) -> Option<String> + Copy) -> Result<Self, JudgeError> {
        let mut judge = Self::new();
        for provider in Provider::ALL {
            let find =
                |names: &'static [&'static str]| names.iter().find_map(|&name| Some((name, get(name)?)));
            if let Some((variable, value)) = find(provider.key_variables()) {
                judge.keys.push((provider, Key { value, variable: Some(variable) }));
            }
            if let Some((variable, base)) = find(provider.base_variables()) {
                if parse_base(&base).is_none() {
                    return Err(env::wrong(variable, "an address, such as `http://localhost:8000/v1`"));
                }
                judge.bases.push((provider, base));
            }
        }
        if let Some(seconds) = env::number(get, env::TIMEOUT, 1)? {
            judge.timeout = Duration::from_secs(seconds as u64);
        }
        Ok(judge)
    }

    /// Sets the key of a provider.
    #[must_use]
    pub fn key(mut self, provider: Provider, key: impl Into<String>) -> Self {
        self.keys.retain(|(of, _)| *of != provider);
        self.keys.push((provider, Key { value: key.into().trim().to_owned(), variable: None }));
        self
    }

    /// Sets the address of a provider: for [`Provider::OpenAi`] and [`Provider::Ollama`] up to the version
    /// (`http://localhost:8000/v1`), for the others without one.
    #[must_use]
    pub fn base_url(mut self, provider: Provider, url: impl Into<String>) -> Self {
        self.bases.retain(|(of, _)| *of != provider);
        self.bases.push((provider, url.into()));
        self
    }

    /// Sets how long one request may take, from connecting to the last byte of the answer; 120 s unless said.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The address of a provider, and whether it is the provider's own.
    fn base(&self, provider: Provider) -> Result<(Url, bool), JudgeError> {
        let given = self.bases.iter().find(|(of, _)| *of == provider);
        let base = given.map_or(provider.own_base(), |(_, base)| base);
        let url = parse_base(base).ok_or_else(|| {
            failed(format!("the address of {provider} is none that HTTP can reach (it is not shown, as it may hold a password)"))
        })?;
        Ok((url, given.is_none()))
    }

    fn key_of(&self, provider: Provider) -> Option<&Key> {
        self.keys.iter().find(|(of, key)| *of == provider && !key.value.is_empty()).map(|(_, key)| key)
    }
}

impl Judge for ModelJudge {
    /// The timeout is that of the request alone.
    fn time_limit(&self) -> Option<Duration> {
        None
    }

    async fn ask(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        let model = Model::parse(&request.model)?;
        let provider = model.provider;
        let (base, is_own) = self.base(provider)?;
        let key = self.key_of(provider);
        if key.is_none() && is_own && provider.needs_key() {
            return Err(missing_key(&request.model, provider));
        }
        let mut headers = wire::headers(provider);
        if let Some(key) = key {
            headers
                .push(wire::authorization(provider, &key.value).ok_or_else(|| unusable_key(key, provider))?);
        }
        let body = wire::body(&model, request, is_own)?;
        let keys: Vec<Key> = self.keys.iter().map(|(_, key)| key.clone()).collect();
        let asked = Asked {
            model: &request.model,
            host: base.host_str().unwrap_or_default(),
            key,
            keys: &keys,
            timeout: self.timeout,
        };
        let url = wire::url(&model, base.clone());
        let answer = self.http.post(url, headers, &body, self.timeout).await;
        let answer = answer.map_err(|fault| asked.fault(fault))?;
        let answer = wire::answer(provider, &answer).map_err(|lacks| asked.unlike(lacks))?;
        let mut reply = asked.reply(answer)?;
        if request.schema.is_some() {
            reply.text = without_fence(&reply.text).to_owned();
        }
        Ok(reply)
    }
}

/// Shows whose keys there are, and no key.
impl fmt::Debug for ModelJudge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModelJudge")
            .field("keys", &self.keys)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

fn parse_base(base: &str) -> Option<Url> {
    let url = Url::parse(base).ok()?;
    (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(url)
}

/// Models that are asked for JSON like to put it into a code fence.
fn without_fence(text: &str) -> &str {
    let inside = || text.trim().strip_prefix("```")?.strip_suffix("```")?.split_once('\n');
    inside().map_or(text, |(_, inside)| inside.trim())
}

fn unusable_key(key: &Key, provider: Provider) -> JudgeError {
    let what = key.variable.map_or_else(|| format!("the key of {provider}"), |name| format!("`{name}`"));
    failed(format!("{what} has characters that a key cannot have; is it the key alone, on one line?"))
}

fn failed(message: String) -> JudgeError {
    JudgeError::new(JudgeErrorKind::Failed, message)
}

#[cfg(test)]
mod tests;
