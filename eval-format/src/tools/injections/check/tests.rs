use super::*;
use crate::model::FunctionCall;
use crate::problem::line_column;

fn of(injection: &str) -> String {
    format!(r#"{{"tool_simulation_configs": [{{"tool_name": "f", "injection_configs": [{injection}]}}]}}"#)
}

fn problems(text: &str) -> Vec<String> {
    let checked = check_injections("outage.json", text.as_bytes());
    assert_eq!(checked.injections.is_some(), checked.problems.is_empty(), "{text}");
    let shown = |problem: &Problem| {
        let help = problem.help.as_deref().unwrap_or_default();
        format!("{} {} `{}`; {help}", problem.code, problem.message, &text[problem.range.clone()])
    };
    checked.problems.iter().map(shown).collect()
}

#[test]
fn injections_are_faults_with_their_lines() {
    let text = r#"{"simulation_model": "gemini-2.5-flash", "simulation_model_configuration": {}, "environment_data": null,
 "tracing": null, "tool_simulation_configs": [{"tool_name": "f", "mock_strategy_type": 0, "injection_configs": [
  {"match_args": {"a": 1}, "calls": [2, 3], "injected_latency_seconds": 1.5, "random_seed": 4,
   "injected_error": {"injected_http_error_code": 503, "error_message": "down"}, "injected_response": null},
  {"match_args": null, "injection_probability": 0, "injected_response": {"never": 1}},
  {"injection_probability": 1, "injected_response": {"n": 1}}]}]}"#;
    let injections = ToolInjections::parse(text).unwrap();
    let [error, response] = injections.items.as_slice() else { panic!("{injections:?}") };
    assert_eq!((error.line, response.line, &*error.tool), (3, 6, "f"));
    assert_eq!(error.after, Duration::from_millis(1500));
    assert_eq!([1, 2, 3, 4].map(|call| error.answers(call)), [false, true, true, false]);
    assert!(response.answers(7));
    let FaultOutcome::Error(error) = &error.outcome else { panic!("{error:?}") };
    assert_eq!(error.keys().collect::<Vec<_>>(), ["error_code", "error_message"]);
}

