//! Faults of models as data: what goes wrong at a stated call. They are in the key `_models` of a case.

use std::time::Duration;

use eval_format::{Map, Value};

use crate::recording::{Answer, Body};
use crate::sse::{Data, Event};

/// The key of a case that has its faults, and the key in it.
pub const KEY: &str = "_models";
const LIST: &str = "faults";

/// The faults of a case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults(Vec<Fault>);

#[derive(Clone, Debug, PartialEq)]
struct Fault {
    turn: usize,
    call: usize,
    kind: Kind,
    /// The fault as it is written.
    written: String,
}

/// What goes wrong.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// An error of the provider.
    Status { status: u16, retry_after: Option<Duration> },
    /// The connection ends before an answer.
    Reset,
    /// No answer for this time; then the connection ends.
    Hang(Duration),
    /// The stream ends after some events.
    Cut { events: usize, is_error: bool },
    /// The answer is changed.
    Changed(Change),
}

/// A change of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// It ends because it is too long.
    Truncated,
    /// The arguments of its calls are no JSON.
    MalformedArguments,
    /// It says nothing, and calls nothing.
    Empty,
}

impl Faults {
    /// Reads the faults of the value under `_models`. The error is a sentence.
    pub fn read(value: &Value) -> Result<Self, String> {
        let map = value.as_object().ok_or_else(|| format!("`{KEY}` has to be an object with `{LIST}`"))?;
        if let Some(key) = map.keys().find(|key| *key != LIST && !key.starts_with('_')) {
            return Err(format!("`{KEY}` has the key `{key}`, which nothing reads; it has `{LIST}`"));
        }
        let list = map.get(LIST).and_then(Value::as_array).unwrap_or_default();
        list.iter()
            .enumerate()
            .map(|(at, fault)| read(fault).map_err(|why| format!("fault {}: {why}", at + 1)))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// The fault at a call.
    pub(crate) fn at(&self, turn: usize, call: usize) -> Option<&Kind> {
        self.0.iter().find(|fault| (fault.turn, fault.call) == (turn, call)).map(|fault| &fault.kind)
    }

    /// The faults whose call was not made. `made` says whether a turn had so many calls.
    pub(crate) fn unreached(&self, made: impl Fn(usize, usize) -> bool) -> Vec<String> {
        let left = self.0.iter().filter(|fault| !made(fault.turn, fault.call));
        left.map(|fault| format!("`{}` at turn {}, call {}", fault.written, fault.turn, fault.call)).collect()
    }
}

fn read(value: &Value) -> Result<Fault, String> {
    let map = value.as_object().ok_or("it has to be an object with `at` and `fault`")?;
    let at = map.get("at").and_then(Value::as_object).ok_or("it has no `at`: {\"turn\": 1, \"call\": 1}")?;
    let place = |key: &str| {
        let number = at.get(key).and_then(Value::as_i64).and_then(|number| usize::try_from(number).ok());
        number.filter(|number| *number > 0).ok_or_else(|| format!("`at.{key}` has to be a number from 1"))
    };
    let fault = map.get("fault").ok_or("it has no `fault`")?;
    Ok(Fault { turn: place("turn")?, call: place("call")?, kind: kind(fault)?, written: fault.to_string() })
}

fn kind(fault: &Value) -> Result<Kind, String> {
    const KNOWN: &str = "{\"status\": 429, \"retry_after\": 0.001}, \"reset\", {\"hang\": 2}, {\"cut\": {\"events\": 1}}, \
                         {\"error_in_stream\": {\"events\": 1}}, {\"truncate\": \"max_tokens\"}, \"malformed_arguments\", \"empty\"";
    let unknown = || Err(format!("{fault} is no fault; one of: {KNOWN}"));
    match fault {
        Value::String(name) => match name.as_str() {
            "reset" => Ok(Kind::Reset),
            "cut" => Ok(Kind::Cut { events: 1, is_error: false }),
            "error_in_stream" => Ok(Kind::Cut { events: 1, is_error: true }),
            "malformed_arguments" => Ok(Kind::Changed(Change::MalformedArguments)),
            "empty" => Ok(Kind::Changed(Change::Empty)),
            _ => unknown(),
        },
        Value::Object(map) => {
            let seconds =
                |value: &Value| value.as_f64().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            let events = |value: &Value| {
                value.as_object()?.get("events")?.as_i64().and_then(|events| usize::try_from(events).ok())
            };
            let first = map.iter().next();
            match first {
                Some(("status", status)) => {
                    let status = status.as_i64().and_then(|status| u16::try_from(status).ok());
                    let status = status.filter(|status| (400..600).contains(status));
                    let status = status.ok_or("`status` has to be from 400 to 599")?;
                    Ok(Kind::Status { status, retry_after: map.get("retry_after").and_then(seconds) })
                }
                Some(("hang", time)) => Ok(Kind::Hang(seconds(time).ok_or("`hang` has to be seconds")?)),
                Some(("cut", cut)) => Ok(Kind::Cut { events: events(cut).unwrap_or(1), is_error: false }),
                Some(("error_in_stream", cut)) => {
                    Ok(Kind::Cut { events: events(cut).unwrap_or(1), is_error: true })
                }
                Some(("truncate", _)) => Ok(Kind::Changed(Change::Truncated)),
                _ => unknown(),
            }
        }
        _ => unknown(),
    }
}

/// The answer with a change.
pub(crate) fn changed(answer: Answer, change: Change) -> Answer {
    let value = |value: &Value| changed_value(value, change);
    let body = match answer.body {
        Body::Json(json) => Body::Json(value(&json)),
        Body::Events(events) => {
            let of_event = |event: Event| match event.data {
                Data::Json(json) => Event { data: Data::Json(value(&json)), ..event },
                Data::Text(_) => event,
            };
            Body::Events(events.into_iter().map(of_event).collect())
        }
        text @ Body::Text { .. } => text,
    };
    Answer { body, ..answer }
}

fn changed_value(value: &Value, change: Change) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| changed_value(item, change)).collect(),
        Value::Object(map) => Value::Object(
            map.iter().map(|(key, item)| (key, changed_field(key, item, change))).collect::<Map>(),
        ),
        other => other.clone(),
    }
}

