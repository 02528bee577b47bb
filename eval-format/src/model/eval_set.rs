//! Sets, their cases, and the sessions that cases run in.

use super::invocation::Invocation;
use super::rubric::Rubric;
use super::saved::{saved, setters};
use super::scenario::ConversationScenario;
use crate::value::{Map, Value};

/// A file of golden conversations.
///
/// ```
/// use eval_format::{EvalCase, EvalSet, Invocation};
///
/// let set = EvalSet::new("weather").case(
///     EvalCase::new("sunny").turn(Invocation::user("Weather in Paris?").response("It is sunny in Paris.")),
/// );
/// assert_eq!(EvalSet::parse(&set.to_json()).unwrap(), set);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct EvalSet {
    /// The id of the set; may be empty.
    pub eval_set_id: String,
    /// A name for readers of the file.
    pub name: Option<String>,
    /// The subject of the set.
    pub description: Option<String>,
    /// The cases, in the order of the file.
    pub eval_cases: Vec<EvalCase>,
    /// Seconds since 1970; 0 if unknown, as in ADK.
    pub creation_timestamp: f64,
}

saved! {
    /// The set in ADK's saved form.
    EvalSet: EVAL_SET { eval_set_id, name, description, eval_cases, creation_timestamp }
}

impl EvalSet {
    /// An empty set; add cases with [`case`](Self::case).
    pub fn new(eval_set_id: impl Into<String>) -> Self {
        Self { eval_set_id: eval_set_id.into(), ..Self::default() }
    }

    setters! {
        /// Adds a case.
        case(case: EvalCase) { eval_cases.push(case) }

        /// Sets a name for readers of the file.
        ///
        /// ```
        /// use eval_format::{EvalCase, EvalSet, Invocation};
        ///
        /// let set = EvalSet::new("weather")
        ///     .with_name("Weather")
        ///     .with_description("What people ask about the weather.")
        ///     .case(EvalCase::new("greeting").turn(Invocation::user("Hi").response("Hello!")));
        /// assert_eq!(EvalSet::parse(&set.to_json()).unwrap(), set);
        /// ```
        with_name(name: impl Into<String>) { name = Some(name.into()) }

        /// Sets the description of the set.
        with_description(description: impl Into<String>) { description = Some(description.into()) }

        /// Sets when the set was made, in seconds since 1970.
        with_creation_timestamp(seconds: f64) { creation_timestamp = seconds }
    }
}

/// One golden conversation: what the user says turn by turn, and what is expected; or a scenario for a simulated user.
///
/// ```
/// use eval_format::{EvalCase, Invocation};
///
/// let case = EvalCase::new("greeting").turn(Invocation::user("Hi").response("Hello!"));
/// assert_eq!(case.conversation.len(), 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct EvalCase {
    /// The id, unique within the set; the test is named after it.
    pub eval_id: String,
    /// The turns: at least one, or none if the case has a scenario.
    pub conversation: Vec<Invocation>,
    /// The scenario for a simulated user, in place of turns.
    pub conversation_scenario: Option<ConversationScenario>,
    /// The session that the conversation runs in: app, user, and state at the start.
    pub session_input: Option<SessionInput>,
    /// Seconds since 1970; 0 if unknown, as in ADK.
    pub creation_timestamp: f64,
    /// The rubrics that a judge checks in every turn of the case.
    pub rubrics: Option<Vec<Rubric>>,
    /// The session state expected at the end. Each of these keys must be there and be equal.
    pub final_session_state: Map,
    /// Keys that ADK does not know and keeps. A key with the name of a field is not written.
    pub extra: Map,
}

saved! {
    /// The case in ADK's saved form.
    EvalCase: EVAL_CASE {
        eval_id, conversation, conversation_scenario, session_input, creation_timestamp, rubrics, final_session_state,
        ..extra
    }
    always conversation if EvalCase::has_no_scenario
}

/// The key that marks a draft.
pub(crate) const DRAFT: &str = "_draft";

/// The key with the tags of a case.
pub(crate) const TAGS: &str = "tags";

impl EvalCase {
    /// A case without turns; add them with [`turn`](Self::turn).
    pub fn new(eval_id: impl Into<String>) -> Self {
        Self { eval_id: eval_id.into(), ..Self::default() }
    }

    setters! {
        /// Adds a turn.
        turn(invocation: Invocation) { conversation.push(invocation) }

        /// Sets the scenario that a simulated user follows, in place of turns.
        scenario(scenario: ConversationScenario) { conversation_scenario = Some(scenario) }

        /// Sets the session state that the conversation starts from.
        state(state: Map) { session_input.get_or_insert_default().state = state }

        /// Sets the session state expected at the end.
        final_state(state: Map) { final_session_state = state }

        /// Sets the session that the conversation runs in.
        ///
        /// ```
        /// use eval_format::{EvalCase, EvalSet, Invocation, Map, SessionInput};
        ///
        /// let session = SessionInput::new("shop", "anna").with_state(Map::from([("currency", "EUR")]));
        /// let case = EvalCase::new("greeting").turn(Invocation::user("Hi").response("Hello!")).with_session_input(session);
        /// let set = EvalSet::new("shop").case(case);
        /// assert_eq!(EvalSet::parse(&set.to_json()).unwrap(), set);
        /// ```
        with_session_input(session: SessionInput) { session_input = Some(session) }

        /// Sets the rubrics that a judge checks in every turn.
        ///
        /// ```
        /// use eval_format::{EvalCase, EvalSet, Invocation, Rubric};
        ///
        /// let kind = Rubric::new("kind", "The answer is kind.").of_type("FINAL_RESPONSE_QUALITY");
        /// let case = EvalCase::new("greeting").turn(Invocation::user("Hi").response("Hello!")).with_rubrics([kind]);
        /// let set = EvalSet::new("manners").case(case);
        /// assert_eq!(EvalSet::parse(&set.to_json()).unwrap(), set);
        /// ```
        with_rubrics(rubrics: impl IntoIterator<Item = Rubric>) { rubrics = Some(rubrics.into_iter().collect()) }

        /// Sets when the case was made, in seconds since 1970.
        with_creation_timestamp(seconds: f64) { creation_timestamp = seconds }

        /// Sets a key that ADK does not know and keeps.
        with_extra(key: impl Into<String>, value: impl Into<Value>) { extra.insert(key, value) }
    }

