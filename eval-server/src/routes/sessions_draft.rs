//! A live session as a draft of a case.

use axum::http::StatusCode;
use axum::response::Response;
use eval_agents::draft::Draft;
use eval_agents::import::{Format, Import};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::sessions::found;
use crate::answer::{self, Envelope};
use crate::app::{App, Call, Id, Shared, Thread};
use crate::display;
use crate::drafts::SavedDraft;
use crate::refusal::{Refusal, Refused};
use crate::sessions::Reading;

/// The set for a draft.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DraftRequest {
    /// The file of the set, below the folder of the service. It is made if it does not exist.
    set: Option<String>,
}

/// The draft that was saved.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DraftSaved {
    set: String,
    /// The id of the case; null if the set has an equal one already.
    eval_id: Option<String>,
    /// The path of the page on which the draft is reviewed; null if there is none.
    link: Option<String>,
    /// The places of secrets.
    masked: Vec<String>,
    /// Arguments that are probably others next time.
    volatile: Vec<String>,
    /// The gaps of the session.
    gaps: Vec<String>,
}

/// Saves a live session as a draft of a case. Tests refuse it until it is accepted. Needs the token.
#[utoipa::path(
    post,
    path = "/api/v1/sessions/{id}/draft",
    params(("id" = String, Path, description = "the id of a session")),
    request_body(content = DraftRequest, content_type = "application/json"),
    responses((status = 200, body = Envelope<DraftSaved>), (status = 409, body = Refused))
)]
pub(crate) async fn save(Id(id): Id, Call { app, request, .. }: Call) -> Result<Response, Refusal> {
    let own = Shared::clone(&app);
    app.compute(request, Thread::Own, move |received| {
        let wanted = read(&received.bytes)?;
        let reading = found(&own, &id)?;
        let drafts = own.options.drafts.as_ref().ok_or_else(|| conflict("this server saves no drafts"))?;
        let draft = draft(&own, &reading)?;
        let masked = draft.masked.iter().map(|it| display::line(&it.to_string())).collect();
        let volatile = draft.volatile.iter().map(|it| display::line(&it.to_string())).collect();
        let gaps = display::lines(&draft.gaps);
        let saved = drafts.save(wanted.set.as_deref(), draft).map_err(|error| conflict(error.to_string()))?;
        let SavedDraft { set, eval_id, link } = saved;
        Ok(answer::data(DraftSaved { set, eval_id, link, masked, volatile, gaps }))
    })
    .await
}

fn conflict(why: impl AsRef<str>) -> Refusal {
    Refusal::new(StatusCode::CONFLICT, display::line(why.as_ref()))
}

fn read(bytes: &[u8]) -> Result<DraftRequest, Refusal> {
    if bytes.trim_ascii().is_empty() {
        return Ok(DraftRequest::default());
    }
    let none = serde_json::Value::Null;
    serde_json::from_slice(bytes).map_err(|error| Refusal::value(&["body".into()], error.to_string(), &none))
}

/// The draft of a session, made by the code that imports stored traces.
fn draft(app: &App, reading: &Reading) -> Result<Draft, Refusal> {
    let key = &reading.view.key;
    let text = app.sessions.text(reading.view.id).unwrap_or_default();
    let imported = Import::new()
        .format(Format::Trace)
        .session(key)
        .parse("a live session", text.as_bytes())
        .map_err(|error| conflict(error.to_string()))?;
    let draft = imported.drafts.into_iter().next();
    let draft =
        draft.ok_or_else(|| conflict(format!("there is no draft: {}", imported.left_out.join("; "))))?;
    Ok(draft.with_gaps(reading.view.doubts()))
}
