//! Values under matchers: what matches, and the reason why something does not.

use serde_json::json;

use super::{of_v, with_value};
use crate::expect::Rules;
use crate::expect::compare::Relation;
use crate::expect::rules::resolved;
use crate::metric::ArgsMatch;
use crate::model::FunctionCall;
use crate::value::{Map, Number, Value};

/// The relation of `seen` to `golden` under a matcher, whether the golden value fulfils it or not.
fn relation(golden: Option<Value>, seen: Option<Value>, matcher: &serde_json::Value) -> Relation {
    let case = super::case([with_value(golden)], of_v(matcher));
    let (rules, _) = resolved(&case).unwrap();
    let expected = case.conversation[0].tool_calls().next().unwrap();
    rules.turn(0).compare(0, expected, &with_value(seen), ArgsMatch::Exact)
}

/// The reasons of a mismatch; empty if it matches.
fn reasons(golden: Value, seen: Value, matcher: &serde_json::Value) -> String {
    match relation(Some(golden), Some(seen), matcher) {
        Relation::Mismatch(reasons) => reasons.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        _ => String::new(),
    }
}

fn number(text: &str) -> Value {
    Value::Number(Number::parse(text).unwrap())
}

#[test]
fn values_match_as_in_the_reference() {
    for (golden, seen, matcher, reason) in [
        (json!(null), json!(null), json!("any"), ""),
        (json!(1), json!(true), json!({"within": 0}), ""),
        (json!(1), json!(1.0), json!({"within": 0}), ""),
        (json!(3), json!(3.0), json!("integer"), ""),
        (json!(3), json!(3.5), json!("integer"), "`v` is 3.5, no integer"),
        (json!("\u{e9}"), json!("e\u{301}"), json!("ignore_case"), ""),
        (
            json!("Straße"),
            json!("STRASSE"),
            json!("ignore_case"),
            "`v` is \"STRASSE\", not \"Straße\" in any case",
        ),
        (json!("x"), json!("\u{a0}"), json!("text"), "`v` is \"\u{a0}\", no text"),
        (json!("d"), json!("2026-02-30"), json!("date"), "`v` is \"2026-02-30\", no date"),
        (json!("d"), json!("2026-11-23T10:00:00Z"), json!("date_time"), ""),
        (json!("d"), json!("2026-11-23"), json!("date_time"), "`v` is \"2026-11-23\", no date with a time"),
        (json!("a"), json!("A b"), json!({"contains": ["a", "b"]}), ""),
        (json!(["x", "y"]), json!(["y", "x"]), json!("unordered"), ""),
        (json!(["x", "x", "y"]), json!(["x", "y", "y"]), json!("unordered"), "`v` lacks \"x\""),
        (json!(["x"]), json!(["x", "x"]), json!("unordered"), "`v` has 1 more than the 1 expected items"),
        (json!({"a": 1}), json!({"a": 1, "b": 2}), json!("at_least"), ""),
    ] {
        assert_eq!(
            reasons(golden.clone().into(), seen.clone().into(), &matcher),
            reason,
            "{golden} {seen} {matcher}"
        );
    }
    let infinite = reasons(1e308.into(), f64::INFINITY.into(), &json!({"within": "1%"}));
    assert_eq!(infinite, "`v` is Infinity, not within 1 % of 1e+308");
}

#[test]
fn a_boolean_is_a_number_only_where_it_equals_the_golden_one() {
    assert_eq!(reasons(1_i64.into(), true.into(), &json!({"within": 0})), "");
    assert_eq!(reasons(2_i64.into(), true.into(), &json!({"within": 5})), "`v` is true, not within 5 of 2");
    assert_eq!(reasons(3_i64.into(), true.into(), &json!({"min": 0})), "`v` is true, not at least 0");
    assert_eq!(reasons(3_i64.into(), false.into(), &json!("number")), "`v` is false, no number");
}

#[test]
fn nothing_is_near_a_number_that_is_none_and_any_takes_it() {
    for matcher in [json!({"within": 1e9}), json!({"min": 0}), json!("number"), json!("integer")] {
        assert_ne!(reasons(1_i64.into(), f64::NAN.into(), &matcher), "", "{matcher}");
        assert_ne!(reasons(1_i64.into(), f64::INFINITY.into(), &matcher), "", "{matcher}");
    }
    assert_eq!(reasons(1_i64.into(), f64::NAN.into(), &json!("any")), "");
}

