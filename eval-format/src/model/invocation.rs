//! Turns: what the user says, and what the agent should do or did.

use super::content::{Content, FunctionCall, FunctionResponse, Part};
use super::rubric::Rubric;
use crate::value::{Map, Value};

/// One turn: the user's message and what is expected (in a file) or happened (in a run).
///
/// ```
/// use eval_format::{FunctionCall, Invocation};
/// use serde_json::json;
///
/// let turn = Invocation::user("Weather in Paris?")
///     .call(FunctionCall::new("get_weather", json!({ "city": "Paris" })))
///     .response("It is sunny in Paris.");
/// assert_eq!(turn.tool_calls().count(), 1);
/// assert_eq!(turn.response_text(), "It is sunny in Paris.");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Invocation {
    /// The id. It may be empty and is never compared.
    pub invocation_id: String,
    /// The user's message.
    pub user_content: Content,
    /// The agent's answer.
    pub final_response: Option<Content>,
    /// What happened between the two.
    pub intermediate_data: Option<IntermediateData>,
    /// Seconds since 1970; 0 if unknown, as in ADK.
    pub creation_timestamp: f64,
    /// Seconds that the turn took.
    pub duration: Option<f64>,
    /// Seconds of these that models took.
    pub model_duration: Option<f64>,
    /// Seconds of these that tools took.
    pub tool_duration: Option<f64>,
    /// The rubrics that a judge checks in this turn.
    pub rubrics: Option<Vec<Rubric>>,
    /// Instructions and tools of the agents that took part; normally only in actual turns.
    pub app_details: Option<AppDetails>,
}

impl Invocation {
    /// A turn that begins with the user's message.
    pub fn user(text: impl Into<String>) -> Self {
        Self { user_content: Content::user(text), ..Self::default() }
    }

    /// Sets the agent's answer.
    #[must_use]
    pub fn response(mut self, text: impl Into<String>) -> Self {
        self.final_response = Some(Content::model(text));
        self
    }

    /// Adds a tool call: to the flat list, or as an event if the turn has events.
    #[must_use]
    pub fn call(mut self, call: FunctionCall) -> Self {
        match self.intermediate_data.get_or_insert_default() {
            IntermediateData::Tools { tool_uses, .. } => tool_uses.push(call),
            IntermediateData::Events(events) => events.push(InvocationEvent {
                author: "agent".to_owned(),
                content: Some(Content::new("model", vec![Part::call(call)])),
                ..InvocationEvent::default()
            }),
        }
        self
    }

    /// The tool calls in order: the flat list, or the calls in the parts of the events.
    pub fn tool_calls(&self) -> impl Iterator<Item = &FunctionCall> {
        let (flat, events) = match &self.intermediate_data {
            Some(IntermediateData::Tools { tool_uses, .. }) => (tool_uses.as_slice(), [].as_slice()),
            Some(IntermediateData::Events(events)) => ([].as_slice(), events.as_slice()),
            None => ([].as_slice(), [].as_slice()),
        };
        let in_events = events
            .iter()
            .filter_map(|event| event.content.as_ref())
            .flat_map(|content| content.parts().iter().filter_map(|part| part.function_call.as_ref()));
        flat.iter().chain(in_events)
    }

    /// The events; empty in the flat form.
    pub fn events(&self) -> &[InvocationEvent] {
        match &self.intermediate_data {
            Some(IntermediateData::Events(events)) => events,
            _ => &[],
        }
    }

    /// The text of the user's message.
    pub fn user_text(&self) -> String {
        self.user_content.text()
    }

    /// The text of the agent's answer; empty if there is no answer.
    pub fn response_text(&self) -> String {
        self.final_response.as_ref().map(Content::text).unwrap_or_default()
    }
}

/// What happened between question and answer, in one of ADK's two forms.
#[derive(Clone, Debug, PartialEq)]
pub enum IntermediateData {
    /// The flat form (`IntermediateData` in ADK): separate lists, whose entries have no order among each other.
    Tools {
        /// The calls, in order.
        tool_uses: Vec<FunctionCall>,
        /// The answers, in order.
        tool_responses: Vec<FunctionResponse>,
        /// What agents and sub-agents said before the answer: author and parts.
        intermediate_responses: Vec<(String, Vec<Part>)>,
    },
    /// The full form (`InvocationEvents` in ADK): every event in order.
    Events(Vec<InvocationEvent>),
}

impl Default for IntermediateData {
    fn default() -> Self {
        Self::Tools { tool_uses: Vec::new(), tool_responses: Vec::new(), intermediate_responses: Vec::new() }
    }
}

/// One event of a turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InvocationEvent {
    /// The agent that said or did it.
    pub author: String,
    /// What it said or did.
    pub content: Option<Content>,
    /// Tokens of the model call behind it.
    pub usage_metadata: Option<UsageMetadata>,
    /// The version of the model behind it.
    pub model_version: Option<String>,
    /// `grounding_metadata`, checked and in ADK's spelling and order.
    pub grounding_metadata: Option<Map>,
}

/// Tokens of one model call, as the provider reported them. `None` is unknown, not zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UsageMetadata {
    /// Tokens of the prompt.
    pub prompt_token_count: Option<i64>,
    /// Tokens of the answer.
    pub candidates_token_count: Option<i64>,
    /// The provider's own total; ADK's metrics do not read it.
    pub total_token_count: Option<i64>,
    /// Tokens of the prompt that came from a cache.
    pub cached_content_token_count: Option<i64>,
    /// Tokens of hidden reasoning.
    pub thoughts_token_count: Option<i64>,
    /// Tokens of tool results in the prompt.
    pub tool_use_prompt_token_count: Option<i64>,
    /// The details by modality and the traffic type, checked.
    pub other: Map,
}

/// Instructions and tools of the agents that took part in a turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AppDetails {
    /// By agent name, in order.
    pub agent_details: Vec<(String, AgentDetails)>,
}

/// Instructions and tools of one agent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentDetails {
    /// The agent's name.
    pub name: String,
    /// Its instructions.
    pub instructions: String,
    /// Its tools, as the provider declares them.
    pub tool_declarations: Vec<Value>,
}
