//! Sets that were built in Rust, checked by the rules of a file.

use super::checked::CaseSpan;
use super::set::check_set;
use crate::model::{EvalCase, EvalSet};
use crate::problem::{JsonPath, Problem, ProblemCode, Problems, in_order_of_places};
use crate::schema::{EVAL_CASE, SESSION_INPUT};

const BUILT: &str = "<set>";

impl EvalSet {
    /// Checks a set that was built in Rust by the rules of a file. An error in a file is an error here.
    ///
    /// ```
    /// use eval_format::{EvalCase, EvalSet, Invocation};
    ///
    /// let hi = EvalCase::new("hi").turn(Invocation::user("Hi").response("Hello!"));
    /// let set = EvalSet::new("greetings").case(hi);
    /// assert!(set.check().is_ok());
    ///
    /// let problems = set.case(EvalCase::new("hi")).check().unwrap_err();
    /// assert!(problems.to_string().contains("two cases have the id `hi`"));
    /// assert!(problems.to_string().contains("the case has no turns"));
    /// ```
    ///
    /// An empty id is an error too: in Rust it means that the id was left out.
    ///
    /// The places of the problems are in the set written as a file. The runner of eval-core calls this for
    /// every set.
    pub fn check(&self) -> Result<(), Problems> {
        check_cases(&self.eval_cases)
    }
}

impl EvalCase {
    /// Checks a case that was built in Rust by the rules of a file, as [`EvalSet::check`] does.
    ///
    /// ```
    /// use eval_format::{EvalCase, Invocation};
    ///
    /// assert!(EvalCase::new("hi").check().is_err(), "it has no turns");
    /// assert!(EvalCase::new("hi").turn(Invocation::user("Hi")).check().is_ok());
    /// ```
    pub fn check(&self) -> Result<(), Problems> {
        check_cases(std::slice::from_ref(self))
    }
}

/// Checks the cases of a set that was built in Rust, as [`EvalSet::check`] does.
pub fn check_cases(cases: &[EvalCase]) -> Result<(), Problems> {
    let mut set = EvalSet::new("");
    set.eval_cases.extend(cases.iter().cloned().map(EvalCase::with_finite_times));
    let mut checked = check_set(BUILT, set.to_json().as_bytes(), None);
    let nameless = checked.cases.iter().enumerate().filter(|(_, place)| place.eval_id.is_empty());
    let mut more: Vec<Problem> = nameless.map(|(at, place)| without_id(at, place)).collect();
    for (at, (case, place)) in cases.iter().zip(&checked.cases).enumerate() {
        more.extend(unwritten(at, case, place));
    }
    if !more.is_empty() {
        checked.set = None;
        checked.problems.extend(more);
        in_order_of_places(&mut checked.problems);
    }
    checked.into_result().map(drop)
}

/// The problem of an empty id: in Rust the id was left out. In a file an empty id was written, and ADK takes
/// it.
fn without_id(at: usize, place: &CaseSpan) -> Problem {
    let path = JsonPath::default().key("eval_cases").index(at).key("eval_id");
    Problem::error(ProblemCode::MissingKey, path, place.id_range.clone(), "the id of the case is empty")
        .label("expected a name")
        .help("name the case; its record and its verdict go by the id")
}

