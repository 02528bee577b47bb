//! Which expected call a call of the agent is.

use eval_format::{FunctionCall, Map};

use crate::score::equality::values_equal;

/// The first of the expected calls that a call of the agent matches: equal calls first.
pub(super) fn first_match<G>(
    expected: impl Iterator<Item = G>,
    call_of: impl Fn(&G) -> &FunctionCall,
    actual: &FunctionCall,
) -> Option<G> {
    let mut expected = expected;
    expected.find(|golden| {
        let expected = call_of(golden);
        expected.name == actual.name && differences(expected, actual).is_empty()
    })
}

/// The arguments in which two calls differ. Absent arguments are none.
pub(super) fn differences<'c>(expected: &'c FunctionCall, actual: &'c FunctionCall) -> Vec<&'c str> {
    let none = const { &Map::new() };
    let (expected, actual) = (expected.args.as_ref().unwrap_or(none), actual.args.as_ref().unwrap_or(none));
    let missing = expected.keys().filter(|key| !actual.contains_key(key));
    let unequal = actual
        .iter()
        .filter(|(key, value)| !expected.get(key).is_some_and(|expected| values_equal(expected, value)));
    unequal.map(|(key, _)| key).chain(missing).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_differ_in_arguments_that_are_unequal_missing_or_further() {
        for (expected, actual, differ) in [
            (json!({}), json!({}), vec![]),
            (json!({"x": 1}), json!({"x": 1.0}), vec![]),
            (json!({"x": 1, "y": 2}), json!({"y": 3, "z": 4}), vec!["y", "z", "x"]),
            (json!({"x": null}), json!({}), vec!["x"]),
        ] {
            let (expected, actual) = (FunctionCall::new("f", expected), FunctionCall::new("f", actual));
            assert_eq!(differences(&expected, &actual), differ);
        }
        let mut bare = FunctionCall::default();
        bare.name = Some("f".to_owned());
        assert!(differences(&bare, &FunctionCall::new("f", json!({}))).is_empty());
    }
}
