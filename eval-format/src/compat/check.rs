//! All checks of a config against the cases of a set.

use super::incompatibility::Incompatibility;
use super::{case, rubrics};
use crate::config::EvalConfig;
use crate::model::EvalCase;

/// Checks whether the cases of a set can be scored by a config, before anything runs.
///
/// ```
/// use eval_format::{ConversationScenario, Criterion, EvalCase, EvalConfig};
/// use eval_format::compat::check_compatibility;
///
/// let cases = [EvalCase::new("trip").scenario(ConversationScenario::new("Hi", "Book a hotel in Paris."))];
/// let incompatibilities = check_compatibility(&EvalConfig::adk_default(), &[], &cases);
/// assert!(incompatibilities[0].to_string().starts_with("case `trip`: no metric decides it"));
///
/// let books = Criterion::new(0.5).with_tool_name("book");
/// let config = EvalConfig::default().with("trajectory_single_tool_use", books);
/// assert!(check_compatibility(&config, &[], &cases).is_empty());
/// ```
///
/// `answered` names the custom metrics that exist in Rust. They take the place of built-in metrics of the same name,
/// and apply to every case.
pub fn check_compatibility(
    config: &EvalConfig,
    answered: &[&str],
    cases: &[EvalCase],
) -> Vec<Incompatibility> {
    let mut incompatibilities = Vec::new();
    for (at, case) in cases.iter().enumerate() {
        if let Some((code, message, help)) = case::check(config, answered, case) {
            incompatibilities.push(Incompatibility::of_case(at, case, code, message.to_owned(), help));
        }
    }
    rubrics::check(config, answered, cases, &mut incompatibilities);
    incompatibilities
}
