//! All checks of a config against the cases of a set, among them the check for cases that no metric decides.

use super::incompatibility::Incompatibility;
use super::{rubrics, rules};
use crate::config::{Criterion, EvalConfig, InstructionTemplate, TemplateVariable};
use crate::metric::{ANSWER_DEMANDS, FINAL_SESSION_STATE_MATCH, metric};
use crate::model::EvalCase;
use crate::options::TurnAggregation;
use crate::problem::{ProblemCode, shown};

/// Checks whether the cases of a set can be scored by a config, before anything runs.
///
/// ```
/// use eval_format::{ConversationScenario, Criterion, EvalCase, EvalConfig, TurnAggregation};
/// use eval_format::compat::check_compatibility;
///
/// let cases = [EvalCase::new("trip").scenario(ConversationScenario::new("Hi", "Book a hotel in Paris."))];
/// let incompatibilities = check_compatibility(&EvalConfig::adk_default(), &[], TurnAggregation::Mean, &cases);
/// assert!(incompatibilities[0].to_string().starts_with("case `trip`: no metric decides it"));
///
/// let books = Criterion::new(0.5).with_tool_name("book");
/// let config = EvalConfig::default().with("trajectory_single_tool_use", books);
/// assert!(check_compatibility(&config, &[], TurnAggregation::Mean, &cases).is_empty());
/// ```
///
/// `answered` names the custom metrics that exist in Rust. They take the place of built-in metrics of the same name,
/// and apply to every case.
///
/// With [`TurnAggregation::EveryTurn`] one turn that can fail is enough. In the mean, a low threshold can
/// hide that turn:
///
/// ```
/// use eval_format::compat::check_compatibility;
/// use eval_format::{Criterion, EvalCase, EvalConfig, FunctionCall, TurnAggregation, Invocation};
/// use serde_json::json;
///
/// let greeting = Invocation::user("Hi").response("Hello!");
/// let order = Invocation::user("A pizza").call(FunctionCall::new("order", json!({})));
/// let cases = [EvalCase::new("order").turn(greeting).turn(order)];
/// let config = EvalConfig::default().with("trajectory_in_order_match", Criterion::new(0.5));
/// assert_eq!(check_compatibility(&config, &[], TurnAggregation::Mean, &cases).len(), 1);
/// assert_eq!(check_compatibility(&config, &[], TurnAggregation::EveryTurn, &cases).len(), 0);
/// ```
pub fn check_compatibility(
    config: &EvalConfig,
    answered: &[&str],
    gate: TurnAggregation,
    cases: &[EvalCase],
) -> Vec<Incompatibility> {
    let mut incompatibilities = Vec::new();
    for (at, case) in cases.iter().enumerate() {
        let own = match config.of_case(case, answered) {
            Ok(own) => own,
            Err(error) => {
                incompatibilities.push(Incompatibility::of_criteria(at, case, error));
                continue;
            }
        };
        let scope = Scope { config: &own, answered, gate };
        if let Some((code, message, help)) = check(&scope, case) {
            let found = Incompatibility::of_case(at, case, code, message.to_owned(), help);
            let taken_out = own.criteria.len() < config.criteria.len();
            incompatibilities.push(if taken_out { found.at_keys(&[EvalCase::CRITERIA_KEY]) } else { found });
        }
        incompatibilities.extend(rules::unread(&own, answered, at, case));
    }
    check_rubrics(config, answered, cases, &mut incompatibilities);
    incompatibilities
}

/// Checks rubrics: of cases with criteria of their own each by its own ones, of the others all at once, as the weights of
/// a criterion are for rubrics of any case.
fn check_rubrics(
    config: &EvalConfig,
    answered: &[&str],
    cases: &[EvalCase],
    incompatibilities: &mut Vec<Incompatibility>,
) {
    let mut found = Vec::new();
    rubrics::check(config, answered, cases, &mut found);
    let has_own = |at: usize| cases[at].own_criteria().is_some();
    found.retain(|found| found.case.is_none_or(|at| !has_own(at)));
    for at in (0..cases.len()).filter(|at| has_own(*at)) {
        let Ok(own) = config.of_case(&cases[at], answered) else { continue };
        let mut of_case = Vec::new();
        rubrics::check(&own, answered, &cases[at..=at], &mut of_case);
        let of_case = of_case.into_iter().filter(|found| found.case.is_some());
        found.extend(of_case.map(|found| Incompatibility { case: Some(at), ..found }));
    }
    incompatibilities.append(&mut found);
}

struct Scope<'a> {
    config: &'a EvalConfig,
    /// The custom metrics that exist in Rust.
    answered: &'a [&'a str],
    gate: TurnAggregation,
}

fn check(scope: &Scope<'_>, case: &EvalCase) -> Option<(ProblemCode, &'static str, String)> {
    let scenario = case.conversation_scenario.as_ref();
    if scenario.is_some() && !case.conversation.is_empty() {
        // The reader refuses such a case, but it may be built in Rust.
        let message = "it has both a conversation and a scenario";
        return Some((ProblemCode::ConversationOrScenario, message, "keep one of them".to_owned()));
    }
    if let Some(reasons) = undecided(scope, case) {
        let message = "no metric decides it, so it would pass unchecked";
        return Some((ProblemCode::NothingChecked, message, what_decides(&reasons, case)));
    }
    scenario?.user_persona.as_ref()?;
    let template = scope.config.user_simulator_config.as_ref()?.custom_instructions.as_ref()?;
    let leaves_it_out = !InstructionTemplate::parse(template).ok()?.uses(TemplateVariable::Persona);
    leaves_it_out.then(|| {
        let message = "it has a persona, which the custom instructions of the simulated user leave out";
        let help = "add `{{ persona }}` to `custom_instructions`, or remove the `user_persona`";
        (ProblemCode::UnusedPersona, message, help.to_owned())
    })
}

/// The reasons why no metric of the config can fail the case, each with its metrics; `None` if a metric can.
fn undecided(scope: &Scope<'_>, case: &EvalCase) -> Option<Vec<String>> {
    if !scope.answered.is_empty() {
        return None;
    }
    let mut reasons: Vec<(String, String)> = Vec::new();
    for (name, criterion) in &scope.config.criteria {
        // It is unknown how a custom metric scores a case.
        let info = metric(name).filter(|_| !scope.config.custom_metrics.contains_key(name))?;
        let why = info.cannot_fail(criterion, case, scope.gate)?;
        match reasons.iter_mut().find(|(_, reason)| *reason == why) {
            Some((names, _)) => names.push_str(&format!(", `{}`", shown(name))),
            None => reasons.push((format!("`{}`", shown(name)), why)),
        }
    }
    // These decide any case that has what they read, unless a criterion says otherwise.
    for name in [FINAL_SESSION_STATE_MATCH, ANSWER_DEMANDS] {
        if scope.config.criterion(name).is_none() && !case.takes_out(name) {
            metric(name)?.cannot_fail(&Criterion::new(1.0), case, scope.gate)?;
        }
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
