//! Events: what happens in a turn.

use std::time::Duration;

use eval_format::options::DEFAULT_AUTHOR;
use eval_format::{Content, FunctionCall, InvocationEvent, Map, Part, UsageMetadata, Value};
use eval_support::message::cut;
use eval_support::setters;
use eval_support::untrusted::is_invisible;

/// The most characters of a text that are shown in one line about an event.
const MAX_SHOWN_CHARS: usize = 80;

/// One thing that happened in a turn, in ADK's terms.
///
/// ```
/// use eval_core::agent::Event;
/// use eval_core::format::Content;
///
/// let event = Event::new("weather_agent", Content::model("It is sunny.")).with_state("last_city", "Paris");
/// assert!(event.is_final());
///
/// let overloaded = Event::error("weather_agent", "429", "quota exceeded");
/// assert_eq!(overloaded.error_code.as_deref(), Some("429"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Event {
    /// The agent that said or did it. As in ADK, events of the author `user` (in upper or lower case) are not
    /// scored, so a tool call in one is an error.
    pub author: String,
    /// Its words and actions.
    pub content: Option<Content>,
    /// The tokens of the model call behind it.
    pub usage: Option<UsageMetadata>,
    /// The version of the model behind it.
    pub model_version: Option<String>,
    /// Grounding metadata, in ADK's spelling.
    pub grounding_metadata: Option<Map>,
    /// Changes of the session state.
    pub state_delta: Map,
    /// The model's error code, if the call failed.
    pub error_code: Option<String>,
    /// The model's error message, if the call failed.
    pub error_message: Option<String>,
    /// Whether this is a fragment of a streamed answer. Fragments are not scored: the whole answer follows in
    /// an event of its own. A call in a fragment is an error unless a whole event repeats it.
    pub partial: bool,
    /// Whether the tool's result is the answer as it is, without a summary by the model.
    pub skip_summarization: bool,
    /// The ids of calls whose results come later, outside the turn.
    pub long_running_tool_ids: Vec<String>,
    /// Time since the turn began. The recorder sets it.
    pub at: Duration,
}

impl Event {
    /// An event with content.
    pub fn new(author: impl Into<String>, content: Content) -> Self {
        Self { content: Some(content), ..Self::empty(author) }
    }

    /// An event without content, for tokens or changes of the state alone.
    ///
    /// ```
    /// use eval_core::agent::Event;
    /// use eval_core::format::UsageMetadata;
    ///
    /// let mut usage = UsageMetadata::default();
    /// usage.prompt_token_count = Some(812);
    /// let event = Event::empty("weather_agent").with_usage(usage).with_state("last_city", "Paris");
    /// assert_eq!(event.content, None);
    /// ```
    pub fn empty(author: impl Into<String>) -> Self {
        Self { author: author.into(), ..Self::default() }
    }

    /// An event that reports an error of the model.
    pub fn error(author: impl Into<String>, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { error_code: Some(code.into()), error_message: Some(message.into()), ..Self::empty(author) }
    }

    setters! {
        /// Adds the tokens of the model call.
        with_usage(usage: UsageMetadata) { usage = Some(usage) }

        /// Adds the version of the model.
        with_model_version(version: impl Into<String>) { model_version = Some(version.into()) }

        /// Adds grounding metadata.
        with_grounding_metadata(metadata: Map) { grounding_metadata = Some(metadata) }

        /// Adds a change of the session state.
        with_state(key: impl Into<String>, value: impl Into<Value>) { state_delta.insert(key, value) }

        /// Says whether the event is a fragment of a streamed answer.
        with_partial(partial: bool) { partial = partial }

        /// Says whether the tool's result is the answer as it is.
        with_skip_summarization(skip: bool) { skip_summarization = skip }

        /// Adds the id of a call whose result comes later, outside the turn.
        with_long_running_tool(call_id: impl Into<String>) { long_running_tool_ids.push(call_id.into()) }
    }

