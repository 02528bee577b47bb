//! Sets in which the reader would find nothing, seen at a glance.
//!
//! Most sets that are built in Rust, or read from a file and handed to a runner, use a few fields alone. To write and to
//! read them again would take longer than to run them. Whatever is not seen here to be sound goes to the reader.

use std::collections::HashSet;

use crate::model::{
    Content, EvalCase, FunctionCall, FunctionResponse, IntermediateData, Invocation, InvocationEvent, Part,
};
use crate::value::{Map, Value};

/// How deep values may be. The reader takes more, and what stands around them counts there too.
const DEPTH: usize = 160;

/// Whether no rule of the reader can be broken by a set of these cases.
pub(super) fn are_plain(cases: &[EvalCase]) -> bool {
    let mut ids = HashSet::with_capacity(cases.len());
    !cases.is_empty() && cases.iter().all(|case| ids.insert(case.eval_id.as_str()) && is_plain(case))
}

fn is_plain(case: &EvalCase) -> bool {
    let session = case.session_input.as_ref();
    !case.eval_id.is_empty()
        && !case.conversation.is_empty()
        && case.conversation_scenario.is_none()
        && case.rubrics.is_none()
        && case.extra.is_empty()
        && session.is_none_or(|session| session.extra.is_empty() && is_shallow(&session.state))
        && is_shallow(&case.final_session_state)
        && case.conversation.iter().all(turn)
}

fn turn(turn: &Invocation) -> bool {
    turn.rubrics.is_none()
        && turn.app_details.is_none()
        && content(&turn.user_content)
        && turn.final_response.as_ref().is_none_or(content)
        && match &turn.intermediate_data {
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
    event.usage_metadata.is_none()
        && event.grounding_metadata.is_none()
        && event.content.as_ref().is_none_or(content)
}

fn content(content: &Content) -> bool {
    content.parts().iter().all(part)
}

fn part(part: &Part) -> bool {
    part.other.is_empty()
        && part.function_call.as_ref().is_none_or(call)
        && part.function_response.as_ref().is_none_or(response)
}

fn call(call: &FunctionCall) -> bool {
    call.other.is_empty() && call.args.as_ref().is_none_or(is_shallow)
}

fn response(response: &FunctionResponse) -> bool {
    response.other.is_empty() && response.response.as_ref().is_none_or(is_shallow)
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
