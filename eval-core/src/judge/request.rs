//! Requests to judges, and their replies.

use std::fmt;

use eval_format::{Map, UsageMetadata, Value};
use eval_support::{debug_without_secrets, secrets, setters};

/// A request to a judge: one sample of one question.
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
    /// The index of the sample of the question, from 0.
    pub sample: u32,
}

/// Shows no secrets. Of the other entries of the configuration it shows only the names: the values may be
/// headers with keys.
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

    /// The common part of all requests to a model, from its configuration. The temperature moves to its own
    /// field.
    pub(crate) fn of_model(model: &str, mut config: Map) -> Self {
        let temperature = config.get("temperature").and_then(Value::as_f64);
        if temperature.is_some() {
            config.remove("temperature");
        }
        Self { temperature, config, ..Self::new(model, "") }
    }

    setters! {
        /// Sets the name and the version of the prompt. An empty text is no name.
        with_template(template: impl Into<String>) {
            template = Some(template.into()).filter(|template| !template.is_empty())
        }

        /// Sets the JSON schema that the answer should follow.
        with_schema(schema: impl Into<Value>) { schema = Some(schema.into()) }

        /// Sets the temperature.
        with_temperature(temperature: f64) { temperature = Some(temperature) }

        /// Sets the other entries of the model's configuration.
        with_config(config: Map) { config = config }

        /// Sets which sample of the question this is, from 0.
        with_sample(sample: u32) { sample = sample }
    }
}

/// The answer of a judge.
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

debug_without_secrets!(JudgeReply { text, usage, replayed });

impl JudgeReply {
    /// A reply with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    setters! {
        /// Sets the tokens that the answer took.
        usage(usage: UsageMetadata) { usage = Some(usage) }
    }
}
