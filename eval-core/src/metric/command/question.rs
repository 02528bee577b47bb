//! The question to a program: agentevals' `EvalInput`.

use eval_format::{Content, FunctionCall, FunctionResponse, Invocation, Map, Value};
use eval_support::shell;

use super::super::input::MetricInput;
use crate::group::Launch;

/// The version of agentevals' protocol.
const PROTOCOL_VERSION: &str = "1.1";

/// The longest question that is part of a command in a message.
const TYPED_BYTES: usize = 600;

/// The question about a run as one line of JSON, without the line break.
pub(super) fn of(input: &MetricInput<'_>) -> String {
    // A case of messages alone expects nothing. Turns without calls and answers would say that none are expected.
    let expects = |turn: &Invocation| turn.final_response.is_some() || turn.intermediate_data.is_some();
    let expected = match input.expected {
        expected if expected.iter().any(expects) => list(expected.iter().map(turn)),
        _ => Value::Null,
    };
    with_turns(input, list(input.actual.iter().map(turn)), expected)
}

fn with_turns(input: &MetricInput<'_>, actual: Value, expected: Value) -> String {
    Value::Object(Map::from([
        ("protocol_version", Value::from(PROTOCOL_VERSION)),
        ("metric_name", Value::from(input.name)),
        ("threshold", Value::from(input.criterion.threshold)),
        ("config", Value::Object(input.criterion.options.clone())),
        ("invocations", actual),
        ("expected_invocations", expected),
    ]))
    .to_string()
}

/// The command with which a person asks the program: a short question, or the same one without its turns.
pub(super) fn typed(question: &str, input: &MetricInput<'_>, launch: &Launch) -> String {
    let without_turns;
    let question = if question.len() <= TYPED_BYTES {
        question
    } else {
        without_turns = with_turns(input, Value::Array(Vec::new()), Value::Null);
        &without_turns
    };
    launch.typed(&format!("printf %s {} | ", shell::word(question)))
}

fn list(values: impl Iterator<Item = Value>) -> Value {
    Value::Array(values.collect())
}

fn turn(turn: &Invocation) -> Value {
    let steps = Map::from([
        ("tool_calls", list(turn.tool_calls().map(call))),
        ("tool_responses", list(turn.tool_responses().map(response))),
    ]);
    Value::Object(Map::from([
        ("invocation_id", Value::from(turn.invocation_id.as_str())),
        ("user_content", Value::from(turn.user_text())),
        ("final_response", turn.final_response.as_ref().map(Content::text).map_or(Value::Null, Value::from)),
        ("intermediate_steps", Value::Object(steps)),
        ("performance_metrics", Value::Null),
        ("trace_id", Value::Null),
        ("span_id", Value::Null),
    ]))
}

fn call(call: &FunctionCall) -> Value {
    Value::Object(Map::from([
        ("name", Value::from(call.name.clone().unwrap_or_default())),
        ("args", Value::Object(call.args.clone().unwrap_or_default())),
        ("id", Value::from(call.id.clone())),
    ]))
}

fn response(response: &FunctionResponse) -> Value {
    let result = response.response.clone().map_or(Value::Null, Value::Object);
    let output = if result.is_null() { String::new() } else { result.to_string() };
    Value::Object(Map::from([
        ("name", Value::from(response.name.clone().unwrap_or_default())),
        ("output", Value::from(output)),
        ("status", Value::Null),
        ("id", Value::from(response.id.clone())),
        ("response", result),
    ]))
}

#[cfg(test)]
mod tests {
    use eval_format::{Criterion, EvalCase};
    use serde_json::json;

    use super::*;

    fn asked(case: &EvalCase, actual: &[Invocation], criterion: &Criterion) -> serde_json::Value {
        let input = MetricInput { name: "brevity", ..MetricInput::new(case, actual, criterion) };
        let question = of(&input);
        assert!(!question.contains('\n'));
        serde_json::from_str(&question).unwrap()
    }

    #[test]
    fn a_question_has_the_keys_of_the_protocol_and_the_options_of_the_criterion() {
        let case = EvalCase::new("c").turn(Invocation::user("Paris?\nNow?").response("It is sunny."));
        let actual = [Invocation::parse(
            r#"{"invocation_id": "i", "user_content": {"parts": [{"text": "Paris?\nNow?"}]}, "intermediate_data": {
                "tool_uses": [{"name": "get", "args": {"city": "Paris"}, "id": "1"}, {"id": "2"}],
                "tool_responses": [{"name": "get", "response": {"sky": "é"}, "id": "1"}, {"name": "none"}]}}"#,
        )
        .unwrap()];
        let criterion = Criterion::new(0.7).with("max_words", 3).with("direction", "at_least");
        let asked = asked(&case, &actual, &criterion);
        assert_eq!(
            asked,
            json!({
                "protocol_version": "1.1", "metric_name": "brevity", "threshold": 0.7,
                "config": {"max_words": 3, "direction": "at_least"},
                "invocations": [{
                    "invocation_id": "i", "user_content": "Paris?\nNow?", "final_response": null,
                    "intermediate_steps": {
                        "tool_calls": [
                            {"name": "get", "args": {"city": "Paris"}, "id": "1"},
                            {"name": "", "args": {}, "id": "2"},
                        ],
                        "tool_responses": [
                            {"name": "get", "output": "{\"sky\":\"é\"}", "status": null, "id": "1", "response": {"sky": "é"}},
                            {"name": "none", "output": "", "status": null, "id": null, "response": null},
                        ],
                    },
                    "performance_metrics": null, "trace_id": null, "span_id": null,
                }],
                "expected_invocations": [{
                    "invocation_id": asked["expected_invocations"][0]["invocation_id"],
                    "user_content": "Paris?\nNow?", "final_response": "It is sunny.",
                    "intermediate_steps": {"tool_calls": [], "tool_responses": []},
                    "performance_metrics": null, "trace_id": null, "span_id": null,
                }],
            })
        );
        for expects_nothing in [EvalCase::new("s"), EvalCase::new("m").turn(Invocation::user("Paris?"))] {
            assert!(self::asked(&expects_nothing, &actual, &criterion)["expected_invocations"].is_null());
        }
    }

    #[test]
    fn the_turns_of_a_long_question_are_no_part_of_the_command() {
        let (case, criterion) = (EvalCase::new("c"), Criterion::new(0.5).with("max_words", 3));
        let input = MetricInput { name: "brevity", ..MetricInput::new(&case, &[], &criterion) };
        let mut command = std::process::Command::new("node");
        let launch = Launch::new(command.arg("a && b.js").current_dir("evals"));
        assert_eq!(typed("{}", &input, &launch), "cd evals && printf %s '{}' | node 'a && b.js'");
        let long = typed(&"x".repeat(TYPED_BYTES + 1), &input, &launch);
        let question = r#"{"protocol_version":"1.1","metric_name":"brevity","threshold":0.5,"config":{"max_words":3},"invocations":[],"expected_invocations":null}"#;
        assert_eq!(long, format!("cd evals && printf %s '{question}' | node 'a && b.js'"));
    }
}
