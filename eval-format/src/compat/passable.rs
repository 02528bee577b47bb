//! Cases that no agent can pass.

use eval_support::words::count;

use super::incompatibility::Incompatibility;
use crate::config::{Criterion, EvalConfig};
use crate::metric::{FreeTurns, MetricInfo, Need, Subject, metric};
use crate::model::{EvalCase, Invocation};
use crate::options::TurnAggregation;
use crate::problem::ProblemCode;

/// Finds the cases that no agent can pass: a metric compares answers, and some turns of the case expect no
/// answer. Without a config ADK's default criteria apply.
///
/// ```
/// use eval_format::compat::check_passable;
/// use eval_format::{Criterion, EvalCase, EvalConfig, Invocation};
///
/// let cases = [EvalCase::new("greeting").turn(Invocation::user("Hi"))];
/// let found = check_passable(None, &[], &cases);
/// assert!(found[0].to_string().starts_with("case `greeting`: no agent can pass it by ADK's default criteria"));
///
/// let calls = EvalConfig::default().with("tool_trajectory_avg_score", Criterion::new(1.0));
/// assert!(check_passable(Some(&calls), &[], &cases).is_empty());
/// ```
///
/// `answered` names the custom metrics that exist in Rust. They take the place of built-in metrics of the same name.
pub fn check_passable(
    config: Option<&EvalConfig>,
    answered: &[&str],
    cases: &[EvalCase],
) -> Vec<Incompatibility> {
    let default = EvalConfig::adk_default();
    let by = if config.is_some() { "the criteria of its config" } else { "ADK's default criteria" };
    let config = config.unwrap_or(&default);
    let found = |(at, case): (usize, &EvalCase)| {
        // What is wrong with the criteria of a case is found by `check_compatibility`.
        let own = config.of_case(case, answered).ok()?;
        let mut criteria = own.criteria.iter().filter(|(name, _)| !answered.contains(&name.as_str()));
        let why = criteria.find_map(|(name, criterion)| metric(name)?.cannot_pass(criterion, case))?;
        let message =
            format!("no agent can pass it by {by}, which hold unless an attribute names others: {why}");
        let help = "if they hold, add the `final_response` that is expected, or choose criteria that compare something else, in \
                    `test_config.json` or in the attribute: `criteria(tool_trajectory_avg_score = 1.0)`";
        Some(Incompatibility::of_case(at, case, ProblemCode::CannotPass, message, help.to_owned()))
    };
    cases.iter().enumerate().filter_map(found).collect()
}

impl MetricInfo {
    /// The reason why the metric fails a case whatever an agent says; `None` if an agent can pass.
    fn cannot_pass(&self, criterion: &Criterion, case: &EvalCase) -> Option<String> {
        let compares_words = self.compares == Subject::Response && self.needs == [Need::Expectation];
        if !compares_words || self.missing_in(case).is_some() {
            return None;
        }
        let turns = case.conversation.len();
        let lost = case.conversation.iter().filter(|turn| self.has_no_answer(turn)).count();
        // ADK compares an absent answer as an empty text. The other metrics leave the turn without a score.
        let (highest, outcome) = match self.name {
            "response_match_score" => {
                (self.lowest_of(turns - lost, turns, TurnAggregation::Mean), "scores 0.0")
            }
            _ => (f64::NAN, "does not evaluate"),
        };
        if lost == 0 || criterion.bound().is_met(highest) {
            return None;
        }
        let turns = count(turns, "turn");
        Some(format!("{lost} of {turns} without an expected answer, which `{}` {outcome}", self.name))
    }

    /// Whether a turn lacks the expected answer that the metric needs.
    fn has_no_answer(&self, turn: &Invocation) -> bool {
        match self.free_turns {
            FreeTurns::WithoutWords => turn.final_response.is_none(),
            _ => turn.response_text().trim().is_empty(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_that_a_metric_fails_whatever_an_agent_answers_cannot_pass() {
        let turn = |answer: &str| match answer {
            "-" => Invocation::user("Hi"),
            answer => Invocation::user("Hi").response(answer),
        };
        for (name, threshold, answers, cannot_pass) in [
            ("response_match_score", 0.8, &["-"][..], true),
            ("response_match_score", 0.8, &[" "], true),
            ("response_match_score", 0.0, &["-"], false),
            ("response_match_score", 0.8, &["Hello"], false),
            ("response_match_score", 0.8, &["Hello", "-"], true),
            ("response_match_score", 0.5, &["Hello", "-"], false),
            ("response_similarity", 0.1, &["Hello", " "], true),
            ("final_response_match_v1", 0.1, &["Hello", "-"], true),
            ("final_response_match_v1", 0.1, &["Hello", ""], false),
            ("final_response_match_v2", 0.8, &["-"], false),
            ("tool_trajectory_avg_score", 1.0, &["-"], false),
            ("tool_response_match", 1.0, &["-"], false),
        ] {
            let case = answers.iter().fold(EvalCase::new("c"), |case, answer| case.turn(turn(answer)));
            let config = EvalConfig::default().with(name, Criterion::new(threshold));
            let found = check_passable(Some(&config), &[], std::slice::from_ref(&case));
            assert_eq!(!found.is_empty(), cannot_pass, "{name} {threshold} {answers:?}: {found:?}");
            assert!(check_passable(Some(&config), &[name], &[case]).is_empty(), "a metric of one's own");
        }
    }
}
