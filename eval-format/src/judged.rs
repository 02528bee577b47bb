//! Finds the criteria and the cases that need a judge.
//!
//! Such files are valid. The attribute reports these problems only if eval-core is compiled without the feature
//! `judges`.

use crate::config::CheckedConfig;
use crate::metric::{Need, metric};
use crate::problem::{JsonPath, Problem, ProblemCode, shown};
use crate::reader::{CaseSpan, CheckedSet, SCENARIO_KEYS};
use crate::syntax;

/// One problem for each criterion that asks a judge, at its key.
///
/// `answered` names the custom metrics that exist in Rust. They replace built-in metrics of the same name.
pub fn judged_criteria(config: &CheckedConfig, answered: &[&str]) -> Vec<Problem> {
    let Ok(root) = syntax::parse(&config.text, &mut Vec::new()) else { return Vec::new() };
    let criteria = root.get("criteria").and_then(|criteria| criteria.value.object()).unwrap_or_default();
    let asks_judge = |name: &str| {
        !answered.contains(&name) && metric(name).is_some_and(|info| info.needs.contains(&Need::Judge))
    };
    let judged = criteria.iter().filter(|entry| asks_judge(&entry.key));
    judged
        .map(|entry| {
            let path = JsonPath::default().key("criteria").key(&entry.key);
            let message = format!("`{}` asks a judge", entry.key);
            Problem::error(ProblemCode::NotAvailable, path, entry.key_range.clone(), message)
        })
        .collect()
}

/// One problem for each case whose user is simulated, at the key of its scenario; with the case.
pub fn simulated_users(set: &CheckedSet) -> Vec<(&CaseSpan, Problem)> {
    let cases = set.placed_cases().enumerate();
    let simulated = cases.filter(|(_, (case, _))| case.conversation_scenario.is_some());
    simulated.filter_map(|(at, (_, span))| Some((span, simulated_user(set, at, span)?))).collect()
}

fn simulated_user(set: &CheckedSet, at: usize, span: &CaseSpan) -> Option<Problem> {
    let (key, range) = set.key_in(span, &SCENARIO_KEYS)?;
    let path = set.path_of(at).key(&key);
    let message = format!("case `{}` has a simulated user", shown(&span.eval_id));
    Some(Problem::error(ProblemCode::NotAvailable, path, range, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::check_config;
    use crate::reader::check_set;

    #[test]
    fn criteria_that_ask_a_judge_are_found_at_their_keys() {
        let text =
            r#"{"criteria": {"response_match_score": 0.5, "safety_v1": 0.5, "hallucinations_v1": 0.5}}"#;
        let config = check_config("test_config.json", text.as_bytes(), &["hallucinations_v1"]);
        let problems = judged_criteria(&config, &["hallucinations_v1"]);
        let found: Vec<_> =
            problems.iter().map(|it| (it.path.to_string(), &text[it.range.clone()])).collect();
        assert_eq!(found, [("criteria.safety_v1".to_owned(), "\"safety_v1\"")]);
        assert_eq!(problems[0].message, "`safety_v1` asks a judge");
    }

    #[test]
    fn scenarios_are_found_at_their_keys() {
        let text = r#"{"eval_set_id": "s", "eval_cases": [
            {"eval_id": "t", "conversation": [{"user_content": {}}], "conversation_scenario": null},
            {"eval_id": "é", "conversationScenario": {"startingPrompt": "a", "conversationPlan": "b"}}]}"#;
        let set = check_set("s.evalset.json", text.as_bytes(), None);
        let problems = simulated_users(&set);
        let [(case, problem)] = &problems[..] else { panic!("{problems:?}") };
        assert_eq!(case.eval_id, "é");
        assert_eq!(&text[problem.range.clone()], "\"conversationScenario\"");
        assert_eq!(problem.path.to_string(), "eval_cases[1].conversationScenario");
        assert_eq!(problem.message, "case `é` has a simulated user");
    }
}
