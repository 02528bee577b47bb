//! Golden tools of a conversation: what its agent asks, and what the run learns beside the agent.

use std::collections::{BTreeSet, HashMap};
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use eval_format::tools::{TRANSFER_TO_AGENT, ToolInjections};
use eval_format::{EvalCase, FunctionCall, Map, Value};
use eval_support::mutex::Mutex;
use tokio::sync::Notify;

use super::answers::{Answers, ToolAnswer, ToolOutcome, in_short};

/// The golden tools of a conversation. Clones share what was used up.
#[derive(Clone)]
pub struct GoldenTools(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    /// Told when the turn in progress has to end.
    halted: Notify,
}

#[derive(Default)]
struct State {
    answers: Answers,
    misses: Vec<ToolMiss>,
    declarations: Option<Arc<Vec<Value>>>,
    /// Tools that run.
    run: BTreeSet<String>,
    /// Whether the record of the agent has calls that no golden answers, such as handoffs.
    records_others: bool,
    is_over_mcp: bool,
    /// The number of calls of the turn in progress that the agent answered itself, by the name of the tool.
    own: HashMap<String, usize>,
    /// The faults behind the calls of the turn in progress that have no answer yet.
    waiting: Vec<Waiting>,
    /// Whether the turn in progress has to end.
    is_halted: bool,
}

/// A fault that keeps an answer back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    fault: String,
    /// The length of the wait; `None` if the answer never comes.
    after: Option<Duration>,
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.after {
            None => write!(f, "the fault `{}` leaves its call without an answer", self.fault),
            Some(after) => write!(f, "the fault `{}` keeps its answer back for {after:?}", self.fault),
        }
    }
}

/// A call that no golden answered, or that was not asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolMiss {
    /// The turn, from 1; 0 before the first one.
    pub turn: usize,
    /// The message: the call, and the nearest golden.
    pub message: String,
}

/// The answer of a golden.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Answered {
    /// The answer of the tool: the object of a response, or any value of a fault.
    pub response: Value,
    /// Changes of the session state that the tool makes.
    pub state: Map,
}

/// The failure of a golden tool: the fault `raises`, or a call without a golden answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GoldenError {
    /// The message, which the agent's model may see.
    pub message: String,
    /// Whether no golden answers the call, rather than that its tool fails.
    pub is_miss: bool,
    /// The content of the golden, if it is the recorded failure of a tool, or does not fit the tool's type.
    pub response: Option<Value>,
    /// Changes of the session state that the tool makes before it fails.
    pub state: Map,
}

const OF_AGENTS_IN_RUST: &str = "its tool may have run; ask with `recorder.golden(..)` or `recorder.answer(..)`, or name a tool \
                                 that has to run: `golden_tools().let_run(..)`";

const OF_MCP: &str = "its tool may have run; ask the server at the address in `mcp` of the message `start`, or name a call that no \
                      tool answers: `own_call`";

const OF_OTHER_AGENTS: &str = "something else may have run it, or the agent has no such tool, as of an MCP server that is down; the \
                               page on golden tools says which tools ask";

impl Waiting {
    fn of(answer: &ToolAnswer) -> Option<Self> {
        let fault = answer.fault.clone()?;
        match answer.outcome {
            ToolOutcome::Never => Some(Self { fault, after: None }),
            _ if answer.after.is_zero() => None,
            _ => Some(Self { fault, after: Some(answer.after) }),
        }
    }
}

impl GoldenTools {
    /// The golden tools of a conversation that plays this case.
    pub fn new(case: &EvalCase) -> Self {
        let state = State { answers: Answers::new(case), ..State::default() };
        Self(Arc::new(Shared { state: Mutex::new(state), halted: Notify::new() }))
    }

    /// These golden tools with the faults of a file. For a call that both name, the fault of the case answers.
    #[must_use]
    pub fn with_injections(self, injections: Arc<ToolInjections>) -> Self {
        self.0.state.lock().answers.inject(injections);
        self
    }

    /// The expected calls of all turns that have answers: what is known of the tools.
    pub fn calls(&self) -> Vec<FunctionCall> {
        self.0.state.lock().answers.calls().cloned().collect()
    }

