//! Messages: their parts, tool calls and tool responses.

use std::fmt;

use super::saved::{saved, setters};
use crate::value::{Map, Value};

/// A message: its parts in order, and its author's role.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Content {
    /// The parts. ADK writes an empty list and leaves out an absent one. [`parts`](Self::parts) returns both as empty.
    pub parts: Option<Vec<Part>>,
    /// `user` or `model`; never checked.
    pub role: Option<String>,
}

saved! {
    /// The message in ADK's saved form.
    Content: CONTENT { parts, role }
}

impl Content {
    /// A message of parts.
    pub fn new(role: impl Into<String>, parts: Vec<Part>) -> Self {
        Self { parts: Some(parts), role: Some(role.into()) }
    }

    /// The parts; empty if they are absent.
    pub fn parts(&self) -> &[Part] {
        self.parts.as_deref().unwrap_or_default()
    }

    /// A message of the user.
    pub fn user(text: impl Into<String>) -> Self {
        Self::new("user", vec![Part::text(text)])
    }

    /// A message of the agent.
    pub fn model(text: impl Into<String>) -> Self {
        Self::new("model", vec![Part::text(text)])
    }

    /// The texts of the parts that have one, joined with line breaks: the text that ADK scores.
    ///
    /// Empty texts are left out; texts marked as `thought` are included, as in ADK.
    ///
    /// ```
    /// use eval_format::{Content, Part};
    ///
    /// let content = Content::new("model", vec![Part::text("a"), Part::text(""), Part::text("b")]);
    /// assert_eq!(content.text(), "a\nb");
    /// ```
    pub fn text(&self) -> String {
        let texts = self.parts().iter().filter_map(|part| part.text.as_deref());
        texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
    }
}

/// A part of a message. Any number of its fields may be set.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Part {
    /// Text.
    pub text: Option<String>,
    /// Whether the text is hidden reasoning.
    pub thought: Option<bool>,
    /// A tool call.
    pub function_call: Option<FunctionCall>,
    /// A tool's answer.
    pub function_response: Option<FunctionResponse>,
    /// The other fields that ADK knows (`inline_data`, `file_data`, `executable_code`, ...),
    /// checked and in ADK's spelling and order.
    pub other: Map,
}

saved! {
    /// The part in ADK's saved form.
    Part: PART { text, thought, function_call, function_response, ..other }
}

impl Part {
    /// A part of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    /// A part of text that is hidden reasoning.
    pub fn thought(text: impl Into<String>) -> Self {
        Self { thought: Some(true), ..Self::text(text) }
    }

    /// A part that calls a tool.
    pub fn call(call: FunctionCall) -> Self {
        Self { function_call: Some(call), ..Self::default() }
    }

    /// A part that answers a call.
    pub fn response(response: FunctionResponse) -> Self {
        Self { function_response: Some(response), ..Self::default() }
    }

    setters! {
        /// Sets a key of `other`, in ADK's spelling.
        ///
        /// ```
        /// use eval_format::{Content, Invocation, Part};
        /// use serde_json::json;
        ///
        /// let image = json!({ "file_uri": "gs://photos/sky.png", "mime_type": "image/png" });
        /// let image = Part::default().with_other("file_data", image);
        /// let turn = Invocation::new(Content::new("user", vec![Part::text("What is this?"), image]));
        /// assert_eq!(turn.user_text(), "What is this?");
        /// ```
        with_other(key: impl Into<String>, value: impl Into<Value>) { other.insert(key, value) }
    }
}

/// A tool call.
///
/// ```
/// use eval_format::FunctionCall;
/// use serde_json::json;
///
/// let call = FunctionCall::new("get_weather", json!({ "city": "Paris" }));
/// assert_eq!(call.to_string(), r#"get_weather(city: "Paris")"#);
/// ```
///
/// ADK distinguishes absent `args` from empty ones. So `None` and an empty object differ here too.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct FunctionCall {
    /// Chosen by the server; never compared.
    pub id: Option<String>,
    /// The arguments.
    pub args: Option<Map>,
    /// The tool.
    pub name: Option<String>,
    /// `partial_args` and `will_continue`, checked; never compared.
    pub other: Map,
}

saved! {
    /// The call in ADK's saved form.
    FunctionCall: FUNCTION_CALL { id, args, name, ..other }
}

impl FunctionCall {
    /// A call with arguments; anything but an object is put under the key `value`.
    pub fn new(name: impl Into<String>, args: impl Into<Value>) -> Self {
        let args = match args.into() {
            Value::Object(map) => map,
            Value::Null => Map::new(),
            other => Map::from([("value", other)]),
        };
        Self { name: Some(name.into()), args: Some(args), ..Self::default() }
    }

    setters! {
        /// Sets the id, which a response names.
        ///
        /// ```
        /// use eval_format::{FunctionCall, FunctionResponse};
        /// use serde_json::json;
        ///
        /// let call = FunctionCall::new("get_weather", json!({ "city": "Paris" })).with_id("1");
        /// let response = FunctionResponse::new("get_weather", json!("sunny")).with_id("1");
        /// assert_eq!(call.id, response.id);
        /// ```
        with_id(id: impl Into<String>) { id = Some(id.into()) }

        /// Sets a key of `other`, in ADK's spelling.
        with_other(key: impl Into<String>, value: impl Into<Value>) { other.insert(key, value) }
    }
}

impl fmt::Display for FunctionCall {
    /// `name(key: value, ...)`, or the name alone if `args` are absent. Numbers for which JSON has no text have their names.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name.as_deref().unwrap_or("(no name)"))?;
        let Some(args) = &self.args else { return Ok(()) };
        f.write_str("(")?;
        for (at, (key, value)) in args.iter().enumerate() {
            write!(f, "{}{key}: {}", if at > 0 { ", " } else { "" }, value.in_words())?;
        }
        f.write_str(")")
    }
}

/// A tool's answer.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct FunctionResponse {
    /// The id of the call it answers.
    pub id: Option<String>,
    /// The tool.
    pub name: Option<String>,
    /// The tool's result, an object.
    pub response: Option<Map>,
    /// `will_continue`, `scheduling` and `parts`, checked.
    pub other: Map,
}

saved! {
    /// The answer in ADK's saved form.
    FunctionResponse: FUNCTION_RESPONSE { id, name, response, ..other }
}

impl FunctionResponse {
    /// An answer; anything but an object is put under the key `result`, as ADK does.
    pub fn new(name: impl Into<String>, response: impl Into<Value>) -> Self {
        let response = match response.into() {
            Value::Object(map) => map,
            other => Map::from([("result", other)]),
        };
        Self { name: Some(name.into()), response: Some(response), ..Self::default() }
    }

    setters! {
        /// Sets the id of the call that it answers.
        with_id(id: impl Into<String>) { id = Some(id.into()) }

        /// Sets a key of `other`, in ADK's spelling.
        with_other(key: impl Into<String>, value: impl Into<Value>) { other.insert(key, value) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_names_the_numbers_that_json_cannot_write() {
        let infinite = Value::parse("[1e999, -1e999]").unwrap();
        let args = Map::from([("amount", Value::from(f64::NAN)), ("others", infinite), ("no", Value::Null)]);
        let call = FunctionCall::new("pay", args);
        assert_eq!(call.to_string(), "pay(amount: NaN, others: [Infinity,-Infinity], no: null)");
    }
}