    /// The event in the form of eval sets, with this content.
    #[doc(hidden)]
    pub fn to_invocation_event(&self, content: Option<Content>) -> InvocationEvent {
        let mut kept = InvocationEvent::new(&self.author);
        kept.content = content;
        kept.usage_metadata.clone_from(&self.usage);
        kept.model_version.clone_from(&self.model_version);
        kept.grounding_metadata.clone_from(&self.grounding_metadata);
        kept
    }

    pub(super) fn from_set(kept: &InvocationEvent) -> Self {
        Self {
            content: kept.content.clone(),
            usage: kept.usage_metadata.clone(),
            model_version: kept.model_version.clone(),
            grounding_metadata: kept.grounding_metadata.clone(),
            ..Self::empty(&kept.author)
        }
    }

    /// Whether the event belongs to a call of a model. A set keeps it even without content, to count each
    /// call.
    pub(crate) fn is_of_a_model_call(&self) -> bool {
        self.usage.is_some() || self.model_version.is_some() || self.grounding_metadata.is_some()
    }

    /// The parts of the content; empty if there is no content.
    pub fn parts(&self) -> &[Part] {
        self.content.as_ref().map(Content::parts).unwrap_or_default()
    }

    /// The tool calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &FunctionCall> {
        self.parts().iter().filter_map(|part| part.function_call.as_ref())
    }

    /// Whether this event can be the answer of its turn.
    ///
    /// The rule is ADK's (`Event.is_final_response`). These can be the answer:
    ///
    /// - the result of a tool that is not summarized
    /// - a call whose result comes later
    /// - an error
    /// - content that is no fragment, without calls and results, and without a code result at its end
    pub fn is_final(&self) -> bool {
        if self.skip_summarization || !self.long_running_tool_ids.is_empty() {
            return true;
        }
        if self.partial || self.calls().next().is_some() {
            return false;
        }
        let responds = self.parts().iter().any(|part| part.function_response.is_some());
        let ends_in_code_result =
            self.parts().last().is_some_and(|part| part.other.contains_key("code_execution_result"));
        self.error_code.is_some() || (!responds && !ends_in_code_result)
    }

    /// The event in one line: its first call, else its first result or text, else its first change of the
    /// state.
    pub(crate) fn in_short(&self) -> String {
        let of_part = |part: &Part| {
            if let Some(call) = &part.function_call {
                return Some(format!("the call `{}`", one_line(&call.to_string())));
            }
            if let Some(response) = &part.function_response {
                let name = response.name.as_deref().unwrap_or("(no name)");
                let result = Value::from(response.response.clone().unwrap_or_default()).to_string();
                return Some(format!("the result of `{}`, {}", one_line(name), one_line(&result)));
            }
            let text = part.text.as_deref().filter(|text| !text.is_empty())?;
            Some(format!("the text {:?}", cut(text, MAX_SHOWN_CHARS)))
        };
        let calls = || self.parts().iter().filter(|part| part.function_call.is_some());
        if let Some(said) = calls().chain(self.parts()).find_map(of_part) {
            return said;
        }
        if let Some(key) = self.state_delta.keys().next() {
            return format!("a change of the state `{}`", one_line(key));
        }
        match (&self.error_code, &self.usage) {
            (Some(code), _) => format!("the error {}", one_line(code)),
            (None, Some(_)) => "the tokens of a model call".to_owned(),
            (None, None) => format!("an event of `{}`", one_line(&self.author)),
        }
    }

    /// Whether the event is the user's. As in ADK, the case of the author does not matter.
    #[doc(hidden)]
    pub fn is_users(&self) -> bool {
        self.author.eq_ignore_ascii_case("user")
    }

    /// Whether the event holds anything that a user would see: text, a call, a result, data.
    pub(crate) fn says_something(&self) -> bool {
        let does = |part: &Part| {
            part.function_call.is_some() || part.function_response.is_some() || !part.other.is_empty()
        };
        self.has_text() || self.parts().iter().any(does)
    }

    pub(crate) fn has_text(&self) -> bool {
        self.parts().iter().any(|part| part.text.as_deref().is_some_and(|text| !text.is_empty()))
    }
}

