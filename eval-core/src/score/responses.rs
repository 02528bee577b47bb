//! Responses of tools: each with its call, and the comparison of expected with actual responses.

use std::collections::HashSet;

use eval_format::tools::calls_with_responses;
use eval_format::{FunctionCall, FunctionResponse, Invocation, Map, Value};

use super::assign::assign_equal;
use super::equality::{ArgsMatch, values_equal};

/// A response with the call that it answers; a response that answers no call is alone.
#[derive(Clone, Copy, Debug)]
pub struct Answered<'a> {
    /// The call; `None` if the response answers none.
    pub call: Option<&'a FunctionCall>,
    /// The response.
    pub response: &'a FunctionResponse,
}

impl<'a> Answered<'a> {
    /// The responses of a turn that have a value: first the responses to its calls in order, then the ones without a
    /// call.
    pub fn in_turn(turn: &'a Invocation) -> Vec<Self> {
        let mut answered: Vec<Self> = Vec::new();
        for (call, response) in calls_with_responses(turn) {
            answered.extend(response.map(|response| Self { call: Some(call), response }));
        }
        let of_calls: HashSet<*const FunctionResponse> =
            answered.iter().map(|it| std::ptr::from_ref(it.response)).collect();
        let others = turn.tool_responses().filter(|it| !of_calls.contains(&std::ptr::from_ref(*it)));
        answered.extend(others.map(|response| Self { call: None, response }));
        answered.retain(|it| it.response.response.is_some());
        answered
    }

    /// The name of the tool.
    pub fn tool(&self) -> Option<&'a str> {
        let of_call = self.call.and_then(|call| call.name.as_deref());
        of_call.or(self.response.name.as_deref())
    }

    fn response_value(&self) -> Value {
        self.response.response.clone().map_or(Value::Null, Value::Object)
    }

    /// A call as a key: two keys are equal if the tool is, and what else is asked for.
    fn key(&self, with_call: bool, with_response: bool) -> FunctionCall {
        let mut values = Map::new();
        if with_call {
            let args = self.call.and_then(|call| call.args.clone());
            values.insert("call", args.map_or(Value::Null, Value::Object));
        }
        if with_response {
            values.insert("response", self.response_value());
        }
        let mut key = FunctionCall::default();
        key.name = self.tool().map(str::to_owned);
        key.args = Some(values);
        key
    }
}

/// The outcome of an expected response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Came {
    /// The response came.
    AsExpected,
    /// The actual response of this index came in its place.
    Otherwise(usize),
    /// The tool was not called, or not as often, or did not answer.
    NotAtAll,
}

