//! Rules that a golden could have for what varied between recordings: proposals, which a person accepts.

use eval_core::format::expect::{Expect, Matcher, Rules, TurnExpect};
use eval_core::format::{ArgsMatch, EvalCase, FunctionCall, Invocation, Map, Value};

/// The notation of a rule for an argument: dates and UUIDs get their shape, numbers a distance, lists a free order, and
/// anything else `any`. No expression is made up. An argument that some recordings lack is optional. The first value is the
/// golden one; if it is absent, the rule compares with no other.
pub(super) fn for_argument(call: &str, argument: &str, values: &[Option<&Value>]) -> String {
    let there: Vec<&Value> = values.iter().copied().flatten().collect();
    let is_golden = values.first().is_some_and(Option::is_some);
    let matcher = shape(&there)
        .filter(|matcher| is_golden || *matcher != Matcher::Unordered)
        .or_else(|| distance(&there).map(Matcher::within).filter(|it| is_golden && takes_all(it, &there)))
        .unwrap_or(Matcher::Any);
    let matcher = if there.len() < values.len() { matcher.or_absent() } else { matcher };
    shown(TurnExpect::default().arg(call, &argument_path(argument), matcher))
}

/// The path of an argument in a rule.
#[doc(hidden)]
pub fn argument_path(argument: &str) -> String {
    if is_plain(argument) { argument.to_owned() } else { format!("[{}]", Value::from(argument)) }
}

/// The narrowest shape that all of these values have, with the first one as the golden value; `None` if they have none in common.
#[doc(hidden)]
pub fn shape(values: &[&Value]) -> Option<Matcher> {
    let shapes = [Matcher::Date, Matcher::DateTime, Matcher::Uuid, Matcher::Unordered];
    shapes.into_iter().find(|matcher| takes_all(matcher, values))
}

/// The notation of a rule for a turn.
pub(super) fn shown(turn: TurnExpect) -> String {
    match Expect::default().turn(1, turn).to_value().as_object().and_then(|turns| turns.get("1").cloned()) {
        Some(turn) => format!("`{turn}`"),
        None => String::new(),
    }
}

/// The largest distance of a number from the first one; `None` if one is no number.
fn distance(values: &[&Value]) -> Option<f64> {
    let numbers: Vec<f64> = values.iter().map(|value| value.as_f64()).collect::<Option<_>>()?;
    let first = *numbers.first()?;
    let most = numbers.iter().map(|number| (number - first).abs()).fold(0.0, f64::max);
    most.is_finite().then_some(most)
}

/// Whether the values match, with the first one as the golden value, as a metric compares them.
fn takes_all(matcher: &Matcher, values: &[&Value]) -> bool {
    let Some((golden, others)) = values.split_first() else { return false };
    let call = |value: &Value| FunctionCall::new("f", Map::from([("v", value.clone())]));
    let rules = TurnExpect::default().arg("f", "v", matcher.clone());
    let turn = Invocation::user("q").call(call(golden));
    let case = EvalCase::new("c").turn(turn).with_expect(Expect::default().turn(1, rules));
    // The golden value has to match too, so that the check takes the rule.
    let Ok(rules) = Rules::of(&case) else { return false };
    others
        .iter()
        .all(|other| rules.turn(0).compare(0, &call(golden), &call(other), ArgsMatch::Exact).matches())
}

/// Whether a name needs no brackets in a path.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name != "..." && !name.contains(['.', '[', ']', '"'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_varied_gets_the_narrowest_rule_and_never_an_expression() {
        for (values, rule) in [
            (&[Some(r#""2026-11-22""#), Some(r#""2026-11-23""#)][..], r#""date""#),
            (&[Some(r#""2026-11-22""#), Some(r#""tomorrow""#)], r#""any""#),
            (&[Some(r#""2026-11-22T10:00:00Z""#), Some(r#""2026-11-23T10:00:01Z""#)], r#""date_time""#),
            (
                &[
                    Some(r#""123e4567-e89b-12d3-a456-426614174000""#),
                    Some(r#""923e4567-e89b-12d3-a456-426614174000""#),
                ],
                r#""uuid""#,
            ),
            (&[Some("5"), Some("6.5"), Some("4")], r#"{"within":1.5}"#),
            (&[Some(r#"["a","b"]"#), Some(r#"["b","a"]"#)], r#""unordered""#),
            (&[Some(r#""visa for Seattle""#), Some(r#""Seattle visa""#)], r#""any""#),
            (&[Some("5"), None, Some("6")], r#"{"optional":{"within":1.0}}"#),
            (&[None, Some("5"), Some("6")], r#"{"optional":"any"}"#),
            (&[None, Some(r#"["a","b"]"#), Some(r#"["b","a"]"#)], r#"{"optional":"any"}"#),
            (&[None, Some(r#""2026-11-22""#)], r#"{"optional":"date"}"#),
        ] {
            let values: Vec<Option<Value>> =
                values.iter().map(|text| text.map(|text| Value::parse(text).unwrap())).collect();
            let values: Vec<Option<&Value>> = values.iter().map(Option::as_ref).collect();
            let wanted = format!(r#"`{{"calls":{{"f":{{"x":{rule}}}}}}}`"#);
            assert_eq!(for_argument("f", "x", &values), wanted);
        }
    }

    #[test]
    fn a_name_with_a_dot_is_put_into_brackets() {
        let (a, b) = (Value::from("a"), Value::from("b"));
        let said = for_argument("f", "a.b", &[Some(&a), Some(&b)]);
        assert_eq!(said, r#"`{"calls":{"f":{"[\"a.b\"]":"any"}}}`"#);
    }
}
