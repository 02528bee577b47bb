//! Demands on answers.

use serde_json::json;

use crate::expect::numbers::numbers;
use crate::expect::read;
use crate::expect::rules::resolved;
use crate::model::{EvalCase, Invocation};

fn found(text: &str) -> Vec<String> {
    numbers(text).iter().map(ToString::to_string).collect()
}

#[test]
fn numbers_are_found_and_none_is_invented() {
    for (text, expected) in [
        ("$16,449.40", &["16449.4"][..]),
        ("1,2,3", &[]),
        ("3.14.15", &[]),
        ("-5 °C", &["-5"]),
        ("v2.1", &[]),
        ("10%", &["10"]),
        ("1.234,56 €", &[]),
        ("1e5", &[]),
        ("a1", &[]),
        ("2026-11-23", &[]),
        ("（42）", &["42"]),
        ("−7", &["-7"]),
        ("116,449.40", &["116449.4"]),
        ("1,2345", &[]),
        ("1234,567", &[]),
        ("from 5 to 7.", &["5", "7"]),
        ("It is 12.", &["12"]),
        ("12. 5", &["12", "5"]),
        ("at 10:30 on 5/6", &[]),
        ("GPT-4, covid-19, pages 3–5, 3-5, 3 - 5", &["3", "5"]),
        ("total:-7", &[]),
        ("(-7) and +8", &["-7", "8"]),
        ("007 and 0.50 and 00", &["7", "0.5", "0"]),
        ("12345678901234567890", &["12345678901234567890"]),
        ("5kg, 5 kg, 5", &["5", "5"]),
        ("٤٢ 42", &["42"]),
        ("1'000, 1’000 and 1\u{202f}000 or 2\u{a0}000", &[]),
        ("'5' and 6' tall", &["5", "6"]),
    ] {
        assert_eq!(found(text), expected, "{text}");
    }
}

/// The parts that an answer lacks by these demands.
fn unfulfilled(demands: serde_json::Value, answer: &str) -> Vec<String> {
    let turn = Invocation::user("Hi");
    let demands = serde_json::Map::from_iter([("answer".to_owned(), demands)]);
    let case = EvalCase::new("c").turn(turn).with_extra(EvalCase::EXPECT_KEY, json!({ "1": demands }));
    assert!(case.check().is_ok(), "{:?}", case.check());
    let (rules, _) = resolved(&case).unwrap();
    rules.turn(0).demands().check(answer).iter().map(ToString::to_string).collect()
}

