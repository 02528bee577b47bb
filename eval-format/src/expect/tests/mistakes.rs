//! Mistakes in `_expect`: each is found, at its place, with a remedy.

use serde_json::json;

use super::{call, case};
use crate::expect::Expect;
use crate::model::{EvalCase, EvalSet, Invocation};
use crate::problem::{Problem, Severity};
use crate::reader::check_set;

/// The case of the reference: three calls.
fn weather(expect: serde_json::Value) -> EvalCase {
    case(
        [
            call("get_weather", json!({ "city": "Oslo", "day": "2026-11-22" })),
            call("search", json!({ "q": "a", "tags": ["x", "y"], "n": 3 })),
            call("search", json!({ "q": "b", "tags": [], "n": true })),
        ],
        expect,
    )
}

/// The problems of a set of this case, each with the text at its place.
fn problems(case: EvalCase) -> Vec<(Problem, String)> {
    let text = EvalSet::new("s").case(case).to_json();
    let checked = check_set("s.evalset.json", text.as_bytes(), None);
    checked.problems.into_iter().map(|problem| (problem.clone(), text[problem.range].to_owned())).collect()
}

fn calls(tool: &str, args: serde_json::Value) -> serde_json::Value {
    let calls = serde_json::Map::from_iter([(tool.to_owned(), args)]);
    json!({ "1": { "calls": calls } })
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn each_mistake_is_an_error_at_its_place_with_a_remedy() {
    let mut wrong = Vec::new();
    for (expect, at, message, help) in [
        (
            json!({"2": {"order": "any"}}),
            r#""2""#,
            "there is no turn 2: the case has 1 turn",
            "counted from 1",
        ),
        (
            json!({"1": {"call": {}}}),
            r#""call""#,
            "unknown key `call` in a turn of `_expect`",
            "did you mean `calls`?",
        ),
        (
            calls("get_wether", json!({})),
            r#""get_wether""#,
            "no call of `get_wether` is expected in turn 1",
            "did you mean `get_weather`?",
        ),
        (
            calls("search", json!({"q": "any"})),
            r#""search""#,
            "`search` is expected 2 times in turn 1",
            "`search#1`",
        ),
        (
            calls("search#3", json!({})),
            r#""search#3""#,
            "there is no `search#3`: turn 1 expects `search` 2 times",
            "`search#*`",
        ),
        (
            calls("get_weather", json!({"dya": "any"})),
            r#""dya""#,
            "the expected call has no argument `dya`",
            "did you mean `day`?",
        ),
        (
            calls("get_weather", json!({"day": "dat"})),
            r#""dat""#,
            "there is no matcher `dat`",
            "did you mean `date`?",
        ),
        (
            calls("get_weather", json!({"city": "date"})),
            r#""date""#,
            "the expected value does not fulfil `date`: it is \"Oslo\", no date",
            "\"Oslo\"",
        ),
        (
            calls("get_weather", json!({"day": {"regex": "("}})),
            r#""(""#,
            "the regular expression cannot be used: ",
            "regex-lite",
        ),
        (
            calls("get_weather", json!({"day": {"regex": "2025-.*"}})),
            "",
            "the expected value does not fulfil `regex`: it is \"2026-11-22\", which does not match /2025-.*/",
            "\"2026-11-22\"",
        ),
        (
            calls("search#1", json!({"q": "unordered"})),
            r#""unordered""#,
            "`unordered` cannot hold: the expected value is no list",
            "\"a\"",
        ),
        (
            calls("search#2", json!({"n": {"within": 1}})),
            "",
            "`within` cannot hold: the expected value is no number",
            "true",
        ),
        (calls("search#1", json!({"n": {"min": 5, "max": 4}})), "", "no number is from 5 to 4", "swap"),
        (
            calls("search#1", json!({"n": {"one_of": [1, 2]}})),
            "",
            "the expected value does not fulfil `one_of`: it is 3, not one of 1, 2",
            "3",
        ),
        (
            calls("search#1", json!({"tags[*]": "uuid"})),
            r#""uuid""#,
            "the expected value does not fulfil `uuid`: it is \"x\", no UUID",
            "\"x\"",
        ),
        (
            calls("search#1", json!({"tags[2]": "any"})),
            r#""tags[2]""#,
            "the expected call has no argument `tags[2]`",
            "`tags`",
        ),
        (
            calls("get_weather", json!({"...": "text"})),
            r#""text""#,
            "`...` must be \"any\", not \"text\"",
            "",
        ),
        (
            json!({"1": {"optional": ["book"]}}),
            r#""book""#,
            "no call of `book` is expected in turn 1",
            "`get_weather`, `search`",
        ),
        // Beyond the mistakes of the reference.
        (json!([1]), "", "`_expect` must be an object of turns, not an array", ""),
        (json!({"0": {}}), r#""0""#, "`0` is no number of a turn", "from 1"),
        (json!({"01": {}}), r#""01""#, "`01` is no number of a turn", "from 1"),
        (json!({"1": {"order": "free"}}), r#""free""#, "`order` must be \"any\", not \"free\"", ""),
        (
            json!({"1": {"others": {"a": 1}}}),
            "",
            "`others` must be \"any\" or a list of tools, not an object",
            "",
        ),
        (
            json!({"1": {"repeat": {"get_weather": 0}}}),
            "0",
            "`get_weather` must be a number from 1 to 1000, not 0",
            "",
        ),
        (
            json!({"1": {"calls": {"get_weather": "all"}}}),
            r#""all""#,
            "`get_weather` must be \"any\" or an object of arguments, not \"all\"",
            "",
        ),
        (
            calls("get_weather", json!({"city..x": "any"})),
            r#""city..x""#,
            "`city..x` is no path of an argument",
            "`tags[*]`",
        ),
        (
            calls("get_weather", json!({"city": "any", "[\"city\"]": "any"})),
            r#""city""#,
            "are the same argument",
            "remove",
        ),
        (
            calls("get_weather", json!({"city": "Paris"})),
            r#""Paris""#,
            "there is no matcher `Paris`",
            "what is expected is in the turn",
        ),
        (
            calls("get_weather", json!({"city": {"regex": "\\p{L}+"}})),
            r#""\\p{L}+""#,
            "which regex-lite does not know",
            "",
        ),
        (
            calls("get_weather", json!({"city": {"regex": "a".repeat(1025)}})),
            "",
            "it has 1025 bytes, and the most is 1024",
            "",
        ),
        (
            calls("get_weather", json!({"city": {"contains": " "}})),
            r#"" ""#,
            "an empty text is in every text",
            "remove",
        ),
        (calls("get_weather", json!({"city": {"contains": []}})), "[]", "the list is empty", ""),
        (calls("get_weather", json!({"city": {"one_of": []}})), "[]", "`one_of` has no value", ""),
        (
            calls("get_weather", json!({"city": {"contains": "O", "regex": "O.*"}})),
            "",
            "this is not one matcher",
            "",
        ),
        (
            calls("get_weather", json!({"city": {"optional": "optional"}})),
            r#""optional""#,
            "`optional` must be another matcher",
            "",
        ),
        (
            calls("get_weather", json!({"page": {"optional": {"within": 1}}})),
            "",
            "`within` compares with the expected value, and there is none",
            "",
        ),
        (calls("search#1", json!({"n": {"within": -1}})), "-1", "`within` must be a number from 0", ""),
        (
            calls("search#1", json!({"n": {"within": "x%"}})),
            r#""x%""#,
            "`within` must be a number from 0",
            "",
        ),
        (
            calls("search#1", json!({"tags": "any", "tags[0]": "text"})),
            r#""tags[0]""#,
            "the rule for `tags` decides before `tags[0]` is looked at",
            "remove",
        ),
        (
            json!({"1": {"calls": {"search#*": {"q": "text"}, "search#1": "any"}}}),
            r#""search#1""#,
            "two names are names of call 1 of `search`",
            "",
        ),
        (
            json!({"1": {"responses": {"search": {"x": "any"}}}}),
            r#""search""#,
            "no response of `search` is expected in turn 1",
            "expects no response",
        ),
        (
            json!({"1": {"answer": {"contain": "x"}}}),
            r#""contain""#,
            "unknown key `contain` in the demands on an answer",
            "`contains`",
        ),
        (
            json!({"1": {"answer": {"contains": "a b", "lacks": "b"}}}),
            r#""b""#,
            "no answer has \"a b\" and lacks \"b\"",
            "",
        ),
        (
            json!({"1": {"answer": {"contains_any": ["ab", "cb"], "lacks": "b"}}}),
            r#""b""#,
            "no answer has \"ab\" and lacks \"b\"",
            "",
        ),
        (
            json!({"1": {"answer": {"is": "PHISHING", "number": 3}}}),
            r#""PHISHING""#,
            "no answer is \"PHISHING\" and fulfils `number`",
            "",
        ),
        (
            json!({"1": {"answer": {"is": "yes", "regex": "[0-9]"}}}),
            r#""yes""#,
            "no answer is \"yes\" and fulfils `regex`",
            "",
        ),
        (
            json!({"1": {"answer": {"is": "yes", "json": {"kind": "any"}}}}),
            r#""yes""#,
            "no answer is \"yes\" and fulfils `json`",
            "",
        ),
        (json!({"1": {"answer": {"regex": ".*"}}}), r#"".*""#, "matches a part of every answer", ""),
        (json!({"1": {"answer": {"number": "3"}}}), r#""3""#, "`number` must be a number or", ""),
        (json!({"1": {"answer": {"number": {"within": 1}}}}), "", "`is` must be a number, not null", ""),
        (
            json!({"1": {"answer": {"json": {"a": {"within": 1}}}}}),
            "",
            "`within` compares with an expected value, and a demand has none",
            "equals",
        ),
        (
            json!({"1": {"answer": {"json": {"a": {"optional": {"within": 1}}}}}}),
            "",
            "`within` compares with an expected value, and a demand has none",
            "equals",
        ),
        (
            json!({"1": {"answer": {"json": {"a": "optional"}}}}),
            r#""optional""#,
            "`optional` compares with an expected value, and a demand has none",
            "equals",
        ),
        (json!({"1": {"answer": {"json": {}}}}), "{}", "no path is demanded", "remove"),
        (json!({"1": {"answer": {}}}), "{}", "nothing is demanded of the answer", "remove"),
        (json!({"1": {}}), "{}", "the turn has no rule", "remove"),
        (json!({"1": {"answer": {"max_words": 0}}}), "0", "`max_words` must be a number from 1", ""),
    ] {
        let found = problems(weather(expect.clone()));
        let [(problem, text)] = found.as_slice() else { panic!("{expect}: {found:?}") };
        let says =
            problem.message.contains(message) && problem.help.as_deref().unwrap_or_default().contains(help);
        let is_in_key = problem.is_error() && problem.path.to_string().starts_with("eval_cases[0]._expect");
        if !says || !is_in_key || !(at.is_empty() || text == at) {
            wrong.push(format!("{expect} at {text}: {problem:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_can_hold_is_no_mistake() {
    for expect in [
        json!({"1": {"calls": {"search#*": {"tags": "unordered"}, "get_weather": {"page": {"optional": {"one_of": [1]}}}}}}),
        json!({"1": {"calls": {"search#1": {"tags": "unordered", "tags[*]": "text"}, "search#2": {"...": "any"}}}}),
        json!({"1": {"order": "any", "others": ["log"], "optional": ["search#2"], "repeat": {"get_weather": 3}}}),
        json!({"1": {"answer": {"contains": "sunny", "lacks": ["rain"], "regex": "[0-9]+", "number": 3}}}),
        // `is` takes a text in any case and with any white space.
        json!({"1": {"answer": {"is": "phishing", "regex": "PHISHING"}}}),
        json!({"1": {"answer": {"is": "Phishing", "regex": "^[^a-z]+$"}}}),
        json!({"1": {"answer": {"is": "no visa", "regex": "No\\nVisa"}}}),
        json!({"1": {"answer": {"is": "{\"Kind\": \"order\"}", "json": {"kind": {"equals": "Order"}}}}}),
        json!(null),
    ] {
        assert_eq!(problems(weather(expect.clone())), [], "{expect}");
    }
    assert_eq!(problems(EvalCase::new("c").turn(Invocation::user("Hi")).with_expect(Expect::default())), []);
}

#[test]
fn rules_that_say_nothing_are_errors() {
    for (expect, path, message) in [
        (json!({}), "_expect", "no turn has a rule"),
        (json!({"1": {}}), "_expect.1", "the turn has no rule"),
        (json!({"1": {"calls": {}}}), "_expect.1.calls", "no call has a rule"),
        (json!({"1": {"repeat": {}}}), "_expect.1.repeat", "no call has a rule"),
        (json!({"1": {"responses": {}}}), "_expect.1.responses", "no response has a rule"),
        (json!({"1": {"optional": []}}), "_expect.1.optional", "no call is named"),
        (json!({"1": {"others": []}}), "_expect.1.others", "no tool is named"),
        (json!({"1": {"answer": {}}}), "_expect.1.answer", "nothing is demanded of the answer"),
        (
            json!({"1": {"responses": {"get_weather": "any"}}}),
            "_expect.1.responses.get_weather",
            "`get_weather` must be an object of values of the response, not \"any\"",
        ),
    ] {
        let found = problems(weather(expect.clone()));
        let [(problem, _)] = found.as_slice() else { panic!("{expect}: {found:?}") };
        assert!(problem.is_error(), "{problem:?}");
        assert_eq!((problem.path.to_string(), &*problem.message), (format!("eval_cases[0].{path}"), message));
    }
}

#[test]
fn several_mistakes_are_found_at_once_in_the_order_of_the_text() {
    let expect = json!({
        "1": {"calls": {"get_weather": {"day": "dat", "dya": "any"}}, "oder": "any"},
        "2": {"answer": {"contains": ".."}},
    });
    let texts: Vec<String> = problems(weather(expect)).into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, [r#""dat""#, r#""dya""#, r#""oder""#, r#""2""#]);
}

#[test]
fn a_percentage_of_zero_is_a_warning() {
    let golden = call("pay", json!({ "sum": 0 }));
    let expect = json!({"1": {"calls": {"pay": {"sum": {"within": "1%"}}}}});
    let found = problems(case([golden], expect));
    let [(problem, text)] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(
        (problem.severity, problem.message.as_str()),
        (Severity::Warning, "1 % of the expected value 0 is 0")
    );
    assert!(text.contains(r#""within": "1%""#), "{text}");
    assert_eq!(problem.help.as_deref(), Some("write the distance as a number"));
}

#[test]
fn an_expected_answer_that_breaks_a_demand_is_a_warning() {
    let demand = |demand: serde_json::Value| {
        let mut case = weather(json!({ "1": { "answer": demand } }));
        case.conversation[0] = case.conversation[0].clone().response("I found xx results.");
        problems(case)
    };
    assert_eq!(demand(json!({ "regex": "found \\S+ results" })), []);
    let found = demand(json!({ "regex": "found [0-9]+ results", "contains": "results" }));
    let [(problem, text)] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((problem.severity, text.as_str()), (Severity::Warning, r#""found [0-9]+ results""#));
}

#[test]
fn a_scenario_has_no_turns_to_expect_anything_of() {
    let scenario = crate::ConversationScenario::new("Hi", "Book a room.");
    for turn in [json!({"answer": {"contains": "x"}}), json!({"calls": {"f": "any"}})] {
        let case = EvalCase::new("c").scenario(scenario.clone()).with_extra("_expect", json!({"1": turn}));
        let found = problems(case);
        assert!(
            found.len() == 1 && found[0].0.message.starts_with("a scenario has no expected turns"),
            "{found:?}"
        );
    }
}

#[test]
fn another_name_of_the_key_is_an_error_that_names_it() {
    let turn = r#"{"user_content": {"parts": [{"text": "Hi"}]}MORE}"#;
    let check = |in_case: &str, in_turn: &str| {
        let turn = turn.replace("MORE", in_turn);
        let text = format!(
            r#"{{"eval_set_id": "s", "eval_cases": [{{"eval_id": "c", "conversation": [{turn}]{in_case}}}]}}"#
        );
        let problems = check_set("s.evalset.json", text.as_bytes(), None).problems;
        let [problem] = problems.as_slice() else { panic!("{problems:?}") };
        assert!(problem.is_error());
        problem.help.clone().unwrap()
    };
    for key in ["expect", "expects", "_match", "match", "_expects", "_expct"] {
        let help = check(&format!(r#", "{key}": {{"1": {{}}}}"#), "");
        assert!(help.contains("did you mean `_expect`?"), "{key}: {help}");
    }
    for key in ["criteria", "_criterias"] {
        assert!(check(&format!(r#", "{key}": {{}}"#), "").contains("did you mean `_criteria`?"), "{key}");
    }
    for key in ["_expect", "expect", "_match"] {
        let help = check("", &format!(r#", "{key}": {{}}"#));
        assert!(help.contains(r#"`"_expect": {"1": {..}}`"#), "{key}: {help}");
    }
    // The old forms have no such keys, neither on a case nor in a turn.
    for (key, value) in [
        ("_expect", r#"{"1": {"order": "any"}}"#),
        ("_criteria", r#"{"response_match_score": 0.5}"#),
        ("_tools", r#"{"1": {"f#1": "never"}}"#),
        ("_models", r#"{"1": "never"}"#),
        ("tags", r#"["slow"]"#),
    ] {
        let entry = format!(r#", "{key}": {value}"#);
        for (old, what, path) in [
            (
                format!(r#"[{{"name": "c", "data": [{{"query": "Hi"}}]{entry}}}]"#),
                "case",
                format!("[0].{key}"),
            ),
            (
                format!(r#"[{{"name": "c", "data": [{{"query": "Hi"{entry}}}]}}]"#),
                "turn",
                format!("[0].data[0].{key}"),
            ),
            (format!(r#"[{{"query": "Hi", "reference": "ok"{entry}}}]"#), "turn", format!("[0].{key}")),
        ] {
            let checked = check_set("s.test.json", old.as_bytes(), None);
            let [problem] = checked.problems.as_slice() else { panic!("{old}: {:?}", checked.problems) };
            assert!(problem.is_error() && checked.set.is_none(), "{old}");
            assert_eq!(problem.message, format!("a {what} of the old format has no `{key}`"));
            assert_eq!(problem.path.to_string(), path);
            let help = problem.help.as_deref().unwrap();
            assert!(help.contains("evalset migrate") && help.contains("add it to the case there"), "{help}");
        }
    }
}

#[test]
fn a_mistake_of_a_name_for_many_calls_is_told_once() {
    let many = (0..50).map(|at| call("f", json!({ "x": at })));
    let found = problems(case(many, calls("f#*", json!({ "y": "any" }))));
    let messages: Vec<&str> = found.iter().map(|(problem, _)| problem.message.as_str()).collect();
    assert_eq!(messages, ["the expected call has no argument `y`"]);
}

#[test]
fn a_name_has_a_limited_number_of_rules() {
    let args = |count: usize| -> serde_json::Value {
        (0..count).map(|at| (format!("a{at}"), json!("any"))).collect::<serde_json::Map<_, _>>().into()
    };
    let golden = (0..300).map(|at| (format!("a{at}"), json!(at))).collect::<serde_json::Map<_, _>>();
    let found = |count| problems(case([call("f", golden.clone().into())], calls("f", args(count))));
    assert_eq!(found(256).len(), 0);
    let [(problem, _)] = found(257).try_into().unwrap();
    assert_eq!(problem.message, "there are 257 rules for one name, more than 256");
}

#[test]
fn a_mistake_in_a_rule_of_a_response_names_its_field() {
    let turn = Invocation::parse(
        r#"{"user_content": {}, "intermediate_data": {"tool_uses": [{"name": "f", "args": {}}],
            "tool_responses": [{"name": "f", "response": {"n": 1}}]}}"#,
    );
    let rules = json!({ "1": { "responses": { "f": { "deep.x": "any" } } } });
    let case = EvalCase::new("c").turn(turn.unwrap()).with_extra(EvalCase::EXPECT_KEY, rules);
    let [(problem, at)] = problems(case).try_into().unwrap();
    assert_eq!(
        (problem.message.as_str(), at.as_str()),
        ("the expected response has no field `deep.x`", r#""deep.x""#)
    );
    let help = problem.help.unwrap();
    assert_eq!(help, r#"it has `n`; a field that may be added is `{"optional": ..}`"#);
}

#[test]
fn calls_of_one_name_share_their_rules() {
    use crate::expect::compare::CallRules;

    let many = (0..3).map(|at| call("f", json!({ "x": at })));
    let case = case(many, calls("f#*", json!({ "x": "any" })));
    let rules = crate::expect::Rules::of(&case).unwrap();
    let shared: Vec<_> = rules.turn(0).calls.iter().map(|call| call.args.as_ref()).collect();
    let [Some(CallRules::Args(first)), Some(CallRules::Args(second)), _] = shared.as_slice() else {
        panic!("{shared:?}")
    };
    assert!(std::sync::Arc::ptr_eq(first, second));
}
