//! The typed model as ADK saves it: fields in ADK's order, without those that are `null` or have their default.

#[cfg(feature = "export")]
mod full;

use serde_core::{Serialize, Serializer};

use crate::model::{
    AgentDetails, AppDetails, Content, ConversationScenario, EvalCase, EvalSet, FunctionCall,
    FunctionResponse, IntermediateData, Invocation, InvocationEvent, Part, Persona, Rubric, SessionInput,
    UsageMetadata, UserBehavior, UserPersona,
};
use crate::schema::{self, Model, Spelling};
use crate::value::{Map, Value, to_pretty};

impl EvalSet {
    /// The set as ADK writes its files: indented by two, without what is default or absent.
    ///
    /// ```
    /// use eval_format::{EvalCase, EvalSet, Invocation};
    ///
    /// let set = EvalSet::new("s").case(EvalCase::new("c").turn(Invocation::user("Hi")));
    /// assert!(set.to_json().starts_with("{\n  \"eval_set_id\": \"s\",\n  \"eval_cases\": ["));
    /// ```
    ///
    /// `NaN` and the infinities are written as `null`, as ADK does.
    pub fn to_json(&self) -> String {
        to_pretty(&self.to_value())
    }
}

fn values<T>(items: &[T], to_value: impl Fn(&T) -> Value) -> Value {
    let mut values = Vec::with_capacity(items.len());
    for item in items {
        values.push(to_value(item));
    }
    Value::Array(values)
}

/// Whether a key is the name of a field, in either spelling. An alias is none beside the name.
pub(crate) fn is_field(key: &str, model: &Model) -> bool {
    model.find(key).is_some_and(|(_, spelling)| spelling != Spelling::Alias)
}

/// Collects the fields of one object in order.
#[derive(Default)]
struct Fields(Vec<(String, Value)>);

impl Fields {
    fn put(&mut self, name: &str, value: impl Into<Value>) {
        self.0.push((name.to_owned(), value.into()));
    }

    fn optional(&mut self, name: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.put(name, value);
        }
    }

    fn text(&mut self, name: &str, value: Option<&str>) {
        self.optional(name, value);
    }

    /// A number of seconds whose default is zero.
    fn seconds(&mut self, name: &str, value: f64) {
        if value != 0.0 {
            self.put(name, value);
        }
    }

    fn list<T>(&mut self, name: &str, items: &[T], to_value: impl Fn(&T) -> Value) {
        self.put(name, values(items, to_value));
    }

    /// A list whose default is empty.
    fn some<T>(&mut self, name: &str, items: &[T], to_value: impl Fn(&T) -> Value) {
        if !items.is_empty() {
            self.list(name, items, to_value);
        }
    }

    /// An object whose default is empty.
    fn some_map(&mut self, name: &str, map: &Map) {
        if !map.is_empty() {
            self.put(name, map.clone());
        }
    }

    /// Unknown keys that ADK keeps. It does not write those whose value is `null`. A key that the model knows is none of them:
    /// beside the field it would stand twice, and without the field it would be read as one.
    fn extra(&mut self, extra: &Map, model: &Model) {
        for (key, value) in extra.iter().filter(|(key, value)| !value.is_null() && !is_field(key, model)) {
            self.put(key, value.clone());
        }
    }

    fn finish(self) -> Value {
        Value::Object(Map::from_unique(self.0))
    }

    /// Puts these fields and those of `other` into the order of a model. If both have a key, the field here counts.
    ///
    /// Only the few fields of the model are searched for each key: `other` may have any number of them.
    fn merge(self, other: &Map, model: &Model) -> Value {
        if other.is_empty() {
            return self.finish();
        }
        let mut known: Vec<Option<Value>> = vec![None; model.fields.len()];
        let mut unknown = Vec::new();
        let own = self.0.len();
        let mut all = self.0;
        for (key, value) in other {
            if !value.is_null() && !all[..own].iter().any(|(name, _)| name == key) {
                all.push((key.to_owned(), value.clone()));
            }
        }
        for (key, value) in all {
            match model.fields.iter().position(|field| field.name == key) {
                Some(at) => known[at] = Some(value),
                None => unknown.push((key, value)),
            }
        }
        let mut entries = Vec::with_capacity(known.len() + unknown.len());
        for (field, value) in model.fields.iter().zip(known) {
            if let Some(value) = value {
                entries.push((field.name.to_owned(), value));
            }
        }
        entries.extend(unknown);
        Value::Object(Map::from_unique(entries))
    }
}

