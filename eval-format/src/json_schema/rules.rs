//! Rules of the reader beyond the tables of keys, as far as a schema can have them.

use super::parts::{NUMBER, any_of, array, list, object, pattern, type_of};
use crate::config::MAX_QUESTIONS;
use crate::model::TAGS;
use crate::reader::LOOK_LIKE_EXPECTATIONS;
use crate::value::{Map, Value};

/// A text that is not blank.
const SAID: &str = r"[^ \t\r\n]";

/// A text that neither begins nor ends with white space.
const TAG: &str = r"^[^ \t\r\n]([\s\S]*[^ \t\r\n])?$";

/// The schema of a key's values, where the reader refuses some values of the key's type; `None` for every other key.
pub(super) fn values(model: &str, key: &str) -> Option<Value> {
    Some(match (model, key) {
        ("an eval case", key) if key == TAGS => array(pattern(TAG)),
        ("the judge's options", "judge_model") | ("a user simulator config", "model") => pattern(SAID),
        ("the judge's options", "num_samples" | "parallelism_limit") => {
            let count = object([
                ("type", "integer".into()),
                ("minimum", 1_i64.into()),
                ("maximum", MAX_QUESTIONS.into()),
            ]);
            any_of(vec![count, object([("const", true.into())]), pattern(NUMBER)])
        }
        ("a user simulator config", "type") => object([("const", "llm_backed".into())]),
        // A negative number is no limit. With one message no simulated user can end the conversation.
        ("a user simulator config", "max_allowed_invocations") => {
            let integer =
                |keyword: &str, bound: i64| object([("type", "integer".into()), (keyword, bound.into())]);
            any_of(vec![integer("minimum", 2), integer("maximum", -1), pattern(NUMBER)])
        }
        ("a config", "live_model_config") => type_of("null"),
        (criterion, "weights") if criterion.starts_with("a criterion") => object([
            ("type", "object".into()),
            ("additionalProperties", object([("type", "number".into()), ("minimum", 0_i64.into())])),
        ]),
        _ => return None,
    })
}

/// The keys of a case that look as if they decided something. No value of them is valid.
pub(super) fn no_expectations() -> impl Iterator<Item = (&'static str, Value)> {
    LOOK_LIKE_EXPECTATIONS.iter().map(|(key, _)| (*key, Value::from(false)))
}

/// The rule that a case has either turns or a scenario.
pub(super) fn turns_or_scenario() -> Value {
    let is_there = |key: &str| {
        let is_value = object([("not", type_of("null"))]);
        let properties = Value::Object(Map::from_unique(vec![(key.to_owned(), is_value)]));
        object([("required", list([key])), ("properties", properties)])
    };
    let scenario = || any_of(vec![is_there("conversation_scenario"), is_there("conversationScenario")]);
    let not = |what: Value| object([("not", what)]);
    let both = |one: Value, other: Value| object([("allOf", Value::Array(vec![one, other]))]);
    any_of(vec![
        both(is_there("conversation"), not(scenario())),
        both(scenario(), not(is_there("conversation"))),
    ])
}