/// Extra keys with the names of fields. A file cannot have both, so their values would be lost.
fn unwritten(at: usize, case: &EvalCase, place: &CaseSpan) -> Vec<Problem> {
    let path = JsonPath::default().key("eval_cases").index(at);
    let session = case.session_input.as_ref().map(|session| (&session.extra, &SESSION_INPUT));
    let of_session = path.clone().key("session_input");
    let extras = [(Some((&case.extra, &EVAL_CASE)), path), (session, of_session)];
    let mut problems = Vec::new();
    for (extra, path) in extras.into_iter().filter_map(|(extra, path)| Some((extra?, path))) {
        for (key, _) in extra.0.iter().filter(|(key, _)| extra.1.has(key)) {
            let message = format!("the extra key `{key}` is the name of a field");
            let (path, range) = (path.key(key), place.id_range.clone());
            let problem = Problem::error(ProblemCode::DuplicateKey, path, range, message);
            problems.push(problem.label("this case").help("set the field, and leave out the extra key"));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::{
        AgentDetails, AppDetails, Content, ConversationScenario, FunctionCall, FunctionResponse,
        IntermediateData, Invocation, InvocationEvent, Part, Persona, Rubric, SessionInput, UserBehavior,
        UserPersona,
    };
    use crate::value::{Map, Value};

    fn case(id: &str) -> EvalCase {
        EvalCase::new(id).turn(Invocation::user("Hi").response("Hello!"))
    }

    fn set(cases: impl IntoIterator<Item = EvalCase>) -> EvalSet {
        cases.into_iter().fold(EvalSet::new("s"), EvalSet::case)
    }

    fn turn(turn: Invocation) -> EvalSet {
        set([EvalCase::new("c").turn(turn)])
    }

    fn scenario() -> ConversationScenario {
        ConversationScenario::new("Hi", "Book a room.")
    }

    fn persona(text: &str) -> Persona {
        UserPersona::new("me", "Hurried.").behavior(UserBehavior::new(text, "Brief.")).into()
    }

    fn deep() -> Value {
        (0..150).fold(Value::Null, |inner, _| Value::Array(vec![inner]))
    }

    /// The reader's problems with the set written as a file.
    fn as_a_file(set: &EvalSet) -> Result<EvalSet, Problems> {
        EvalSet::parse(&set.to_json())
    }

    #[test]
    fn a_set_built_in_rust_is_refused_where_its_file_would_be() {
        let mut both = case("c");
        both.conversation_scenario = Some(scenario());
        let rubric = |id: &str| Rubric::new(id, "The answer is kind.").of_type("FINAL_RESPONSE_QUALITY");
        let extra = |key: &str| set([case("c").with_extra(key, "other")]);
        let other = Part::default().with_other("no_such_field", true);
        for (what, set, says) in [
            ("no cases", set([]), "the set has no cases"),
            ("an empty id", set([case("")]), "the id of the case is empty"),
            ("equal ids", set([case("c"), case("d"), case("c")]), "two cases have the id `c`"),
            ("no turns", set([EvalCase::new("c")]), "the case has no turns"),
            ("turns and a scenario", set([both]), "both a conversation and a scenario"),
            ("equal rubrics", set([case("c").with_rubrics([rubric("a"), rubric("a")])]), "have the id `a`"),
            (
                "a persona that cannot be filled in",
                set([EvalCase::new("c").scenario(scenario().persona(persona("{{ nobody }}")))]),
                "in the behavior of a persona",
            ),
            ("an extra key that is a field", extra("eval_id"), "`eval_id`"),
            ("an extra key that is misspelt", extra("conversation_scenari"), "`conversation_scenari`"),
            ("an unknown field", turn(Invocation::new(Content::new("user", vec![other]))), "no_such_field"),
            (
                "a value that is too deep",
                turn(Invocation::user("Hi").call(FunctionCall::new(
                    "f",
                    Map::from([("x", (0..300).fold(Value::Null, |inner, _| Value::Array(vec![inner])))]),
                ))),
                "nesting is too deep",
            ),
        ] {
            let Err(problems) = set.check() else { panic!("{what} is accepted") };
            let text = problems.to_string();
            assert!(text.contains(says) && problems.file() == "<set>", "{what}: {text}");
            let is_of_rust_alone = ["an empty id", "an extra key that is a field"].contains(&what);
            assert_eq!(as_a_file(&set).is_ok(), is_of_rust_alone, "{what}");
        }
    }

    #[test]
    fn what_is_accepted_without_being_written_would_be_read() {
        let call = || FunctionCall::new("f", json!({ "a": [1, { "b": null }] })).with_id("1");
        let response = || FunctionResponse::new("f", json!("ok")).with_id("1");
        let event = InvocationEvent::new("clerk").with_content(Content::model("One moment."));
        let flat = IntermediateData::Tools {
            tool_uses: vec![call(), FunctionCall::default()],
            tool_responses: vec![response()],
            intermediate_responses: vec![("clerk".to_owned(), vec![Part::thought("hm"), Part::default()])],
        };
        let session = SessionInput::new("", "").with_state(Map::from([("conversaton", deep())]));
        let plain = set([
            case("c").with_session_input(session).final_state(Map::from([("n", 1_i64)])),
            EvalCase::new("d")
                .with_creation_timestamp(1.5)
                .turn(Invocation::user("").with_intermediate_data(flat))
                .turn(Invocation::default())
                .turn(Invocation::user("a").with_intermediate_data(IntermediateData::Events(vec![event])))
                .turn(Invocation::new(Content::new(
                    "user",
                    vec![Part::call(call()), Part::response(response())],
                ))),
        ]);
        assert!(plain.check().is_ok());
        assert_eq!(as_a_file(&plain).unwrap(), plain);
        let clerk = AppDetails::default().with_agent(AgentDetails::new("clerk", "Be kind."));
        for sound in [
            set([EvalCase::new("c").scenario(scenario().persona(persona("{{ stop_signal }}")))]),
            set([case("c").with_extra("owner", "anna")]),
            set([case("c").with_rubrics([Rubric::new("a", "b").of_type("TOOL_USE_QUALITY")])]),
            turn(Invocation::user("Hi").with_app_details(clerk)),
            set([case("c").with_extra("owner", "anna").with_creation_timestamp(f64::NAN)]),
        ] {
            assert!(sound.check().is_ok(), "{sound:?}");
        }
    }
}
