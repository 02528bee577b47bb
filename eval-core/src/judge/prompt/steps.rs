//! Tool calls with their responses, and what the model looked up by itself.

use std::collections::{HashMap, VecDeque};

use eval_format::{Content, FunctionCall, FunctionResponse, IntermediateData, Invocation, Map, Value};

/// The tool calls of a turn in order, each with its response.
///
/// A call with an id gets the response of that id, and the last one if there are several. A call without an id gets the
/// next response without an id that has its name. ADK shows every call without an id with the last response without
/// one, whatever its tool.
pub(crate) fn calls_with_responses(turn: &Invocation) -> Vec<(&FunctionCall, Option<&FunctionResponse>)> {
    let calls: Vec<&FunctionCall> = turn.tool_calls().collect();
    let (mut by_id, mut by_name) = (HashMap::new(), HashMap::new());
    for response in responses(turn) {
        let queue: &mut VecDeque<&FunctionResponse> = match response.id.as_deref() {
            Some(id) => by_id.entry(id).or_default(),
            None => by_name.entry(response.name.as_deref()).or_default(),
        };
        queue.push_back(response);
    }
    let mut to_come: HashMap<&str, usize> = HashMap::new();
    for id in calls.iter().filter_map(|call| call.id.as_deref()) {
        *to_come.entry(id).or_default() += 1;
    }
    let mut pairs = Vec::with_capacity(calls.len());
    for call in calls {
        let by_own_id = call.id.as_deref().and_then(|id| {
            let calls_left = to_come.get_mut(id)?;
            *calls_left -= 1;
            let queue = by_id.get_mut(id)?;
            if *calls_left == 0 { queue.pop_back() } else { queue.pop_front() }
        });
        let by_name = || by_name.get_mut(&call.name.as_deref())?.pop_front();
        pairs.push((call, by_own_id.or_else(by_name)));
    }
    pairs
}

/// The responses of a turn's tools, in order.
pub(super) fn responses(turn: &Invocation) -> impl Iterator<Item = &FunctionResponse> {
    let flat = match &turn.intermediate_data {
        Some(IntermediateData::Tools { tool_responses, .. }) => tool_responses.as_slice(),
        _ => [].as_slice(),
    };
    let contents = turn.events().iter().filter_map(|event| event.content.as_ref());
    let parts = contents.flat_map(Content::parts);
    flat.iter().chain(parts.filter_map(|part| part.function_response.as_ref()))
}