#[test]
fn large_integers_are_compared_exactly() {
    let golden = || number("9007199254740993");
    for (seen, within, matches) in [
        ("9007199254740992", 0, false),
        ("9007199254740992", 1, true),
        ("9007199254740992.0", 0, false),
        ("9007199254740991", 1, false),
        ("9007199254740993", 0, true),
    ] {
        let found = reasons(golden(), number(seen), &json!({"within": within}));
        assert_eq!(found.is_empty(), matches, "{seen} within {within}: {found}");
    }
    let beyond =
        |seen| reasons(number("100000000000000000000000000001"), number(seen), &json!({"within": 0.5}));
    assert_ne!(beyond("100000000000000000000000000000"), "");
    let least: Value = json!({"min": 9_007_199_254_740_993_i64}).into();
    assert_ne!(reasons(number("9007199254740994"), number("9007199254740992"), &least.into()), "");
}

#[test]
fn a_decimal_at_exactly_the_distance_is_within_it() {
    for (golden, seen, within) in [
        (16449.40, 16449.39, json!(0.01)),
        (16449.40, 16449.41, json!(0.01)),
        (1.0, 1.1, json!(0.1)),
        (1.0, 0.9, json!(0.1)),
        (19.99, 20.0, json!(0.01)),
        (0.3, 0.4, json!(0.1)),
        (0.7, 0.77, json!("10%")),
    ] {
        assert_eq!(reasons(golden.into(), seen.into(), &json!({"within": within})), "", "{seen} of {golden}");
    }
    for (golden, seen) in [(16_449.40, 16_449.389_999), (1.0, 1.100_000_1), (0.3, 0.400_000_000_1)] {
        let within = if golden > 1.0 { 0.01 } else { 0.1 };
        assert_ne!(reasons(golden.into(), seen.into(), &json!({"within": within})), "", "{seen} of {golden}");
    }
}

#[test]
fn a_missing_argument_is_allowed_by_optional_alone() {
    let one = || Some(Value::from(1_i64));
    let of = |golden, seen, matcher: serde_json::Value| match relation(golden, seen, &matcher) {
        Relation::Mismatch(reasons) => reasons[0].to_string(),
        found => format!("{}", found.matches()),
    };
    assert_eq!(of(one(), None, json!("any")), "`v` is absent");
    assert_eq!(of(one(), None, json!("optional")), "true");
    assert_eq!(of(one(), Some(2_i64.into()), json!("optional")), "`v` is 2, not 1");
    assert_eq!(of(None, Some(2_i64.into()), json!({"optional": {"one_of": [1]}})), "`v` is 2, not one of 1");
    assert_eq!(of(None, one(), json!({"optional": {"one_of": [1]}})), "true");
    assert_eq!(of(None, one(), json!({"optional": "any"})), "true");
    assert_eq!(of(None, one(), json!("any")), "`v` was not expected");
    assert_eq!(of(one(), Some(Value::Null), json!("any")), "true");
}

#[test]
fn shapes_take_what_they_say() {
    for (shape, takes, refuses) in [
        (
            "date",
            &["2024-02-29", "0001-12-31"][..],
            &["2023-02-29", "2026-13-01", "2026-1-1", "20261123", "2026-00-10", "٢٠٢٦-١١-٢٣"][..],
        ),
        (
            "date_time",
            &[
                "2026-11-23 10:00",
                "2026-11-23T10:00:00.25+02:00",
                "2026-11-23T23:59:60Z",
                "2026-11-23T10:00-0530",
            ],
            &[
                "2026-11-23T24:00:00",
                "2026-11-23T10:60",
                "2026-11-23T10:60:00",
                "2026-11-23T10:00:00+05:60",
                "2026-11-23T10",
                "2026-02-30T10:00:00Z",
                "2026-11-23T10:00.5",
                "2026-11-23T10:00:00+25:00",
                "2026-11-23T10:00:00.",
            ],
        ),
        (
            "uuid",
            &["123e4567-e89b-12d3-a456-426614174000", "123E4567-E89B-12D3-A456-426614174000"],
            &["123e4567e89b12d3a456426614174000", "123e4567-e89b-12d3-a456-42661417400g"],
        ),
        (
            "url",
            &["https://example.com/q?x=1", "http://localhost:8080"],
            &["ftp://example.com", "https:///x", "https://a b", "https://"],
        ),
        ("text", &["x", " x "], &["", " \n"]),
    ] {
        for seen in takes {
            assert_eq!(reasons("?".into(), (*seen).into(), &json!(shape)), "", "{shape} {seen}");
        }
        for seen in refuses {
            assert_ne!(reasons("?".into(), (*seen).into(), &json!(shape)), "", "{shape} {seen}");
        }
    }
}

