//! The reader of configs.

use eval_format::config::{UserSimulatorConfig, check_config};
use eval_format::{EvalConfig, Problem, Value};

use crate::{json, problems};

const FILE: &str = "test_config.json";

/// The names of the custom metrics that have a function in Rust.
const ANSWERED: &[&str] = &["brevity", "tone", "response_match_score"];

/// Reads a config and checks the rules for the result.
pub fn check(data: &[u8]) {
    let is_json = json::check(data);
    for answered in [&[], ANSWERED] {
        let checked = check_config(FILE, data, answered);
        problems::check(&checked.problems, FILE, &checked.text);
        assert_eq!(checked.config.is_some(), !checked.problems.iter().any(Problem::is_error), "{checked:?}");
        assert!(is_json || checked.config.is_none(), "{checked:?}");
        assert!(!is_json || !checked.problems.iter().any(json::is_about_json), "{checked:?}");
        if let Some(config) = &checked.config {
            reads_what_it_wrote(config, answered);
        }
    }
}

fn reads_what_it_wrote(config: &EvalConfig, answered: &[&str]) {
    assert!(!config.criteria.is_empty(), "nothing would be checked");
    for (name, criterion) in &config.criteria {
        assert!(criterion.threshold.is_finite(), "`{name}` has a threshold of {}", criterion.threshold);
        // None of the getters panics.
        let _ = (criterion.match_type(), criterion.args_match(), criterion.forbidden_tools().count());
    }
    let simulator = config.user_simulator_config.iter().map(UserSimulatorConfig::to_value);
    let options = config.criteria.iter().map(|(_, criterion)| &criterion.options);
    let maps = options.chain([&config.custom_metrics]).map(|map| Value::Object(map.clone()));
    let mut values = maps.chain(simulator);
    if values.all(|value| json::is_finite(&value)) {
        let again = config.checked(answered).unwrap_or_else(|problems| panic!("{problems}"));
        assert_eq!(&again, config);
    }
}