#[test]
fn each_demand_is_checked_alone() {
    let nothing: [&str; 0] = [];
    let countries = || json!({ "contains": ["Canada", "Finland", "Kenya"] });
    assert_eq!(unfulfilled(countries(), "canada,\nFINLAND and  Kenya"), nothing);
    assert_eq!(unfulfilled(countries(), "Canada"), [r#"lacks "Finland""#, r#"lacks "Kenya""#]);
    assert_eq!(unfulfilled(json!({ "contains_any": ["a b", "c"] }), "A  B"), nothing);
    assert_eq!(unfulfilled(json!({ "contains_any": ["a", "b"] }), "x"), [r#"has none of "a", "b""#]);
    assert_eq!(unfulfilled(json!({ "lacks": "sorry" }), "Sorry!"), [r#"has "sorry""#]);
    assert_eq!(unfulfilled(json!({ "regex": "found [0-9]+ results" }), "I found 42 results."), nothing);
    assert_eq!(
        unfulfilled(json!({ "regex": "found [0-9]+ results" }), "I found no results."),
        ["has nothing that matches regex /found [0-9]+ results/"]
    );
    assert_eq!(unfulfilled(json!({ "is": ["LEGITIMATE", "PHISHING"] }), " phishing\n"), nothing);
    assert_eq!(unfulfilled(json!({ "is": "PHISHING" }), "It is phishing"), [r#"is not "PHISHING""#]);
    assert_eq!(
        unfulfilled(json!({ "max_words": 2 }), "one two three"),
        ["has 3 words, at most 2 are allowed"]
    );
}

#[test]
fn a_number_is_in_the_answer_or_near_one() {
    let amount = || json!({ "number": { "is": 16449.40, "within": 0.01 } });
    for (answer, is_fulfilled) in [
        ("It comes to $16,449.40 after 30 years.", true),
        ("16449.4", true),
        ("It is about $16,500.", false),
        ("116,449.40", false),
    ] {
        assert_eq!(unfulfilled(amount(), answer).is_empty(), is_fulfilled, "{answer}");
    }
    assert_eq!(unfulfilled(json!({ "number": 11 }), "on 2026-11-23"), ["has no number 11; it has no number"]);
    assert_eq!(
        unfulfilled(json!({ "number": [1, { "is": 200, "within": "1%" }] }), "202 of 3"),
        ["has no number 1; it has 202, 3"]
    );
    assert_eq!(
        unfulfilled(json!({ "number": { "is": 200, "within": "1%" } }), "203"),
        ["has no number within 1 % of 200; it has 203"]
    );
}

#[test]
fn json_is_read_from_the_first_fence_or_the_whole_answer() {
    let demands = || json!({ "json": { "period": { "equals": "2026-04〜2026-06" }, "children[*].name": { "one_of": ["A", "B"] } } });
    let body = r#"{"period": "2026-04〜2026-06", "children": [{"name": "B"}, {"name": "A"}]}"#;
    for answer in [
        body.to_owned(),
        format!("下書きです。\n```json\n{body}\n```\nどうぞ。"),
        format!("```python\nprint()\n```\n```\n{body}```"),
    ] {
        assert!(unfulfilled(demands(), &answer).is_empty(), "{answer}");
    }
    assert_eq!(
        unfulfilled(demands(), r#"{"period": "x", "children": [{"name": "C"}]}"#),
        [
            r#"has JSON in which `children[*].name` is "C", not one of "A", "B""#,
            r#"has JSON in which `period` is "x", not "2026-04〜2026-06""#,
        ]
    );
    assert_eq!(
        unfulfilled(demands(), r#"{"period": "2026-04〜2026-06", "children": []}"#),
        ["has JSON without `children[*].name`"]
    );
    assert_eq!(
        unfulfilled(demands(), r#"{"period": "2026-04〜2026-06", "children": [{"name": "A"}, {}]}"#),
        ["has JSON without `children[*].name`"]
    );
    for broken in ["{broken", "", "no JSON", r#"{"period": 1, "period": 2}"#] {
        assert_eq!(unfulfilled(demands(), broken).len(), 1, "{broken}");
    }
}

#[test]
fn demands_are_written_as_they_were_read() {
    let written = json!({ "1": { "answer": {
        "contains": ["a", "b"], "contains_any": "c", "lacks": "d", "regex": ["e+", "f"], "is": ["a b c", "b"],
        "number": [1, { "is": 2.5, "within": "1%" }, { "is": 3, "within": 0.5 }],
        "json": { "a.b": { "equals": [1] }, "c": { "contains": "x" }, "d": "date" }, "max_words": 5
    } } });
    let (read, _) = read::expect(&written.clone().into());
    assert_eq!(read.unwrap().to_value(), written);
}

#[test]
fn a_value_of_json_that_is_optional_may_be_absent_and_is_matched_if_it_is_there() {
    let demands =
        || json!({ "json": { "day": { "optional": "date" }, "items[*].n": { "optional": { "min": 1 } } } });
    for (answer, unmet) in [
        (r#"{"day": "2026-11-23", "items": [{"n": 1}, {}]}"#, ""),
        ("{}", ""),
        (r#"{"day": "soon"}"#, "`day`"),
        (r#"{"items": [{}, {"n": 0}]}"#, "`items[*].n`"),
        ("no JSON", "is no JSON"),
    ] {
        let found = unfulfilled(demands(), answer);
        assert_eq!(found.len(), usize::from(!unmet.is_empty()), "{answer}: {found:?}");
        assert!(found.iter().all(|found| found.contains(unmet)), "{answer}: {found:?}");
    }
}
