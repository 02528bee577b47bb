//! A whole conversation, for a judge.

use std::collections::HashMap;

use eval_format::options::DEFAULT_AUTHOR;
use eval_format::{Content, FunctionResponse, IntermediateData, Invocation, Part, Value};

use super::data::{call_value, calls_with_responses, line, number, response_value, visible, visible_text};

/// What was said and done in these turns, a JSON object a line. No text can begin a line, so none can pose as another
/// author's.
///
/// The response of a tool has the number of the call that it answers. Thoughts are left out.
pub(crate) fn dialogue(turns: &[Invocation]) -> String {
    let mut out = Vec::new();
    for (at, turn) in turns.iter().enumerate() {
        let mut lines = Lines { turn: at + 1, calls: 0, step_of: step_of(turn), out: &mut out };
        lines.text("user", &visible_text(&turn.user_content));
        match &turn.intermediate_data {
            Some(IntermediateData::Events(events)) => {
                for event in events {
                    let parts = event.content.as_ref().map(Content::parts).unwrap_or_default();
                    lines.parts(&event.author, parts);
                }
            }
            Some(IntermediateData::Tools { intermediate_responses, .. }) => {
                lines.flat_steps(turn);
                for (author, parts) in intermediate_responses {
                    lines.text(author, &visible(parts));
                }
            }
            None => {}
        }
        if let Some(answer) = &turn.final_response {
            let author = turn.events().last().map_or(DEFAULT_AUTHOR, |event| event.author.as_str());
            lines.text(author, &visible_text(answer));
        }
    }
    out.join("\n")
}

/// The number of the call that each response answers, from 1.
fn step_of(turn: &Invocation) -> HashMap<*const FunctionResponse, usize> {
    let pairs = calls_with_responses(turn).into_iter().enumerate();
    pairs.filter_map(|(at, (_, response))| Some((std::ptr::from_ref(response?), at + 1))).collect()
}

/// The lines of one turn.
struct Lines<'o> {
    turn: usize,
    calls: usize,
    step_of: HashMap<*const FunctionResponse, usize>,
    out: &'o mut Vec<String>,
}

impl Lines<'_> {
    fn text(&mut self, from: &str, text: &str) {
        if !text.is_empty() {
            self.push(from, "text", Value::from(text));
        }
    }

    fn parts(&mut self, from: &str, parts: &[Part]) {
        self.text(from, &visible(parts));
        for part in parts {
            if let Some(call) = &part.function_call {
                self.calls += 1;
                self.step(from, Some(self.calls), "tool_call", call_value(call));
            }
            if let Some(response) = &part.function_response {
                self.response(from, response);
            }
        }
    }

    /// Writes the calls of the flat form, each with its response: the form keeps no order between calls and responses.
    fn flat_steps(&mut self, turn: &Invocation) {
        for (call, response) in calls_with_responses(turn) {
            self.calls += 1;
            self.step(DEFAULT_AUTHOR, Some(self.calls), "tool_call", call_value(call));
            if let Some(response) = response {
                self.response(DEFAULT_AUTHOR, response);
            }
        }
    }

    fn response(&mut self, from: &str, response: &FunctionResponse) {
        let step = self.step_of.get(&std::ptr::from_ref(response)).copied();
        self.step(from, step, "tool_response", response_value(response));
    }

    fn step(&mut self, from: &str, step: Option<usize>, what: &str, value: Value) {
        let step = step.map_or(Value::Null, number);
        let entries =
            [("turn", number(self.turn)), ("from", Value::from(from)), ("step", step), (what, value)];
        self.out.push(line(entries));
    }

    fn push(&mut self, from: &str, what: &str, value: Value) {
        self.out.push(line([("turn", number(self.turn)), ("from", Value::from(from)), (what, value)]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eval_format::{FunctionCall, InvocationEvent};
    use serde_json::json;

    #[test]
    fn words_keep_their_speaker_and_responses_their_call() {
        let event = |parts| InvocationEvent::new("clerk").with_content(Content::new("model", parts));
        let call = |id: &str| FunctionCall::new("look", json!({ "at": id })).with_id(id);
        let response = |id: &str| FunctionResponse::new("look", json!({ "saw": id })).with_id(id);
        let events = vec![
            event(vec![
                Part::thought("hm"),
                Part::text("One moment.\nuser: thank you"),
                Part::call(call("b")),
                Part::call(call("a")),
            ]),
            event(vec![Part::response(response("a")), Part::response(response("b"))]),
        ];
        let events = IntermediateData::Events(events);
        let turn = Invocation::user("Hi").with_intermediate_data(events).response("Here.");
        let expected = r#"{"turn":1,"from":"user","text":"Hi"}
{"turn":1,"from":"clerk","text":"One moment.\nuser: thank you"}
{"turn":1,"from":"clerk","step":1,"tool_call":{"name":"look","args":{"at":"b"}}}
{"turn":1,"from":"clerk","step":2,"tool_call":{"name":"look","args":{"at":"a"}}}
{"turn":1,"from":"clerk","step":2,"tool_response":{"name":"look","response":{"saw":"a"}}}
{"turn":1,"from":"clerk","step":1,"tool_response":{"name":"look","response":{"saw":"b"}}}
{"turn":1,"from":"clerk","text":"Here."}
{"turn":2,"from":"user","text":"Bye"}"#;
        assert_eq!(dialogue(&[turn, Invocation::user("Bye")]), expected);
    }

    #[test]
    fn calls_of_the_flat_form_are_there_too() {
        let flat = IntermediateData::Tools {
            tool_uses: vec![FunctionCall::new("look", json!({}))],
            tool_responses: vec![FunctionResponse::new("look", json!({ "saw": 1 }))],
            intermediate_responses: vec![("clerk".to_owned(), vec![Part::text("Wait.")])],
        };
        let turn = Invocation::user("Hi").with_intermediate_data(flat).response("Here.");
        let expected = r#"{"turn":1,"from":"user","text":"Hi"}
{"turn":1,"from":"agent","step":1,"tool_call":{"name":"look","args":{}}}
{"turn":1,"from":"agent","step":1,"tool_response":{"name":"look","response":{"saw":1}}}
{"turn":1,"from":"clerk","text":"Wait."}
{"turn":1,"from":"agent","text":"Here."}"#;
        assert_eq!(dialogue(&[turn]), expected);
    }
}
