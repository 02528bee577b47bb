mod answers;
mod mistakes;
mod names;
mod properties;
mod values;

use serde_json::json;

use crate::model::{EvalCase, FunctionCall, Invocation};
use crate::value::{Map, Value};

/// A call of `f` with these arguments.
fn call(tool: &str, args: serde_json::Value) -> FunctionCall {
    FunctionCall::new(tool, args)
}

/// A case of one turn that expects these calls.
fn case(calls: impl IntoIterator<Item = FunctionCall>, expect: serde_json::Value) -> EvalCase {
    let turn = calls.into_iter().fold(Invocation::user("Hi"), Invocation::call);
    EvalCase::new("c").turn(turn).with_extra(EvalCase::EXPECT_KEY, expect)
}

/// A call with one argument `v`; none without a value.
fn with_value(value: Option<Value>) -> FunctionCall {
    let args: Map = value.into_iter().map(|value| ("v", value)).collect();
    FunctionCall::new("f", args)
}

/// The rules of a turn in which `v` of the call of `f` has a matcher.
fn of_v(matcher: &serde_json::Value) -> serde_json::Value {
    json!({ "1": { "calls": { "f": { "v": matcher } } } })
}