impl EvalSet {
    /// The set in ADK's saved form.
    pub fn to_value(&self) -> Value {
        let mut fields = Fields::default();
        fields.put("eval_set_id", self.eval_set_id.as_str());
        fields.text("name", self.name.as_deref());
        fields.text("description", self.description.as_deref());
        fields.list("eval_cases", &self.eval_cases, EvalCase::to_value);
        fields.seconds("creation_timestamp", self.creation_timestamp);
        fields.finish()
    }
}

impl EvalCase {
    /// The case in ADK's saved form.
    pub fn to_value(&self) -> Value {
        let mut fields = Fields::default();
        fields.put("eval_id", self.eval_id.as_str());
        // ADK takes exactly one of the two.
        if self.conversation_scenario.is_none() || !self.conversation.is_empty() {
            fields.list("conversation", &self.conversation, Invocation::to_value);
        }
        let scenario = self.conversation_scenario.as_ref();
        fields.optional("conversation_scenario", scenario.map(ConversationScenario::to_value));
        fields.optional("session_input", self.session_input.as_ref().map(SessionInput::to_value));
        fields.seconds("creation_timestamp", self.creation_timestamp);
        if let Some(rubrics) = &self.rubrics {
            fields.list("rubrics", rubrics, Rubric::to_value);
        }
        fields.some_map("final_session_state", &self.final_session_state);
        fields.extra(&self.extra, &schema::EVAL_CASE);
        fields.finish()
    }
}

impl ConversationScenario {
    /// The scenario in ADK's saved form, except that a ready-made persona stays a name.
    pub fn to_value(&self) -> Value {
        let mut fields = Fields::default();
        fields.put("starting_prompt", self.starting_prompt.as_str());
        fields.put("conversation_plan", self.conversation_plan.as_str());
        fields.optional("user_persona", self.user_persona.as_ref().map(Persona::to_value));
        fields.finish()
    }
}

impl Persona {
    /// The persona in a file: a ready-made one is its name.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Own(persona) => persona.to_value(),
            ready_made => Value::from(ready_made.id()),
        }
    }
}

impl UserPersona {
    /// The persona in ADK's saved form.
    pub fn to_value(&self) -> Value {
        let mut fields = Fields::default();
        fields.put("id", self.id.as_str());
        fields.put("description", self.description.as_str());
        fields.list("behaviors", &self.behaviors, UserBehavior::to_value);
        fields.finish()
    }
}

impl UserBehavior {
    /// The behavior in ADK's saved form.
    pub fn to_value(&self) -> Value {
        let mut fields = Fields::default();
        fields.put("name", self.name.as_str());
        fields.put("description", self.description.as_str());
        let text = |text: &String| Value::from(text.as_str());
        fields.list("behavior_instructions", &self.behavior_instructions, text);
        fields.list("violation_rubrics", &self.violation_rubrics, text);
        fields.finish()
    }
}

impl SessionInput {
    /// The session input in ADK's saved form.
    pub fn to_value(&self) -> Value {
        let mut fields = Fields::default();
        fields.put("app_name", self.app_name.as_str());
        fields.put("user_id", self.user_id.as_str());
        fields.text("session_id", self.session_id.as_deref());
        fields.some_map("state", &self.state);
        fields.extra(&self.extra, &schema::SESSION_INPUT);
        fields.finish()
    }
}

impl Rubric {
    /// The rubric in ADK's saved form.
    pub fn to_value(&self) -> Value {
        let mut content = Fields::default();
        content.text("text_property", self.text_property.as_deref());
        let mut fields = Fields::default();
        fields.put("rubric_id", self.rubric_id.as_str());
        fields.put("rubric_content", content.finish());
        fields.text("description", self.description.as_deref());
        fields.text("type", self.kind.as_deref());
        fields.finish()
    }
}

