//! Turns: what the user says, and what the agent should do or did.

use super::content::{Content, FunctionCall, FunctionResponse, Part};
use super::rubric::Rubric;
use crate::options::DEFAULT_AUTHOR;
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
#[non_exhaustive]
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
    /// A turn that begins with a message of any parts.
    pub fn new(user_content: Content) -> Self {
        Self { user_content, ..Self::default() }
    }

    /// A turn that begins with the user's message.
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Content::user(text))
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
            IntermediateData::Events(events) => {
                let content = Content::new("model", vec![Part::call(call)]);
                events.push(InvocationEvent::new(DEFAULT_AUTHOR).with_content(content));
            }
        }
        self
    }

    /// Sets the agent's answer, of any parts.
    #[must_use]
    pub fn with_final_response(mut self, content: Content) -> Self {
        self.final_response = Some(content);
        self
    }

    /// Sets what happens between question and answer.
    ///
    /// ```
    /// use eval_format::{Content, EvalCase, EvalSet, IntermediateData, Invocation, InvocationEvent};
    ///
    /// let aside = InvocationEvent::new("clerk").with_content(Content::model("One moment."));
    /// let turn = Invocation::user("Where is my order?")
    ///     .with_intermediate_data(IntermediateData::Events(vec![aside]))
    ///     .response("It is in Paris.");
    /// let set = EvalSet::new("orders").case(EvalCase::new("where").turn(turn));
    /// assert_eq!(EvalSet::parse(&set.to_json()).unwrap(), set);
    /// ```
    #[must_use]
    pub fn with_intermediate_data(mut self, data: IntermediateData) -> Self {
        self.intermediate_data = Some(data);
        self
    }

    /// Sets the rubrics that a judge checks in this turn.
    #[must_use]
    pub fn with_rubrics(mut self, rubrics: impl IntoIterator<Item = Rubric>) -> Self {
        self.rubrics = Some(rubrics.into_iter().collect());
        self
    }

    /// Sets instructions and tools of the agents that take part.
    ///
    /// ```
    /// use eval_format::{AgentDetails, AppDetails, EvalCase, EvalSet, Invocation};
    /// use serde_json::json;
    ///
    /// let clerk = AgentDetails::new("clerk", "Be kind.").with_tool_declarations([json!({ "name": "track" })]);
    /// let turn = Invocation::user("Hi").response("Hello!").with_app_details(AppDetails::default().with_agent(clerk));
    /// let set = EvalSet::new("shop").case(EvalCase::new("greeting").turn(turn));
    /// assert_eq!(EvalSet::parse(&set.to_json()).unwrap(), set);
    /// ```
    #[must_use]
    pub fn with_app_details(mut self, details: AppDetails) -> Self {
        self.app_details = Some(details);
        self
    }

    /// Sets the id.
    #[must_use]
    pub fn with_invocation_id(mut self, id: impl Into<String>) -> Self {
        self.invocation_id = id.into();
        self
    }

    /// Sets when the turn was, in seconds since 1970.
    #[must_use]
    pub fn with_creation_timestamp(mut self, seconds: f64) -> Self {
        self.creation_timestamp = seconds;
        self
    }

    /// Sets the seconds that the turn took.
    ///
    /// ```
    /// use eval_format::{EvalCase, EvalSet, Invocation};
    ///
    /// let turn = Invocation::user("Hi").response("Hello!");
    /// let turn = turn.with_duration(2.5).with_model_duration(2.0).with_tool_duration(0.25);
    /// let set = EvalSet::new("timed").case(EvalCase::new("greeting").turn(turn));
    /// assert_eq!(EvalSet::parse(&set.to_json()).unwrap(), set);
    /// ```
    #[must_use]
    pub fn with_duration(mut self, seconds: f64) -> Self {
        self.duration = Some(seconds);
        self
    }

    /// Sets the seconds that models took.
    #[must_use]
    pub fn with_model_duration(mut self, seconds: f64) -> Self {
        self.model_duration = Some(seconds);
        self
    }

    /// Sets the seconds that tools took.
    #[must_use]
    pub fn with_tool_duration(mut self, seconds: f64) -> Self {
        self.tool_duration = Some(seconds);
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
#[non_exhaustive]
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

impl InvocationEvent {
    /// An event that has an author only.
    pub fn new(author: impl Into<String>) -> Self {
        Self { author: author.into(), ..Self::default() }
    }

    /// Sets what the agent said or did.
    #[must_use]
    pub fn with_content(mut self, content: Content) -> Self {
        self.content = Some(content);
        self
    }

    /// Sets the tokens of the model call behind it.
    ///
    /// ```
    /// use eval_format::{Content, InvocationEvent, UsageMetadata};
    ///
    /// let usage = UsageMetadata::default().with_prompt_token_count(120).with_candidates_token_count(9);
    /// let event = InvocationEvent::new("clerk")
    ///     .with_content(Content::model("One moment."))
    ///     .with_usage_metadata(usage)
    ///     .with_model_version("gemini-2.5-flash-001");
    /// assert_eq!(event.usage_metadata.unwrap().prompt_token_count, Some(120));
    /// ```
    #[must_use]
    pub fn with_usage_metadata(mut self, usage: UsageMetadata) -> Self {
        self.usage_metadata = Some(usage);
        self
    }

    /// Sets the version of the model behind it.
    #[must_use]
    pub fn with_model_version(mut self, version: impl Into<String>) -> Self {
        self.model_version = Some(version.into());
        self
    }

    /// Sets what the model looked up, in ADK's spelling.
    #[must_use]
    pub fn with_grounding_metadata(mut self, grounding: Map) -> Self {
        self.grounding_metadata = Some(grounding);
        self
    }
}

/// Tokens of one model call, as the provider reported them. `None` is unknown, not zero.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
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

impl UsageMetadata {
    /// All tokens of the call: the provider's own total, else the sum of prompt, results of tools, answer and hidden
    /// reasoning. `None` if none of them is known.
    ///
    /// ```
    /// use eval_format::UsageMetadata;
    ///
    /// let usage = UsageMetadata::default().with_prompt_token_count(10).with_candidates_token_count(7);
    /// assert_eq!(usage.all_tokens(), Some(17));
    /// assert_eq!(usage.with_total_token_count(20).all_tokens(), Some(20));
    /// ```
    pub fn all_tokens(&self) -> Option<i64> {
        let parts = [
            self.prompt_token_count,
            self.tool_use_prompt_token_count,
            self.candidates_token_count,
            self.thoughts_token_count,
        ];
        self.total_token_count.or_else(|| parts.into_iter().flatten().reduce(i64::saturating_add))
    }

    /// Sets the tokens of the prompt.
    #[must_use]
    pub fn with_prompt_token_count(mut self, tokens: i64) -> Self {
        self.prompt_token_count = Some(tokens);
        self
    }

    /// Sets the tokens of the answer.
    #[must_use]
    pub fn with_candidates_token_count(mut self, tokens: i64) -> Self {
        self.candidates_token_count = Some(tokens);
        self
    }

    /// Sets the provider's own total.
    #[must_use]
    pub fn with_total_token_count(mut self, tokens: i64) -> Self {
        self.total_token_count = Some(tokens);
        self
    }

    /// Sets the tokens of the prompt that came from a cache.
    #[must_use]
    pub fn with_cached_content_token_count(mut self, tokens: i64) -> Self {
        self.cached_content_token_count = Some(tokens);
        self
    }

    /// Sets the tokens of hidden reasoning.
    #[must_use]
    pub fn with_thoughts_token_count(mut self, tokens: i64) -> Self {
        self.thoughts_token_count = Some(tokens);
        self
    }

    /// Sets the tokens of tool results in the prompt.
    #[must_use]
    pub fn with_tool_use_prompt_token_count(mut self, tokens: i64) -> Self {
        self.tool_use_prompt_token_count = Some(tokens);
        self
    }

    /// Sets a field that has no name here, in ADK's spelling.
    #[must_use]
    pub fn with_other(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.other.insert(key, value);
        self
    }
}

/// Instructions and tools of the agents that took part in a turn.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct AppDetails {
    /// By agent name, in order.
    pub agent_details: Vec<(String, AgentDetails)>,
}

