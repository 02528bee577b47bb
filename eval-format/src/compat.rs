//! Whether a config and the cases of a set can be used together: what neither file tells alone.

use std::fmt;
use std::ops::Range;

use crate::config::EvalConfig;
use crate::metric::{MetricInfo, Need, Subject, metric};
use crate::model::EvalCase;
use crate::problem::{Code, JsonPath, Problem, shown};
use crate::reader::{CheckedSet, Form};
use crate::{Instructions, Variable, rubrics, syntax};

/// What keeps a config and a set from being used together, though each of them is sound.
///
/// ```
/// use eval_format::{Criterion, EvalCase, EvalConfig, Invocation, check_compatibility};
///
/// let config = EvalConfig::default().with("rubric_based_tool_use_quality_v1", Criterion::new(1.0));
/// let cases = [EvalCase::new("refund").turn(Invocation::user("I want my money back."))];
/// let incompatibilities = check_compatibility(&config, &[], &cases);
/// assert!(incompatibilities[0].to_string().starts_with("case `refund`: `rubric_based_tool_use_quality_v1` has no rubrics"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Incompatibility {
    /// The case, by its position; absent where it is about the set as a whole.
    pub case: Option<usize>,
    /// The id of the case.
    pub eval_id: Option<String>,
    /// What kind of problem it is.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

impl Incompatibility {
    pub(crate) fn of_case(at: usize, case: &EvalCase, code: Code, message: String, help: String) -> Self {
        Self { case: Some(at), eval_id: Some(case.eval_id.clone()), code, message, help }
    }

    /// As a problem of the set's file: at the scenario or else the id of the case, or at the beginning.
    ///
    /// ```
    /// use eval_format::{EvalConfig, check_set, check_compatibility};
    ///
    /// let set = r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "trip",
    ///     "conversation_scenario": {"starting_prompt": "Hi", "conversation_plan": "Book a hotel."}}]}"#;
    /// let checked = check_set("s.evalset.json", set.as_bytes(), None);
    /// let cases = &checked.set.as_ref().unwrap().eval_cases;
    /// let problem = check_compatibility(&EvalConfig::adk_default(), &[], cases)[0].problem(&checked);
    /// assert_eq!(&set[problem.range], "\"conversation_scenario\"");
    /// ```
    pub fn problem(&self, set: &CheckedSet) -> Problem {
        let place = self.case.and_then(|at| Some((at, set.cases.get(at)?)));
        let (path, range, label, which) = match place {
            None => (JsonPath::default(), 0..1, "", String::new()),
            Some((at, place)) => {
                let path = path_of(set, at);
                let which = format!("case `{}`: ", shown(&place.eval_id));
                match scenario_of(set, &place.range).filter(|_| self.code == Code::NothingChecked) {
                    Some((key, range)) => (path.key(&key), range, "a scenario has no expected turns", which),
                    None => (path, place.id_range.clone(), "this case cannot be scored", String::new()),
                }
            }
        };
        let message = format!("{which}{}", self.message);
        Problem::error(self.code, path, range, message).label(label).help(self.help.as_str())
    }
}

impl fmt::Display for Incompatibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(id) = &self.eval_id {
            write!(f, "case `{}`: ", shown(id))?;
        }
        write!(f, "{}; {}", self.message, self.help)
    }
}

fn path_of(set: &CheckedSet, at: usize) -> JsonPath {
    match set.form {
        Form::EvalSet => JsonPath::default().key("eval_cases").index(at),
        Form::OldEvalSet => JsonPath::default().index(at),
        Form::TestFile => JsonPath::default(),
    }
}

/// The key of the scenario of a case, and where it stands in the file.
fn scenario_of(set: &CheckedSet, case: &Range<usize>) -> Option<(String, Range<usize>)> {
    let node = syntax::parse(set.text.get(case.clone())?, &mut Vec::new()).ok()?;
    let names = ["conversation_scenario", "conversationScenario"];
    let entry = names.into_iter().filter_map(|name| node.get(name)).find(|entry| !entry.value.is_null())?;
    let key = &entry.key_range;
    Some((entry.key.to_string(), case.start + key.start..case.start + key.end))
}

/// Holds cases against the criteria that they will be scored with, before anything runs.
///
/// ```
/// use eval_format::{ConversationScenario, Criterion, EvalCase, EvalConfig, check_compatibility};
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
/// `answered` names the custom metrics that exist in Rust; such a name is not a built-in metric, and applies to
/// every case.
pub fn check_compatibility(
    config: &EvalConfig,
    answered: &[&str],
    cases: &[EvalCase],
) -> Vec<Incompatibility> {
    let mut incompatibilities = Vec::new();
    for (at, case) in cases.iter().enumerate() {
        if let Some((code, message, help)) = check_case(config, answered, case) {
            incompatibilities.push(Incompatibility::of_case(at, case, code, message.to_owned(), help));
        }
    }
    rubrics::check_compatibility(config, answered, cases, &mut incompatibilities);
    incompatibilities
}