fn changed_field(key: &str, value: &Value, change: Change) -> Value {
    let is_ended = |value: &Value| value.as_str().is_some();
    match (change, key, value) {
        (Change::Truncated, "finish_reason", value) if is_ended(value) => Value::from("length"),
        (Change::Truncated, "stop_reason", value) if is_ended(value) => Value::from("max_tokens"),
        (Change::Truncated, "finishReason", value) if is_ended(value) => Value::from("MAX_TOKENS"),
        (Change::Truncated, "status", Value::String(status)) if status == "completed" => {
            Value::from("incomplete")
        }
        (Change::Truncated, "incomplete_details", _) => {
            Value::Object(Map::from([("reason", "max_output_tokens")]))
        }
        (Change::Truncated, "text" | "content", Value::String(text)) => {
            Value::from(text.chars().take(text.chars().count() / 2).collect::<String>())
        }
        (Change::MalformedArguments, "arguments" | "partial_json", Value::String(text))
            if text.ends_with('}') =>
        {
            Value::from(&text[..text.len() - 1])
        }
        // A call of Gemini with broken arguments has no content.
        (Change::MalformedArguments, "finishReason", value) if is_ended(value) => {
            Value::from("MALFORMED_FUNCTION_CALL")
        }
        (Change::Empty, "text" | "content" | "delta", Value::String(_)) => Value::from(""),
        (Change::Empty, "tool_calls" | "parts" | "output" | "content", Value::Array(_)) => {
            Value::Array(Vec::new())
        }
        _ => changed_value(value, change),
    }
}

#[cfg(test)]
mod tests {
    use eval_format::__private::parse_value;

    use super::*;

    fn read(text: &str) -> Result<Faults, String> {
        Faults::read(&parse_value(text).unwrap())
    }

    #[test]
    fn faults_are_read_with_their_places_or_the_mistake_is_named() {
        let faults = read(
            r#"{"faults": [{"at": {"turn": 1, "call": 2}, "fault": {"status": 429, "retry_after": 0.001}},
            {"at": {"turn": 2, "call": 1}, "fault": {"cut": {"events": 3}}}]}"#,
        )
        .unwrap();
        let status = Kind::Status { status: 429, retry_after: Some(Duration::from_millis(1)) };
        assert_eq!(faults.at(1, 2), Some(&status));
        assert_eq!(faults.at(2, 1), Some(&Kind::Cut { events: 3, is_error: false }));
        assert_eq!(faults.at(1, 1), None);
        assert_eq!(faults.unreached(|turn, _| turn == 1), [r#"`{"cut":{"events":3}}` at turn 2, call 1"#]);
        for (text, expected) in [
            (
                r#"{"faults": [{"at": {"turn": 1, "call": 1}, "fault": "explode"}]}"#,
                "fault 1: \"explode\" is no fault",
            ),
            (
                r#"{"faults": [{"at": {"turn": 0, "call": 1}, "fault": "reset"}]}"#,
                "fault 1: `at.turn` has to be",
            ),
            (r#"{"fault": []}"#, "`_models` has the key `fault`"),
            (
                r#"{"faults": [{"at": {"turn": 1, "call": 1}, "fault": {"status": 200}}]}"#,
                "fault 1: `status` has to be",
            ),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn an_answer_is_changed_where_its_wire_says_why_it_ended() {
        let json = |text: &str| Body::Json(parse_value(text).unwrap());
        let answer = |text: &str| Answer { run: 1, status: 200, headers: Vec::new(), body: json(text) };
        for (change, before, after) in [
            (
                Change::Truncated,
                r#"{"choices":[{"message":{"content":"It is sunny."},"finish_reason":"stop"}]}"#,
                r#"{"choices":[{"message":{"content":"It is "},"finish_reason":"length"}]}"#,
            ),
            (Change::Truncated, r#"{"stop_reason":"end_turn"}"#, r#"{"stop_reason":"max_tokens"}"#),
            (
                Change::MalformedArguments,
                r#"{"tool_calls":[{"function":{"arguments":"{\"a\":1}"}}]}"#,
                r#"{"tool_calls":[{"function":{"arguments":"{\"a\":1"}}]}"#,
            ),
            (Change::Empty, r#"{"content":[{"type":"text","text":"a"}]}"#, r#"{"content":[]}"#),
        ] {
            assert_eq!(changed(answer(before), change).body, json(after));
        }
    }
}
