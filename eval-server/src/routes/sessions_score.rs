//! Live sessions against the golden one.

use axum::http::StatusCode;
use axum::response::Response;
use eval_core::EvalCase;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::evaluate_answer::{MetricResult, MetricResults};
use super::evaluate_job::Job;
use super::evaluate_request::{Evaluator, Parameters, answer as answer_by, json};
use super::sessions::{check_golden, found, not_golden};
use crate::access::Caller;
use crate::answer::{self, Envelope};
use crate::app::{App, Call, Shared, Thread};
use crate::display;
use crate::refusal::{Refusal, Refused};
use crate::sessions::Reading;
use crate::work::Wanted;

/// The metrics and thresholds for live sessions.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "it describes what is read field by field")]
pub(crate) struct SessionScoreRequest {
    /// The golden session; without it, the session that is marked as golden.
    golden: Option<String>,
    /// The sessions that are scored; all others in which an agent takes part if it is not given.
    sessions: Option<Vec<String>>,
    /// The metrics, at least one.
    evaluators: Vec<Evaluator>,
}

/// The results of scoring sessions.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionScores {
    golden: String,
    /// Whether each session passed. False if there is none.
    passed: bool,
    sessions: Vec<SessionScore>,
}

/// The result of a session.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionScore {
    id: String,
    key: String,
    passed: bool,
    pub(super) verdict: SessionVerdict,
    /// The reason for a verdict other than passed and failed.
    pub(super) reason: Option<String>,
    pub(super) metric_results: Vec<MetricResult>,
}

/// The verdict on a session. `error`: something of it is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SessionVerdict {
    Passed,
    Failed,
    Error,
    NotEvaluated,
}

/// Scores live sessions against the golden one. Needs the token.
#[utoipa::path(
    post,
    path = "/api/v1/sessions/score",
    operation_id = "score_sessions",
    request_body(content = SessionScoreRequest, content_type = "application/json"),
    responses(
        (status = 200, body = Envelope<SessionScores>),
        (status = 404, body = Refused),
        (status = 409, body = Refused)
    )
)]
pub(crate) async fn score(Call { app, caller, request }: Call) -> Result<Response, Refusal> {
    let own = Shared::clone(&app);
    app.compute(request, Thread::Own, move |received| {
        let (golden, wanted, mut evaluators) = read(&received.bytes)?;
        answer_by(&mut evaluators, &own.options.metrics);
        let golden = golden.or_else(|| own.sessions.golden().map(|id| id.to_string()));
        let golden = golden.ok_or_else(|| {
            Refusal::new(
                StatusCode::CONFLICT,
                "no session is golden; mark one (`PUT /api/v1/sessions/{id}/golden`), or name one in `golden`",
            )
        })?;
        let golden = found(&own, &golden)?;
        let case = checked(&golden)?;
        // Sessions are read one by one: all together may take much memory.
        let still = &received.wanted;
        let score = |session| scored(session, &case, &evaluators, caller, still);
        // Once no client waits, no further session is read.
        let is_wanted = || still.check().is_ok();
        let sessions: Vec<SessionScore> = match wanted {
            Some(wanted) => {
                let ids = wanted.iter().take_while(|_| is_wanted());
                ids.map(|id| found(&own, id).map(score)).collect::<Result<_, _>>()?
            }
            None => others(&own, &golden).take_while(|_| is_wanted()).map(score).collect(),
        };
        let passed = !sessions.is_empty() && sessions.iter().all(|session| session.passed);
        Ok(answer::data(SessionScores { golden: golden.view.id.to_string(), passed, sessions }))
    })
    .await
}

/// The checked case that others are scored with. Refuses a golden session that they cannot be compared with.
pub(super) fn checked(golden: &Reading) -> Result<EvalCase, Refusal> {
    // Spans may have come since it was marked.
    check_golden(golden)?;
    let case = expected(golden).ok_or_else(|| Refusal::bad("the golden session has no turns"))?;
    // It is checked here: each session would check it again.
    case.check().map_err(|problems| not_golden(golden, &display::line(&problems.to_string())))?;
    Ok(case)
}