#[test]
fn texts_are_compared_in_nfc_and_lower_case_with_one_blank() {
    let contains =
        |seen: &str, text: &str| reasons("?".into(), seen.into(), &json!({"contains": text})).is_empty();
    assert!(contains("Caf\u{e9}", "cafe\u{301}"));
    assert!(contains("a \n\u{a0} b", "A B"));
    assert!(!contains("\u{ff21}\u{ff22}", "ab"));
    let seen = "a\u{202e}b\u{7}";
    let found = reasons("a".into(), seen.into(), &json!({"contains": "x"}));
    assert!(!found.contains(['\u{202e}', '\u{7}']), "{found}");
    assert!(found.contains(r"a\u{202e}b\u0007"), "{found}");
}

#[test]
fn an_expression_has_to_match_the_whole_argument() {
    let matches = |seen: &str, expression: &str| {
        reasons("?".into(), seen.into(), &json!({"regex": expression})).is_empty()
    };
    assert!(matches("tomatoes", "(?i)tomato(e?s)?") && matches("TOMATO", "(?i)tomato(e?s)?"));
    assert!(!matches("tomato soup", "(?i)tomato(e?s)?"));
    assert!(matches("ab", "a|ab") && !matches("abc", "a|ab"));
    assert!(!matches("a\n", "a"));
}

