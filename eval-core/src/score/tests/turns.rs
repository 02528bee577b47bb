//! Invocations made of the events that an agent recorded in a turn.

use eval_format::{Content, IntermediateData, Invocation, InvocationEvent};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::agent::Event;
use crate::transcript::invocation;

/// Compares the turn that recorded events become with ADK's: of all events, or of those that are no parts of a streamed
/// one.
pub(super) fn check(input: &RawValue, answer: &RawValue) -> Result<(), String> {
    let recorded: Vec<Value> = serde_json::from_str(input.get()).unwrap();
    let events: Vec<Event> = recorded.iter().map(event).collect();
    let ours = shown(&invocation(&Content::user("hi"), &events));
    let theirs: Vec<String> = serde_json::from_str::<Vec<Value>>(answer.get())
        .unwrap()
        .into_iter()
        .map(|mut turn| {
            turn["user_content"] = serde_json::json!({});
            shown(&Invocation::parse(&turn.to_string()).unwrap())
        })
        .collect();
    if theirs.contains(&ours) {
        Ok(())
    } else {
        Err(format!("here {ours}\n  in ADK {}", theirs.join("\n  or ")))
    }
}

/// An event as `cases.py` draws it.
fn event(recorded: &Value) -> Event {
    let is = |key: &str| recorded[key].as_bool() == Some(true);
    let mut of_model = recorded.clone();
    for key in ["partial", "skip_summarization", "long_running"] {
        of_model.as_object_mut().unwrap().remove(key);
    }
    let data =
        serde_json::json!({"user_content": {}, "intermediate_data": {"invocation_events": [of_model]}});
    let turn = Invocation::parse(&data.to_string()).unwrap();
    let InvocationEvent { author, content, usage_metadata, model_version, grounding_metadata, .. } =
        turn.events()[0].clone();
    Event {
        content,
        usage: usage_metadata,
        model_version,
        grounding_metadata,
        partial: is("partial"),
        skip_summarization: is("skip_summarization"),
        long_running_tool_ids: if is("long_running") { vec!["call".to_owned()] } else { Vec::new() },
        ..Event::empty(author)
    }
}

/// The answer and the events. ADK drops events that say nothing and carry only the tokens of a model call; they are
/// kept here, so that every call counts. It drops events with code alone too, which say something here.
fn shown(turn: &Invocation) -> String {
    let mut turn = turn.clone();
    turn.user_content = Content::default();
    if let Some(IntermediateData::Events(events)) = &mut turn.intermediate_data {
        events.retain(|event| event.grounding_metadata.is_some() || event.content.as_ref().is_some_and(says));
    }
    turn.to_value().to_string()
}

/// Whether a message has a part for which ADK keeps its event.
fn says(content: &Content) -> bool {
    content.parts().iter().any(|part| {
        part.text.as_deref().is_some_and(|text| !text.is_empty())
            || part.function_call.is_some()
            || part.function_response.is_some()
            || part.other.contains_key("inline_data")
    })
}