    /// These golden tools with the declarations of the tools, as their real server has them.
    #[must_use]
    pub fn with_declarations(self, declarations: Arc<Vec<Value>>) -> Self {
        self.0.state.lock().declarations = Some(declarations);
        self
    }

    /// The declarations of the tools, if they are stored beside the set.
    pub fn declarations(&self) -> Option<Arc<Vec<Value>>> {
        self.0.state.lock().declarations.clone()
    }

    /// Begins the next turn. The runner calls this.
    pub fn begin_turn(&self) {
        let mut state = self.0.state.lock();
        state.answers.begin_turn();
        state.own.clear();
        state.waiting.clear();
        state.is_halted = false;
    }

    /// The answer to a call of the turn in progress, without any wait. A call that no golden answers is a
    /// [miss](Self::misses).
    pub fn call(&self, name: &str, args: &Map) -> Result<ToolAnswer, ToolMiss> {
        let mut state = self.0.state.lock();
        let turn = state.answers.turn();
        match state.answers.call(name, args) {
            Ok(answer) => {
                if let Some(waiting) = Waiting::of(&answer) {
                    state.waiting.push(waiting);
                }
                Ok(answer)
            }
            Err(message) => {
                let miss = ToolMiss { turn, message };
                state.misses.push(miss.clone());
                Err(miss)
            }
        }
    }

    /// Answers a call as its tool would: after the wait of a fault, and never if a fault says so. The call is counted at once,
    /// and not when the future runs.
    pub fn answer(
        &self,
        name: &str,
        args: &Map,
    ) -> impl Future<Output = Result<Answered, GoldenError>> + Send + use<> {
        // In the order of the calls, whichever future a scheduler polls first.
        let called = self.call(name, args);
        let shared = self.clone();
        async move {
            let answer = called.map_err(|miss| GoldenError {
                message: miss.message,
                is_miss: true,
                response: None,
                state: Map::new(),
            })?;
            if !answer.after.is_zero() {
                tokio::time::sleep(answer.after).await;
                shared.answered(&answer);
            }
            match answer.outcome {
                ToolOutcome::Response(response) => Ok(Answered { response, state: answer.state }),
                ToolOutcome::Raises(message) => {
                    Err(GoldenError { message, is_miss: false, response: None, state: answer.state })
                }
                ToolOutcome::Never => std::future::pending().await,
            }
        }
    }

    /// Lets a tool run, whose calls no golden answers: one that hands over to another agent, or that the model's provider
    /// runs. `transfer_to_agent` always does.
    pub fn let_run(&self, name: impl Into<String>) {
        self.0.state.lock().run.insert(name.into());
    }

    /// Notes a call of the turn in progress that no golden answers, and no tool either: it runs another agent, or the agent
    /// answered it itself. [`let_run`](Self::let_run) says so of all calls of a tool.
    ///
    /// ```
    /// use eval_core::format::EvalCase;
    /// use eval_core::tools::GoldenTools;
    ///
    /// let tools = GoldenTools::new(&EvalCase::new("c"));
    /// tools.begin_turn();
    /// // The turn records a call of `helper`, which is an agent.
    /// tools.own_call("helper");
    /// assert!(tools.misses().is_empty());
    /// ```
    pub fn own_call(&self, name: impl Into<String>) {
        *self.0.state.lock().own.entry(name.into()).or_default() += 1;
    }

    /// Declares that the record of the agent has calls of other kinds too, such as handoffs. A recorded call that was not asked
    /// for is then a miss if the goldens of its turn name the tool. Otherwise each such call is one, as its tool may have run.
    pub fn records_others(&self) {
        self.0.state.lock().records_others = true;
    }

    /// Declares that the agent asks over MCP, for the help of a miss.
    pub fn asked_over_mcp(&self) {
        self.0.state.lock().is_over_mcp = true;
    }

    /// Adds a miss of the turn in progress, for a call that was not answered elsewhere.
    pub fn miss(&self, message: impl Into<String>) {
        let mut state = self.0.state.lock();
        let turn = state.answers.turn();
        state.misses.push(ToolMiss { turn, message: message.into() });
    }

    /// The misses so far. One of them makes the case an ERROR.
    pub fn misses(&self) -> Vec<ToolMiss> {
        self.0.state.lock().misses.clone()
    }

