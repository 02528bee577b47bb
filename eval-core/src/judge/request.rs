//! What a judge is asked, and what it replies.

use std::fmt;

use eval_format::{Map, UsageMetadata, Value};
use eval_support::secrets;

/// What a judge is asked: one sample of one question.
///
/// ```
/// use eval_core::judge::JudgeRequest;
///
/// let request = JudgeRequest::new("gemini-2.5-flash", "Is this polite? ...");
/// assert_eq!((request.sample, request.temperature), (0, None));
/// assert_eq!(request.with_temperature(0.5).with_sample(1).sample, 1);
/// ```
///
/// Equal requests may get the same answer. The samples of one question differ in [`sample`](Self::sample) alone.
#[derive(Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct JudgeRequest {
    /// The model, as the criterion names it: `gemini-2.5-flash`, `openai/gpt-5-mini`.
    pub model: String,
    /// The prompt.
    pub prompt: String,
    /// The name and the version of the prompt: `final_response_match_v2/1`. `None` if the prompt has no name.
    pub template: Option<String>,
    /// A JSON schema that the answer should follow.
    pub schema: Option<Value>,
    /// The temperature. `None` leaves it to the model.
    pub temperature: Option<f64>,
    /// The other entries of the criterion's `judge_model_config`, as they are written.
    pub config: Map,
    /// Which sample of the question this is, from 0.
    pub sample: u32,
}

/// Without secrets. Of the other entries of the configuration it shows the names: they may be headers with keys.
impl fmt::Debug for JudgeRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        secrets::debug(f, |f| {
            f.debug_struct("JudgeRequest")
                .field("model", &self.model)
                .field("prompt", &self.prompt)
                .field("template", &self.template)
                .field("schema", &self.schema)
                .field("temperature", &self.temperature)
                .field("config", &self.config.keys().collect::<Vec<_>>())
                .field("sample", &self.sample)
                .finish()
        })
    }
}

impl JudgeRequest {
    /// A request for the first sample of a question, without options.
    pub fn new(model: impl Into<String>, prompt: impl Into<String>) -> Self {
        Self { model: model.into(), prompt: prompt.into(), ..Self::default() }
    }

    /// Sets the name and the version of the prompt. An empty text is no name.
    #[must_use]
    pub fn with_template(mut self, template: impl Into<String>) -> Self {
        self.template = Some(template.into()).filter(|template| !template.is_empty());
        self
    }

    /// Sets the JSON schema that the answer should follow.
    #[must_use]
    pub fn with_schema(mut self, schema: impl Into<Value>) -> Self {
        self.schema = Some(schema.into());
        self
    }

    /// Sets the temperature.
    #[must_use]
    pub fn with_temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Sets the other entries of the model's configuration.
    #[must_use]
    pub fn with_config(mut self, config: Map) -> Self {
        self.config = config;
        self
    }

    /// Sets which sample of the question this is, from 0.
    #[must_use]
    pub fn with_sample(mut self, sample: u32) -> Self {
        self.sample = sample;
        self
    }
}

/// What a judge answered.
///
/// ```
/// use eval_core::judge::JudgeReply;
///
/// let reply = JudgeReply::new("yes");
/// assert!(reply.text == "yes" && !reply.replayed);
/// ```
#[derive(Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct JudgeReply {
    /// The text, without the model's thoughts.
    pub text: String,
    /// The tokens that the answer took. `None` if the judge does not say.
    pub usage: Option<UsageMetadata>,
    /// Whether a recording answered, and no judge was asked.
    pub replayed: bool,
}

/// Without secrets.
impl fmt::Debug for JudgeReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        secrets::debug(f, |f| {
            f.debug_struct("JudgeReply")
                .field("text", &self.text)
                .field("usage", &self.usage)
                .field("replayed", &self.replayed)
                .finish()
        })
    }
}

impl JudgeReply {
    /// A reply with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Sets the tokens that the answer took.
    #[must_use]
    pub fn usage(mut self, usage: UsageMetadata) -> Self {
        self.usage = Some(usage);
        self
    }
}
