//! The likeliest mistakes in a config, as a user reads them.

use insta::assert_snapshot;

use crate::config::check_config;
use crate::problem::render;

const FILE: &str = "evals/test_config.json";

/// Everything that is said about a config, one problem after another.
fn shown(text: &str) -> String {
    let problems = check_config(FILE, text.as_bytes(), &[]).problems;
    let shown: Vec<_> = problems.iter().map(|problem| render(problem, FILE, text)).collect();
    shown.join("\n\n")
}

#[test]
fn a_misspelt_metric() {
    let text = r#"{
  "criteria": {
    "tool_trajectory_score": 1.0
  }
}"#;
    assert_snapshot!(shown(text), @r#"
    there is no metric `tool_trajectory_score`
     --> evals/test_config.json:3:5
      |
    3 |     "tool_trajectory_score": 1.0
      |     ^^^^^^^^^^^^^^^^^^^^^^^ unknown metric
      |
      = help: did you mean `tool_trajectory_avg_score`?
    "#);
}

#[test]
fn a_metric_of_ones_own() {
    let text = r#"{
  "criteria": {
    "brevity": 0.5
  }
}"#;
    assert_snapshot!(shown(text), @r#"
    there is no metric `brevity`
     --> evals/test_config.json:3:5
      |
    3 |     "brevity": 0.5
      |     ^^^^^^^^^ unknown metric
      |
      = help: if it is your own, name it in the attribute, `metrics(brevity = path::to::function)`, or give it to `EvalRunner::metric`; the built-in metrics are in the documentation of `eval_core::metric`
    "#);
}

#[test]
fn a_percentage() {
    let text = r#"{
  "criteria": {
    "response_match_score": 80
  }
}"#;
    assert_snapshot!(shown(text), @r#"
    threshold 80 of `response_match_score` is outside its range, 0 to 1
     --> evals/test_config.json:3:29
      |
    3 |     "response_match_score": 80
      |                             ^^ no score can reach it
      |
      = help: scores are shares of 1, not percentages: write 0.8
    "#);
}

#[test]
fn what_is_no_percentage_is_not_taken_for_one() {
    for (threshold, help) in [
        ("1.0000001", "write a number in the range 0 to 1"),
        ("1.5", "write a number in the range 0 to 1"),
        ("101", "write a number in the range 0 to 1"),
        ("2", "scores are shares of 1, not percentages: write 0.02"),
        ("33.3", "scores are shares of 1, not percentages: write 0.333"),
        ("99.99", "scores are shares of 1, not percentages: write 0.9999"),
        ("100", "scores are shares of 1, not percentages: write 1"),
    ] {
        let text = format!("{{\"criteria\": {{\"response_match_score\": {threshold}}}}}");
        let problems = check_config(FILE, text.as_bytes(), &[]).problems;
        assert_eq!(problems[0].help.as_deref(), Some(help), "{threshold}");
    }
}

#[test]
fn a_judge_that_is_asked_wrongly() {
    let text = r#"{
  "criteria": {
    "final_response_match_v2": {
      "threshold": 0.8,
      "judge_model_options": {
        "num_sample": 3,
        "parallelism_limit": 0,
        "judge_model_config": {"temprature": 0.0}
      }
    }
  }
}"#;
    assert_snapshot!(shown(text), @r#"
    unknown key `num_sample` in the judge's options
     --> evals/test_config.json:6:9
      |
    6 |         "num_sample": 3,
      |         ^^^^^^^^^^^^ ADK rejects this key
      |
      = help: did you mean `num_samples`?

    `parallelism_limit` must be a number from 1 to 1000
     --> evals/test_config.json:7:30
      |
    7 |         "parallelism_limit": 0,
      |                              ^ no judge would be asked, or far too often
      |
      = help: ADK asks 5 times, one at a time, where nothing is said

    unknown key `temprature` in the judge's model config
     --> evals/test_config.json:8:32
      |
    8 |         "judge_model_config": {"temprature": 0.0}
      |                                ^^^^^^^^^^^^ ADK rejects this key
      |
      = help: did you mean `temperature`?
    "#);
}

#[test]
fn an_informational_metric() {
    let text = r#"{
  "criteria": {
    "token_usage_v1": 1000
  }
}"#;
    assert_snapshot!(shown(text), @r#"
    `token_usage_v1` is reported and not compared with a threshold that has no direction
     --> evals/test_config.json:3:5
      |
    3 |     "token_usage_v1": 1000
      |     ^^^^^^^^^^^^^^^^ informational metric
      |
      = help: write `"token_usage_v1": {"threshold": 5, "direction": "at_most"}` to let it decide (in a command `-m 'token_usage_v1<=5'`), or remove it: it is reported for every case anyway
    "#);
}

#[test]
fn an_unknown_match_type() {
    let text = r#"{
  "criteria": {
    "tool_trajectory_avg_score": {
      "threshold": 1.0,
      "match_type": "EXACTLY"
    }
  }
}"#;
    assert_snapshot!(shown(text), @r#"
    `match_type` is not one of `EXACT`, `IN_ORDER`, `ANY_ORDER`
     --> evals/test_config.json:5:21
      |
    5 |       "match_type": "EXACTLY"
      |                     ^^^^^^^^^ expected one of `EXACT`, `IN_ORDER`, `ANY_ORDER`
      |
      = help: did you mean `"EXACT"`?
    "#);
}

