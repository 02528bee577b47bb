//! Sessions of ADK as JSON.

use eval_core::format::{EvalCase, Map, SessionInput, Value};

use super::error::ImportError;
use super::format::{Format, ReadDrafts};
use super::turns::{SessionEvent, turns};
use crate::draft::{Draft, Origin};
use crate::wire;

#[derive(Debug, Default)]
pub(super) struct Session {
    pub(super) id: String,
    pub(super) app_name: String,
    pub(super) user_id: String,
    /// The state at the end.
    pub(super) state: Map,
    pub(super) events: Vec<SessionEvent>,
    pub(super) unread: Vec<String>,
}

pub(super) fn read(from: &str, text: &str, wanted: &[String]) -> Result<ReadDrafts, ImportError> {
    let sessions = sessions(text).map_err(|why| ImportError::unreadable(from, why))?;
    drafts(from, Format::AdkSession, sessions, wanted)
}

pub(super) fn drafts(
    from: &str,
    format: Format,
    mut sessions: Vec<Session>,
    wanted: &[String],
) -> Result<ReadDrafts, ImportError> {
    if let Some(missing) = wanted.iter().find(|id| sessions.iter().all(|session| session.id != **id)) {
        return Err(ImportError::Missing {
            from: from.to_owned(),
            what: format!("session `{missing}`"),
            there: sessions.into_iter().map(|session| session.id).collect(),
        });
    }
    sessions.retain(|session| wanted.is_empty() || wanted.contains(&session.id));
    let (mut drafts, mut left_out) = (Vec::new(), Vec::new());
    for session in sessions {
        let named = name(&session.id);
        let origin = Origin::new(from).with("format", format.name()).with("session", session.id.as_str());
        match case(session) {
            Ok((case, gaps)) => {
                let draft = Draft::from_case(case, origin).map_err(ImportError::case(from, &named))?;
                drafts.push(draft.with_gaps(gaps));
            }
            Err(why) => left_out.push(format!("{named}: {why}")),
        }
    }
    Ok(ReadDrafts { drafts, left_out })
}

fn name(id: &str) -> String {
    if id.is_empty() { "a session without an id".to_owned() } else { format!("session `{id}`") }
}

fn case(session: Session) -> Result<(EvalCase, Vec<String>), String> {
    let Session { app_name, user_id, state, events, unread, .. } = session;
    let is_empty = events.is_empty();
    let mut made = turns(events, unread);
    if made.all.is_empty() {
        let nothing = if is_empty { "it has no events" } else { "the user says nothing in it" };
        made.gaps.insert(0, nothing.to_owned());
        return Err(made.gaps.join("; "));
    }
    let is_lasting = |key: &str| !key.starts_with("temp:");
    // A key that was never set in the session was there at its start.
    let start = state.iter().filter(|(key, _)| is_lasting(key) && !made.changed.contains(*key));
    let mut start: Map = start.map(|(key, value)| (key, value.clone())).collect();
    start.extend(made.given);
    let last = |key: &str, value: Value| state.get(key).cloned().unwrap_or(value);
    let end = made.set_by_agents.into_iter().filter(|(key, _)| is_lasting(key));
    let end: Map = end.map(|(key, value)| (key.clone(), last(&key, value))).collect();
    let mut case = EvalCase::new("").final_state(end);
    case.conversation = made.all;
    if !app_name.is_empty() || !user_id.is_empty() || !start.is_empty() {
        case = case.with_session_input(SessionInput::new(app_name, user_id).with_state(start));
    }
    Ok((case, made.gaps))
}

/// The sessions of a text: one, an array of them, an array of events, or JSON lines of sessions.
fn sessions(text: &str) -> Result<Vec<Session>, String> {
    match wire::parse(text) {
        Ok(Value::Array(items)) if items.iter().any(|item| item["events"].is_null()) => {
            let events = events(items, "events")?;
            Ok(vec![Session { events, ..Session::default() }])
        }
        Ok(Value::Array(items)) => {
            let numbered = items.into_iter().enumerate();
            numbered.map(|(at, item)| session(item, &format!("[{at}]"))).collect()
        }
        Ok(value) => Ok(vec![session(value, "session")?]),
        Err(whole) => {
            let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
            let read = lines.map(|(at, line)| {
                let value = wire::parse(line).map_err(|why| {
                    // The first line is not JSON, so the text is no JSON lines at all.
                    if at == 0 { whole.clone() } else { format!("line {}: {why}", at + 1) }
                })?;
                session(value, &format!("line {}", at + 1))
            });
            read.collect()
        }
    }
}

fn session(value: Value, path: &str) -> Result<Session, String> {
    let mut sent = wire::Reader::new(value, path)?;
    let id = sent.text("id")?.or(sent.text("session_id")?);
    let events_path = sent.path("events");
    let items = sent.list("events")?;
    let Some(items) = items else { return Err(format!("`{path}` has no `events`")) };
    let mut session = Session {
        id: id.unwrap_or_default(),
        app_name: sent.text("app_name")?.unwrap_or_default(),
        user_id: sent.text("user_id")?.unwrap_or_default(),
        state: sent.map("state")?.unwrap_or_default(),
        events: events(items, &events_path)?,
        unread: Vec::new(),
    };
    sent.end(&["last_update_time"])?;
    session.unread = sent.unread().take();
    Ok(session)
}

fn events(items: Vec<Value>, path: &str) -> Result<Vec<SessionEvent>, String> {
    let numbered = items.into_iter().enumerate();
    numbered.map(|(at, item)| SessionEvent::read(wire::Reader::new(item, format!("{path}[{at}]"))?)).collect()
}