/// The case of a golden session; `None` without turns.
pub(super) fn expected(golden: &Reading) -> Option<EvalCase> {
    let conversation = golden.conversation()?;
    Some(conversation.to_case(conversation.case_id.as_ref().unwrap_or(&conversation.key)))
}

/// All sessions but the golden one, without sessions in which no agent takes part.
fn others<'a>(app: &'a App, golden: &'a Reading) -> impl Iterator<Item = Reading> {
    let ids = app.sessions.list().sessions.into_iter().map(|(view, _)| view.id);
    let others = ids.filter(|id| *id != golden.view.id).filter_map(|id| app.sessions.read(id));
    others.filter(|it| {
        let digest = it.digest();
        digest.turns > 0 || digest.gaps > 0 || !it.view.lost.is_empty()
    })
}

pub(super) fn scored(
    session: Reading,
    case: &EvalCase,
    evaluators: &[Evaluator],
    caller: Caller,
    still: &Wanted,
) -> SessionScore {
    let (id, key) = (session.view.id.to_string(), display::line(&session.view.key));
    let scored = |verdict, reason, results: Vec<MetricResults>| {
        let metric_results = results.into_iter().flat_map(MetricResults::into_shown).collect();
        SessionScore { id, key, passed: verdict == SessionVerdict::Passed, verdict, reason, metric_results }
    };
    let doubts = session.doubts();
    if !doubts.is_empty() {
        return scored(SessionVerdict::Error, Some(display::lines(&doubts).join("; ")), Vec::new());
    }
    // `false`: being the only conversation is not a reason to match it.
    if let Err(error) = session.traces.conversation_of(case, false) {
        let why = format!("it is about something else than the golden session: {error}");
        return scored(SessionVerdict::NotEvaluated, Some(display::line(&why)), Vec::new());
    }
    let job = Job::of_session(session.traces, case.clone(), evaluators.to_vec());
    let Ok(ran) = job.while_wanted(still.clone()).run_to_end(caller) else {
        return scored(SessionVerdict::Error, Some("no client waits for it any more".to_owned()), Vec::new());
    };
    let passed = ran.passed;
    let results: Vec<_> = ran.trace_results.into_iter().map(|trace| trace.metric_results).collect();
    let unscored = results.iter().flat_map(MetricResults::iter).find_map(MetricResult::why_unscored);
    let (verdict, reason) = match unscored {
        _ if passed => (SessionVerdict::Passed, None),
        Some(why) => (SessionVerdict::NotEvaluated, Some(display::line(why))),
        None => (SessionVerdict::Failed, None),
    };
    scored(verdict, reason, results)
}

type Asked = (Option<String>, Option<Vec<String>>, Vec<Evaluator>);

pub(super) fn read(bytes: &[u8]) -> Result<Asked, Refusal> {
    let no_body = |why: String| Refusal::value(&["body".into()], why, &Value::Null);
    let Value::Object(mut body) = json(bytes).map_err(|error| no_body(error.to_string()))? else {
        return Err(no_body("it is no object".to_owned()));
    };
    let invalid =
        |name: &str, why: &str, found: &Value| Refusal::value(&["body".into(), name.into()], why, found);
    let text = |value: &Value, name: &str| {
        let id = value.as_str().map(str::to_owned);
        id.ok_or_else(|| invalid(name, "the id of a session is a text", value))
    };
    let golden = body.remove("golden").filter(|value| !value.is_null());
    let golden = golden.map(|value| text(&value, "golden")).transpose()?;
    let sessions = match body.remove("sessions") {
        None | Some(Value::Null) => None,
        Some(Value::Array(ids)) => {
            Some(ids.iter().map(|id| text(id, "sessions")).collect::<Result<Vec<_>, _>>()?)
        }
        Some(other) => return Err(invalid("sessions", "it is a list of ids", &other)),
    };
    let parameters = Parameters::read(&Value::Object(body), &["body".into()])?;
    Ok((golden, sessions, parameters.evaluators))
}
