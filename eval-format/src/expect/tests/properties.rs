//! Properties of the relation over random values.

use proptest::prelude::*;
use serde_json::json;

use super::{case, of_v, with_value};
use crate::expect::compare::Relation;
use crate::expect::rules::resolved;
use crate::expect::{Expect, Rules};
use crate::metric::ArgsMatch;
use crate::value::Value;

fn scalar() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(1),
        json!(1.0),
        json!(2.5),
        json!(""),
        json!("a"),
        json!("A"),
        json!("2026-11-23"),
        json!("2026-02-30"),
        json!("http://x/y"),
        json!([]),
        json!(["a", "b"]),
        json!([1, true]),
        json!({"k": 1}),
        json!({"k": 1.0, "l": 2}),
    ])
    .prop_map(Value::from)
}

fn matcher() -> impl Strategy<Value = serde_json::Value> {
    prop::sample::select(vec![
        json!("any"),
        json!("date"),
        json!("date_time"),
        json!("uuid"),
        json!("url"),
        json!("number"),
        json!("integer"),
        json!("text"),
        json!("ignore_case"),
        json!("unordered"),
        json!("at_least"),
        json!("optional"),
        json!({"regex": ".*"}),
        json!({"regex": "a|2.*"}),
        json!({"within": 1}),
        json!({"within": "1%"}),
        json!({"min": 0, "max": 9}),
        json!({"one_of": [1, "a", null]}),
        json!({"contains": "a"}),
        json!({"optional": "any"}),
        json!({"optional": {"one_of": [1]}}),
    ])
}

/// The same value in another type that Python holds equal.
fn equal(value: &Value, draw: usize) -> Value {
    match value {
        Value::Number(_) | Value::Bool(_) if value.equals(&Value::from(1_i64)) => {
            [Value::from(true), Value::from(1_i64), Value::from(1.0)][draw % 3].clone()
        }
        Value::Array(items) => items.iter().map(|item| equal(item, draw)).collect(),
        Value::Object(map) => {
            Value::Object(map.iter().rev().map(|(key, item)| (key, equal(item, draw))).collect())
        }
        other => other.clone(),
    }
}

/// Whether each expected item has an actual one of its own.
fn all_paired(fits: &[Vec<bool>], used: &mut Vec<bool>) -> bool {
    let Some((first, rest)) = fits.split_first() else { return true };
    (0..used.len()).any(|at| {
        let is_free = first[at] && !std::mem::replace(&mut used[at], true);
        let found = is_free && all_paired(rest, used);
        if is_free {
            used[at] = false;
        }
        found
    })
}

/// Paths of different depth, `...` among them, below the arguments of `nested`.
const PATHS: [&str; 12] = [
    "...",
    "v",
    "v.k",
    "v.l",
    "v.items",
    "v.items[*]",
    "v.items[0]",
    "v.items[*].x",
    "v.items[0].x",
    "v.items[*].y",
    "w",
    "w[*]",
];

/// An object with objects in a list, each of which has some of its keys.
fn nested() -> impl Strategy<Value = serde_json::Value> {
    let scalar = || prop::sample::select(vec![json!(1), json!(2), json!("a"), json!("2026-11-23")]);
    let item = || {
        (prop::option::of(scalar()), prop::option::of(scalar())).prop_map(|(x, y)| {
            let entries = [("x", x), ("y", y)].into_iter();
            entries
                .filter_map(|(key, value)| Some((key.to_owned(), value?)))
                .collect::<serde_json::Map<_, _>>()
        })
    };
    let items = || prop::collection::vec(item(), 0..3);
    (
        prop::option::of(scalar()),
        items(),
        prop::option::of(prop::collection::vec(scalar(), 0..3)),
        any::<bool>(),
    )
        .prop_map(|(k, items, w, has_more)| {
            let mut args = json!({ "v": { "items": items } });
            if let Some(k) = k {
                args["v"]["k"] = k;
            }
            if let Some(w) = w {
                args["w"] = json!(w);
            }
            if has_more {
                args["more"] = json!(1);
            }
            args
        })
}

/// Whether a rule says more exactly what an earlier one allows: it names one of its places by index, or says what may be added.
fn narrows(path: &str, matcher: &serde_json::Value, golden: &serde_json::Value) -> bool {
    let path = crate::expect::ArgPath::parse(path).unwrap();
    let golden = Value::from(golden.clone());
    let is_lacking = path.places(&golden).iter().any(Option::is_none);
    path.as_str().contains("[0]") || is_lacking && matcher.get("optional").is_some()
}