#[test]
fn rules_below_a_list_hold_in_any_order() {
    let case = |rules: serde_json::Value| {
        let golden = json!({ "plan": [{ "id": "1", "day": "2026-11-22" }, { "id": "2", "day": "2026-11-22" }], "q": { "a": 1 } });
        super::case([super::call("f", golden)], json!({ "1": { "calls": { "f": rules } } }))
    };
    let compared = |rules: serde_json::Value, args: serde_json::Value| {
        let case = case(rules);
        assert!(case.check().is_ok(), "{:?}", case.check());
        let (rules, _) = resolved(&case).unwrap();
        let expected = case.conversation[0].tool_calls().next().unwrap();
        rules.turn(0).compare(0, expected, &super::call("f", args), ArgsMatch::Exact)
    };
    let rules = json!({ "plan": "unordered", "plan[*].day": "date" });
    let swapped = json!({ "plan": [{ "id": "2", "day": "2026-11-23" }, { "id": "1", "day": "2026-11-22" }], "q": { "a": 1 } });
    let Relation::Loosened(points) = compared(rules.clone(), swapped) else { panic!("it matches by rules") };
    let shown: Vec<_> =
        points.iter().map(|point| (point.path.as_str(), point.matcher.to_string(), point.needed)).collect();
    assert_eq!(shown, [("plan", "unordered".to_owned(), true), ("plan[*].day", "date".to_owned(), true)]);
    assert_eq!(points[1].seen, Some("2026-11-23".into()));
    assert_eq!(points[1].expected, Some("2026-11-22".into()));

    let same_order = json!({ "plan": [{ "id": "1", "day": "2026-11-24" }, { "id": "2", "day": "2026-11-22" }], "q": { "a": 1 } });
    let Relation::Loosened(points) = compared(rules.clone(), same_order) else {
        panic!("it matches by rules")
    };
    assert_eq!(points.iter().map(|point| point.needed).collect::<Vec<_>>(), [false, true]);

    let wrong = json!({ "plan": [{ "id": "1", "day": "soon" }, { "id": "2", "day": "2026-11-22" }], "q": { "a": 2 }, "more": 1 });
    let Relation::Mismatch(reasons) = compared(rules, wrong) else { panic!("it does not match") };
    let reasons: Vec<String> = reasons.iter().map(ToString::to_string).collect();
    assert_eq!(
        reasons,
        [r#"`plan` lacks {"day":"2026-11-22","id":"1"}"#, "`q.a` is 2, not 1", "`more` was not expected",]
    );
    let more = json!({ "plan": [{ "id": "1", "day": "2026-11-22" }, { "id": "2", "day": "2026-11-22" }], "q": { "a": 1, "b": 2 }, "more": 1 });
    let Relation::Loosened(points) = compared(json!({ "...": "any", "q": "at_least" }), more) else {
        panic!("it matches")
    };
    assert!(points.iter().all(|point| point.needed), "{points:?}");
}

#[test]
fn calls_without_rules_are_compared_as_adk_does() {
    let none = FunctionCall::default();
    let empty = FunctionCall { args: Some(Map::new()), ..FunctionCall::default() };
    let rules = Rules::default();
    let (one, without, other) =
        (with_value(Some(1_i64.into())), with_value(None), super::call("g", json!({})));
    let compare = |a, b, args| rules.turn(0).compare(0, a, b, args);
    assert_eq!(compare(&none, &none, ArgsMatch::Exact), Relation::Equal);
    let Relation::Mismatch(reasons) = compare(&none, &empty, ArgsMatch::Exact) else {
        panic!("absent is not empty")
    };
    assert_eq!(reasons.len(), 1);
    assert_eq!(compare(&none, &empty, ArgsMatch::Subset), Relation::Equal);
    assert_eq!(compare(&empty, &none, ArgsMatch::Subset), Relation::Equal);
    assert_eq!(compare(&one, &without, ArgsMatch::Ignore), Relation::Equal);
    assert!(!compare(&none, &other, ArgsMatch::Ignore).matches());
}

#[test]
fn a_comparison_of_any_size_ends() {
    let items = |n: i64, more: i64| (0..n).map(|at| Value::from(at + more)).collect::<Value>();
    let found = relation(Some(items(4000, 0)), Some(items(4000, 5000)), &json!("unordered"));
    assert_eq!(found, Relation::TooLarge);
    let found = relation(Some(items(400, 0)), Some(items(400, 200)), &json!("unordered"));
    assert!(matches!(found, Relation::Mismatch(_)), "{found:?}");
    // Each item fits each: the search of partners has no recursion.
    let rules = json!({ "1": { "calls": { "f": { "v": "unordered", "v[*]": "any" } } } });
    let case = super::case([with_value(Some(items(1000, 0)))], rules);
    let (rules, _) = resolved(&case).unwrap();
    let expected = case.conversation[0].tool_calls().next().unwrap();
    let found = rules.turn(0).compare(0, expected, &with_value(Some(items(1000, 5000))), ArgsMatch::Exact);
    assert!(found.matches(), "{found:?}");
}

/// JSON has no text for these numbers.
#[test]
fn reasons_name_numbers_that_are_not_finite() {
    for (text, shown) in [("NaN", "NaN"), ("Infinity", "Infinity"), ("-1e400", "-Infinity")] {
        let said = reasons(number("1"), number(text), &json!({"within": 5}));
        assert_eq!(said, format!("`v` is {shown}, not within 5 of 1"));
        let said = reasons(json!("d").into(), [number(text)].into_iter().collect(), &json!("date"));
        assert_eq!(said, format!("`v` is [{shown}], no date"));
    }
}

#[test]
fn a_rule_for_values_that_the_golden_lacks_leaves_them_to_the_rules_above() {
    let items = |items: serde_json::Value| FunctionCall::new("f", json!({ "items": items }));
    let golden = || items(json!([{"x": 1}, {"y": 2}]));
    for (rules, seen, matches) in [
        (json!({"items[*]": "at_least"}), json!([{"x": 1}, {"y": 2, "x": 5}]), true),
        (json!({"items[*]": "at_least", "items[*].x": "any"}), json!([{"x": 1}, {"y": 2, "x": 5}]), true),
        (
            json!({"items[*]": "at_least", "items[*].x": "optional"}),
            json!([{"x": 1}, {"y": 2, "x": 5}]),
            true,
        ),
        (
            json!({"items[*]": "at_least", "items[*].x": {"optional": {"within": 1}}}),
            json!([{"x": 1}, {"y": 2, "x": 5}]),
            true,
        ),
        (json!({"items[*].x": "any"}), json!([{"x": 7}, {"y": 2}]), true),
        (json!({"items[*].x": "any"}), json!([{"x": 7}, {"y": 2, "x": 5}]), false),
        // It alone says what may be added.
        (
            json!({"items[*]": "at_least", "items[*].x": {"optional": {"one_of": [1, 4]}}}),
            json!([{"x": 1}, {"y": 2, "x": 5}]),
            false,
        ),
        (json!({"items[*].x": {"optional": "any"}}), json!([{"x": 1}, {"y": 2, "x": 5}]), true),
    ] {
        let case = super::case([golden()], json!({ "1": { "calls": { "f": rules } } }));
        assert!(case.check().is_ok(), "{rules}");
        let found = Rules::of(&case).unwrap();
        let relation = found.turn(0).compare(0, &golden(), &items(seen.clone()), ArgsMatch::Exact);
        assert_eq!(relation.matches(), matches, "{rules} {seen}: {relation:?}");
    }
}