    /// Adds a miss, and ends the turn in progress.
    pub(crate) fn refuse(&self, message: String) {
        self.miss(message);
        self.0.state.lock().is_halted = true;
        self.0.halted.notify_waiters();
    }

    /// Ends once the turn in progress has to end.
    pub(crate) async fn halted(&self) {
        let mut told = std::pin::pin!(self.0.halted.notified());
        // From here on no call of `notify_waiters` is missed.
        told.as_mut().enable();
        if !self.0.state.lock().is_halted {
            told.await;
        }
    }

    /// Adds a miss for each recorded call of a turn whose golden was not asked for. A turn that has failed may have ended
    /// before its calls were made.
    pub(crate) fn check_recorded<'c>(&self, calls: impl Iterator<Item = &'c FunctionCall>, has_failed: bool) {
        let mut state = self.0.state.lock();
        if state.records_others && has_failed {
            return;
        }
        let mut left = state.answers.made();
        for (name, own) in &state.own {
            *left.entry(name.clone()).or_default() += own;
        }
        for call in calls {
            let name = call.name.as_deref().unwrap_or_default();
            let is_others = || state.records_others && !state.answers.expects(name);
            if name == TRANSFER_TO_AGENT || state.run.contains(name) || is_others() {
                continue;
            }
            match left.get_mut(name) {
                Some(left) if *left > 0 => *left -= 1,
                _ => {
                    let help = match (state.records_others, state.is_over_mcp) {
                        (true, _) => OF_OTHER_AGENTS,
                        (false, true) => OF_MCP,
                        (false, false) => OF_AGENTS_IN_RUST,
                    };
                    let message =
                        format!("{} was recorded, and no golden was asked for it: {help}", in_short(call));
                    let turn = state.answers.turn();
                    state.misses.push(ToolMiss { turn, message });
                }
            }
        }
    }

    /// The faults that keep answers back in the turn in progress.
    pub(crate) fn waiting(&self) -> Vec<Waiting> {
        self.0.state.lock().waiting.clone()
    }

    /// Notes that the wait of a fault is over.
    fn answered(&self, answer: &ToolAnswer) {
        let over = Waiting::of(answer).filter(|waiting| waiting.after.is_some());
        let waiting = &mut self.0.state.lock().waiting;
        if let Some(at) = waiting.iter().position(|it| Some(it) == over.as_ref()) {
            waiting.remove(at);
        }
    }

    /// The turn and the message of a fault that no call reached.
    pub(crate) fn unreached(&self) -> Option<(usize, String)> {
        self.0.state.lock().answers.unreached(None)
    }

    /// The message of a fault of a turn that no call reached.
    #[doc(hidden)]
    pub fn unreached_in(&self, turn: usize) -> Option<String> {
        self.0.state.lock().answers.unreached(Some(turn)).map(|(_, message)| message)
    }

    /// Remarks on goldens that no call used.
    pub(crate) fn unused(&self) -> Vec<String> {
        self.0.state.lock().answers.unused()
    }
}

impl fmt::Debug for GoldenTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GoldenTools(..)")
    }
}

impl fmt::Display for ToolMiss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for ToolMiss {}

impl fmt::Display for GoldenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for GoldenError {}

/// For tools whose error is a text.
impl From<GoldenError> for String {
    fn from(error: GoldenError) -> Self {
        error.message
    }
}

#[cfg(test)]
mod tests {
    use eval_format::Invocation;
    use serde_json::json;

    use super::*;

