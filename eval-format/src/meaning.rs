//! The meaning of a case: a hash of its questions, and a hash of its expectations.

use eval_support::hash::block_hash;

use crate::model::{
    AppDetails, Content, ConversationScenario, EvalCase, FunctionCall, FunctionResponse, IntermediateData,
    Invocation, InvocationEvent, Part, Persona, Rubric, SessionInput, TAGS,
};
use crate::value::{Map, Number, Value};

/// The hashes of what a case asks and of what it expects.
///
/// ```
/// use eval_format::{EvalCase, Invocation, Meaning};
///
/// let case = |id: &str, answer: &str| EvalCase::new(id).turn(Invocation::user("Paris?").response(answer));
/// let sunny = Meaning::from_case(&case("a", "It is sunny."));
///
/// assert_eq!(sunny, Meaning::from_case(&case("b", "It is sunny.")));
/// let rainy = Meaning::from_case(&case("a", "It rains."));
/// assert!(sunny.asks == rainy.asks && sunny.expects != rainy.expects);
/// ```
///
/// The hashes are of values. Neither depends on the layout of a file, the order of keys, the spelling of
/// fields and numbers, comments, the mark of a draft, tags, times, or the ids of the case, of turns, calls and
/// sessions. The id of a rubric counts, as criteria and prompts use it as a name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Meaning {
    /// The hash of the questions to the agent: the user's message of each turn, the session, the scenario, the faults of
    /// its tools and of its models. 16 hexadecimal digits.
    pub asks: String,
    /// The hash of the expectations: answers, calls, rubrics, session state, what may vary in them (`_expect`) and the
    /// criteria of the case (`_criteria`), and keys that only the case's author or a metric of the user's own knows. 16
    /// hexadecimal digits.
    pub expects: String,
}

impl Meaning {
    /// The meaning of a case as its file has it, without a session file.
    pub fn from_case(case: &EvalCase) -> Self {
        // Here and below each field is named. A new field is no extra key any more, so it must not compile
        // until it is hashed or ignored here.
        let EvalCase {
            eval_id: _,
            conversation,
            conversation_scenario,
            session_input,
            creation_timestamp: _,
            rubrics,
            final_session_state,
            extra,
        } = case;
        let (mut asks, mut expects) = (Canonical::default(), Canonical::default());
        asks.list(conversation, |out, turn| out.parts(turn.user_content.parts.as_deref()));
        asks.optional("scenario", conversation_scenario.as_ref(), Canonical::scenario);
        asks.optional("session", session_input.as_ref(), Canonical::session);
        expects.list(conversation, Canonical::expected);
        expects.optional("rubrics", rubrics.as_ref(), |out, rubrics| out.list(rubrics, Canonical::rubric));
        expects.some_map("state", final_session_state);
        expects.extra(extra, &[TAGS]);
        for key in [EvalCase::EXPECT_KEY, EvalCase::CRITERIA_KEY] {
            expects.optional(key, extra.get(key).filter(|value| !value.is_null()), Canonical::value);
        }
        // A fault changes what the agent is told, as a message of the user does.
        for (name, key) in [("tools", EvalCase::TOOLS_KEY), ("models", EvalCase::MODELS_KEY)] {
            asks.optional(name, extra.get(key).filter(|faults| !faults.is_null()), Canonical::value);
        }
        Self { asks: asks.hash(), expects: expects.hash() }
    }
}

/// A text that is equal for two values only if they mean the same. Strings are written after their length,
/// and keys are sorted.
#[derive(Default)]
struct Canonical(String);

impl Canonical {
    fn hash(&self) -> String {
        format!("{:016x}", block_hash(self.0.as_bytes()))
    }

    fn text(&mut self, text: &str) {
        self.0.push_str(&text.len().to_string());
        self.0.push(':');
        self.0.push_str(text);
    }

    fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.0.push('[');
        for item in items {
            write(self, item);
            self.0.push(',');
        }
        self.0.push(']');
    }

    /// Writes a field. An absent field is not written.
    fn optional<T>(&mut self, name: &str, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        if let Some(value) = value {
            self.text(name);
            write(self, value);
        }
    }

    fn optional_text(&mut self, name: &str, text: Option<&str>) {
        self.optional(name, text, Self::text);
    }

    fn some_map(&mut self, name: &str, map: &Map) {
        self.optional(name, Some(map).filter(|map| !map.is_empty()), Self::map);
    }

    /// A map of the user's own. Each key counts, even if its value is `null`.
    fn map(&mut self, map: &Map) {
        let mut entries: Vec<(&str, &Value)> = map.iter().collect();
        entries.sort_by_key(|(key, _)| *key);
        self.0.push('{');
        for (key, value) in entries {
            self.text(key);
            self.value(value);
        }
        self.0.push('}');
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Array(items) => self.list(items, Self::value),
            Value::Object(map) => self.map(map),
            Value::Bool(bool) => self.0.push(if *bool { 't' } else { 'f' }),
            Value::Number(number) => self.number(number),
            Value::String(text) => self.text(text),
            Value::Null => self.0.push('n'),
        }
    }

    /// A number by its value: `1`, `1.0` and `1e0` are equal.
    fn number(&mut self, number: &Number) {
        self.0.push('#');
        let float = number.as_f64();
        if number.is_integer() {
            self.0.push_str(&number.to_string());
        } else if float == 0.0 {
            self.0.push('0');
        } else if float.fract() == 0.0 {
            self.0.push_str(&format!("{float:.0}"));
        } else {
            self.0.push_str(&float.to_string());
        }
    }

    fn scenario(&mut self, scenario: &ConversationScenario) {
        self.text(&scenario.starting_prompt);
        self.text(&scenario.conversation_plan);
        self.optional("persona", scenario.user_persona.as_ref().map(Persona::to_value), |out, persona| {
            out.value(&persona);
        });
    }

    fn session(&mut self, session: &SessionInput) {
        let SessionInput { app_name, user_id, session_id: _, state, extra } = session;
        self.text(app_name);
        self.text(user_id);
        self.some_map("state", state);
        self.extra(extra, &[]);
    }

    /// Keys that ADK does not know and keeps, without comments and without `selecting` ones.
    fn extra(&mut self, extra: &Map, selecting: &[&str]) {
        let mut known: Vec<(&str, &Value)> = extra.iter().collect();
        known.retain(|(key, value)| !value.is_null() && !key.starts_with('_') && !selecting.contains(key));
        known.sort_by_key(|(key, _)| *key);
        for (key, value) in known {
            self.text(key);
            self.value(value);
        }
    }

    /// The expectations of a turn, without its recorded durations.
    fn expected(&mut self, turn: &Invocation) {
        let Invocation {
            invocation_id: _,
            user_content: _,
            final_response,
            intermediate_data,
            creation_timestamp: _,
            duration: _,
            model_duration: _,
            tool_duration: _,
            rubrics,
            app_details,
        } = turn;
        let answer = final_response.as_ref();
        self.optional("answer", answer, |out, answer| out.parts(answer.parts.as_deref()));
        let data = intermediate_data.as_ref().filter(|data| !is_empty(data));
        self.optional("data", data, Self::intermediate);
        self.optional("rubrics", rubrics.as_ref(), |out, rubrics| out.list(rubrics, Self::rubric));
        let details = app_details.as_ref().map(AppDetails::to_value);
        self.optional("details", details, |out, details| out.value(&details));
    }

    fn intermediate(&mut self, data: &IntermediateData) {
        match data {
            IntermediateData::Tools { tool_uses, tool_responses, intermediate_responses } => {
                self.list(tool_uses, Self::call);
                self.list(tool_responses, Self::response);
                self.list(intermediate_responses, |out, (author, parts)| {
                    out.text(author);
                    out.parts(Some(parts));
                });
            }
            IntermediateData::Events(events) => self.list(events, Self::event),
        }
    }

    /// The event without its model and its token usage, which are not expected.
    fn event(&mut self, event: &InvocationEvent) {
        let InvocationEvent { author, content, usage_metadata: _, model_version: _, grounding_metadata } =
            event;
        self.text(author);
        let content: Option<&Content> = content.as_ref();
        self.optional("content", content, |out, content| out.parts(content.parts.as_deref()));
        self.optional("grounding", grounding_metadata.as_ref(), Self::map);
    }

    fn parts(&mut self, parts: Option<&[Part]>) {
        self.list(parts.unwrap_or_default(), |out, part| {
            let Part { text, thought, function_call, function_response, other } = part;
            out.optional_text("text", text.as_deref());
            out.optional("thought", thought.filter(|thought| *thought), |_, _| {});
            out.optional("call", function_call.as_ref(), Self::call);
            out.optional("response", function_response.as_ref(), Self::response);
            out.some_map("other", other);
        });
    }

    /// `partial_args` and `will_continue` are never compared.
    fn call(&mut self, call: &FunctionCall) {
        let FunctionCall { id: _, args, name, other: _ } = call;
        self.optional_text("name", name.as_deref());
        self.optional("args", args.as_ref(), Self::map);
    }

    fn response(&mut self, response: &FunctionResponse) {
        let FunctionResponse { id: _, name, response, other } = response;
        self.optional_text("name", name.as_deref());
        self.optional("response", response.as_ref(), Self::map);
        self.some_map("other", other);
    }

    fn rubric(&mut self, rubric: &Rubric) {
        let Rubric { rubric_id, text_property, description, kind } = rubric;
        self.text(rubric_id);
        self.optional_text("text", text_property.as_deref());
        self.optional_text("description", description.as_deref());
        self.optional_text("type", kind.as_deref());
    }
}

/// Whether the data expects nothing, as if it were absent.
fn is_empty(data: &IntermediateData) -> bool {
    match data {
        IntermediateData::Tools { tool_uses, tool_responses, intermediate_responses } => {
            tool_uses.is_empty() && tool_responses.is_empty() && intermediate_responses.is_empty()
        }
        IntermediateData::Events(events) => events.is_empty(),
    }
}

#[cfg(test)]
mod tests;
