//! Whether the criteria of a config decide the cases of a set: what neither file tells alone.

use std::ops::Range;

use crate::config::EvalConfig;
use crate::metric::{MetricInfo, Need, Subject, metric};
use crate::model::EvalCase;
use crate::problem::{Code, JsonPath, Problem};
use crate::reader::{CheckedSet, Form};
use crate::{Instructions, Variable, syntax};

/// Why a case cannot be run under a config.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Misfit {
    /// The case has turns and a scenario. The reader refuses that, but a case may be built in Rust.
    Both,
    /// No metric that gates applies to the case.
    Undecided,
    /// The case has a persona, which the custom instructions of the simulator leave out.
    UnusedPersona,
}

impl EvalConfig {
    /// Why a case cannot be run with these criteria: a sentence with its remedy, where there is one.
    ///
    /// ```
    /// use eval_format::{ConversationScenario, Criterion, EvalCase, EvalConfig};
    ///
    /// let case = EvalCase::new("trip").scenario(ConversationScenario::new("Hi", "Book a hotel in Paris."));
    /// let why = EvalConfig::adk_default().misfit(&case, &[]).unwrap();
    /// assert!(why.starts_with("no metric decides the case `trip`"));
    ///
    /// let books = Criterion::new(0.5).with_tool_name("book");
    /// assert_eq!(EvalConfig::default().with("trajectory_single_tool_use", books).misfit(&case, &[]), None);
    /// ```
    ///
    /// `answered` names the custom metrics that exist in Rust; they apply to every case.
    pub fn misfit(&self, case: &EvalCase, answered: &[&str]) -> Option<String> {
        let misfit = self.find_misfit(case, answered)?;
        Some(format!("{}; {}", misfit.message(case), misfit.help(self, case)))
    }

    fn find_misfit(&self, case: &EvalCase, answered: &[&str]) -> Option<Misfit> {
        if case.conversation_scenario.is_some() && !case.conversation.is_empty() {
            return Some(Misfit::Both);
        }
        if !self.decides(case, answered) {
            return Some(Misfit::Undecided);
        }
        let has_persona = case.conversation_scenario.as_ref().is_some_and(|it| it.user_persona.is_some());
        let simulator = self.user_simulator_config.as_ref().filter(|_| has_persona)?;
        let instructions = Instructions::parse(simulator.custom_instructions.as_ref()?).ok()?;
        (!instructions.uses(Variable::Persona)).then_some(Misfit::UnusedPersona)
    }

    /// Whether a metric that can fail the case applies to it.
    fn decides(&self, case: &EvalCase, answered: &[&str]) -> bool {
        let is_custom = |name: &str| answered.contains(&name) || self.custom_metrics.contains_key(name);
        !answered.is_empty()
            || !case.final_session_state.is_empty()
            || self.criteria.iter().any(|(name, criterion)| {
                let info = metric(name).filter(|_| !is_custom(name));
                info.is_none_or(|info| info.missing_in(case).is_none() && criterion.threshold > info.min)
            })
    }
}

/// Finds the cases of a set that cannot be run under a config; ranges point into the text of the set.
///
/// ```
/// use eval_format::{EvalConfig, check_fit, check_set};
///
/// let set = r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "trip",
///     "conversation_scenario": {"starting_prompt": "Hi", "conversation_plan": "Book a hotel."}}]}"#;
/// let set = check_set("s.evalset.json", set.as_bytes(), None);
/// let problems = check_fit(&set, &EvalConfig::adk_default(), &[], |_| true);
/// assert_eq!(&set.text[problems[0].range.clone()], "\"conversation_scenario\"");
/// ```
///
/// Only cases that `takes` says yes to, by their id, are looked at. A set with errors fits anything: they come first.
pub fn check_fit(
    set: &CheckedSet,
    config: &EvalConfig,
    answered: &[&str],
    takes: impl Fn(&str) -> bool,
) -> Vec<Problem> {
    let cases = set.set.iter().flat_map(|set| &set.eval_cases).zip(&set.cases).enumerate();
    cases
        .filter(|(_, (case, _))| takes(&case.eval_id))
        .filter_map(|(at, (case, place))| {
            let misfit = config.find_misfit(case, answered)?;
            let (range, path) = place_of(set, at, &place.range);
            let message = misfit.message(case);
            let problem = Problem::error(Code::NothingChecked, path, range, message);
            Some(problem.label(misfit.label(case)).help(misfit.help(config, case)))
        })
        .collect()
}

