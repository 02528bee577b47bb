//! Turns: what the user says, and what the agent should do or did.

use super::content::{Content, FunctionCall, FunctionResponse, Part};
use super::rubric::Rubric;
use super::saved::{object, saved, setters, some};
use crate::options::DEFAULT_AUTHOR;
use crate::schema::Record;
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
    /// Tool calls, their responses and texts between the two.
    pub intermediate_data: Option<IntermediateData>,
    /// Seconds since 1970; 0 if unknown, as in ADK.
    pub creation_timestamp: f64,
    /// Seconds that the turn took.
    pub duration: Option<f64>,
    /// Seconds of the turn that models took.
    pub model_duration: Option<f64>,
    /// Seconds of the turn that tools took.
    pub tool_duration: Option<f64>,
    /// The rubrics that a judge checks in this turn.
    pub rubrics: Option<Vec<Rubric>>,
    /// Instructions and tools of the agents that took part; normally only in actual turns.
    pub app_details: Option<AppDetails>,
}

saved! {
    /// The turn in ADK's saved form.
    Invocation: INVOCATION {
        invocation_id, user_content, final_response, intermediate_data, creation_timestamp, duration, model_duration,
        tool_duration, rubrics, app_details
    }
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

    setters! {
        /// Sets the agent's answer.
        response(text: impl Into<String>) { final_response = Some(Content::model(text)) }
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

    setters! {
        /// Sets the agent's answer, of any parts.
        with_final_response(content: Content) { final_response = Some(content) }

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
        with_intermediate_data(data: IntermediateData) { intermediate_data = Some(data) }

        /// Sets the rubrics that a judge checks in this turn.
        with_rubrics(rubrics: impl IntoIterator<Item = Rubric>) { rubrics = Some(rubrics.into_iter().collect()) }

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
        with_app_details(details: AppDetails) { app_details = Some(details) }

        /// Sets the id.
        with_invocation_id(id: impl Into<String>) { invocation_id = id.into() }

        /// Sets when the turn was, in seconds since 1970.
        with_creation_timestamp(seconds: f64) { creation_timestamp = seconds }

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
        with_duration(seconds: f64) { duration = Some(seconds) }

        /// Sets the seconds that models took.
        with_model_duration(seconds: f64) { model_duration = Some(seconds) }

        /// Sets the seconds that tools took.
        with_tool_duration(seconds: f64) { tool_duration = Some(seconds) }
    }

    /// The tool calls in order: the flat list, or the calls in the parts of the events.
    pub fn tool_calls(&self) -> impl Iterator<Item = &FunctionCall> {
        let flat = match &self.intermediate_data {
            Some(IntermediateData::Tools { tool_uses, .. }) => tool_uses.as_slice(),
            _ => &[],
        };
        flat.iter().chain(self.parts_of_events().filter_map(|part| part.function_call.as_ref()))
    }

    /// The parts of all events; none in the flat form.
    pub(super) fn parts_of_events(&self) -> impl Iterator<Item = &Part> {
        self.events().iter().filter_map(|event| event.content.as_ref()).flat_map(Content::parts)
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

/// Tool calls, their responses and texts between question and answer, in one of ADK's two forms.
#[derive(Clone, Debug, PartialEq)]
pub enum IntermediateData {
    /// The flat form (`IntermediateData` in ADK): separate lists. The order between entries of different
    /// lists is unknown.
    Tools {
        /// The calls, in order.
        tool_uses: Vec<FunctionCall>,
        /// The answers, in order.
        tool_responses: Vec<FunctionResponse>,
        /// The texts of agents and sub-agents before the answer: author and parts.
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

/// An object without keys is the flat form.
impl From<Record> for IntermediateData {
    fn from(mut record: Record) -> Self {
        if record.model.has("invocation_events") {
            return Self::Events(record.take("invocation_events").unwrap_or_default());
        }
        Self::Tools {
            tool_uses: record.take("tool_uses").unwrap_or_default(),
            tool_responses: record.take("tool_responses").unwrap_or_default(),
            intermediate_responses: record.take("intermediate_responses").unwrap_or_default(),
        }
    }
}

impl IntermediateData {
    /// The data in ADK's saved form. An empty list of events is written as `{}`, which reads back as the flat form.
    pub fn to_value(&self) -> Value {
        Value::Object(match self {
            Self::Tools { tool_uses, tool_responses, intermediate_responses } => object([
                ("tool_uses", some(tool_uses)),
                ("tool_responses", some(tool_responses)),
                ("intermediate_responses", some(intermediate_responses)),
            ]),
            Self::Events(events) => object([("invocation_events", some(events))]),
        })
    }
}

saved!(IntermediateData);

/// One event of a turn.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct InvocationEvent {
    /// The agent that said or did it.
    pub author: String,
    /// Its words and actions.
    pub content: Option<Content>,
    /// Tokens of the model call behind it.
    pub usage_metadata: Option<UsageMetadata>,
    /// The version of the model behind it.
    pub model_version: Option<String>,
    /// `grounding_metadata`, checked and in ADK's spelling and order.
    pub grounding_metadata: Option<Map>,
}

saved! {
    /// The event in ADK's saved form.
    InvocationEvent: INVOCATION_EVENT { author, content, usage_metadata, model_version, grounding_metadata }
}

impl InvocationEvent {
    /// An event that has an author only.
    pub fn new(author: impl Into<String>) -> Self {
        Self { author: author.into(), ..Self::default() }
    }

    setters! {
        /// Sets what the agent said or did.
        with_content(content: Content) { content = Some(content) }

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
        with_usage_metadata(usage: UsageMetadata) { usage_metadata = Some(usage) }

        /// Sets the version of the model behind it.
        with_model_version(version: impl Into<String>) { model_version = Some(version.into()) }

        /// Sets what the model looked up, in ADK's spelling.
        with_grounding_metadata(grounding: Map) { grounding_metadata = Some(grounding) }
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

saved! {
    /// The counts in ADK's saved form.
    UsageMetadata: USAGE_METADATA {
        prompt_token_count, candidates_token_count, total_token_count, cached_content_token_count,
        thoughts_token_count, tool_use_prompt_token_count, ..other
    }
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

    setters! {
        /// Sets the tokens of the prompt.
        with_prompt_token_count(tokens: i64) { prompt_token_count = Some(tokens) }

        /// Sets the tokens of the answer.
        with_candidates_token_count(tokens: i64) { candidates_token_count = Some(tokens) }

        /// Sets the provider's own total.
        with_total_token_count(tokens: i64) { total_token_count = Some(tokens) }

        /// Sets the tokens of the prompt that came from a cache.
        with_cached_content_token_count(tokens: i64) { cached_content_token_count = Some(tokens) }

        /// Sets the tokens of hidden reasoning.
        with_thoughts_token_count(tokens: i64) { thoughts_token_count = Some(tokens) }

        /// Sets the tokens of tool results in the prompt.
        with_tool_use_prompt_token_count(tokens: i64) { tool_use_prompt_token_count = Some(tokens) }

        /// Sets a key of `other`, in ADK's spelling.
        with_other(key: impl Into<String>, value: impl Into<Value>) { other.insert(key, value) }
    }
}

/// Instructions and tools of the agents that took part in a turn.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct AppDetails {
    /// By agent name, in order.
    pub agent_details: Vec<(String, AgentDetails)>,
}

impl From<Record> for AppDetails {
    fn from(mut record: Record) -> Self {
        Self { agent_details: record.take("agent_details").unwrap_or_default() }
    }
}

saved!(AppDetails);

impl AppDetails {
    /// The details in ADK's saved form.
    pub fn to_value(&self) -> Value {
        let agents = self.agent_details.iter().map(|(name, agent)| (name.clone(), agent.to_value()));
        let agents = Value::Object(Map::from_unique(agents.collect()));
        let is_empty = self.agent_details.is_empty();
        Value::Object(object([("agent_details", (!is_empty).then_some(agents))]))
    }

    /// Adds an agent under its name, or replaces the agent of that name.
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

saved! {
    /// The agent's details in ADK's saved form.
    AgentDetails: AGENT_DETAILS { name, instructions, tool_declarations }
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
