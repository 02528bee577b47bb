//! A quick check for sets in which the reader would find no problem.
//!
//! Most sets that are built in Rust, or read from a file and handed to a runner, use only a few fields.
//! Writing and reading them again would take longer than running them. All other sets go to the reader.

use std::collections::HashSet;

use crate::model::{
    Content, EvalCase, FunctionCall, FunctionResponse, IntermediateData, Invocation, InvocationEvent, Part,
    SessionInput,
};
use crate::value::{Map, Value};

/// The maximal depth of values. The reader takes more, and counts the levels around them too.
const DEPTH: usize = 160;

/// Whether a set of these cases certainly breaks no rule of the reader.
pub(super) fn are_plain(cases: &[EvalCase]) -> bool {
    let mut ids = HashSet::with_capacity(cases.len());
    !cases.is_empty() && cases.iter().all(|case| ids.insert(case.eval_id.as_str()) && is_plain(case))
}

// Each field is named below, so that a new field does not compile until it is handled here.

fn is_plain(case: &EvalCase) -> bool {
    let EvalCase {
        eval_id,
        conversation,
        conversation_scenario,
        session_input,
        creation_timestamp: _,
        rubrics,
        final_session_state,
        extra,
    } = case;
    !eval_id.is_empty()
        && !conversation.is_empty()
        && conversation_scenario.is_none()
        && rubrics.is_none()
        && extra.is_empty()
        && session_input.as_ref().is_none_or(session)
        && is_shallow(final_session_state)
        && conversation.iter().all(turn)
}

fn session(session: &SessionInput) -> bool {
    let SessionInput { app_name: _, user_id: _, session_id: _, state, extra } = session;
    extra.is_empty() && is_shallow(state)
}

fn turn(turn: &Invocation) -> bool {
    let Invocation {
        invocation_id: _,
        user_content,
        final_response,
        intermediate_data,
        creation_timestamp: _,
        duration: _,
        model_duration: _,
        tool_duration: _,
        rubrics,
        app_details,
    } = turn;
    rubrics.is_none()
        && app_details.is_none()
        && content(user_content)
        && final_response.as_ref().is_none_or(content)
        && match intermediate_data {
            None => true,
            Some(IntermediateData::Events(events)) => events.iter().all(event),
            Some(IntermediateData::Tools { tool_uses, tool_responses, intermediate_responses }) => {
                tool_uses.iter().all(call)
                    && tool_responses.iter().all(response)
                    && intermediate_responses.iter().all(|(_, parts)| parts.iter().all(part))
            }
        }
}

fn event(event: &InvocationEvent) -> bool {
    let InvocationEvent { author: _, content: said, usage_metadata, model_version: _, grounding_metadata } =
        event;
    usage_metadata.is_none() && grounding_metadata.is_none() && said.as_ref().is_none_or(content)
}

fn content(content: &Content) -> bool {
    let Content { parts, role: _ } = content;
    parts.iter().flatten().all(part)
}

fn part(part: &Part) -> bool {
    let Part { text: _, thought: _, function_call, function_response, other } = part;
    other.is_empty()
        && function_call.as_ref().is_none_or(call)
        && function_response.as_ref().is_none_or(response)
}

fn call(call: &FunctionCall) -> bool {
    let FunctionCall { id: _, args, name: _, other } = call;
    other.is_empty() && args.as_ref().is_none_or(is_shallow)
}

fn response(response: &FunctionResponse) -> bool {
    let FunctionResponse { id: _, name: _, response, other } = response;
    other.is_empty() && response.as_ref().is_none_or(is_shallow)
}

/// Not recursive: values that are built in Rust have any depth.
fn is_shallow(map: &Map) -> bool {
    let mut levels: Vec<&Value> = map.iter().map(|(_, value)| value).collect();
    for _ in 0..DEPTH {
        if levels.is_empty() {
            return true;
        }
        let mut below = Vec::new();
        for value in levels {
            match value {
                Value::Array(items) => below.extend(items),
                Value::Object(map) => below.extend(map.iter().map(|(_, value)| value)),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
        levels = below;
    }
    false
}
