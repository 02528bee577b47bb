//! Whether a config decides a case.

use crate::config::{Criterion, EvalConfig, Instructions, Variable};
use crate::metric::{FINAL_SESSION_STATE_MATCH, metric};
use crate::model::EvalCase;
use crate::options::Gate;
use crate::problem::{Code, shown};

/// What the cases of a set are scored with.
pub(super) struct Scope<'a> {
    pub(super) config: &'a EvalConfig,
    /// The custom metrics that exist in Rust.
    pub(super) answered: &'a [&'a str],
    pub(super) gate: Gate,
}

/// What is wrong with a case, and what to do about it.
pub(super) fn check(scope: &Scope<'_>, case: &EvalCase) -> Option<(Code, &'static str, String)> {
    let scenario = case.conversation_scenario.as_ref();
    if scenario.is_some() && !case.conversation.is_empty() {
        // The reader refuses such a case, but it may be built in Rust.
        let message = "it has both a conversation and a scenario";
        return Some((Code::ConversationOrScenario, message, "keep one of them".to_owned()));
    }
    if let Some(reasons) = undecided(scope, case) {
        let message = "no metric decides it, so it would pass unchecked";
        return Some((Code::NothingChecked, message, what_decides(&reasons, case)));
    }
    scenario?.user_persona.as_ref()?;
    let template = scope.config.user_simulator_config.as_ref()?.custom_instructions.as_ref()?;
    let leaves_it_out = !Instructions::parse(template).ok()?.uses(Variable::Persona);
    leaves_it_out.then(|| {
        let message = "it has a persona, which the custom instructions of the simulated user leave out";
        let help = "add `{{ persona }}` to `custom_instructions`, or remove the `user_persona`";
        (Code::UnusedPersona, message, help.to_owned())
    })
}

/// Why the metrics of the config cannot fail the case, each reason with its metrics; `None` if one of them can.
fn undecided(scope: &Scope<'_>, case: &EvalCase) -> Option<Vec<String>> {
    if !scope.answered.is_empty() {
        return None;
    }
    let mut reasons: Vec<(String, String)> = Vec::new();
    for (name, criterion) in &scope.config.criteria {
        // What a metric of the user's own makes of a case is not known.
        let info = metric(name).filter(|_| !scope.config.custom_metrics.contains_key(name))?;
        let why = info.cannot_fail(criterion, case, scope.gate)?;
        match reasons.iter_mut().find(|(_, reason)| *reason == why) {
            Some((names, _)) => names.push_str(&format!(", `{}`", shown(name))),
            None => reasons.push((format!("`{}`", shown(name)), why)),
        }
    }
    // The session state is compared in any case that expects one, unless a criterion says otherwise.
    if scope.config.criterion(FINAL_SESSION_STATE_MATCH).is_none() {
        metric(FINAL_SESSION_STATE_MATCH)?.cannot_fail(&Criterion::new(1.0), case, scope.gate)?;
    }
    Some(reasons.into_iter().map(|(names, why)| format!("{names}: {why}")).collect())
}

fn what_decides(reasons: &[String], case: &EvalCase) -> String {
    let add = if case.conversation_scenario.is_some() {
        "add a metric that needs no expected turns: a rubric metric, `multi_turn_task_success_v1`, \
         `trajectory_single_tool_use` or a custom metric; or give the case a `final_session_state`"
    } else {
        "add a metric that can fail it, such as `response_match_score` with an expected answer, or \
         `tool_trajectory_avg_score` with the match type EXACT"
    };
    if reasons.is_empty() { add.to_owned() } else { format!("{}; {add}", reasons.join("; ")) }
}