fn one_line(text: &str) -> String {
    cut(text, MAX_SHOWN_CHARS).replace('\n', "\\n")
}

/// A text of the agent named `agent`.
impl From<&str> for Event {
    fn from(text: &str) -> Self {
        Self::new(DEFAULT_AUTHOR, Content::model(text))
    }
}

const ABOUT_TEXT: &[&str] = &["thought_signature", "part_metadata", "media_processing"];

/// Whether a user would see anything of the part: text that is no thought and not blank, a call, a result, data.
pub fn shows_something(part: &Part) -> bool {
    has_visible_text(part) || other_than_text(part).is_some()
}

/// Whether the part has text that is no thought and not blank.
pub(super) fn has_visible_text(part: &Part) -> bool {
    part.thought != Some(true) && part.text.as_deref().is_some_and(|text| !is_blank(text))
}

/// The key of something in a part that is not text; `None` if there is nothing else.
pub(super) fn other_than_text(part: &Part) -> Option<&str> {
    let call = part.function_call.as_ref().map(|_| "function_call");
    let response = part.function_response.as_ref().map(|_| "function_response");
    let other = || part.other.keys().find(|key| !ABOUT_TEXT.contains(key));
    call.or(response).or_else(other)
}

/// Whether a text shows nothing: white space, controls, and characters without a shape of their own.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c.is_control() || is_invisible(c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use eval_format::FunctionResponse;
    use serde_json::json;

    fn of(parts: Vec<Part>) -> Event {
        Event::new("a", Content::new("model", parts))
    }

    #[test]
    fn what_is_final_follows_adk() {
        let call = Part::call(FunctionCall::new("f", json!({})));
        let result = Part::response(FunctionResponse::new("f", json!({})));
        let code = Part::default().with_other("code_execution_result", Map::new());
        let long_running = Event { long_running_tool_ids: vec!["1".to_owned()], ..of(vec![call.clone()]) };
        for (event, expected, what) in [
            (of(vec![Part::text("x")]), true, "text"),
            (of(vec![]), true, "no parts"),
            (of(vec![Part::text("x"), call.clone()]), false, "a call"),
            (of(vec![result.clone()]), false, "a result"),
            (Event { skip_summarization: true, ..of(vec![result]) }, true, "a result that is the answer"),
            (long_running, true, "a long-running call"),
            (Event { partial: true, ..of(vec![Part::text("x")]) }, false, "a fragment"),
            (of(vec![Part::text("x"), code.clone()]), false, "a trailing code result"),
            (of(vec![code, Part::text("x")]), true, "text after a code result"),
            (Event::error("a", "500", ""), true, "an error"),
            (Event { error_code: Some("x".to_owned()), ..of(vec![call]) }, false, "an error with a call"),
        ] {
            assert_eq!(event.is_final(), expected, "{what}");
        }
    }
}

#[cfg(test)]
mod shown_tests {
    use eval_format::Map;

    use super::*;

    #[test]
    fn white_space_and_characters_without_a_shape_are_blank() {
        for blank in ["", "\n", " \t\r\n", "\u{200b}", "\u{feff}\u{2060}", "\u{3164}", "\u{a0}\u{2028}", "\0"]
        {
            assert!(is_blank(blank), "{blank:?}");
        }
        for text in [".", "0", "-", "\u{200b}a", "\u{1f600}", "\u{e9}", "\u{202e}x"] {
            assert!(!is_blank(text), "{text:?}");
        }
    }

    #[test]
    fn a_thought_a_blank_and_a_signature_show_nothing() {
        let mut thought = Part::text("It may be sunny.");
        thought.thought = Some(true);
        let signed = Part::default().with_other("thought_signature", "c2ln");
        for part in [Part::default(), Part::text("\n"), thought, signed] {
            assert!(!shows_something(&part), "{part:?}");
        }
        let image = Part::default().with_other("inline_data", Map::new());
        for part in [Part::text("x"), image] {
            assert!(shows_something(&part), "{part:?}");
        }
    }
}
