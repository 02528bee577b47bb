//! Addresses for the clients of models of an agent in Rust.

use super::recorder::Recorder;
use super::turn::Session;
use crate::models::{ModelCalls, Provider};

impl Session {
    /// The base URL for a client of a provider, if calls of models are recorded or replayed; `None` if the agent asks its
    /// models itself.
    ///
    /// ```
    /// use eval_core::Session;
    /// use eval_core::models::Provider;
    ///
    /// fn base_url(session: &Session) -> String {
    ///     session.model_url(Provider::OpenAi).unwrap_or_else(|| "https://api.openai.com/v1".to_owned())
    /// }
    /// # assert!(base_url(&Session::default()).ends_with("/v1"));
    /// ```
    pub fn model_url(&self, provider: Provider) -> Option<String> {
        self.recorder().model_url(provider)
    }
}

impl Recorder {
    /// The base URL for a client of a provider, if calls of models are recorded or replayed; `None` if the agent asks its
    /// models itself. See [`models`](crate::models).
    pub fn model_url(&self, provider: Provider) -> Option<String> {
        let models = self.log.models()?;
        models.url(provider).map_err(|why| models.miss(why)).ok()
    }

    /// The source of answers to model calls in this conversation, for agents that are other programs. Not public API.
    #[doc(hidden)]
    pub fn model_calls(&self) -> Option<ModelCalls> {
        self.log.models()
    }
}
