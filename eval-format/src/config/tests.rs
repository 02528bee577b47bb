mod built;
mod hostile;
mod messages;
mod thresholds;

use serde_json::json;

use crate::config::{Criterion, EvalConfig, UserSimulatorConfig, check_config};
use crate::metric::{ArgsMatch, Similarity};
use crate::problem::{Problem, ProblemCode};
use crate::value::{Map, Value};

fn problems(text: &str, answered: &[&str]) -> Vec<Problem> {
    check_config("test_config.json", text.as_bytes(), answered).problems
}

/// `code path` of each problem, warnings in brackets, in the order of the text.
fn found(text: &str, answered: &[&str]) -> Vec<String> {
    let show = |problem: &Problem| {
        let text = format!("{} {}", problem.code, problem.path);
        if problem.is_error() { text } else { format!("[{text}]") }
    };
    problems(text, answered).iter().map(show).collect()
}

fn accepts(text: &str, answered: &[&str]) -> EvalConfig {
    let checked = check_config("test_config.json", text.as_bytes(), answered);
    assert_eq!(checked.problems, [], "{text}");
    checked.config.unwrap()
}

/// A config with the tool trajectory as its only criterion.
fn trajectory(criterion: &str) -> String {
    format!(r#"{{"criteria": {{"tool_trajectory_avg_score": {criterion}}}}}"#)
}

#[test]
fn match_types_are_read_as_adk_reads_them() {
    for (text, kept) in [
        (r#""EXACT""#, "EXACT"),
        (r#"" in-order ""#, "IN_ORDER"),
        (r#""any order""#, "ANY_ORDER"),
        ("0", "EXACT"),
        ("2", "ANY_ORDER"),
        ("1.0", "IN_ORDER"),
        ("true", "IN_ORDER"),
    ] {
        for key in ["match_type", "matchType"] {
            let config = accepts(&trajectory(&format!(r#"{{"threshold": 1, "{key}": {text}}}"#)), &[]);
            let criterion = config.criterion("tool_trajectory_avg_score").unwrap();
            assert_eq!(criterion.get("match_type"), Some(&Value::from(kept)), "{text}");
        }
    }
    for text in [r#""1""#, "3", "-1", "1.5", "null", "[]", r#""EXACTLY""#] {
        assert_eq!(
            found(&trajectory(&format!(r#"{{"threshold": 1, "match_type": {text}}}"#)), &[]),
            ["wrong-type criteria.tool_trajectory_avg_score.match_type"],
            "{text}"
        );
    }
}

#[test]
fn our_own_keys_are_read_in_both_spellings() {
    let text = trajectory(
        r#"{"threshold": 1, "argsMatch": "Subset", "forbidden_tools": ["refund"], "ignore_args": "no"}"#,
    );
    let config = accepts(&text, &[]);
    let criterion = config.criterion("tool_trajectory_avg_score").unwrap();
    assert_eq!(criterion.args_match(), ArgsMatch::Subset);
    assert_eq!(criterion.forbidden_tools().collect::<Vec<_>>(), ["refund"]);
    assert_eq!(criterion.get("ignore_args"), Some(&Value::Bool(false)));
}

#[test]
fn options_of_the_wrong_type_are_errors() {
    for (option, place) in [
        (r#""ignore_args": null"#, "ignore_args"),
        (r#""ignoreArgs": 2"#, "ignoreArgs"),
        (r#""args_match": 1"#, "args_match"),
        (r#""args_match": "loose""#, "args_match"),
        (r#""forbidden_tools": "refund""#, "forbidden_tools"),
        (r#""forbiddenTools": ["refund", 1]"#, "forbiddenTools[1]"),
    ] {
        let found = found(&trajectory(&format!(r#"{{"threshold": 1, {option}}}"#)), &[]);
        assert_eq!(found, [format!("wrong-type criteria.tool_trajectory_avg_score.{place}")], "{option}");
    }
}

#[test]
fn an_args_match_beside_ignore_args_is_a_contradiction() {
    for (options, contradicts) in [
        (r#""ignore_args": true, "args_match": "subset""#, true),
        (r#""ignore_args": true, "args_match": "exact""#, true),
        (r#""ignore_args": true, "args_match": "ignore""#, false),
        (r#""ignore_args": false, "args_match": "subset""#, false),
    ] {
        let found = found(&trajectory(&format!(r#"{{"threshold": 1, {options}}}"#)), &[]);
        assert_eq!(!found.is_empty(), contradicts, "{options}");
    }
}

#[test]
fn criterion_keys_that_nothing_reads_are_errors() {
    let at = "criteria.tool_trajectory_avg_score";
    for (criterion, expected) in [
        (r#"{"threshold": 1, "match_typ": "EXACT"}"#, vec![format!("misspelt-key {at}.match_typ")]),
        (r#"{"threshold": 1, "ignoreArg": true}"#, vec![format!("misspelt-key {at}.ignoreArg")]),
        (r#"{"treshold": 1}"#, vec![format!("misspelt-key {at}.treshold")]),
        (r#"{"match_type": "EXACT"}"#, vec![format!("missing-key {at}")]),
        (r#"{"threshold": 1, "rubrics": []}"#, vec![format!("unknown-key {at}.rubrics")]),
        (r#"{"threshold": 1, "match": 1}"#, vec![format!("unknown-key {at}.match")]),
        (r#"{"threshold": 1, "_match": 1}"#, vec![]),
        (
            r#"{"threshold": 1, "match_type": 0, "matchType": 1}"#,
            vec![format!("both-spellings {at}.match_type")],
        ),
        (
            r#"{"threshold": 1, "includeIntermediateResponsesInFinal": true}"#,
            vec![format!("[ignored-key {at}.includeIntermediateResponsesInFinal]")],
        ),
    ] {
        assert_eq!(found(&trajectory(criterion), &[]), expected, "{criterion}");
    }
}

#[test]
fn the_options_of_a_metric_are_read_in_both_spellings() {
    let config = accepts(
        r#"{"criteria": {
            "response_similarity": {"threshold": 0.7, "algorithm": "Rouge-L", "ignoreCase": true},
            "trajectory_single_tool_use": {"threshold": 1, "toolName": "lookup"}
        }}"#,
        &[],
    );
    let similarity = config.criterion("response_similarity").unwrap();
    assert_eq!((similarity.algorithm(), similarity.normalize()), (Similarity::RougeL, true));
    assert_eq!(config.criterion("trajectory_single_tool_use").unwrap().tool_name(), Some("lookup"));
}

#[test]
fn options_that_are_absent_of_another_metric_or_of_no_effect_are_errors() {
    for (metric, criterion, expected) in [
        ("trajectory_single_tool_use", "1.0", "missing-key "),
        ("trajectory_single_tool_use", r#"{"threshold": 1}"#, "missing-key "),
        ("trajectory_single_tool_use", r#"{"threshold": 1, "tool_name": null}"#, "wrong-type .tool_name"),
        ("trajectory_exact_match", r#"{"threshold": 1, "tool_name": "f"}"#, "unknown-key .tool_name"),
        ("trajectory_in_order_match", r#"{"threshold": 1, "match_type": 1}"#, "unknown-key .match_type"),
        ("response_match_score", r#"{"threshold": 1, "algorithm": "exact"}"#, "unknown-key .algorithm"),
        ("response_similarity", r#"{"threshold": 1, "algorithm": "cosine"}"#, "wrong-type .algorithm"),
        ("response_similarity", r#"{"threshold": 1, "ignore_cas": true}"#, "misspelt-key .ignore_cas"),
        (
            "response_similarity",
            r#"{"threshold": 1, "algorithm": "rouge_1", "ignore_case": false}"#,
            "wrong-type .ignore_case",
        ),
        ("response_similarity", r#"{"threshold": 1, "normalize": false}"#, "wrong-type .normalize"),
    ] {
        let (code, place) = expected.split_once(' ').unwrap();
        let text = format!(r#"{{"criteria": {{"{metric}": {criterion}}}}}"#);
        assert_eq!(found(&text, &[]), [format!("{code} criteria.{metric}{place}")], "{text}");
    }
    for options in [
        r#""algorithm": "exact", "ignore_case": false, "normalize": false"#,
        r#""algorithm": "jaccard", "ignore_case": false"#,
        r#""algorithm": "rouge_2", "normalize": true"#,
    ] {
        accepts(&format!(r#"{{"criteria": {{"response_similarity": {{"threshold": 1, {options}}}}}}}"#), &[]);
    }
}

#[test]
fn metrics_that_cannot_decide_are_one_problem_each() {
    for (metric, code) in [
        ("bogus", "unknown-metric"),
        ("_comment", "unknown-metric"),
        ("token_usage_v1", "informational-threshold"),
    ] {
        for criterion in ["0.5", r#"{"threshold": 7, "x": 1}"#, "null"] {
            let text = format!(r#"{{"criteria": {{"{metric}": {criterion}}}}}"#);
            assert_eq!(found(&text, &[]), [format!("{code} criteria.{metric}")], "{text}");
        }
    }
}

#[test]
fn an_answered_name_takes_any_criterion() {
    for metric in ["brevity", "safety_v1", "token_usage_v1", "response_match_score"] {
        let text = format!(r#"{{"criteria": {{"{metric}": {{"threshold": 70, "words": [1, 2]}}}}}}"#);
        let config = accepts(&text, &[metric]);
        let criterion = Criterion::new(70.0).with("words", json!([1, 2]));
        assert_eq!(config.criterion(metric), Some(&criterion));
    }
    assert_eq!(
        found(r#"{"criteria": {"brevity": NaN}}"#, &["brevity"]),
        ["threshold-range criteria.brevity"]
    );
}

#[test]
fn criteria_that_check_nothing_are_errors() {
    for (text, expected) in [
        ("{}", vec!["nothing-checked the document"]),
        (r#"{"criteria": {}}"#, vec!["nothing-checked criteria"]),
        (r#"{"criteria": {"response_match_score": 0}}"#, vec!["nothing-checked criteria"]),
        (r#"{"criteria": {"response_match_score": {"threshold": -0.0}}}"#, vec!["nothing-checked criteria"]),
        (r#"{"criteria": {"response_match_score": 0, "tool_trajectory_avg_score": 0.1}}"#, vec![]),
        (r#"{"criterias": {"response_match_score": 1}}"#, vec!["misspelt-key criterias"]),
        (r#"{"response_match_score": 1}"#, vec!["unknown-key response_match_score"]),
        (r#"{"version": 1}"#, vec!["nothing-checked the document", "[ignored-key version]"]),
        (r#"{"criteria": null}"#, vec!["wrong-type criteria"]),
        (r#"{"criteria": []}"#, vec!["wrong-type criteria"]),
    ] {
        assert_eq!(found(text, &[]), expected, "{text}");
    }
}

#[test]
fn custom_metrics_need_an_answer_in_rust() {
    let text = r#"{"criteria": {"brevity": {"threshold": 0.5, "direction": "at_least"}}, "customMetrics": {"brevity": {"codeConfig": {"name": "m.b"},
        "metric_info": {"metricName": "brevity", "metric_value_info": {"interval": {"min_value": 0, "maxValue": "2"}}}}}}"#;
    let config = accepts(text, &["brevity"]);
    assert_eq!(config.custom_metrics.keys().collect::<Vec<_>>(), ["brevity"]);
    assert_eq!(
        config.custom_metrics.get("brevity").unwrap().to_string(),
        r#"{"code_config":{"name":"m.b"},"metric_info":{"metric_name":"brevity","metric_value_info":{"interval":{"min_value":0.0,"max_value":2.0}}}}"#
    );
    assert_eq!(found(text, &[]), ["unanswered-custom-metric customMetrics.brevity"]);
}

/// google-adk infers it from the statuses of the function. Without it a metric of costs would have the opposite verdict
/// here.
#[test]
fn a_custom_metric_of_adk_says_which_scores_pass() {
    let text = |criterion: &str| {
        format!(
            r#"{{"criteria": {{"cost": {criterion}}}, "custom_metrics": {{"cost": {{"code_config": {{"name": "m.cost"}}}}}}}}"#
        )
    };
    for criterion in ["5", r#"{"threshold": 5}"#] {
        assert_eq!(found(&text(criterion), &["cost"]), ["missing-key criteria.cost"], "{criterion}");
    }
    for (direction, passes) in [(r#""at_least""#, [false, true]), (r#""at_most""#, [true, false])] {
        let config = accepts(&text(&format!(r#"{{"threshold": 5, "direction": {direction}}}"#)), &["cost"]);
        let criterion = config.criterion("cost").unwrap();
        assert_eq!([3.0, 10.0].map(|score| criterion.is_met(score)), passes, "{direction}");
    }
    // A metric that is no port of one of ADK's says it only if lower scores are better.
    accepts(r#"{"criteria": {"cost": 5}}"#, &["cost"]);
}

#[test]
fn custom_metrics_have_adks_shape() {
    for (metric, expected) in [
        (r#"{"code_config": {"name": "m.b"}, "note": 1}"#, vec!["[ignored-key custom_metrics.b.note]"]),
        (r#"{"code_config": {"name": "m.b"}, "metric_info": null}"#, vec![]),
        ("null", vec!["wrong-type custom_metrics.b"]),
        ("{}", vec!["missing-key custom_metrics.b"]),
        (r#"{"code_config": {}}"#, vec!["missing-key custom_metrics.b.code_config"]),
        (r#"{"code_config": {"name": 1}}"#, vec!["wrong-type custom_metrics.b.code_config.name"]),
        (
            r#"{"code_config": {"name": "m.b", "args": []}}"#,
            vec!["unknown-key custom_metrics.b.code_config.args"],
        ),
        (
            r#"{"code_config": {"name": "m.b", "_note": 1}}"#,
            vec!["unknown-key custom_metrics.b.code_config._note"],
        ),
        (
            r#"{"code_config": {"name": "m.b"}, "metric_info": {"metric_name": "b", "metricName": "b",
                "metric_value_info": {"interval": {"min_value": 0}}}}"#,
            vec![
                "both-spellings custom_metrics.b.metric_info.metric_name",
                "missing-key custom_metrics.b.metric_info.metric_value_info.interval",
            ],
        ),
        (r#"{"code_confg": {"name": "m.b"}}"#, vec!["misspelt-key custom_metrics.b.code_confg"]),
        (
            r#"{"code_config": {"name": "m.b"}, "metric_info": {"metric_name": "b"}}"#,
            vec!["missing-key custom_metrics.b.metric_info"],
        ),
    ] {
        let criterion = r#"{"threshold": 1, "direction": "at_least"}"#;
        let text = format!(r#"{{"criteria": {{"b": {criterion}}}, "custom_metrics": {{"b": {metric}}}}}"#);
        assert_eq!(found(&text, &["b"]), expected, "{text}");
    }
    let unused = r#"{"criteria": {"response_match_score": 1}, "custom_metrics": {"b": {"code_config": {"name": "m"}}}}"#;
    assert_eq!(found(unused, &["b"]), ["[ignored-key custom_metrics.b]"]);
}

#[test]
fn the_simulated_users_model_configuration_is_kept_in_one_spelling() {
    let config = EvalConfig::parse(
        r#"{
            "criteria": {"response_match_score": 1},
            "userSimulatorConfig": {"modelConfiguration": {"maxOutputTokens": 5, "thinking_config": {"thinkingBudget": 1}}}
        }"#,
    );
    let simulator = config.unwrap().user_simulator_config.unwrap();
    let told = Value::parse(r#"{"max_output_tokens": 5, "thinking_config": {"thinkingBudget": 1}}"#).unwrap();
    assert_eq!(Value::Object(simulator.model_configuration), told);
}

#[test]
fn simulators_are_checked_and_sound_is_not_available() {
    for (key, config, expected) in [
        ("user_simulator_config", "null", vec![]),
        ("userSimulatorConfig", "{}", vec![]),
        (
            "user_simulator_config",
            r#"{"type": null, "model": "m", "maxAllowedInvocations": "-1", "x": 1}"#,
            vec![],
        ),
        (
            "user_simulator_config",
            r#"{"custom_instructions": "{{ stop_signal }} {{conversation_plan}} {{ conversation_history }}"}"#,
            vec![],
        ),
        (
            "user_simulator_config",
            r#"{"customInstructions": "{{ stop_signal }}"}"#,
            vec!["wrong-type user_simulator_config.customInstructions"],
        ),
        ("user_simulator_config", r#"{"max_allowed_invocations": 1000000000000000000000000000000}"#, vec![]),
        (
            "user_simulator_config",
            r#"{"max_allowed_invocations": 1e30}"#,
            vec!["wrong-type user_simulator_config.max_allowed_invocations"],
        ),
        (
            "user_simulator_config",
            r#"{"max_allowed_invocations": 0}"#,
            vec!["wrong-type user_simulator_config.max_allowed_invocations"],
        ),
        (
            "user_simulator_config",
            r#"{"maxAllowedInvocations": 1}"#,
            vec!["wrong-type user_simulator_config.maxAllowedInvocations"],
        ),
        ("user_simulator_config", r#"{"model": ""}"#, vec!["wrong-type user_simulator_config.model"]),
        (
            "user_simulator_config",
            r#"{"custom_instructions": "{% if x %}{{ stop_signal }}{{conversation_plan}}{{ conversation_history }}{% endif %}"}"#,
            vec!["wrong-type user_simulator_config.custom_instructions"],
        ),
        (
            "user_simulator_config",
            r#"{"model_configuration": {"maxOutputTokens": 5, "top_p": null}}"#,
            vec![],
        ),
        (
            "user_simulator_config",
            r#"{"modelConfiguration": {"temperature": "hot"}}"#,
            vec!["wrong-type user_simulator_config.modelConfiguration.temperature"],
        ),
        (
            "user_simulator_config",
            r#"{"model_configuration": {"temprature": 1}}"#,
            vec!["unknown-key user_simulator_config.model_configuration.temprature"],
        ),
        ("user_simulator_config", r#"{"model": null}"#, vec!["wrong-type user_simulator_config.model"]),
        ("user_simulator_config", r#"{"modell": "m"}"#, vec!["misspelt-key user_simulator_config.modell"]),
        (
            "user_simulator_config",
            r#"{"type": "llm_audio"}"#,
            vec!["not-available user_simulator_config.type"],
        ),
        ("user_simulator_config", r#"{"type": "llm"}"#, vec!["wrong-type user_simulator_config.type"]),
        ("user_simulator_config", "[]", vec!["wrong-type user_simulator_config"]),
        ("live_model_config", "null", vec![]),
        ("live_model_config", "{}", vec!["not-available live_model_config"]),
        ("liveModelConfig", r#"{"timeoutSeconds": 3}"#, vec!["not-available liveModelConfig"]),
    ] {
        let text = format!(r#"{{"criteria": {{"response_match_score": 1}}, "{key}": {config}}}"#);
        assert_eq!(found(&text, &[]), expected, "{text}");
    }
}

#[test]
fn files_that_are_no_config_are_named() {
    for (text, message) in [
        (r#"{"eval_set_id": "s", "eval_cases": []}"#, "this is an eval set, not a config"),
        (r#"[{"query": "hi", "reference": "yo"}]"#, "this is an old test file, not a config"),
        (r#"[{"name": "a", "data": []}]"#, "this is an old eval set, not a config"),
        (r#"[{"metricName": "m", "threshold": 1}]"#, "this is a metrics file of trpc-agent-go, not a config"),
        ("# thresholds\n\ncriteria:\n  a: 1\n", "this is YAML, not a config in JSON"),
        ("---\na: 1\n", "this is YAML, not a config in JSON"),
        ("[pytest]\naddopts = -q\n", "this is an INI or TOML file, not a config in JSON"),
        ("[tool.pytest.ini_options]\n", "this is an INI or TOML file, not a config in JSON"),
        ("import pytest\n", "this is Python code, not a config in JSON"),
    ] {
        let problems = problems(text, &[]);
        assert_eq!(problems.len(), 1, "{text}");
        assert_eq!((problems[0].code, problems[0].message.as_str()), (ProblemCode::ForeignSchema, message));
    }
    assert_eq!(found("{,}", &[]), ["syntax the document"]);
    assert_eq!(found("", &[]), ["syntax the document"]);
    assert_eq!(found("[1]", &[]), ["wrong-type the document"]);
    assert_eq!(found("7", &[]), ["wrong-type the document"]);
    assert_eq!(problems("\u{feff}{}", &[])[0].code, ProblemCode::Encoding);
}

#[test]
fn all_problems_are_found_in_the_order_of_the_text() {
    let text = r#"{
        "custom_metrics": {"tone": {"code_config": {"name": "m.tone"}}},
        "criteria": {"response_match_score": 80, "bogus": 1, "safety_v1": 7, "tone": {}},
        "live_model_config": {}
    }"#;
    assert_eq!(
        found(text, &[]),
        [
            "unanswered-custom-metric custom_metrics.tone",
            "[threshold-range criteria.response_match_score]",
            "unknown-metric criteria.bogus",
            "[threshold-range criteria.safety_v1]",
            "missing-key criteria.tone",
            "not-available live_model_config",
        ]
    );
}

#[test]
fn equal_keys_of_a_config_are_errors() {
    for text in [
        r#"{"criteria": {"response_match_score": 80, "response_match_score": 0.5}}"#,
        r#"{"criteria": {"response_match_score": 1}, "criteria": {"safety_v1": 0.5}}"#,
        r#"{"criteria": {"response_match_score": {"threshold": 1, "threshold": 0.1}}}"#,
    ] {
        let checked = check_config("c.json", text.as_bytes(), &[]);
        assert!(checked.config.is_none());
        let [problem] = checked.problems.as_slice() else { panic!("{:#?}", checked.problems) };
        assert_eq!((problem.code, problem.related.len()), (ProblemCode::DuplicateKey, 1));
    }
}

#[test]
fn writing_and_reading_again_changes_nothing() {
    let text = r#"{"criteria": {"brevity": {"threshold": 3, "direction": "at_most", "words": {"max": 1}, "_why": "x"},
        "tool_trajectory_avg_score": {"threshold": 1, "matchType": 1}, "response_match_score": 0.5},
        "custom_metrics": {"brevity": {"code_config": {"name": "m.b"}, "description": "d"}},
        "user_simulator_config": {"type": "llm_backed", "model": "m", "modelConfiguration": {"temperature": 0},
        "max_allowed_invocations": "7", "includeFunctionCalls": "yes", "extra": [1]}}"#;
    let config = accepts(text, &["brevity"]);
    assert_eq!(accepts(&config.to_json(), &["brevity"]), config);
    let simulator = UserSimulatorConfig::default()
        .model("m")
        .model_option("temperature", 0_i64)
        .max_allowed_invocations(7)
        .include_function_calls(true);
    let extra = Map::from([("extra", vec![1_i64])]);
    assert_eq!(config.user_simulator_config, Some(UserSimulatorConfig { extra, ..simulator }));
    assert_eq!(
        EvalConfig::adk_default().to_json(),
        "{\n  \"criteria\": {\n    \"tool_trajectory_avg_score\": 1.0,\n    \"response_match_score\": 0.8\n  }\n}"
    );
}

#[test]
fn a_config_built_in_rust_is_held_to_the_same_rules() {
    let config = |threshold| EvalConfig::default().with("response_match_score", Criterion::new(threshold));
    assert!(config(0.5).checked(&[]).is_ok());
    for threshold in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(config(threshold).checked(&[]).is_err(), "{threshold}");
    }
    assert!(EvalConfig::default().checked(&[]).is_err());
}

#[test]
fn names_of_the_file_are_shown_on_one_line() {
    let declared = |criteria: &str| {
        let function = r#"{"code_config": {"name": "m.\n"}}"#;
        format!(r#"{{"a\nbcdef": 1, {criteria}, "custom_metrics": {{"a\nbcdef": {function}}}}}"#)
    };
    for criteria in
        [r#""criteria": {"a\nbcde": 1}"#, r#""criteria": {"a\nbcdef": []}"#, r#""criteria": {"\n": 1}"#]
    {
        let problems = problems(&declared(criteria), &[]);
        assert!(problems.len() >= 3, "{problems:?}");
        for problem in problems {
            let words = [Some(problem.message), Some(problem.label), problem.help];
            assert!(words.iter().flatten().all(|words| !words.contains('\n')), "{words:?}");
        }
    }
}

/// A config of one judged metric with this criterion.
fn judged(criterion: &str) -> String {
    format!(r#"{{"criteria": {{"final_response_match_v2": {criterion}}}}}"#)
}

#[test]
fn the_judges_options_are_held_to_what_adk_takes_when_the_metric_runs() {
    let at = "criteria.final_response_match_v2.judge_model_options";
    for (options, expected) in [
        (r"{}", vec![]),
        (r#"{"judge_model": "m", "num_samples": 1, "parallelism_limit": 1}"#, vec![]),
        (r#"{"judgeModel": "m", "numSamples": "3", "parallelismLimit": 2.0}"#, vec![]),
        (r#"{"judge_model_config": {"temperature": 0, "maxOutputTokens": 100}}"#, vec![]),
        (r#"{"judge_model_config": null}"#, vec![]),
        ("null", vec![format!("wrong-type {at}")]),
        (r#"{"num_samples": 0}"#, vec![format!("wrong-type {at}.num_samples")]),
        (r#"{"num_samples": -1}"#, vec![format!("wrong-type {at}.num_samples")]),
        (r#"{"num_samples": 1001}"#, vec![format!("wrong-type {at}.num_samples")]),
        (r#"{"numSamples": 99999999999999999999}"#, vec![format!("wrong-type {at}.numSamples")]),
        (r#"{"num_samples": 1.5}"#, vec![format!("wrong-type {at}.num_samples")]),
        (r#"{"num_samples": null}"#, vec![format!("wrong-type {at}.num_samples")]),
        (r#"{"parallelism_limit": 0}"#, vec![format!("wrong-type {at}.parallelism_limit")]),
        (r#"{"judge_model": " "}"#, vec![format!("wrong-type {at}.judge_model")]),
        (r#"{"judge_model": 1}"#, vec![format!("wrong-type {at}.judge_model")]),
        (r#"{"judge_modl": "m"}"#, vec![format!("unknown-key {at}.judge_modl")]),
        (r#"{"model": "m"}"#, vec![format!("unknown-key {at}.model")]),
        (r#"{"judge_model_config": "hot"}"#, vec![format!("wrong-type {at}.judge_model_config")]),
        (
            r#"{"judge_model_config": {"temprature": 0}}"#,
            vec![format!("unknown-key {at}.judge_model_config.temprature")],
        ),
        (
            r#"{"judge_model_config": {"temperature": "cold"}}"#,
            vec![format!("wrong-type {at}.judge_model_config.temperature")],
        ),
    ] {
        let found =
            found(&judged(&format!(r#"{{"threshold": 0.5, "judge_model_options": {options}}}"#)), &[]);
        assert_eq!(found, expected, "{options}");
    }
}

#[test]
fn the_judges_options_are_kept_in_one_spelling() {
    let config = accepts(
        &judged(
            r#"{"threshold": 0.5, "judgeModelOptions": {"judgeModel": "m", "numSamples": "3",
                "judgeModelConfig": {"maxOutputTokens": 9, "topP": 0.5, "labels": {"myTeam": "x"}}}}"#,
        ),
        &[],
    );
    let criterion = config.criterion("final_response_match_v2").unwrap();
    assert_eq!((criterion.judge_model(), criterion.num_samples()), (Some("m"), Some(3)));
    let kept = criterion.judge_model_config().cloned().map(Value::from).unwrap_or_default().to_string();
    assert_eq!(kept, r#"{"max_output_tokens":9,"top_p":0.5,"labels":{"myTeam":"x"}}"#);
}

#[test]
fn answers_on_the_way_may_count_where_a_judge_reads_them() {
    let with = |metric: &str, more: &str| {
        let criterion =
            format!(r#"{{"threshold": 1, "include_intermediate_responses_in_final": true{more}}}"#);
        found(&format!(r#"{{"criteria": {{"{metric}": {criterion}}}}}"#), &[])
    };
    assert!(with("final_response_match_v2", "").is_empty());
    assert!(with("rubric_based_final_response_quality_v1", "").is_empty());
    assert_eq!(with("rubric_based_tool_use_quality_v1", "").len(), 1);
    assert_eq!(with("response_match_score", "").len(), 1);
}

#[test]
fn weights_are_numbers_from_zero_on() {
    let metric = "rubric_based_tool_use_quality_v1";
    let at = format!("criteria.{metric}.weights");
    for (weights, expected) in [
        (r#"{"a": 0, "b": 2.5}"#, vec![]),
        (r#"{"a": -1}"#, vec![format!("wrong-type {at}.a")]),
        (r#"{"a": NaN}"#, vec![format!("wrong-type {at}.a")]),
        (r#"{"a": Infinity}"#, vec![format!("wrong-type {at}.a")]),
        (r#"{"a": "2"}"#, vec![format!("wrong-type {at}.a")]),
        (r#"{"a": true}"#, vec![format!("wrong-type {at}.a")]),
        (r#"{"a": 1e308, "b": 1e308}"#, vec![format!("wrong-type {at}")]),
        ("[]", vec![format!("wrong-type {at}")]),
    ] {
        let text = format!(r#"{{"criteria": {{"{metric}": {{"threshold": 1, "weights": {weights}}}}}}}"#);
        assert_eq!(found(&text, &[]), expected, "{weights}");
    }
}