impl AppDetails {
    /// Adds an agent under its name, or replaces the one of that name.
    #[must_use]
    pub fn with_agent(mut self, agent: AgentDetails) -> Self {
        match self.agent_details.iter_mut().find(|(name, _)| *name == agent.name) {
            Some((_, old)) => *old = agent,
            None => self.agent_details.push((agent.name.clone(), agent)),
        }
        self
    }
}

/// Instructions and tools of one agent.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct AgentDetails {
    /// The agent's name.
    pub name: String,
    /// Its instructions.
    pub instructions: String,
    /// Its tools, as the provider declares them.
    pub tool_declarations: Vec<Value>,
}

impl AgentDetails {
    /// An agent without tools.
    pub fn new(name: impl Into<String>, instructions: impl Into<String>) -> Self {
        Self { name: name.into(), instructions: instructions.into(), ..Self::default() }
    }

    /// Sets the tools, as the provider declares them.
    #[must_use]
    pub fn with_tool_declarations<T: Into<Value>>(mut self, tools: impl IntoIterator<Item = T>) -> Self {
        self.tool_declarations = tools.into_iter().map(Into::into).collect();
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_the_total_or_the_sum_of_its_parts() {
        for (total, [prompt, tool_use, candidates, thoughts], expected) in [
            (None, [None; 4], None),
            (Some(9), [Some(1); 4], Some(9)),
            (None, [Some(1), Some(20), Some(300), Some(4000)], Some(4321)),
            (None, [None, None, Some(5), None], Some(5)),
        ] {
            let usage = UsageMetadata {
                total_token_count: total,
                prompt_token_count: prompt,
                tool_use_prompt_token_count: tool_use,
                candidates_token_count: candidates,
                thoughts_token_count: thoughts,
                ..UsageMetadata::default()
            };
            assert_eq!(usage.all_tokens(), expected, "{usage:?}");
        }
    }
}
