use eval_format::{Map, UsageMetadata, Value};

/// What a judge is asked.
///
/// Two requests that are equal may be answered alike; what distinguishes the samples of one question is
/// [`sample`](Self::sample).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct JudgeRequest {
    /// The model, as the criterion names it: `gemini-2.5-flash`, `openai/gpt-5-mini`.
    pub model: String,
    /// The prompt.
    pub prompt: String,
    /// Which prompt this is, with its version: `final_response_match_v2/1`. Empty for a prompt that has no name.
    pub template: String,
    /// A JSON schema that the answer should follow.
    pub schema: Option<Value>,
    /// The temperature.
    pub temperature: Option<f64>,
    /// The rest of `judge_model_config`, as it is written.
    pub config: Map,
    /// Which sample of the question this is, from 0.
    pub sample: u32,
}

impl JudgeRequest {
    /// A request for one sample.
    pub fn new(model: impl Into<String>, prompt: impl Into<String>) -> Self {
        Self { model: model.into(), prompt: prompt.into(), ..Self::default() }
    }
}

/// What a judge answered.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct JudgeReply {
    /// The text, without the model's thoughts.
    pub text: String,
    /// The tokens it took.
    pub usage: Option<UsageMetadata>,
    /// Whether it was read from a recording, so that nobody was asked now.
    pub replayed: bool,
}

impl JudgeReply {
    /// A reply that is only text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Adds what it took.
    #[must_use]
    pub fn usage(mut self, usage: UsageMetadata) -> Self {
        self.usage = Some(usage);
        self
    }
}