/// The outcome of each expected response.
///
/// A response belongs to its call. Equal calls are paired first, in any order, beginning with those whose
/// responses are equal. The rest is paired by the tool and the response, then by the tool. Each actual
/// response is paired once. It takes time linear in the number of responses.
pub(crate) fn came(expected: &[Answered<'_>], actual: &[Answered<'_>]) -> Vec<Came> {
    let mut came = vec![None; expected.len()];
    let mut used = vec![false; actual.len()];
    for (with_call, with_response) in [(true, true), (true, false), (false, true), (false, false)] {
        let left: Vec<usize> = (0..expected.len()).filter(|at| came[*at].is_none()).collect();
        let free: Vec<usize> = (0..actual.len()).filter(|at| !used[*at]).collect();
        let keys = |of: &[Answered<'_>], at: &[usize]| -> Vec<FunctionCall> {
            at.iter().map(|at| of[*at].key(with_call, with_response)).collect()
        };
        let (wanted, found) = (keys(expected, &left), keys(actual, &free));
        let (wanted, found): (Vec<_>, Vec<_>) = (wanted.iter().collect(), found.iter().collect());
        let pairs = assign_equal(&wanted, &found, ArgsMatch::Exact);
        for (e, a) in pairs.into_iter().enumerate() {
            let Some(a) = a.map(|a| free[a]) else { continue };
            used[a] = true;
            let e = left[e];
            let equal = values_equal(&expected[e].response_value(), &actual[a].response_value());
            came[e] = Some(if equal { Came::AsExpected } else { Came::Otherwise(a) });
        }
    }
    came.into_iter().map(|came| came.unwrap_or(Came::NotAtAll)).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use eval_format::{Content, IntermediateData, InvocationEvent, Part};
    use serde_json::json;

    pub(crate) fn call(id: Option<&str>, name: &str) -> FunctionCall {
        let mut call = FunctionCall::new(name, json!({}));
        call.id = id.map(str::to_owned);
        call
    }

    pub(crate) fn response(id: Option<&str>, name: &str, text: &str) -> FunctionResponse {
        let mut response = FunctionResponse::new(name, json!({ "is": text }));
        response.id = id.map(str::to_owned);
        response
    }

    pub(crate) fn turn(calls: Vec<FunctionCall>, responses: Vec<FunctionResponse>) -> [Invocation; 2] {
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

    /// `f(x) -> y` as a call with its response; several with blanks between.
    fn answered(text: &str) -> (Vec<FunctionCall>, Vec<FunctionResponse>) {
        let mut lists = (Vec::new(), Vec::new());
        for (at, word) in text.split_whitespace().enumerate() {
            let (call, result) = word.split_once("->").unwrap();
            let id = format!("id {at}");
            let name = match call.split_once('(') {
                Some((name, args)) => {
                    let args = json!({ "x": args.trim_end_matches(')') });
                    lists.0.push(FunctionCall::new(name, args).with_id(&id));
                    name
                }
                // A response without a call.
                None => call,
            };
            lists.1.push(FunctionResponse::new(name, json!(result)).with_id(id));
        }
        lists
    }

    #[test]
    fn responses_are_paired_call_by_call() {
        use Came::{AsExpected, NotAtAll, Otherwise};
        for (expected, actual, outcome) in [
            ("", "", vec![]),
            ("", "f(1)->a", vec![]),
            ("f(1)->a", "f(1)->a", vec![AsExpected]),
            ("f(1)->a", "f(1)->b", vec![Otherwise(0)]),
            ("f(1)->a", "", vec![NotAtAll]),
            ("f(1)->a", "g(1)->a", vec![NotAtAll]),
            // Any order, each response with its own call.
            ("f(1)->a f(2)->b", "f(2)->b f(1)->a", vec![AsExpected, AsExpected]),
            ("f(1)->a f(2)->b", "f(1)->b f(2)->a", vec![Otherwise(0), Otherwise(1)]),
            // Other calls may be between, and a call may be made again.
            ("f(1)->a", "g(1)->x f(1)->down f(1)->a", vec![AsExpected]),
            ("f(1)->a f(1)->a", "f(1)->a", vec![AsExpected, NotAtAll]),
            ("f(1)->a f(1)->b", "f(1)->b f(1)->a", vec![AsExpected, AsExpected]),
            // A call with other arguments replaces it; the arguments are another metric's.
            ("f(1)->a", "f(2)->a", vec![AsExpected]),
            ("f(1)->a", "f(2)->b", vec![Otherwise(0)]),
            ("f(1)->a f(2)->b", "f(3)->b f(1)->a", vec![AsExpected, AsExpected]),
            // Responses whose calls are not listed.
            ("f->a", "f(1)->a", vec![AsExpected]),
            ("f->a", "f(1)->b", vec![Otherwise(0)]),
            ("f->a g->a", "g->a", vec![NotAtAll, AsExpected]),
        ] {
            let [expected_turn, expected_flat] = {
                let (calls, responses) = answered(expected);
                turn(calls, responses)
            };
            let [actual_turn, actual_flat] = {
                let (calls, responses) = answered(actual);
                turn(calls, responses)
            };
            for (e, a) in [
                (&expected_turn, &actual_turn),
                (&expected_flat, &actual_turn),
                (&expected_flat, &actual_flat),
            ] {
                assert_eq!(
                    came(&Answered::in_turn(e), &Answered::in_turn(a)),
                    outcome,
                    "{expected:?} {actual:?}"
                );
            }
        }
    }

    #[test]
    fn values_are_compared_as_python_compares_them() {
        let with = |value: serde_json::Value| {
            let response = FunctionResponse::new("f", value);
            let [events, _] = turn(vec![call(None, "f")], vec![response]);
            events
        };
        for (expected, actual, equal) in [
            (json!({"result": 1}), json!({"result": 1.0}), true),
            (json!({"result": true}), json!({"result": 1}), true),
            (json!({"a": 1, "b": [2]}), json!({"b": [2], "a": 1}), true),
            (json!({"result": 42}), json!({"result": "42"}), false),
            (json!({"result": 42}), json!({"result": 42, "more": null}), false),
            (json!({}), json!({}), true),
        ] {
            let (e, a) = (with(expected.clone()), with(actual.clone()));
            let found = came(&Answered::in_turn(&e), &Answered::in_turn(&a));
            assert_eq!(found == [Came::AsExpected], equal, "{expected} {actual}");
        }
    }

    #[test]
    fn the_response_of_a_call_is_the_one_that_golden_tools_give() {
        let calls = vec![call(Some("1"), "f")];
        let responses = vec![response(Some("1"), "f", "wait"), response(Some("1"), "f", "done")];
        for turn in turn(calls, responses) {
            let answered = Answered::in_turn(&turn);
            let of_call: Vec<bool> = answered.iter().map(|it| it.call.is_some()).collect();
            assert_eq!(of_call, [true, false]);
            assert_eq!(Some(answered[0].response), turn.tool_responses().next());
            let golden = eval_format::tools::answered_calls(&turn)[0].1;
            assert_eq!(answered[0].response.response.as_ref(), golden);
        }
    }

    #[test]
    fn a_response_without_a_value_expects_nothing() {
        let mut silent = FunctionResponse::new("f", json!({}));
        silent.response = None;
        for turn in turn(vec![call(None, "f")], vec![silent]) {
            assert!(Answered::in_turn(&turn).is_empty());
        }
    }

    #[test]
    fn many_responses_take_linear_time() {
        let many = |at: usize| {
            let calls = (0..20_000).map(|_| call(None, "f")).collect();
            let [_, flat] =
                turn(calls, (0..20_000).map(|n| response(None, "f", &(n + at).to_string())).collect());
            flat
        };
        let (expected, actual) = (many(0), many(20_000));
        let found = came(&Answered::in_turn(&expected), &Answered::in_turn(&actual));
        assert!(found.iter().all(|it| matches!(it, Came::Otherwise(_))));
    }
}