proptest! {
    #[test]
    fn a_rule_that_is_added_takes_no_match_away(
        golden in nested(),
        seen in nested(),
        rules in prop::collection::vec((prop::sample::select(PATHS.to_vec()), matcher()), 0..4),
        added in (prop::sample::select(PATHS.to_vec()), matcher()),
    ) {
        let call = |args: &serde_json::Value| super::call("f", args.clone());
        let relation = |rules: &[(&str, serde_json::Value)]| {
            let args: serde_json::Map<_, _> =
                rules.iter().map(|(path, matcher)| ((*path).to_owned(), matcher.clone())).collect();
            let case = case([call(&golden)], json!({ "1": { "calls": { "f": args } } }));
            case.check().ok()?;
            Some(Rules::of(&case).unwrap().turn(0).compare(0, &call(&golden), &call(&seen), ArgsMatch::Exact))
        };
        let is_new = rules.iter().all(|(path, _)| *path != added.0) && !narrows(added.0, &added.1, &golden);
        let more: Vec<_> = rules.iter().cloned().chain([added]).collect();
        if is_new && let (Some(before), Some(after)) = (relation(&rules), relation(&more)) {
            prop_assert!(after.matches() || !before.matches(), "{:?} {:?}", before, after);
        }
    }

    #[test]
    fn what_equals_the_golden_value_matches_under_any_rule(golden in scalar(), matcher in matcher(), draw in 0_usize..3) {
        let case = case([with_value(Some(golden.clone()))], of_v(&matcher));
        if case.check().is_ok() {
            let rules = Rules::of(&case).unwrap();
            let expected = case.conversation[0].tool_calls().next().unwrap();
            let relation = |seen: Value| rules.turn(0).compare(0, expected, &with_value(Some(seen)), ArgsMatch::Exact);
            prop_assert_eq!(relation(equal(&golden, draw)), Relation::Equal);
        }
    }

    #[test]
    fn lists_are_paired_as_brute_force_pairs_them(
        golden in prop::collection::vec("[a-c]", 0..4),
        seen in prop::collection::vec("[a-c]", 0..5),
        free in prop::collection::vec(any::<bool>(), 4),
        is_unordered in any::<bool>(),
    ) {
        let word = if is_unordered { "unordered" } else { "at_least" };
        let mut args = serde_json::Map::from_iter([("v".to_owned(), json!(word))]);
        for at in (0..golden.len()).filter(|at| free[*at]) {
            args.insert(format!("v[{at}]"), json!({ "regex": "[abc]" }));
        }
        let list = |items: &[String]| items.iter().map(String::as_str).collect::<Value>();
        let case = case([with_value(Some(list(&golden)))], json!({ "1": { "calls": { "f": args } } }));
        prop_assert!(case.check().is_ok());
        let rules = Rules::of(&case).unwrap();
        let expected = case.conversation[0].tool_calls().next().unwrap();
        let relation = rules.turn(0).compare(0, expected, &with_value(Some(list(&seen))), ArgsMatch::Exact);

        let fits: Vec<Vec<bool>> =
            (0..golden.len()).map(|at| seen.iter().map(|item| free[at] || golden[at] == *item).collect()).collect();
        let sizes_fit = if is_unordered { golden.len() == seen.len() } else { golden.len() <= seen.len() };
        let expected = sizes_fit && all_paired(&fits, &mut vec![false; seen.len()]);
        prop_assert_eq!(relation.matches(), expected, "{:?}", relation);
    }

    #[test]
    fn any_value_of_the_key_is_read_without_a_panic_and_written_as_it_was_read(
        text in "[ -~]{0,12}", golden in scalar(), matcher in matcher(), other in scalar(),
    ) {
        for expect in [
            json!({ &text: { "calls": {} } }),
            json!({ "1": { &text: other.to_string() } }),
            json!({ "1": { "calls": { &text: "any" }, "optional": [&text], "repeat": { &text: 2 } } }),
            json!({ "1": { "calls": { "f": { &text: matcher } } } }),
            json!({ "1": { "calls": { "f": { "v": { "regex": &text } } }, "answer": { "regex": &text, "contains": &text } } }),
            json!({ "1": { "order": "any", "others": [&text], "answer": { "json": { &text: matcher }, "is": &text } } }),
        ] {
            let case = case([with_value(Some(golden.clone()))], expect);
            let (rules, faults) = resolved(&case).unwrap();
            if faults.is_empty() {
                let written: Expect = case.expect().unwrap();
                let again = case.with_expect(written);
                prop_assert_eq!(resolved(&again).unwrap().0, rules);
            }
        }
    }
}