impl Misfit {
    fn message(self, case: &EvalCase) -> String {
        let id = crate::problem::shown(&case.eval_id);
        match self {
            Self::Both => format!("the case `{id}` has both a conversation and a scenario"),
            Self::Undecided => format!("no metric decides the case `{id}`, so it would pass unchecked"),
            Self::UnusedPersona => {
                format!(
                    "the custom instructions of the simulated user leave out the persona of the case `{id}`"
                )
            }
        }
    }

    fn label(self, case: &EvalCase) -> &'static str {
        match self {
            Self::Both => "a scenario beside turns",
            Self::Undecided if case.conversation_scenario.is_some() => "a scenario has no expected turns",
            Self::Undecided => "a case of recorded turns",
            Self::UnusedPersona => "a scenario with a persona",
        }
    }

    fn help(self, config: &EvalConfig, case: &EvalCase) -> String {
        match self {
            Self::Both => return "keep one of them".to_owned(),
            Self::UnusedPersona => {
                return "add `{{ persona }}` to `custom_instructions`, or remove the `user_persona`"
                    .to_owned();
            }
            Self::Undecided => {}
        }
        let names: Vec<String> = config.criteria.iter().map(|(name, _)| format!("`{name}`")).collect();
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
}

/// The key of the scenario, or the case where it has none, as a range of the file and a path.
fn place_of(set: &CheckedSet, at: usize, case: &Range<usize>) -> (Range<usize>, JsonPath) {
    let path = match set.form {
        Form::EvalSet => JsonPath::default().key("eval_cases").index(at),
        Form::OldEvalSet => JsonPath::default().index(at),
        Form::TestFile => JsonPath::default(),
    };
    let slice = &set.text[case.clone()];
    let scenario = syntax::parse(slice, &mut Vec::new()).ok().and_then(|node| {
        let names = ["conversation_scenario", "conversationScenario"];
        let entry = names.into_iter().find_map(|name| node.get(name))?;
        Some((entry.key_range.clone(), path.key(&entry.key)))
    });
    match scenario {
        Some((key, path)) => (case.start + key.start..case.start + key.end, path),
        None => (case.start..case.start + slice.chars().next().map_or(0, char::len_utf8), path),
    }
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
            assert_eq!(config.misfit(&case, answered).is_none(), fits, "{what}");
        }
    }

    #[test]
    fn a_persona_that_nobody_tells_the_simulator_of_is_a_misfit() {
        let told = |template: &str| {
            let simulator = UserSimulatorConfig::default().custom_instructions(template);
            with("hallucinations_v1", 0.5).with_user_simulator(simulator)
        };
        let mut case = scenario();
        assert_eq!(told("{{ stop_signal }}").misfit(&case, &[]), None);
        case.conversation_scenario = Some(ConversationScenario::new("Hi", "Book.").persona(Persona::Expert));
        let why = told("{{ stop_signal }}").misfit(&case, &[]).unwrap();
        assert!(
            why.ends_with("add `{{ persona }}` to `custom_instructions`, or remove the `user_persona`"),
            "{why}"
        );
        assert_eq!(told("{{ persona.description }}").misfit(&case, &[]), None);
        assert_eq!(with("hallucinations_v1", 0.5).misfit(&case, &[]), None);
    }

    #[test]
    fn the_place_is_the_key_of_the_scenario_in_its_file() {
        let text = r#"{"eval_set_id": "s", "eval_cases": [
            {"eval_id": "t", "conversation": [{"user_content": {}}]},
            {"eval_id": "é", "conversationScenario": {"startingPrompt": "a", "conversationPlan": "b"}},
            {"eval_id": "u", "conversation_scenario": {"starting_prompt": "a", "conversation_plan": "b"}}]}"#;
        let set = check_set("s.evalset.json", text.as_bytes(), None);
        let problems = check_fit(&set, &EvalConfig::adk_default(), &[], |_| true);
        let found: Vec<_> =
            problems.iter().map(|it| (it.path.to_string(), &set.text[it.range.clone()])).collect();
        assert_eq!(
            found,
            [
                ("eval_cases[1].conversationScenario".to_owned(), "\"conversationScenario\""),
                ("eval_cases[2].conversation_scenario".to_owned(), "\"conversation_scenario\""),
            ]
        );
        assert_eq!(check_fit(&set, &EvalConfig::adk_default(), &[], |id| id == "t"), []);
        let user = with("per_turn_user_simulator_quality_v1", 0.5);
        let problems = check_fit(&set, &user, &[], |_| true);
        assert_eq!((problems.len(), &text[problems[0].range.clone()]), (1, "{"));
    }
}
