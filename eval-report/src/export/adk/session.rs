//! ADK's `Session`: what was recorded, event by event.

use eval_format::{Map, Value};

use eval_core::agent::Event;
use eval_core::report::{Role, RunReport, TurnRecord};

/// The session with its events; `null` if none was opened and there is no error.
///
/// As in ADK's sessions, fragments of streamed answers are left out. The error of the run is the last
/// event: nothing else in ADK's results has a place for its text.
pub(super) fn details(run: &RunReport, error: Option<&(Role, String)>) -> Value {
    let (session, turns) = (&run.transcript.session, &run.transcript.turns);
    if session.session_id.is_empty() && error.is_none() {
        return Value::Null;
    }
    let last = turns.last();
    let updated = last.map_or(0.0, end);
    let mut events: Vec<Value> =
        turns.iter().enumerate().flat_map(|(at, turn)| turn_events(at + 1, turn)).collect();
    if let Some((role, message)) = error {
        let error = Event::error(role.to_string(), "ERROR", message.as_str());
        events.push(value(&error, last.map_or("", |turn| &turn.invocation.invocation_id), "error", updated));
    }
    Value::from(Map::from([
        ("id", Value::from(session.session_id.as_str())),
        ("app_name", Value::from(session.app_name.as_str())),
        ("user_id", Value::from(session.user_id.as_str())),
        ("state", Value::from(run.transcript.state.clone())),
        ("events", Value::Array(events)),
        ("last_update_time", time(updated)),
    ]))
}

fn turn_events(number: usize, turn: &TurnRecord) -> Vec<Value> {
    let invocation = &turn.invocation;
    let mut events = Vec::with_capacity(turn.events.len() + 1);
    let mut push = |event: &Event| {
        let id = format!("turn-{number}-event-{}", events.len());
        let at = invocation.creation_timestamp + event.at.as_secs_f64();
        events.push(value(event, &invocation.invocation_id, &id, at));
    };
    push(&Event::new("user", invocation.user_content.clone()));
    turn.events.iter().filter(|event| !event.partial && !event.is_users()).for_each(&mut push);
    events
}

fn end(turn: &TurnRecord) -> f64 {
    let elapsed = turn.events.last().map_or(0.0, |event| event.at.as_secs_f64());
    turn.invocation.creation_timestamp + elapsed
}

/// Seconds since 1970. ADK requires a time, so a number that is not finite becomes 0.
fn time(seconds: f64) -> Value {
    Value::from(if seconds.is_finite() { seconds } else { 0.0 })
}

fn value(event: &Event, invocation_id: &str, id: &str, timestamp: f64) -> Value {
    let model = event.to_invocation_event(event.content.clone()).to_full_value();
    let field = |name: &'static str| {
        let value = match name {
            "error_code" => Value::from(event.error_code.as_deref()),
            "error_message" => Value::from(event.error_message.as_deref()),
            "invocation_id" => Value::from(invocation_id),
            "actions" => actions(event),
            "node_info" => node_info(),
            "long_running_tool_ids" => long_running(event),
            "id" => Value::from(id),
            "timestamp" => time(timestamp),
            of_model => model[of_model].clone(),
        };
        (name, value)
    };
    Value::from(EVENT.iter().copied().map(field).collect::<Map>())
}

const EVENT: &[&str] = &[
    "model_version",
    "content",
    "grounding_metadata",
    "partial",
    "turn_complete",
    "turn_complete_reason",
    "interaction_status",
    "finish_reason",
    "error_code",
    "error_message",
    "interrupted",
    "custom_metadata",
    "usage_metadata",
    "live_session_resumption_update",
    "live_session_id",
    "go_away",
    "voice_activity",
    "input_transcription",
    "output_transcription",
    "avg_logprobs",
    "logprobs_result",
    "cache_metadata",
    "citation_metadata",
    "interaction_id",
    "environment_id",
    "invocation_id",
    "author",
    "actions",
    "output",
    "node_info",
    "long_running_tool_ids",
    "branch",
    "isolation_scope",
    "id",
    "timestamp",
];

fn actions(event: &Event) -> Value {
    Value::from(Map::from([
        ("skip_summarization", Value::from(event.skip_summarization.then_some(true))),
        ("state_delta", Value::from(event.state_delta.clone())),
        ("artifact_delta", Value::from(Map::new())),
        ("transfer_to_agent", Value::Null),
        ("transfer_reason", Value::Null),
        ("escalate", Value::Null),
        ("requested_auth_configs", Value::from(Map::new())),
        ("requested_tool_confirmations", Value::from(Map::new())),
        ("compaction", Value::Null),
        ("end_of_agent", Value::Null),
        ("agent_state", Value::Null),
        ("rewind_before_invocation_id", Value::Null),
        ("route", Value::Null),
        ("render_ui_widgets", Value::Null),
        ("set_model_response", Value::Null),
    ]))
}

fn node_info() -> Value {
    Value::from(Map::from([
        ("path", Value::from("")),
        ("output_for", Value::Null),
        ("message_as_output", Value::Null),
    ]))
}

/// A set in ADK, written in order.
fn long_running(event: &Event) -> Value {
    let mut ids = event.long_running_tool_ids.clone();
    ids.sort_unstable();
    ids.dedup();
    Value::from((!ids.is_empty()).then_some(ids))
}
