//! Equality of tool calls: by Python's `==`, as in ADK.

use std::hash::{DefaultHasher, Hash, Hasher};

pub(crate) use eval_format::ArgsMatch;
use eval_format::{FunctionCall, Value};

/// Whether an actual call matches an expected call. Ids are never compared.
pub(crate) fn calls_match(expected: &FunctionCall, actual: &FunctionCall, args: ArgsMatch) -> bool {
    expected.name == actual.name && args.holds(expected.args.as_ref(), actual.args.as_ref())
}

/// Whether two values are equal in Python: [`Value::equals`].
pub fn values_equal(a: &Value, b: &Value) -> bool {
    a.equals(b)
}

/// A call as a key of a hash table: two keys are equal if and only if [`calls_match`] holds.
///
/// Only for [`ArgsMatch::Exact`] and [`ArgsMatch::Ignore`], with which equal calls form groups. A call with `NaN` in
/// it is not equal to itself, so it is never found in a table.
#[derive(Clone, Copy)]
pub(crate) struct CallKey<'a> {
    pub(crate) call: &'a FunctionCall,
    pub(crate) args: ArgsMatch,
}

impl PartialEq for CallKey<'_> {
    fn eq(&self, other: &Self) -> bool {
        calls_match(self.call, other.call, self.args)
    }
}

impl Eq for CallKey<'_> {}

impl Hash for CallKey<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.call.name.hash(state);
        if let (ArgsMatch::Exact, Some(args)) = (self.args, &self.call.args) {
            args.hash_as_equal(state);
        }
    }
}

/// A hash of each argument of a call together with its tool. Equal arguments have equal hashes.
pub(crate) fn argument_hashes(call: &FunctionCall) -> impl Iterator<Item = u64> {
    call.args.iter().flatten().map(|(key, value)| {
        let mut argument = DefaultHasher::new();
        (&call.name, key).hash(&mut argument);
        value.hash_as_equal(&mut argument);
        argument.finish()
    })
}

#[cfg(test)]
mod tests {
    use eval_format::{Map, Number};

    use super::*;

    fn number(text: &str) -> Value {
        Value::Number(Number::parse(text).unwrap())
    }

    fn call(value: Value) -> FunctionCall {
        let mut call = FunctionCall::default();
        call.args = Some(Map::from([("x", value)]));
        call
    }

    fn check(a: Value, b: Value, equal: bool) {
        assert_eq!(values_equal(&a, &b), equal, "{a} == {b}");
        assert_eq!(values_equal(&b, &a), equal, "{b} == {a}");
        let (a, b) = (call(a), call(b));
        let key = |call| CallKey { call, args: ArgsMatch::Exact };
        let table = std::collections::HashSet::from([key(&a)]);
        assert_eq!(table.contains(&key(&b)), equal, "{a} and {b} in a table");
    }

    #[test]
    fn numbers_compare_by_exact_value() {
        for (a, b, equal) in [
            ("1", "1.0", true),
            ("0.0", "-0.0", true),
            ("0", "-0.0", true),
            ("9007199254740993", "9007199254740992.0", false),
            ("9007199254740992", "9007199254740992.0", true),
            ("9223372036854775807", "9223372036854775808.0", false),
            ("9223372036854775808", "9223372036854775808.0", true),
            ("-9223372036854775808", "-9223372036854775808.0", true),
            ("1000000000000000000000000000000", "1e30", false),
            ("1000000000000000019884624838656", "1e30", true),
            ("0.30000000000000004", "0.3", false),
            ("Infinity", "1e999", true),
            ("Infinity", "-Infinity", false),
            ("NaN", "NaN", false),
        ] {
            check(number(a), number(b), equal);
        }
    }

    #[test]
    fn booleans_are_numbers_at_any_depth() {
        check(Value::Bool(true), number("1.0"), true);
        check(Value::Bool(false), number("-0.0"), true);
        check(Value::Bool(true), "true".into(), false);
        check(vec![Value::Bool(true)].into(), vec![number("1")].into(), true);
        check(Map::from([("a", false)]).into(), Map::from([("a", 0_i64)]).into(), true);
    }

    #[test]
    fn kinds_stay_apart() {
        check(Value::Null, Value::Bool(false), false);
        check("".into(), Value::Null, false);
        check(Vec::<Value>::new().into(), Map::new().into(), false);
        check("\u{e9}".into(), "e\u{301}".into(), false);
        check(vec![1_i64, 2].into(), vec![2_i64, 1].into(), false);
        check(Map::from([("a", 1_i64), ("b", 2)]).into(), Map::from([("b", 2.0), ("a", 1.0)]).into(), true);
    }

    #[test]
    fn absent_arguments_are_not_empty_ones_but_hold_as_many() {
        let absent = FunctionCall::default();
        let mut empty = FunctionCall::default();
        empty.args = Some(Map::new());
        let full = call(Value::Null);
        for (expected, actual, exact, subset) in [
            (&absent, &absent, true, true),
            (&absent, &empty, false, true),
            (&empty, &absent, false, true),
            (&absent, &full, false, true),
            (&empty, &full, false, true),
            (&full, &empty, false, false),
            (&full, &absent, false, false),
            (&full, &full, true, true),
        ] {
            assert_eq!(calls_match(expected, actual, ArgsMatch::Exact), exact, "{expected} {actual}");
            assert_eq!(calls_match(expected, actual, ArgsMatch::Subset), subset, "{expected} {actual}");
            assert!(calls_match(expected, actual, ArgsMatch::Ignore));
        }
    }
}
