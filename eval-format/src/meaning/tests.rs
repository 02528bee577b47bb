use super::*;
use crate::model::EvalSet;

/// A case with one of everything.
const CASE: &str = r#"{
  "eval_id": "a",
  "conversation": [{
    "invocation_id": "1",
    "user_content": {"role": "user", "parts": [{"text": "Weather in Paris?"}]},
    "final_response": {"role": "model", "parts": [{"text": "It is sunny."}]},
    "intermediate_data": {"tool_uses": [
      {"id": "x", "name": "get_weather", "args": {"city": "Paris", "days": 2}},
      {"name": "pay", "args": {"cityName": null}}
    ]},
    "rubrics": [{"rubric_id": "kind", "rubric_content": {"text_property": "It is kind."}}],
    "creation_timestamp": 1.5,
    "duration": 2.5
  }, {
    "user_content": {"parts": [{"text": "And Oslo?"}]},
    "intermediate_data": {"invocation_events": [
      {"author": "agent", "content": {"parts": [{"text": "let me see"}]}, "model_version": "m-1"}
    ]}
  }],
  "session_input": {"app_name": "app", "user_id": "anna", "session_id": "s", "state": {"unit": "celsius"}},
  "final_session_state": {"last": "Oslo", "count": 2},
  "owner": "me",
  "_note": "seen in May",
  "_draft": {"from": "a conversation"},
  "creation_timestamp": 3.5
}"#;

