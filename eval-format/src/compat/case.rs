//! Whether a metric decides a case.

use crate::config::{EvalConfig, Instructions, Variable};
use crate::metric::{MetricInfo, Need, Subject, metric};
use crate::model::EvalCase;
use crate::problem::{Code, code_list, shown};

/// What is wrong with a case, and what to do about it.
pub(super) fn check(
    config: &EvalConfig,
    answered: &[&str],
    case: &EvalCase,
) -> Option<(Code, &'static str, String)> {
    let scenario = case.conversation_scenario.as_ref();
    if scenario.is_some() && !case.conversation.is_empty() {
        // The reader refuses such a case, but it may be built in Rust.
        let message = "it has both a conversation and a scenario";
        return Some((Code::ConversationOrScenario, message, "keep one of them".to_owned()));
    }
    if !decides(config, answered, case) {
        let message = "no metric decides it, so it would pass unchecked";
        return Some((Code::NothingChecked, message, what_decides(config, case)));
    }
    scenario?.user_persona.as_ref()?;
    let template = config.user_simulator_config.as_ref()?.custom_instructions.as_ref()?;
    let leaves_it_out = !Instructions::parse(template).ok()?.uses(Variable::Persona);
    leaves_it_out.then(|| {
        let message = "it has a persona, which the custom instructions of the simulated user leave out";
        let help = "add `{{ persona }}` to `custom_instructions`, or remove the `user_persona`";
        (Code::UnusedPersona, message, help.to_owned())
    })
}

/// Whether a metric that can fail the case applies to it.
fn decides(config: &EvalConfig, answered: &[&str], case: &EvalCase) -> bool {
    let is_custom = |name: &str| answered.contains(&name) || config.custom_metrics.contains_key(name);
    !answered.is_empty()
        || !case.final_session_state.is_empty()
        || config.criteria.iter().any(|(name, criterion)| {
            let info = metric(name).filter(|_| !is_custom(name));
            info.is_none_or(|info| info.missing_in(case).is_none() && criterion.threshold > info.min)
        })
}

fn what_decides(config: &EvalConfig, case: &EvalCase) -> String {
    let mut names = Vec::with_capacity(config.criteria.len());
    for (name, _) in &config.criteria {
        names.push(shown(name));
    }
    let given = match names.as_slice() {
        [] => "no criterion applies".to_owned(),
        [only] => format!("`{only}` does not apply"),
        several => format!("none of {} applies", code_list(&mut several.iter().map(String::as_str))),
    };
    let add = if case.conversation_scenario.is_some() {
        "add a metric that needs no expected turns: a rubric metric, `multi_turn_task_success_v1`, \
         `trajectory_single_tool_use` or a custom metric; or give the case a `final_session_state`"
    } else {
        "add a metric that reads recorded turns, such as `response_match_score`"
    };
    format!("{given}; {add}")
}

impl MetricInfo {
    /// Why the metric cannot be applied to a case and is skipped; `None` if it can.
    ///
    /// ```
    /// use eval_format::{ConversationScenario, EvalCase};
    /// use eval_format::metric::metric;
    ///
    /// let scenario = EvalCase::new("trip").scenario(ConversationScenario::new("Hi", "Book a hotel."));
    /// let metric = metric("response_match_score").unwrap();
    /// assert_eq!(metric.missing_in(&scenario), Some("the case is a scenario, which has no expected turns"));
    /// ```
    pub fn missing_in(&self, case: &EvalCase) -> Option<&'static str> {
        let needs = |need| self.needs.contains(&need);
        match &case.conversation_scenario {
            _ if self.compares == Subject::SessionState => {
                case.final_session_state.is_empty().then_some("the case has no `final_session_state`")
            }
            Some(_) if needs(Need::Expectation) => {
                Some("the case is a scenario, which has no expected turns")
            }
            None if needs(Need::Scenario) => Some("the case is no scenario: its user is not simulated"),
            _ => None,
        }
    }
}