#[test]
fn arguments_are_equal_as_in_python_at_the_top_level() {
    for (expected, args, matches) in [
        ("{}", r#"{"a": 1}"#, true),
        (r#"{"a": 1.0}"#, r#"{"a": 1, "b": 2}"#, true),
        (r#"{"a": 1}"#, r#"{"a": true}"#, true),
        (r#"{"a": {"b": 1}}"#, r#"{"a": {"b": 1, "c": 2}}"#, false),
        (r#"{"a": null}"#, "{}", false),
        (r#"{"a": "1"}"#, r#"{"a": 1}"#, false),
    ] {
        let file = of(&format!(r#"{{"match_args": {expected}, "injected_response": {{"n": 1}}}}"#));
        let injections = ToolInjections::parse(&file).unwrap();
        let args = crate::value::Value::parse(args).unwrap();
        let found = injections.matching("f", args.as_object().unwrap()).count();
        assert_eq!(found == 1, matches, "{expected} {args}");
        assert_eq!(injections.matching("g", args.as_object().unwrap()).count(), 0);
    }
}

#[test]
fn what_is_not_the_same_each_time_is_an_error_with_its_place() {
    let keys = "the keys are `match_args`, `calls`, `injected_response`, `injected_error`, `injected_latency_seconds`, \
                `injection_probability` and `random_seed`";
    let seconds = "it is a number of seconds, from 0 to 120";
    let response = "write what the tool answers: {\"hits\": []}; ADK takes no other values";
    for (injection, expected) in [
        ("{}", "wrong-type the injection changes nothing `{}`; add `injected_response` or `injected_error`".to_owned()),
        (r#"{"injected_latency_seconds": 1}"#, "wrong-type the injection changes nothing `{\"injected_latency_seconds\": 1}`; add `injected_response` or `injected_error`".to_owned()),
        (r#"{"injected_response": {}}"#, format!("wrong-type `injected_response` is no object with something in it `{{}}`; {response}")),
        (r#"{"injected_response": [1]}"#, format!("wrong-type `injected_response` is no object with something in it `[1]`; {response}")),
        (
            r#"{"injected_response": {"a": 1}, "injected_error": {"injected_http_error_code": 1, "error_message": "m"}}"#,
            "tool-fault the injection answers in two ways `\"injected_error\"`; keep one of `injected_response` and `injected_error`".to_owned(),
        ),
        (r#"{"injected_error": {"error_message": "m"}}"#, "missing-key `injected_http_error_code` is missing `{`; write {\"injected_http_error_code\": 503, \"error_message\": \"down\"}".to_owned()),
        (r#"{"injected_response": {"a": 1}, "injected_latency_seconds": 121}"#, format!("wrong-type `injected_latency_seconds` is 121 `121`; {seconds}")),
        (r#"{"injected_response": {"a": 1}, "injected_latency_seconds": -1}"#, format!("wrong-type `injected_latency_seconds` is -1 `-1`; {seconds}")),
        (
            r#"{"injected_response": {"a": 1}, "injection_probability": 0.5}"#,
            "wrong-type `injection_probability` is 0.5 `0.5`; chance decides no test: leave it out, or say which call fails: `\"calls\": [2]`".to_owned(),
        ),
        (r#"{"injected_response": {"a": 1}, "nosuch": 1}"#, format!("unknown-key an injection has no key `nosuch` `\"nosuch\"`; {keys}")),
        (
            r#"{"injectedResponse": {"a": 1}, "injected_response": {"a": 1}}"#,
            "unknown-key an injection has no key `injectedResponse` `\"injectedResponse\"`; write `injected_response`: ADK reads no camelCase here".to_owned(),
        ),
        (
            r#"{"injected_response": {"a": 1}, "calls": [0]}"#,
            "wrong-type `calls` is no list of numbers from 1 `[0]`; write which of the calls that it matches are answered: [2] for the second one".to_owned(),
        ),
        (
            r#"{"injected_response": {"a": 1}, "random_seed": 4.5}"#,
            "wrong-type `random_seed` is not an integer `4.5`; write `42`".to_owned(),
        ),
        (r#"{"injected_response": {"a": 1}, "match_args": [1]}"#, "wrong-type `match_args` is an array `[1]`; write the arguments that the call must have: {\"city\": \"Paris\"}".to_owned()),
    ] {
        assert_eq!(problems(&of(injection)), [expected], "{injection}");
    }
    let has = |text: &str, message: &str| {
        let found = problems(text);
        assert!(found.iter().any(|problem| problem.contains(message)), "{text}: {found:?}");
    };
    has("{}", "missing-key `tool_simulation_configs` is missing");
    has("[]", "a fault file is an object, and this is an array");
    has(r#"{"tool_simulation_configs": []}"#, "`tool_simulation_configs` names no tools");
    has(r#"{"toolSimulationConfigs": []}"#, "write `tool_simulation_configs`: ADK reads no camelCase here");
    let injection = r#"{"injected_response": {"a": 1}}"#;
    has(
        &of(injection).replacen('{', r#"{"simulation_model": "other", "#, 1),
        "`simulation_model` is for a model",
    );
    for (config, message) in [
        ("null", "`simulation_model_configuration` is null"),
        ("[]", "`simulation_model_configuration` is an array"),
        (r#"{"temprature": 1}"#, "unknown key `temprature` in `simulation_model_configuration`"),
        (r#"{"temperature": "x"}"#, "`temperature` is not a number"),
    ] {
        let key = format!(r#"{{"simulation_model_configuration": {config}, "#);
        has(&of(injection).replacen('{', &key, 1), message);
    }
    has(&of(injection).replacen('{', r#"{"tracing": "[]", "#, 1), "`tracing` is for a model");
    for (strategy, message) in [
        ("1", "`mock_strategy_type` 1 has a model invent the answers"),
        ("2", "\"Not implemented\""),
        (r#""MOCK_STRATEGY_TOOL_SPEC""#, "not one of ADK's: it is 0, 1 or 2"),
        (r#""0""#, "not one of ADK's: it is 0, 1 or 2"),
        ("true", "`mock_strategy_type` 1 has a model invent the answers"),
        ("null", "not one of ADK's: it is 0, 1 or 2"),
    ] {
        has(
            &of(injection)
                .replace(r#""tool_name""#, &format!(r#""mock_strategy_type": {strategy}, "tool_name""#)),
            message,
        );
    }
    has(
        &of(injection).replace(r#""f""#, r#""transfer_to_agent""#),
        "`transfer_to_agent` always runs, so no fault takes its place",
    );
    let twice = of(injection).replace(
        "}]}]}",
        r#"}]}, {"tool_name": "f", "injection_configs": [{"injected_response": {"a": 1}}]}]}"#,
    );
    has(&twice, "duplicate-key there are two entries for the tool `f`");
}

#[test]
fn a_tool_that_no_case_expects_is_an_error_with_its_place() {
    let text = of("\n{\"injected_response\": {\"n\": 1}}").replace(r#""f""#, "\n  \"serach\"");
    let turn = Invocation::user("Hi").call(FunctionCall::new("search", serde_json::json!({})));
    let cases = [EvalCase::new("c").turn(turn)];
    let checked = check_injections("outage.json", text.as_bytes());
    let [problem] = &*checked.unexpected(&cases) else { panic!() };
    assert_eq!(problem.message, "no case expects a call of `serach`");
    assert_eq!(problem.help.as_deref(), Some("did you mean `search`?"));
    assert_eq!(line_column(&text, problem.range.start), (2, 3));
    assert_eq!(problem.path.to_string(), "tool_simulation_configs[0].tool_name");
    let fits = of(r#"{"injected_response": {"n": 1}}"#).replace(r#""f""#, r#""search""#);
    assert!(check_injections("outage.json", fits.as_bytes()).unexpected(&cases).is_empty());
}

#[test]
fn values_are_read_as_pydantic_reads_them() {
    let text = of(
        r#"{"injected_error": {"injected_http_error_code": "100000000000000000000", "error_message": ""}, "random_seed": " 4 ",
            "injected_latency_seconds": "1.5", "injection_probability": true}"#,
    );
    let injections =
        ToolInjections::parse(&text.replace(r#""f""#, r#""f", "mock_strategy_type": 0.0"#)).unwrap();
    let [item] = injections.items.as_slice() else { panic!("{injections:?}") };
    assert_eq!(item.after, Duration::from_millis(1500));
    let FaultOutcome::Error(error) = &item.outcome else { panic!("{item:?}") };
    assert_eq!(error.get("error_code").unwrap().to_string(), "100000000000000000000");
}

#[test]
fn arguments_that_no_expected_call_has_or_may_have_are_an_error_with_their_place() {
    let case = |expect: serde_json::Value| {
        let turn = Invocation::user("Hi")
            .call(FunctionCall::new("f", serde_json::json!({"city": "Paris", "day": "2026-11-22"})));
        [EvalCase::new("c").turn(turn).with_extra("_expect", expect)]
    };
    let none = serde_json::json!({});
    let rule = serde_json::json!({"1": {"calls": {"f": {"day": "date"}}}});
    let others = serde_json::json!({"1": {"others": ["f"]}});
    for (args, expect, is_expected) in [
        (r#"{"city": "Paris"}"#, &none, true),
        (r#"{"city": "Pariss"}"#, &none, false),
        (r#"{"city": "Pariss"}"#, &others, true),
        (r#"{"town": "Paris"}"#, &none, false),
        (r#"{"day": "2026-11-23"}"#, &none, false),
        (r#"{"day": "2026-11-23"}"#, &rule, true),
        (r#"{"day": "soon"}"#, &rule, false),
        ("{}", &none, true),
        ("null", &none, true),
    ] {
        let text = of(&format!(r#"{{"match_args": {args}, "injected_response": {{"n": 1}}}}"#));
        let checked = check_injections("outage.json", text.as_bytes());
        let found = checked.unexpected(&case(expect.clone()));
        assert_eq!(found.is_empty(), is_expected, "{args} {expect}: {found:?}");
        for problem in found {
            assert_eq!(&text[problem.range.clone()], args);
            assert!(problem.message.starts_with("no case expects a call like `f("), "{}", problem.message);
            let help = r#"the cases expect `f(city: "Paris", day: "2026-11-22")`"#;
            assert_eq!(problem.help.as_deref(), Some(help));
        }
    }
    // An injection that is turned off matches nothing.
    let off = of(r#"{"match_args": {"x": 1}, "injection_probability": 0, "injected_response": {"n": 1}}"#);
    assert!(check_injections("outage.json", off.as_bytes()).unexpected(&case(none)).is_empty());
}
