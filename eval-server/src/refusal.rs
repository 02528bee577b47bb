//! Requests that get no answer: the status, and why.

use axum::http::header::{RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::answer;

/// Why a request has no answer, in the form that agentevals has.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Refused {
    /// A text, or a list of what is wrong with the fields of the request.
    detail: Detail,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Detail {
    /// What is wrong.
    Text(String),
    /// What is wrong with fields of the request.
    Fields(Vec<FieldError>),
}

/// What is wrong with a field of the request.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FieldError {
    /// A word for the kind of mistake.
    #[serde(rename = "type")]
    kind: &'static str,
    /// Where the field is: names of fields and numbers of items.
    #[schema(value_type = Vec<Step>)]
    loc: Vec<Value>,
    /// What is wrong.
    msg: String,
    /// What was there, if it is short.
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

/// The longest input that is sent back.
const SHOWN: usize = 1000;

impl FieldError {
    pub(crate) fn new(kind: &'static str, loc: &[Value], msg: impl Into<String>, input: &Value) -> Self {
        let is_short = input.to_string().len() <= SHOWN;
        let input = if is_short { input.clone() } else { Value::Null };
        Self { kind, loc: loc.to_vec(), msg: msg.into(), input }
    }

    /// A field that is not there.
    pub(crate) fn missing(loc: &[Value]) -> Self {
        Self::new("missing", loc, "Field required", &Value::Null)
    }
}

/// A request that gets no answer.
#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    detail: Detail,
    /// Whether all parts of the request came, and the content of one is wrong.
    pub(crate) is_of_content: bool,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, why: impl Into<String>) -> Self {
        Self { status, detail: Detail::Text(why.into()), is_of_content: false }
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// The same about the content of a request, unless a part of it is missing.
    pub(crate) fn of_content(self) -> Self {
        let is_missing = |fields: &[FieldError]| fields.iter().any(|field| field.kind == "missing");
        let is_of_content = !matches!(&self.detail, Detail::Fields(fields) if is_missing(fields));
        Self { is_of_content, ..self }
    }

    /// Why, in words.
    pub(crate) fn text(&self) -> String {
        match &self.detail {
            Detail::Text(text) => text.clone(),
            Detail::Fields(fields) => {
                fields.iter().map(|field| field.msg.as_str()).collect::<Vec<_>>().join("; ")
            }
        }
    }

    /// The request is not as it should be.
    pub(crate) fn bad(why: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, why)
    }

    /// Fields of the request are wrong.
    pub(crate) fn fields(errors: Vec<FieldError>) -> Self {
        Self {
            status: StatusCode::UNPROCESSABLE_ENTITY,
            detail: Detail::Fields(errors),
            is_of_content: false,
        }
    }

    /// A field is missing.
    pub(crate) fn missing(field: &str) -> Self {
        Self::fields(vec![FieldError::missing(&["body".into(), field.into()])])
    }

    /// The server has too much to do.
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