    /// The tags of the case, by which commands and `#[eval_set]` select it.
    ///
    /// In a file they are the key `tags` of the case, which ADK keeps.
    ///
    /// ```
    /// use eval_format::{EvalCase, Invocation};
    ///
    /// let case = EvalCase::new("sunny").turn(Invocation::user("Weather in Paris?")).with_tags(["smoke", "paris"]);
    /// assert!(case.tags().eq(["smoke", "paris"]));
    /// assert!(case.to_value().to_string().contains(r#""tags":["smoke","paris"]"#));
    /// ```
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        let tags = self.extra.get(TAGS).and_then(Value::as_array);
        tags.unwrap_or_default().iter().filter_map(Value::as_str)
    }

    /// Sets the tags of the case.
    #[must_use]
    pub fn with_tags<T: Into<String>>(self, tags: impl IntoIterator<Item = T>) -> Self {
        self.with_extra(TAGS, tags.into_iter().map(|tag| Value::from(tag.into())).collect::<Value>())
    }

    /// Sets times that are not finite to 0. A file may hold such times. They mean nothing here, and writing
    /// loses them.
    pub(crate) fn with_finite_times(mut self) -> Self {
        let times = self.conversation.iter_mut().map(|turn| &mut turn.creation_timestamp);
        for time in times.chain([&mut self.creation_timestamp]).filter(|time| !time.is_finite()) {
            *time = 0.0;
        }
        self
    }

    /// Whether the case has turns in place of a scenario. ADK writes even empty turns then.
    fn has_no_scenario(&self) -> bool {
        self.conversation_scenario.is_none()
    }

    /// The key that marks a case as a draft.
    pub const DRAFT_KEY: &'static str = DRAFT;

    /// The mark of a draft, which tells its origin. `None` for a golden.
    ///
    /// A draft was written by a program and is not reviewed yet. `#[eval_set]` and the runner refuse drafts. In a file
    /// the mark is the key `_draft` of the case. Its value is an object with the origin: `from`, and further facts of
    /// the writer. Any value but `null` marks a draft. ADK keeps the key.
    ///
    /// ```
    /// use eval_format::{EvalCase, Invocation, Map};
    ///
    /// let case = EvalCase::new("sunny").turn(Invocation::user("Weather in Paris?").response("It is sunny."));
    /// assert!(case.draft().is_none());
    ///
    /// let draft = case.with_draft(Map::from([("from", "trace 4bf92f35")]));
    /// assert_eq!(draft.draft().unwrap()["from"].as_str(), Some("trace 4bf92f35"));
    /// ```
    pub fn draft(&self) -> Option<&Value> {
        self.extra.get(DRAFT).filter(|mark| !mark.is_null())
    }

    /// The key of a case with the faults of its tools: see [`ToolFaults`](crate::tools::ToolFaults).
    pub const TOOLS_KEY: &'static str = "_tools";

    /// The key of a case with the faults of its models, which recorded calls play.
    pub const MODELS_KEY: &'static str = "_models";

    /// Marks the case as a draft, with its origin.
    #[must_use]
    pub fn with_draft(self, origin: impl Into<Value>) -> Self {
        self.with_extra(DRAFT, origin)
    }
}

/// The session a case runs in.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SessionInput {
    /// The application; may be empty.
    pub app_name: String,
    /// The user; may be empty.
    pub user_id: String,
    /// A session id to use instead of a generated one.
    pub session_id: Option<String>,
    /// Session state at the start.
    pub state: Map,
    /// Keys that ADK does not know and keeps. A key with the name of a field is not written.
    pub extra: Map,
}

saved! {
    /// The session input in ADK's saved form.
    SessionInput: SESSION_INPUT { app_name, user_id, session_id, state, ..extra }
}

impl SessionInput {
    /// A session of an application and a user; either may be empty.
    pub fn new(app_name: impl Into<String>, user_id: impl Into<String>) -> Self {
        Self { app_name: app_name.into(), user_id: user_id.into(), ..Self::default() }
    }

    setters! {
        /// Sets a session id, to use instead of a generated one.
        with_session_id(session_id: impl Into<String>) { session_id = Some(session_id.into()) }

        /// Sets the session state at the start.
        with_state(state: Map) { state = state }

        /// Sets a key that ADK does not know and keeps.
        with_extra(key: impl Into<String>, value: impl Into<Value>) { extra.insert(key, value) }
    }
}