impl Invocation {
    /// The turn in ADK's saved form.
    pub fn to_value(&self) -> Value {
        let mut fields = Fields::default();
        if !self.invocation_id.is_empty() {
            fields.put("invocation_id", self.invocation_id.as_str());
        }
        fields.put("user_content", self.user_content.to_value());
        fields.optional("final_response", self.final_response.as_ref().map(Content::to_value));
        fields.optional("intermediate_data", self.intermediate_data.as_ref().map(IntermediateData::to_value));
        fields.seconds("creation_timestamp", self.creation_timestamp);
        fields.optional("duration", self.duration);
        fields.optional("model_duration", self.model_duration);
        fields.optional("tool_duration", self.tool_duration);
        if let Some(rubrics) = &self.rubrics {
            fields.list("rubrics", rubrics, Rubric::to_value);
        }
        fields.optional("app_details", self.app_details.as_ref().map(AppDetails::to_value));
        fields.finish()
    }
}

impl IntermediateData {
    /// The data in ADK's saved form. An empty list of events is written as `{}`, which reads back as the flat form.
    pub fn to_value(&self) -> Value {
        let mut fields = Fields::default();
        match self {
            Self::Tools { tool_uses, tool_responses, intermediate_responses } => {
                fields.some("tool_uses", tool_uses, FunctionCall::to_value);
                fields.some("tool_responses", tool_responses, FunctionResponse::to_value);
                fields.some("intermediate_responses", intermediate_responses, |(author, parts)| {
                    Value::Array(vec![Value::from(author.as_str()), values(parts, Part::to_value)])
                });
            }
            Self::Events(events) => fields.some("invocation_events", events, InvocationEvent::to_value),
        }
        fields.finish()
    }
}

impl InvocationEvent {
    /// The event in ADK's saved form.
    pub fn to_value(&self) -> Value {
        let mut fields = Fields::default();
        fields.put("author", self.author.as_str());
        fields.optional("content", self.content.as_ref().map(Content::to_value));
        fields.optional("grounding_metadata", self.grounding_metadata.clone());
        fields.optional("usage_metadata", self.usage_metadata.as_ref().map(UsageMetadata::to_value));
        fields.text("model_version", self.model_version.as_deref());
        fields.finish()
    }
}

impl UsageMetadata {
    /// The counts in ADK's saved form.
    pub fn to_value(&self) -> Value {
        let mut fields = Fields::default();
        fields.optional("cached_content_token_count", self.cached_content_token_count);
        fields.optional("candidates_token_count", self.candidates_token_count);
        fields.optional("prompt_token_count", self.prompt_token_count);
        fields.optional("thoughts_token_count", self.thoughts_token_count);
        fields.optional("tool_use_prompt_token_count", self.tool_use_prompt_token_count);
        fields.optional("total_token_count", self.total_token_count);
        fields.merge(&self.other, &schema::USAGE_METADATA)
    }
}

impl Content {
    /// The message in ADK's saved form.
    pub fn to_value(&self) -> Value {
        let mut fields = Fields::default();
        if let Some(parts) = &self.parts {
            fields.list("parts", parts, Part::to_value);
        }
        fields.text("role", self.role.as_deref());
        fields.finish()
    }
}

impl Part {
    /// The part in ADK's saved form.
    pub fn to_value(&self) -> Value {
        let mut fields = Fields::default();
        fields.optional("function_call", self.function_call.as_ref().map(FunctionCall::to_value));
        fields.optional("function_response", self.function_response.as_ref().map(FunctionResponse::to_value));
        fields.text("text", self.text.as_deref());
        fields.optional("thought", self.thought);
        fields.merge(&self.other, &schema::PART)
    }
}

impl FunctionCall {
    /// The call in ADK's saved form.
    pub fn to_value(&self) -> Value {
        let mut fields = Fields::default();
        fields.text("id", self.id.as_deref());
        fields.optional("args", self.args.clone());
        fields.text("name", self.name.as_deref());
        fields.merge(&self.other, &schema::FUNCTION_CALL)
    }
}