/// The tool calls of a turn with their responses, a JSON object a line.
///
/// Ids are left out: they are drawn anew in each run, and a recording would never be found again.
pub(crate) fn steps(turn: &Invocation) -> String {
    let pairs = calls_with_responses(turn);
    if pairs.is_empty() {
        return "(no tool was called)".to_owned();
    }
    let lines = pairs.into_iter().enumerate().map(|(at, (call, response))| {
        let response = response.map_or_else(|| Value::from("(there is no response)"), response_value);
        line([("step", number(at + 1)), ("tool_call", call_value(call)), ("tool_response", response)])
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// What the model itself looked up during a turn (`grounding_metadata`), a JSON object a line.
pub(crate) fn grounding(turn: &Invocation) -> String {
    let lines: Vec<String> = turn
        .events()
        .iter()
        .filter_map(|event| Some((event, event.grounding_metadata.clone()?)))
        .map(|(event, metadata)| {
            line([("author", Value::from(event.author.as_str())), ("grounding", Value::from(metadata))])
        })
        .collect();
    if lines.is_empty() { "(the model looked nothing up by itself)".to_owned() } else { lines.join("\n") }
}

pub(super) fn call_value(call: &FunctionCall) -> Value {
    let args = call.args.clone().unwrap_or_default();
    Value::from(Map::from([("name", name(call.name.as_deref())), ("args", Value::from(args))]))
}

pub(super) fn response_value(response: &FunctionResponse) -> Value {
    let body = response.response.clone().unwrap_or_default();
    Value::from(Map::from([("name", name(response.name.as_deref())), ("response", Value::from(body))]))
}

fn name(name: Option<&str>) -> Value {
    name.map_or(Value::Null, Value::from)
}

pub(super) fn number(n: usize) -> Value {
    Value::from(i64::try_from(n).unwrap_or(i64::MAX))
}

/// A JSON object on one line. A text in it has its line breaks escaped.
pub(super) fn line<const N: usize>(entries: [(&str, Value); N]) -> String {
    Value::from(Map::from(entries)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use eval_format::{InvocationEvent, Part};
    use serde_json::json;

    fn call(id: Option<&str>, name: &str) -> FunctionCall {
        let mut call = FunctionCall::new(name, json!({}));
        call.id = id.map(str::to_owned);
        call
    }

    fn response(id: Option<&str>, name: &str, text: &str) -> FunctionResponse {
        let mut response = FunctionResponse::new(name, json!({ "is": text }));
        response.id = id.map(str::to_owned);
        response
    }

    fn turn(calls: Vec<FunctionCall>, responses: Vec<FunctionResponse>) -> [Invocation; 2] {
        let events =
            calls.iter().cloned().map(Part::call).chain(responses.iter().cloned().map(Part::response));
        let events =
            events.map(|part| InvocationEvent::new("a").with_content(Content::new("model", vec![part])));
        let forms = [
            IntermediateData::Events(events.collect()),
            IntermediateData::Tools {
                tool_uses: calls,
                tool_responses: responses,
                intermediate_responses: Vec::new(),
            },
        ];
        forms.map(|data| Invocation::user("q").with_intermediate_data(data))
    }

    #[test]
    fn calls_are_shown_with_their_own_responses() {
        type Call<'a> = (Option<&'a str>, &'a str);
        type Response<'a> = (Option<&'a str>, &'a str, &'a str);
        type Row<'a> = (&'a [Call<'a>], &'a [Response<'a>], &'a [Option<&'a str>]);
        let rows: [Row<'_>; 8] = [
            // ADK shows `t` with what `u` said: one response for all calls without an id.
            (&[(None, "t"), (None, "u")], &[(None, "t", "1"), (None, "u", "2")], &[Some("1"), Some("2")]),
            (&[(None, "t"), (None, "u")], &[(None, "u", "2"), (None, "t", "1")], &[Some("1"), Some("2")]),
            (&[(None, "t"), (None, "t")], &[(None, "t", "1"), (None, "t", "2")], &[Some("1"), Some("2")]),
            (
                &[(Some("1"), "t"), (Some("2"), "t")],
                &[(Some("2"), "t", "b"), (Some("1"), "t", "a")],
                &[Some("a"), Some("b")],
            ),
            // A tool that reports its progress: the last word counts, as in ADK.
            (&[(Some("1"), "t")], &[(Some("1"), "t", "wait"), (Some("1"), "t", "done")], &[Some("done")]),
            (
                &[(Some("1"), "t"), (Some("1"), "t")],
                &[(Some("1"), "t", "a"), (Some("1"), "t", "b")],
                &[Some("a"), Some("b")],
            ),
            (&[(Some("1"), "t"), (None, "u")], &[], &[None, None]),
            (&[(Some("1"), "t")], &[(Some("2"), "t", "other"), (None, "t", "mine")], &[Some("mine")]),
        ];
        for (calls, responses, expected) in rows {
            let calls: Vec<_> = calls.iter().map(|(id, name)| call(*id, name)).collect();
            let responses: Vec<_> =
                responses.iter().map(|(id, name, text)| response(*id, name, text)).collect();
            for turn in turn(calls, responses) {
                let found: Vec<Option<String>> = calls_with_responses(&turn)
                    .into_iter()
                    .map(|(_, response)| Some(response?.response.as_ref()?.get("is")?.as_str()?.to_owned()))
                    .collect();
                let found: Vec<Option<&str>> = found.iter().map(Option::as_deref).collect();
                assert_eq!(found, expected, "{turn:?}");
            }
        }
    }

    #[test]
    fn steps_are_lines_of_json_without_ids() {
        let [events, flat] = turn(
            vec![call(Some("x1"), "t"), call(None, "u")],
            vec![response(Some("x1"), "t", "a\n{\"step\":9}")],
        );
        let expected = r#"{"step":1,"tool_call":{"name":"t","args":{}},"tool_response":{"name":"t","response":{"is":"a\n{\"step\":9}"}}}
{"step":2,"tool_call":{"name":"u","args":{}},"tool_response":"(there is no response)"}"#;
        assert_eq!((steps(&events).as_str(), steps(&flat).as_str()), (expected, expected));
        assert_eq!(steps(&Invocation::user("q")), "(no tool was called)");
    }

    #[test]
    fn what_the_model_looked_up_is_shown_with_its_author() {
        let grounded = Map::from([("web_search_queries", vec!["q"])]);
        let event = InvocationEvent::new("a").with_grounding_metadata(grounded);
        let turn = Invocation::user("q").with_intermediate_data(IntermediateData::Events(vec![event]));
        assert_eq!(grounding(&turn), r#"{"author":"a","grounding":{"web_search_queries":["q"]}}"#);
        assert_eq!(grounding(&Invocation::user("q")), "(the model looked nothing up by itself)");
    }
}