    fn tools(faults: serde_json::Value) -> GoldenTools {
        let turn = Invocation::parse(
            r#"{"user_content": {}, "intermediate_data": {"tool_uses": [{"name": "f", "args": {}}],
                "tool_responses": [{"name": "f", "response": {"n": 1}}]}}"#,
        );
        GoldenTools::new(&EvalCase::new("c").turn(turn.unwrap()).with_extra("_tools", faults))
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_waits_fails_or_never_comes_as_its_fault_says() {
        let tools = tools(
            json!({"1": {"f#1": {"after": 2.5, "state": {"k": 1}}, "f#2": {"raises": "reset"}, "f#3": "never"}}),
        );
        tools.begin_turn();
        let begun = tokio::time::Instant::now();
        let answered = tools.answer("f", &Map::new()).await.unwrap();
        assert_eq!(begun.elapsed(), Duration::from_millis(2500));
        assert_eq!((answered.response["n"].as_i64(), answered.state["k"].as_i64()), (Some(1), Some(1)));
        assert_eq!(tools.answer("f", &Map::new()).await.unwrap_err().to_string(), "reset");
        assert_eq!(tools.waiting(), []);
        let day = Duration::from_hours(24);
        assert!(tokio::time::timeout(day, tools.answer("f", &Map::new())).await.is_err());
        let waiting = tools.waiting();
        assert_eq!(waiting[0].to_string(), "the fault `f#3` leaves its call without an answer");
        assert!(tools.misses().is_empty());
    }

    #[tokio::test]
    async fn calls_are_counted_in_the_order_in_which_they_are_made() {
        let tools = tools(json!({"1": {"f#1": {"raises": "first"}, "f#2": {"raises": "second"}}}));
        tools.begin_turn();
        let first = tools.answer("f", &Map::new());
        let second = tools.answer("f", &Map::new());
        assert_eq!(second.await.unwrap_err().message, "second");
        assert_eq!(first.await.unwrap_err().message, "first");
    }

    #[tokio::test(start_paused = true)]
    async fn a_fault_that_keeps_its_answer_back_is_known_until_it_answers() {
        let tools = tools(json!({"1": {"f#1": {"after": 5}}}));
        tools.begin_turn();
        let answer = tools.answer("f", &Map::new());
        let mut answer = std::pin::pin!(answer);
        assert!(tokio::time::timeout(Duration::from_secs(1), &mut answer).await.is_err());
        let waiting = tools.waiting();
        assert_eq!(waiting[0].to_string(), "the fault `f#1` keeps its answer back for 5s");
        answer.await.unwrap();
        assert_eq!(tools.waiting(), []);
    }

    /// The messages of misses for recorded calls, of agents that prepare themselves in this way.
    fn missed(prepare: &dyn Fn(&GoldenTools), recorded: &[&str], has_failed: bool) -> Vec<String> {
        let tools = tools(json!(null));
        tools.begin_turn();
        prepare(&tools);
        let before = tools.misses().len();
        let calls: Vec<FunctionCall> =
            recorded.iter().map(|name| FunctionCall::new(*name, json!({}))).collect();
        tools.check_recorded(calls.iter(), has_failed);
        tools.misses()[before..].iter().map(|miss| miss.message.clone()).collect()
    }

    fn ask(tools: &GoldenTools) {
        drop(tools.call("f", &Map::new()));
    }

    #[test]
    fn a_recorded_call_that_was_not_asked_for_is_a_miss() {
        assert!(missed(&ask, &["f", "transfer_to_agent"], false).is_empty());
        assert!(missed(&|tools| tools.let_run("g"), &["g", "g"], false).is_empty());
        assert_eq!(missed(&|tools| tools.own_call("g"), &["g", "g"], false).len(), 1);
        for has_failed in [false, true] {
            let missed = missed(&ask, &["f", "f"], has_failed);
            assert_eq!(missed.len(), 1);
            let says = "f() was recorded, and no golden was asked for it: its tool may have run; ask with";
            assert!(missed[0].starts_with(says), "{missed:?}");
        }
    }

    #[test]
    fn where_other_calls_are_recorded_too_each_one_that_the_turn_expects_was_asked_for() {
        let missed = |prepare: fn(&GoldenTools), recorded: &[&str], has_failed| {
            let prepare = |tools: &GoldenTools| {
                tools.records_others();
                prepare(tools);
            };
            missed(&prepare, recorded, has_failed)
        };
        assert!(missed(ask, &["f", "handoff", "transfer_to_agent"], false).is_empty());
        assert!(missed(|tools| tools.own_call("f"), &["f"], false).is_empty());
        for prepare in [|_: &GoldenTools| {}, |tools: &GoldenTools| tools.own_call("g")] {
            let missed = missed(prepare, &["f"], false);
            assert!(
                missed[0].contains("something else may have run it, or the agent has no such tool"),
                "{missed:?}"
            );
        }
        assert_eq!(missed(ask, &["f", "f"], false).len(), 1);
        assert!(missed(|_| {}, &["f"], true).is_empty(), "a turn that failed may have ended before the call");
    }
}