impl FunctionResponse {
    /// The answer in ADK's saved form.
    pub fn to_value(&self) -> Value {
        let mut fields = Fields::default();
        fields.text("id", self.id.as_deref());
        fields.text("name", self.name.as_deref());
        fields.optional("response", self.response.clone());
        fields.merge(&self.other, &schema::FUNCTION_RESPONSE)
    }
}

impl AppDetails {
    /// The details in ADK's saved form.
    pub fn to_value(&self) -> Value {
        let mut fields = Fields::default();
        if !self.agent_details.is_empty() {
            let mut agents = Fields::default();
            self.agent_details.iter().for_each(|(name, agent)| agents.put(name, agent.to_value()));
            fields.put("agent_details", agents.finish());
        }
        fields.finish()
    }
}

impl AgentDetails {
    /// The agent's details in ADK's saved form.
    pub fn to_value(&self) -> Value {
        let mut fields = Fields::default();
        fields.put("name", self.name.as_str());
        if !self.instructions.is_empty() {
            fields.put("instructions", self.instructions.as_str());
        }
        fields.some("tool_declarations", &self.tool_declarations, Value::clone);
        fields.finish()
    }
}

/// Serialises each type as its value in ADK's saved form.
macro_rules! serialize {
    ($($kind:ty),*) => {
        $(impl Serialize for $kind {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.to_value().serialize(serializer)
            }
        })*
    };
}

serialize!(EvalSet, EvalCase, Invocation, InvocationEvent, Content, FunctionCall, FunctionResponse);

#[cfg(test)]
mod tests {
    use super::*;

    /// The same, key by key.
    fn merged_one_by_one(fields: Fields, other: &Map, model: &Model) -> Value {
        let mut all = Map::from_unique(fields.0);
        for (key, value) in other.iter().filter(|(_, value)| !value.is_null()) {
            if !all.contains_key(key) {
                all.insert(key, value.clone());
            }
        }
        let mut merged = Map::new();
        for field in model.fields {
            if let Some(value) = all.remove(field.name) {
                merged.insert(field.name, value);
            }
        }
        merged.extend(all);
        Value::Object(merged)
    }

    #[test]
    fn a_key_that_is_a_field_is_never_written_as_an_extra_one() {
        let session =
            SessionInput::new("shop", "anna").with_extra("userId", "bob").with_extra("tier", "gold");
        let case = EvalCase::new("c")
            .turn(Invocation::user("Hi"))
            .with_session_input(session)
            .with_extra("eval_id", "other")
            .with_extra("conversationScenario", "none")
            .with_extra("id", 7_i64)
            .with_extra("owner", "me");
        let text = EvalSet::new("s").case(case).to_json();
        let read = EvalSet::parse(&text).unwrap_or_else(|problems| panic!("{problems}"));
        let case = &read.eval_cases[0];
        assert_eq!((case.eval_id.as_str(), case.conversation.len()), ("c", 1), "{text}");
        let session = case.session_input.as_ref().unwrap();
        assert_eq!(
            (session.user_id.as_str(), session.extra.len(), case.extra.len()),
            ("anna", 1, 2),
            "{text}"
        );
    }

    #[test]
    fn fields_stand_in_the_order_of_the_model_before_all_others() {
        let model = &schema::PART;
        let last = model.fields.len() - 1;
        for unknown in [0, 1, 15, 300] {
            let mut other = Map::new();
            for at in 0..unknown {
                other.insert(format!("x{}", (at * 7919) % 1000), at.to_string());
            }
            // The order of a file, a key that is there already, and one that says nothing.
            other.insert(model.fields[last].name, "last");
            other.insert(model.fields[0].name, "first");
            other.insert("text", "of the file");
            other.insert("nothing", Value::Null);
            let fields = || {
                let mut fields = Fields::default();
                fields.put("text", "own");
                fields.put("of no model", true);
                fields
            };
            let merged = fields().merge(&other, model);
            // As text, since objects are equal in any order.
            assert_eq!(merged.to_string(), merged_one_by_one(fields(), &other, model).to_string());
            assert_eq!(merged["text"].as_str(), Some("own"));
            assert_eq!(merged.as_object().map(Map::len), Some(unknown + 4));
        }
    }
}
