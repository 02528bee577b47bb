use std::time::Duration;

use eval_format::{Content, FunctionCall, Map, Part, UsageMetadata};

/// One thing that happened in a turn, in ADK's terms.
///
/// ```
/// use eval_core::Content;
/// use eval_core::agent::Event;
///
/// let event = Event::new("weather_agent", Content::model("It is sunny."));
/// assert!(event.is_final());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Event {
    /// The agent that said or did it. Events of the author `user`, in any case, are not the agent's and are ignored.
    pub author: String,
    /// What it said or did.
    pub content: Option<Content>,
    /// Tokens of the model call behind it.
    pub usage: Option<UsageMetadata>,
    /// The version of the model behind it.
    pub model_version: Option<String>,
    /// Grounding metadata, in ADK's spelling.
    pub grounding_metadata: Option<Map>,
    /// Changes to the session state.
    pub state_delta: Map,
    /// The model's error, if the call failed.
    pub error_code: Option<String>,
    /// What the model said about its error.
    pub error_message: Option<String>,
    /// A fragment of a streamed answer; the whole follows in an event of its own.
    pub partial: bool,
    /// The tool's result is the answer, as it is.
    pub skip_summarization: bool,
    /// Calls whose results come later, outside the turn.
    pub long_running_tool_ids: Vec<String>,
    /// Time since the turn began; set when it is recorded.
    pub at: Duration,
}

impl Event {
    /// An event with content.
    pub fn new(author: impl Into<String>, content: Content) -> Self {
        Self { author: author.into(), content: Some(content), ..Self::default() }
    }

    /// An event that reports an error of the model.
    pub fn error(author: impl Into<String>, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            author: author.into(),
            error_code: Some(code.into()),
            error_message: Some(message.into()),
            ..Self::default()
        }
    }

    /// The parts of the content; none where it is absent.
    pub fn parts(&self) -> &[Part] {
        self.content.as_ref().map(Content::parts).unwrap_or_default()
    }

    /// The tool calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &FunctionCall> {
        self.parts().iter().filter_map(|part| part.function_call.as_ref())
    }

    /// Whether this event can be the answer of its turn.
    ///
    /// ADK's rule (`Event.is_final_response`): the result of a tool that is not to be
    /// summarised, a call whose result comes later, an error, or content without calls, results
    /// and trailing code results that is not a fragment.
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

    /// Whether it is the user's own; ADK does not look at the case of the author.
    pub(crate) fn is_users(&self) -> bool {
        self.author.eq_ignore_ascii_case("user")
    }

    /// Whether there is anything a user would see: text, a call, a result, data.
    pub(crate) fn says_something(&self) -> bool {
        self.parts().iter().any(|part| {
            part.text.as_deref().is_some_and(|text| !text.is_empty())
                || part.function_call.is_some()
                || part.function_response.is_some()
                || !part.other.is_empty()
        })
    }

    /// Whether there is text.
    pub(crate) fn has_text(&self) -> bool {
        self.parts().iter().any(|part| part.text.as_deref().is_some_and(|text| !text.is_empty()))
    }
}

/// An answer of text, from the agent named `agent`.
impl From<&str> for Event {
    fn from(text: &str) -> Self {
        Self::new("agent", Content::model(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eval_format::{FunctionResponse, json};

    fn of(parts: Vec<Part>) -> Event {
        Event::new("a", Content::new("model", parts))
    }

    #[test]
    fn what_is_final_follows_adk() {
        let call = Part::call(FunctionCall::new("f", json!({})));
        let result = Part::response(FunctionResponse::new("f", json!({})));
        let code = Part { other: Map::from([("code_execution_result", Map::new())]), ..Part::default() };
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