/// What is wrong with a case, and what to do about it.
fn check_case(
    config: &EvalConfig,
    answered: &[&str],
    case: &EvalCase,
) -> Option<(Code, &'static str, String)> {
    let scenario = case.conversation_scenario.as_ref();
    if scenario.is_some() && !case.conversation.is_empty() {
        // The reader refuses it, but a case may be built in Rust.
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
    let names: Vec<String> = config.criteria.iter().map(|(name, _)| format!("`{}`", shown(name))).collect();
    let given = match names.as_slice() {
        [] => "no criterion applies".to_owned(),
        [only] => format!("{only} does not apply"),
        several => format!("none of {} applies", several.join(", ")),
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
    /// What a case lacks for this metric to apply to it, if something: a reason to skip the metric.
    ///
    /// ```
    /// use eval_format::{ConversationScenario, EvalCase, metric};
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConversationScenario, Criterion, Invocation, Map, Persona, UserSimulatorConfig, check_set};

    fn scenario() -> EvalCase {
        EvalCase::new("s").scenario(ConversationScenario::new("Hi", "Book."))
    }

    fn turns() -> EvalCase {
        EvalCase::new("t").turn(Invocation::user("Hi").response("Hello"))
    }

    fn with(name: &str, threshold: f64) -> EvalConfig {
        EvalConfig::default().with(name, Criterion::new(threshold))
    }

    #[test]
    fn a_case_needs_a_metric_that_applies_and_can_fail() {
        let state = scenario().final_state(Map::from([("a", 1_i64)]));
        let both = EvalCase { conversation_scenario: scenario().conversation_scenario, ..turns() };
        for (what, config, case, answered, fits) in [
            ("both", EvalConfig::adk_default(), both, &[][..], false),
            ("turns", EvalConfig::adk_default(), turns(), &[][..], true),
            ("a scenario", EvalConfig::adk_default(), scenario(), &[], false),
            ("a state", EvalConfig::adk_default(), state, &[], true),
            ("a custom metric", EvalConfig::adk_default(), scenario(), &["own"], true),
            (
                "a custom one in its place",
                with("response_match_score", 1.0),
                scenario(),
                &["response_match_score"],
                true,
            ),
            ("a judged one", with("hallucinations_v1", 0.5), scenario(), &[], true),
            (
                "a judged one with an expectation",
                with("final_response_match_v2", 0.5),
                scenario(),
                &[],
                false,
            ),
            ("one that cannot fail", with("trajectory_single_tool_use", 0.0), scenario(), &[], false),
            ("one about the user", with("per_turn_user_simulator_quality_v1", 0.5), scenario(), &[], true),
            (
                "one about the user, in turns",
                with("per_turn_user_simulator_quality_v1", 0.5),
                turns(),
                &[],
                false,
            ),
            ("the state of none", with("final_session_state_match", 1.0), turns(), &[], false),
        ] {
            let incompatibilities = check_compatibility(&config, answered, &[case]);
            assert_eq!(incompatibilities.is_empty(), fits, "{what}: {incompatibilities:?}");
        }
    }

    #[test]
    fn a_persona_that_nobody_tells_the_simulator_of_is_incompatible() {
        let told = |template: &str| {
            let simulator = UserSimulatorConfig::default().custom_instructions(template);
            with("hallucinations_v1", 0.5).with_user_simulator(simulator)
        };
        let mut case = scenario();
        let incompatibilities = |config: EvalConfig, case: &EvalCase| {
            check_compatibility(&config, &[], std::slice::from_ref(case))
        };
        assert_eq!(incompatibilities(told("{{ stop_signal }}"), &case), []);
        case.conversation_scenario = Some(ConversationScenario::new("Hi", "Book.").persona(Persona::Expert));
        let why = incompatibilities(told("{{ stop_signal }}"), &case)[0].to_string();
        assert!(
            why.ends_with("add `{{ persona }}` to `custom_instructions`, or remove the `user_persona`"),
            "{why}"
        );
        assert_eq!(incompatibilities(told("{{ persona.description }}"), &case), []);
        assert_eq!(incompatibilities(with("hallucinations_v1", 0.5), &case), []);
    }

    #[test]
    fn the_place_is_the_key_of_the_scenario_in_its_file() {
        let text = r#"{"eval_set_id": "s", "eval_cases": [
            {"eval_id": "t", "conversation": [{"user_content": {}}], "conversation_scenario": null},
            {"eval_id": "é", "conversationScenario": {"startingPrompt": "a", "conversationPlan": "b"}},
            {"eval_id": "u", "conversation_scenario": {"starting_prompt": "a", "conversation_plan": "b"}}]}"#;
        let set = check_set("s.evalset.json", text.as_bytes(), None);
        let cases = set.set.clone().unwrap().eval_cases;
        let found = |config: &EvalConfig| -> Vec<(String, String)> {
            let incompatibilities = check_compatibility(config, &[], &cases);
            let problems = incompatibilities.iter().map(|incompatibility| incompatibility.problem(&set));
            problems.map(|it| (it.path.to_string(), set.text[it.range].to_owned())).collect()
        };
        assert_eq!(
            found(&EvalConfig::adk_default()),
            [
                ("eval_cases[1].conversationScenario".to_owned(), "\"conversationScenario\"".to_owned()),
                ("eval_cases[2].conversation_scenario".to_owned(), "\"conversation_scenario\"".to_owned()),
            ]
        );
        let user = with("per_turn_user_simulator_quality_v1", 0.5);
        assert_eq!(found(&user), [("eval_cases[0]".to_owned(), "\"t\"".to_owned())]);
    }
}
