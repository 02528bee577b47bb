//! Tool calls with their responses, and what the model looked up by itself.

use eval_format::{FunctionCall, FunctionResponse, Invocation, Map, Value};

pub(crate) use crate::score::responses::calls_with_responses;

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
    use crate::score::responses::tests::{call, response, turn};
    use eval_format::{IntermediateData, InvocationEvent};

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
