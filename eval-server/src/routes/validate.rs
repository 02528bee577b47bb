//! Checking eval sets and configs.

use axum::response::Response;
use eval_format::Value;
use eval_format::config::check_config;
use eval_format::conventions::SHARED_CONFIG;
use eval_format::reader::{SetFormat, check_set};
use serde::Serialize;
use utoipa::ToSchema;

use crate::answer::{self, Envelope};
use crate::app::{Call, Thread};
use crate::body::Received;
use crate::problems::{ProblemEntry, told};
use crate::refusal::{FieldError, Refusal};

/// The result of checking an eval set.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CheckedSet {
    /// Whether it is an eval set without errors.
    valid: bool,
    /// Its id; null if it is not valid.
    eval_set_id: Option<String>,
    /// The number of its cases; null if it is not valid.
    num_cases: Option<usize>,
    /// The errors, one text each.
    errors: Vec<String>,
    /// `eval_set`, `old_test_file` or `old_eval_set`.
    form: &'static str,
    /// The errors and warnings, with their places.
    #[schema(value_type = Vec<ProblemEntry>)]
    problems: Vec<Value>,
}

/// The result of checking a config.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CheckedConfig {
    /// Whether it has no errors.
    valid: bool,
    /// The metrics that it names; null if it is not valid.
    metrics: Option<Vec<String>>,
    /// The errors, one text each.
    errors: Vec<String>,
    /// The errors and warnings, with their places.
    #[schema(value_type = Vec<ProblemEntry>)]
    problems: Vec<Value>,
}

/// A form with a file.
#[derive(Debug, ToSchema)]
#[expect(dead_code, reason = "it describes what is read field by field")]
pub(crate) struct SetForm {
    /// The eval set.
    #[schema(value_type = String, format = Binary)]
    eval_set_file: Vec<u8>,
}

/// Checks an eval set that comes as a file in a form.
#[utoipa::path(
    post,
    path = "/api/validate/eval-set",
    request_body(content = SetForm, content_type = "multipart/form-data"),
    responses((status = 200, body = Envelope<CheckedSet>))
)]
pub(crate) async fn validate_eval_set(Call { app, request, .. }: Call) -> Result<Response, Refusal> {
    app.compute(request, Thread::BySize, |received| {
        let fields = received.fields()?;
        let of_set = fields.iter().rev().filter(|field| field.name == "eval_set_file");
        let file = of_set.into_iter().find_map(|field| Some((field.file.as_ref()?, &field.bytes)));
        let (name, bytes) = file.ok_or_else(|| Refusal::missing("eval_set_file"))?;
        Ok(answer::data(check(name, bytes)))
    })
    .await
}

/// Checks an eval set that is the body of the request.
#[utoipa::path(
    post,
    path = "/api/v1/validate/eval-set",
    request_body(content = serde_json::Value, content_type = "application/json"),
    responses((status = 200, body = Envelope<CheckedSet>))
)]
pub(crate) async fn validate_set_text(Call { app, request, .. }: Call) -> Result<Response, Refusal> {
    let work = |received: Received| Ok(answer::data(check("eval_set.json", body(&received.bytes)?)));
    app.compute(request, Thread::BySize, work).await
}

/// Checks a `test_config.json` that is the body of the request.
#[utoipa::path(
    post,
    path = "/api/v1/validate/config",
    request_body(content = serde_json::Value, content_type = "application/json"),
    responses((status = 200, body = Envelope<CheckedConfig>))
)]
pub(crate) async fn validate_config(Call { app, request, .. }: Call) -> Result<Response, Refusal> {
    app.compute(request, Thread::BySize, |received| {
        let checked = check_config(SHARED_CONFIG, body(&received.bytes)?, &[]);
        let (problems, errors) = told(&checked.text, &checked.problems);
        let names =
            |config: eval_format::EvalConfig| config.criteria.into_iter().map(|(name, _)| name).collect();
        Ok(answer::data(CheckedConfig {
            valid: checked.config.is_some(),
            errors,
            metrics: checked.config.map(names),
            problems,
        }))
    })
    .await
}

fn body(bytes: &[u8]) -> Result<&[u8], Refusal> {
    if bytes.is_empty() {
        Err(Refusal::fields(vec![FieldError::missing(&["body".into()])]))
    } else {
        Ok(bytes)
    }
}

fn check(file: &str, bytes: &[u8]) -> CheckedSet {
    let checked = check_set(file, bytes, None);
    let (problems, mut errors) = told(&checked.text, &checked.problems);
    let form = match checked.form {
        SetFormat::EvalSet => "eval_set",
        SetFormat::TestFile => "old_test_file",
        SetFormat::OldEvalSet => "old_eval_set",
    };
    let set = checked.set.filter(|_| checked.form == SetFormat::EvalSet);
    if set.is_none() && errors.is_empty() {
        errors.push(format!(
            "1:1: this is of ADK's old form `{form}`; `cargo evalset migrate` makes an eval set of it"
        ));
    }
    CheckedSet {
        valid: set.is_some(),
        num_cases: set.as_ref().map(|set| set.eval_cases.len()),
        eval_set_id: set.map(|set| set.eval_set_id),
        errors,
        form,
        problems,
    }
}
