//! The calls of a turn, each with the response that answers it.

use std::collections::{HashMap, VecDeque};

use crate::model::{Content, FunctionCall, FunctionResponse, Invocation};
use crate::value::Map;

/// The tool calls of a turn in order, each with what its tool answered; `None` if the turn does not say.
///
/// A response belongs to the call of its id. Any other response belongs to the next call of its tool.
///
/// ```
/// use eval_format::Invocation;
/// use eval_format::tools::answered_calls;
///
/// let turn = Invocation::parse(r#"{"user_content": {}, "intermediate_data": {
///     "tool_uses": [{"name": "f", "args": {}}, {"name": "g", "args": {}}],
///     "tool_responses": [{"name": "g", "response": {"result": 1}}]}}"#).unwrap();
/// let answers: Vec<_> = answered_calls(&turn).into_iter().map(|(_, answer)| answer.is_some()).collect();
/// assert_eq!(answers, [false, true]);
/// ```
pub fn answered_calls(turn: &Invocation) -> Vec<(&FunctionCall, Option<&Map>)> {
    let pairs = calls_with_responses(turn).into_iter();
    pairs.map(|(call, found)| (call, found.and_then(|it| it.response.as_ref()))).collect()
}

/// The calls of a turn, each with its response.
pub fn calls_with_responses(turn: &Invocation) -> Vec<(&FunctionCall, Option<&FunctionResponse>)> {
    let calls: Vec<&FunctionCall> = turn.tool_calls().collect();
    let mut found: Vec<Option<&FunctionResponse>> = vec![None; calls.len()];
    let mut by_id: HashMap<&str, VecDeque<usize>> = HashMap::new();
    for (at, call) in calls.iter().enumerate() {
        if let Some(id) = call.id.as_deref() {
            by_id.entry(id).or_default().push_back(at);
        }
    }
    let mut left = Vec::new();
    // A response that is the answer of its turn is not repeated among the events.
    let answers = turn.final_response.iter().flat_map(Content::parts);
    let answers = answers.filter_map(|part| part.function_response.as_ref());
    for response in turn.tool_responses().chain(answers) {
        match response.id.as_deref().and_then(|id| by_id.get_mut(id)) {
            // A further response of one id came from outside of the tool, as for one that runs for long.
            Some(of_id) => {
                if let Some(at) = of_id.pop_front() {
                    found[at] = Some(response);
                }
            }
            None => left.push(response),
        }
    }
    let mut by_name: HashMap<Option<&str>, VecDeque<usize>> = HashMap::new();
    for (at, call) in calls.iter().enumerate().filter(|(at, _)| found[*at].is_none()) {
        by_name.entry(call.name.as_deref()).or_default().push_back(at);
    }
    for response in left {
        if let Some(at) = by_name.get_mut(&response.name.as_deref()).and_then(VecDeque::pop_front) {
            found[at] = Some(response);
        }
    }
    calls.into_iter().zip(found).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_that_is_the_answer_of_its_turn_counts() {
        let turn = Invocation::parse(
            r#"{"user_content": {}, "intermediate_data": {"invocation_events": [
                {"author": "a", "content": {"parts": [{"function_call": {"id": "1", "name": "f", "args": {}}}]}}]},
                "final_response": {"parts": [{"function_response": {"id": "1", "name": "f", "response": {"n": 1}}}]}}"#,
        );
        let turn = turn.unwrap();
        assert_eq!(answered_calls(&turn)[0].1.unwrap()["n"].as_i64(), Some(1));
    }

    #[test]
    fn a_response_belongs_to_the_call_of_its_id_else_to_the_next_of_its_tool() {
        for (calls, responses, expected) in [
            // By id, whatever the order.
            ("a:f b:f", "b:f:1 a:f:2", "2 1"),
            // Without ids: in order.
            ("f f g", "g:3 f:1 f:2", "1 2 3"),
            // A response with the id of no call is the next of its tool.
            ("f f", "x:f:1", "1 -"),
            // A second response of one id changes nothing.
            ("a:f b:f", "a:f:1 a:f:2", "1 -"),
            ("a:f f", "f:1 f:2", "1 2"),
            ("f", "g:1", "-"),
            // Nothing is no answer; `{}` is one.
            ("f", "f:", "-"),
            ("", "f:1", ""),
        ] {
            let call = |text: &str| {
                let (id, name) = text.rsplit_once(':').unwrap_or(("", text));
                let id = if id.is_empty() { String::new() } else { format!(r#""id": "{id}", "#) };
                format!(r#"{{{id}"name": "{name}", "args": {{}}}}"#)
            };
            let response = |text: &str| {
                let (call_text, value) = text.rsplit_once(':').unwrap();
                let value = if value.is_empty() { "null".to_owned() } else { format!(r#"{{"n": {value}}}"#) };
                call(call_text).replace(r#""args": {}"#, &format!(r#""response": {value}"#))
            };
            let list = |text: &str, make: &dyn Fn(&str) -> String| {
                text.split_whitespace().map(make).collect::<Vec<_>>().join(", ")
            };
            let turn = Invocation::parse(&format!(
                r#"{{"user_content": {{}}, "intermediate_data": {{"tool_uses": [{}], "tool_responses": [{}]}}}}"#,
                list(calls, &call),
                list(responses, &response)
            ))
            .unwrap();
            let found: Vec<String> = answered_calls(&turn)
                .into_iter()
                .map(|(_, answer)| answer.map_or("-".to_owned(), |answer| answer["n"].to_string()))
                .collect();
            assert_eq!(found.join(" "), expected, "{calls} / {responses}");
        }
    }
}
