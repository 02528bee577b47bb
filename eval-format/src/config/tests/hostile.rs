//! Nothing panics, whatever the bytes, and every range lies in the text.

use proptest::prelude::*;

use crate::config::{CheckedConfig, check_config};
use crate::metric::metric;
use crate::problem::Problem;

const SAMPLE: &str = r#"{
  "criteria": {
    "tool_trajectory_avg_score": {"threshold": 1.0, "matchType": "in order", "args_match": "subset"},
    "response_match_score": "0.8", "safety_v1": 1, "bogus": {}, "tone": {"threshold": 3, "é": "天🎉"}
  },
  "custom_metrics": {"tone": {"code_config": {"name": "m.tone"}, "metric_info": {"metric_name": "t"}}},
  "userSimulatorConfig": {"type": "llm_backed", "custom_instructions": "{{ stop_signal }}"},
  "live_model_config": {"timeout_seconds": 3}, "criterias": [], "\u00e9": NaN
}"#;

/// Pieces that turn a sound config into one that is wrong in an interesting place.
const PIECES: [&str; 18] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\u00",
    "null",
    "NaN",
    "1e400",
    "-",
    "é",
    "\u{feff}",
    "🎉",
    "threshold",
    "_",
    "\n",
];

fn holds(bytes: &[u8]) {
    let CheckedConfig { text, config, problems, .. } = check_config("c.json", bytes, &["tone"]);
    assert_eq!(config.is_some(), !problems.iter().any(Problem::is_error));
    for problem in &problems {
        assert!(text.get(problem.range.clone()).is_some(), "{problem:?}");
        assert!(problem.related.iter().all(|(range, _)| text.get(range.clone()).is_some()), "{problem:?}");
        assert!(!problem.message.is_empty() && !problem.message.contains('\n'), "{problem:?}");
    }
    assert!(problems.is_sorted_by_key(|problem| problem.range.start));
    for (name, criterion) in config.iter().flat_map(|config| &config.criteria) {
        assert!(criterion.threshold.is_finite(), "{name}");
        assert!(
            name == "tone" || metric(name).is_some_and(|info| info.in_range(criterion.threshold)),
            "{name}"
        );
    }
}

proptest! {
    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        holds(&bytes);
    }

    #[test]
    fn mutated_configs(edits in prop::collection::vec((0..SAMPLE.len(), 0..PIECES.len(), 0_usize..12), 1..4)) {
        let mut bytes = SAMPLE.as_bytes().to_vec();
        for (at, piece, removed) in edits {
            let start = at.min(bytes.len());
            let end = (start + removed).min(bytes.len());
            bytes.splice(start..end, PIECES[piece].bytes());
        }
        holds(&bytes);
    }

    #[test]
    fn shuffled_values(key in 0..12_usize, value in 0..12_usize) {
        let keys = [
            "criteria", "criterias", "custom_metrics", "user_simulator_config", "live_model_config", "eval_cases",
            "response_match_score", "tone", "_c", "", "type", "threshold",
        ];
        let values = [
            "null", "1", "-1", "NaN", "true", r#""x""#, "[]", "[{}]", "{}", r#"{"": {}}"#,
            r#"{"tone": {"threshold": []}}"#, r#"{"tone": {"code_config": null}}"#,
        ];
        holds(format!(r#"{{"{}": {}}}"#, keys[key], values[value]).as_bytes());
        holds(format!(r#"{{"criteria": {{"tool_trajectory_avg_score": {{"{}": {}}}}}}}"#, keys[key], values[value]).as_bytes());
        holds(format!(r#"[{{"{}": {}}}]"#, keys[key], values[value]).as_bytes());
    }
}

#[test]
fn large_and_deep_files_are_checked_like_others() {
    let many = |entry: &dyn Fn(usize) -> String| (0..20_000).map(entry).collect::<Vec<_>>().join(",");
    let names = many(&|at| format!(r#""metric_{at}":1"#));
    let custom = many(&|at| format!(r#""m{at}":{{"code_config":{{"name":"m"}}}}"#));
    let long = "x".repeat(4 << 20);
    for text in [
        format!(r#"{{"criteria":{{{names}}}}}"#),
        format!(r#"{{"criteria":{{"tool_trajectory_avg_score":{{{names}}}}}}}"#),
        format!(r#"{{"criteria":{{{names}}},"custom_metrics":{{{custom}}}}}"#),
        format!("{{{names}}}"),
        format!(r#"{{"criteria":{{"{long}":1}}}}"#),
        format!(r#"{{"criteria":{{"tool_trajectory_avg_score":"{long}"}}}}"#),
        format!(r#"{{"criteria":{{"tool_trajectory_avg_score":{{"match_type":"{long}"}}}}}}"#),
        long,
    ] {
        holds(text.as_bytes());
    }
    for depth in [150, 10_000] {
        holds(format!("{}{}", "[".repeat(depth), "]".repeat(depth)).as_bytes());
        holds(format!(r#"{{"criteria":{}{}}}"#, "[".repeat(depth), "]".repeat(depth)).as_bytes());
    }
}
