//! All checks of a config against the cases of a set.

use super::case::{self, Scope};
use super::incompatibility::Incompatibility;
use super::rubrics;
use crate::config::EvalConfig;
use crate::model::EvalCase;
use crate::options::Gate;

/// Checks whether the cases of a set can be scored by a config, before anything runs.
///
/// ```
/// use eval_format::{ConversationScenario, Criterion, EvalCase, EvalConfig, Gate};
/// use eval_format::compat::check_compatibility;
///
/// let cases = [EvalCase::new("trip").scenario(ConversationScenario::new("Hi", "Book a hotel in Paris."))];
/// let incompatibilities = check_compatibility(&EvalConfig::adk_default(), &[], Gate::Mean, &cases);
/// assert!(incompatibilities[0].to_string().starts_with("case `trip`: no metric decides it"));
///
/// let books = Criterion::new(0.5).with_tool_name("book");
/// let config = EvalConfig::default().with("trajectory_single_tool_use", books);
/// assert!(check_compatibility(&config, &[], Gate::Mean, &cases).is_empty());
/// ```
///
/// `answered` names the custom metrics that exist in Rust. They take the place of built-in metrics of the same name,
/// and apply to every case.
///
/// With [`Gate::EveryTurn`] one turn that can fail is enough, where a low threshold hides it in the mean:
///
/// ```
/// use eval_format::compat::check_compatibility;
/// use eval_format::{Criterion, EvalCase, EvalConfig, FunctionCall, Gate, Invocation};
/// use serde_json::json;
///
/// let greeting = Invocation::user("Hi").response("Hello!");
/// let order = Invocation::user("A pizza").call(FunctionCall::new("order", json!({})));
/// let cases = [EvalCase::new("order").turn(greeting).turn(order)];
/// let config = EvalConfig::default().with("trajectory_in_order_match", Criterion::new(0.5));
/// assert_eq!(check_compatibility(&config, &[], Gate::Mean, &cases).len(), 1);
/// assert_eq!(check_compatibility(&config, &[], Gate::EveryTurn, &cases).len(), 0);
/// ```
pub fn check_compatibility(
    config: &EvalConfig,
    answered: &[&str],
    gate: Gate,
    cases: &[EvalCase],
) -> Vec<Incompatibility> {
    let scope = Scope { config, answered, gate };
    let mut incompatibilities = Vec::new();
    for (at, case) in cases.iter().enumerate() {
        if let Some((code, message, help)) = case::check(&scope, case) {
            incompatibilities.push(Incompatibility::of_case(at, case, code, message.to_owned(), help));
        }
    }
    rubrics::check(config, answered, cases, &mut incompatibilities);
    incompatibilities
}