fn meaning(case: &str) -> Meaning {
    let set = EvalSet::parse(&format!(r#"{{"eval_set_id": "s", "eval_cases": [{case}]}}"#));
    Meaning::from_case(&set.unwrap_or_else(|problems| panic!("{problems}\n{case}")).eval_cases[0])
}

fn edited(from: &str, to: &str) -> Meaning {
    assert!(CASE.contains(from), "{from}");
    meaning(&CASE.replacen(from, to, 1))
}

#[test]
fn what_is_no_meaning_changes_no_hash() {
    let before = meaning(CASE);
    for (from, to) in [
        (r#""eval_id": "a""#, r#""eval_id": "another""#),
        (r#""invocation_id": "1""#, r#""invocation_id": "turn-1""#),
        (
            r#"    "invocation_id": "1",
"#,
            "",
        ),
        (r#""id": "x", "#, ""),
        (r#""session_id": "s""#, r#""session_id": "t""#),
        (r#""creation_timestamp": 1.5,"#, ""),
        (r#""duration": 2.5"#, r#""duration": 9.5"#),
        (r#""creation_timestamp": 3.5"#, r#""creation_timestamp": 4"#),
        (r#""seen in May""#, r#""seen in June""#),
        (r#""owner": "me""#, r#""owner": "me", "tags": ["smoke"]"#),
        (
            r#"  "_note": "seen in May",
"#,
            "",
        ),
        (
            r#"  "_draft": {"from": "a conversation"},
"#,
            "",
        ),
        (r#""model_version": "m-1""#, r#""model_version": "m-2""#),
        (r#""role": "model", "#, ""),
        (r#""days": 2"#, r#""days": 2.0"#),
        (r#""count": 2"#, r#""count": 2e0"#),
        (r#""city": "Paris", "days": 2"#, r#""days": 2, "city": "Paris""#),
        (r#""last": "Oslo", "count": 2"#, r#""count": 2, "last": "Oslo""#),
        (r#""text": "It is sunny.""#, r#""text": "It is \u0073unny.""#),
        (r#""seen in May""#, r#""seen in May", "_expect": null"#),
        (r#""user_content""#, r#""userContent""#),
        (r#""final_session_state""#, r#""finalSessionState""#),
        (r#""text_property""#, r#""textProperty""#),
        (r#""session_input": {"app_name""#, r#""sessionInput": {"appName""#),
        (
            r#""user_content": {"parts": [{"text": "And Oslo?"}]}"#,
            r#""user_content": {"role": "user", "parts": [{"text": "And Oslo?", "thought": null}]}"#,
        ),
    ] {
        assert_eq!(edited(from, to), before, "{from} -> {to}");
    }
    let compact: String = CASE.lines().map(str::trim).collect();
    assert_eq!(meaning(&compact), before);
}

#[test]
fn what_is_asked_changes_the_one_hash_and_what_is_expected_the_other() {
    let before = meaning(CASE);
    for (from, to) in [
        ("Weather in Paris?", "Weather in Rome?"),
        (r#"[{"text": "And Oslo?"}]"#, r#"[{"text": "And "}, {"text": "Oslo?"}]"#),
        (r#""app_name": "app""#, r#""app_name": "shop""#),
        (r#""user_id": "anna""#, r#""user_id": "bob""#),
        (r#""unit": "celsius""#, r#""unit": "kelvin""#),
        (r#""unit": "celsius""#, r#""unit": "celsius", "more": null"#),
    ] {
        let now = edited(from, to);
        assert!(now.asks != before.asks && now.expects == before.expects, "{from} -> {to}");
    }
    for (from, to) in [
        ("It is sunny.", "It rains."),
        ("get_weather", "weather"),
        (r#""city": "Paris""#, r#""city": "Rome""#),
        (r#""city": "Paris""#, r#""City": "Paris""#),
        (r#""cityName": null"#, r#""city_name": null"#),
        (r#"{"cityName": null}"#, "{}"),
        (r#""days": 2"#, r#""days": "2""#),
        (r#""days": 2"#, r#""days": 2.5"#),
        (r#""days": 2"#, r#""days": true"#),
        ("It is kind.", "It is short."),
        (r#""rubric_id": "kind""#, r#""rubric_id": "short""#),
        ("let me see", "let me think"),
        (r#""last": "Oslo""#, r#""last": "Rome""#),
        (r#""owner": "me""#, r#""owner": "you""#),
        (r#""owner": "me""#, r#""owner": "me", "_expect": {"1": {"calls": {"pay": "any"}}}"#),
        (r#""owner": "me""#, r#""owner": "me", "_expect": {"1": {"answer": {"contains": "sunny"}}}"#),
        (r#""owner": "me""#, r#""owner": "me", "_criteria": {"response_match_score": 0.5}"#),
    ] {
        let now = edited(from, to);
        assert!(now.asks == before.asks && now.expects != before.expects, "{from} -> {to}");
    }
}

#[test]
fn a_fault_of_a_tool_changes_what_is_asked() {
    let case = |fault: &str| {
        let tools = serde_json::json!({"1": {"f#1": {"raises": fault}}});
        Meaning::from_case(&EvalCase::new("c").turn(Invocation::user("a")).with_extra("_tools", tools))
    };
    let without = Meaning::from_case(&EvalCase::new("c").turn(Invocation::user("a")));
    assert!(case("reset").asks != without.asks && case("reset").expects == without.expects);
    assert_ne!(case("reset").asks, case("down").asks);
}

#[test]
fn a_turn_more_and_a_scenario_change_what_is_asked() {
    let case = |turns: &[&str]| {
        let turns = turns.iter().map(|text| Invocation::user(*text));
        Meaning::from_case(&turns.fold(EvalCase::new("c"), EvalCase::turn))
    };
    assert_ne!(case(&["ab"]).asks, case(&["a", "b"]).asks);
    assert_ne!(case(&["a"]).asks, case(&["a", "a"]).asks);
    let scenario =
        |plan: &str| Meaning::from_case(&EvalCase::new("c").scenario(ConversationScenario::new("Hi", plan)));
    assert_ne!(scenario("ask").asks, scenario("insist").asks);
    assert_eq!(scenario("ask").expects, scenario("insist").expects);
}

/// Journals and baselines hold them.
#[test]
fn hashes_stay_what_they_are() {
    let Meaning { asks, expects } = meaning(CASE);
    assert_eq!((&*asks, &*expects), ("8ae69c1f3338c9ea", "671f5b96562d5ba2"));
}