#[test]
fn a_misspelt_threshold() {
    let text = r#"{
  "criteria": {
    "response_match_score": { "treshold": 0.5 }
  }
}"#;
    assert_snapshot!(shown(text), @r#"
    unknown key `treshold` in a criterion of `response_match_score`
     --> evals/test_config.json:3:31
      |
    3 |     "response_match_score": { "treshold": 0.5 }
      |                               ^^^^^^^^^^ ADK would keep it without reading it
      |
      = help: did you mean `threshold`? (a key of your own can begin with `_`)
    "#);
}

#[test]
fn a_key_of_another_metric() {
    let text = r#"{
  "criteria": {
    "response_match_score": { "threshold": 0.5, "ignore_args": true }
  }
}"#;
    assert_snapshot!(shown(text), @r#"
    unknown key `ignore_args` in a criterion of `response_match_score`
     --> evals/test_config.json:3:49
      |
    3 |     "response_match_score": { "threshold": 0.5, "ignore_args": true }
      |                                                 ^^^^^^^^^^^^^ nothing reads this key
      |
      = help: move it to `tool_trajectory_avg_score`, the metric that reads it
    "#);
}

#[test]
fn no_criteria() {
    let text = r#"{
  "criteria": {}
}"#;
    assert_snapshot!(shown(text), @r#"
    `criteria` is empty, so every case would pass unchecked
     --> evals/test_config.json:2:15
      |
    2 |   "criteria": {}
      |               ^ no metric decides
      |
      = help: name at least one metric; ADK's default is `"criteria": {"tool_trajectory_avg_score": 1.0, "response_match_score": 0.8}`
    "#);
}

#[test]
fn misspelt_criteria() {
    let text = r#"{
  "criterias": {
    "response_match_score": 0.5
  }
}"#;
    assert_snapshot!(shown(text), @r#"
    unknown key `criterias` in a config
     --> evals/test_config.json:2:3
      |
    2 |   "criterias": {
      |   ^^^^^^^^^^^ ADK would ignore it
      |
      = help: did you mean `criteria`? (a key of your own can begin with `_`)
    "#);
}

#[test]
fn a_custom_metric_of_python() {
    let text = r#"{
  "criteria": { "brevity": 0.5 },
  "custom_metrics": {
    "brevity": { "code_config": { "name": "my_metrics.brevity" } }
  }
}"#;
    assert_snapshot!(shown(text), @r#"
    custom metric `brevity` has no function in Rust
     --> evals/test_config.json:4:5
      |
    4 |     "brevity": { "code_config": { "name": "my_metrics.brevity" } }
      |     ^^^^^^^^^ the Python function `my_metrics.brevity` is not run
      |
      = help: write it in Rust and name it in the attribute, `metrics(brevity = path::to::function)`, or give it to `EvalRunner::metric`; or let a program compute it: `"command": ["metrics/brevity.py"]`
    "#);
}

#[test]
fn an_eval_set_for_a_config() {
    let text = r#"{
  "eval_set_id": "weather",
  "eval_cases": []
}"#;
    assert_snapshot!(shown(text), @r#"
    this is an eval set, not a config
     --> evals/test_config.json:3:3
      |
    3 |   "eval_cases": []
      |   ^^^^^^^^^^^^ a config has no such key
      |
      = help: a config is `{"criteria": {"response_match_score": 0.8}}`
    "#);
}

#[test]
fn yaml_for_a_config() {
    let text = "criteria:\n  response_match_score: 0.5\n";
    assert_snapshot!(shown(text), @r#"
    this is YAML, not a config in JSON
     --> evals/test_config.json:1:1
      |
    1 | criteria:
      | ^^^^^^^^^ expected `{`
      |
      = help: a config is `{"criteria": {"response_match_score": 0.8}}`
    "#);
}

#[test]
fn a_tool_that_is_not_named() {
    let text = r#"{
  "criteria": {
    "trajectory_single_tool_use": 1.0
  }
}"#;
    assert_snapshot!(shown(text), @r#"
    the criterion of `trajectory_single_tool_use` has no `tool_name`
     --> evals/test_config.json:3:35
      |
    3 |     "trajectory_single_tool_use": 1.0
      |                                   ^^^ a threshold alone does not say what to look for
      |
      = help: give it a `threshold` and a `tool_name`, such as `"get_weather"`
    "#);
}

#[test]
fn a_case_that_the_algorithm_does_not_see() {
    let text = r#"{
  "criteria": {
    "response_similarity": {"threshold": 0.7, "algorithm": "rouge_l", "ignore_case": false}
  }
}"#;
    assert_snapshot!(shown(text), @r#"
    `ignore_case: false` has no effect with the algorithm `rouge_l`
     --> evals/test_config.json:3:71
      |
    3 |     "response_similarity": {"threshold": 0.7, "algorithm": "rouge_l", "ignore_case": false}
      |                                                            ---------  ^^^^^^^^^^^^^ asks for what the algorithm cannot see
      |                                                            |
      |                                                            compares words
      |
      = help: remove it, or choose one of `exact`, `contains`, `levenshtein`, `jaccard`
    "#);
}
