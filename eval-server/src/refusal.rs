//! Refusals of requests: the status and the reason.

use axum::http::header::{RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::answer;

/// A refusal of a request, in the form that agentevals has.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Refused {
    /// A text, or a list of what is wrong with the fields of the request.
    detail: Detail,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Detail {
    /// The error.
    Text(String),
    /// Errors in fields of the request.
    Fields(Vec<FieldError>),
}

/// An error in a field of the request.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FieldError {
    /// A word for the kind of mistake.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The path of the field: names of fields and numbers of items.
    #[schema(value_type = Vec<Step>)]
    loc: Vec<Value>,
    /// The error.
    msg: String,
    /// The value, if it is short.
    input: Value,
}

/// A step on the way to a field.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it describes what a value is")]
enum Step {
    Field(String),
    Item(usize),
}

const MAX_INPUT_BYTES: usize = 1000;

impl FieldError {
    pub(crate) fn new(kind: &'static str, loc: &[Value], msg: impl Into<String>, input: &Value) -> Self {
        let is_short = input.to_string().len() <= MAX_INPUT_BYTES;
        let input = if is_short { input.clone() } else { Value::Null };
        Self { kind, loc: loc.to_vec(), msg: msg.into(), input }
    }

    pub(crate) fn missing(loc: &[Value]) -> Self {
        Self::new("missing", loc, "Field required", &Value::Null)
    }
}

#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    detail: Detail,
    /// Whether all parts of the request came, and the content of one is wrong.
    pub(crate) is_of_content: bool,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, why: impl Into<String>) -> Self {
        Self { status, detail: Detail::Text(why.into()), is_of_content: false }
    }

    /// The refusal as one about the content of a request, unless a part of it is missing.
    pub(crate) fn of_content(self) -> Self {
        let is_missing = |fields: &[FieldError]| fields.iter().any(|field| field.kind == "missing");
        let is_of_content = !matches!(&self.detail, Detail::Fields(fields) if is_missing(fields));
        Self { is_of_content, ..self }
    }

    pub(crate) fn text(&self) -> String {
        match &self.detail {
            Detail::Text(text) => text.clone(),
            Detail::Fields(fields) => {
                fields.iter().map(|field| field.msg.as_str()).collect::<Vec<_>>().join("; ")
            }
        }
    }

    pub(crate) fn bad(why: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, why)
    }

    pub(crate) fn fields(errors: Vec<FieldError>) -> Self {
        Self {
            status: StatusCode::UNPROCESSABLE_ENTITY,
            detail: Detail::Fields(errors),
            is_of_content: false,
        }
    }

    pub(crate) fn no_json(body: &[u8], error: &serde_json::Error) -> Self {
        Self::fields(vec![FieldError::new("json_invalid", &["body".into()], why(body, error), &Value::Null)])
    }

    pub(crate) fn value(loc: &[Value], why: impl Into<String>, found: &Value) -> Self {
        Self::fields(vec![FieldError::new("value_error", loc, why, found)])
    }

    pub(crate) fn missing(field: &str) -> Self {
        Self::fields(vec![FieldError::missing(&["body".into(), field.into()])])
    }

    pub(crate) fn busy(why: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, why)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = answer::json(self.status, &Refused { detail: self.detail });
        let headers = response.headers_mut();
        match self.status {
            StatusCode::UNAUTHORIZED => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            StatusCode::SERVICE_UNAVAILABLE => {
                headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
        response
    }
}

/// Python's and JavaScript's numbers that JSON does not have.
const NO_NUMBERS: [&str; 4] = ["NaN", "Infinity", "-Infinity", "nan"];

/// The error of a text that is no JSON, with the line and the column.
pub(crate) fn why(text: &[u8], error: &serde_json::Error) -> String {
    match no_number(text, error) {
        Some(word) => format!(
            "`{word}` is no JSON: line {} column {}. Python's `json` writes it unless it is told `allow_nan=False`; `null` \
             is the JSON of what has no value",
            error.line(),
            error.column()
        ),
        None => error.to_string(),
    }
}

fn no_number(text: &[u8], error: &serde_json::Error) -> Option<&'static str> {
    let line = text.split(|byte| *byte == b'\n').nth(error.line().checked_sub(1)?)?;
    // The column is the first wrong character: in `-Infinity`, the second one.
    let at = error.column().saturating_sub(1);
    let word_at = |at: usize| {
        let rest = line.get(at..)?;
        NO_NUMBERS.into_iter().find(|word| rest.starts_with(word.as_bytes()))
    };
    [at.checked_sub(1), Some(at)].into_iter().flatten().find_map(word_at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_json_does_not_have_are_named_with_their_place() {
        for (text, word, place) in [
            ("{\"a\": NaN}", "`NaN`", "line 1 column 7"),
            ("{\n\"a\": [1, Infinity]}", "`Infinity`", "line 2 column 10"),
            ("[-Infinity]", "`-Infinity`", "line 1 column 3"),
            ("NaN", "`NaN`", "line 1 column 1"),
        ] {
            let error = serde_json::from_str::<Value>(text).unwrap_err();
            let why = why(text.as_bytes(), &error);
            assert!(why.starts_with(&format!("{word} is no JSON: {place}")), "{text}: {why}");
        }
        let error = serde_json::from_str::<Value>("{,}").unwrap_err();
        assert_eq!(why(b"{,}", &error), error.to_string());
    }
}
