//! The notation of `_expect` as typed values, for programs that build cases.

use super::answer::Demands;
use super::matcher::Matcher;
use super::path::ArgPath;
use crate::model::EvalCase;
use crate::value::{Map, Value};

pub(super) const KEY: &str = "_expect";

/// The key `_expect` of a case: its rules and demands, turn by turn.
///
/// ```
/// use eval_format::expect::{Demands, Expect, Matcher, TurnExpect};
/// use eval_format::{EvalCase, FunctionCall, Invocation};
/// use serde_json::json;
///
/// let turn = Invocation::user("Visa?").call(FunctionCall::new("search", json!({ "q": "visa for Seattle" })));
/// let loose = TurnExpect::default()
///     .arg("search", "q", Matcher::contains("visa"))
///     .optional("transfer_to_agent")
///     .answer(Demands::default().contains("ESTA"));
/// let case = EvalCase::new("visa").turn(turn).with_expect(Expect::default().turn(1, loose));
/// let problems = case.check().unwrap_err();
/// assert!(problems.to_string().contains("no call of `transfer_to_agent` is expected in turn 1"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Expect {
    /// The turns, counted from 1.
    pub turns: Vec<(usize, TurnExpect)>,
}

/// The rules and demands of a turn.
///
/// Calls are named by their tool if it is expected once in the turn, else by `TOOL#n`, counted from 1, or all at once by
/// `TOOL#*`.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TurnExpect {
    /// The rules for the arguments of calls.
    pub calls: Vec<(String, CallExpect)>,
    /// Whether the expected calls may come in any order.
    pub any_order: bool,
    /// The calls that may be made beside the expected ones.
    pub others: Option<Others>,
    /// The calls that may be left out.
    pub optional: Vec<String>,
    /// The calls that may be made more than once, and how often at most.
    pub repeat: Vec<(String, usize)>,
    /// The rules for the responses of tools.
    pub responses: Vec<(String, Vec<(ArgPath, Matcher)>)>,
    /// The demands on the answer.
    pub answer: Demands,
}

/// The rules for the arguments of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum CallExpect {
    /// Any arguments.
    Any,
    /// The golden ones, but for these.
    Args(Vec<(ArgPath, Matcher)>),
}

/// The calls that may be made beside the expected ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Others {
    /// Any calls.
    Any,
    /// Calls of these tools.
    Tools(Vec<String>),
}

impl Expect {
    /// Sets the rules and demands of a turn, counted from 1, in place of earlier ones.
    #[must_use]
    pub fn turn(mut self, number: usize, turn: TurnExpect) -> Self {
        self.turns.retain(|(known, _)| *known != number);
        self.turns.push((number, turn));
        self
    }

    /// The value of the key in a file.
    pub fn to_value(&self) -> Value {
        Value::Object(self.turns.iter().map(|(number, turn)| (number.to_string(), turn.to_value())).collect())
    }
}

impl TurnExpect {
    /// Sets what an argument of a call may be. A malformed path is an error when the case is checked.
    #[must_use]
    pub fn arg(mut self, call: impl Into<String>, path: &str, matcher: Matcher) -> Self {
        let call = call.into();
        let entry = (ArgPath::unchecked(path), matcher);
        match self.calls.iter_mut().find(|(name, _)| *name == call) {
            Some((_, CallExpect::Args(args))) => args.push(entry),
            Some((_, CallExpect::Any)) => {}
            None => self.calls.push((call, CallExpect::Args(vec![entry]))),
        }
        self
    }

    /// Lets a call have any arguments.
    #[must_use]
    pub fn any_args(mut self, call: impl Into<String>) -> Self {
        let call = call.into();
        self.calls.retain(|(name, _)| *name != call);
        self.calls.push((call, CallExpect::Any));
        self
    }

    /// Lets the expected calls come in any order.
    #[must_use]
    pub fn any_order(mut self) -> Self {
        self.any_order = true;
        self
    }

    /// Lets other calls be made.
    #[must_use]
    pub fn others(mut self, others: Others) -> Self {
        self.others = Some(others);
        self
    }

    /// Lets a call be left out.
    #[must_use]
    pub fn optional(mut self, call: impl Into<String>) -> Self {
        self.optional.push(call.into());
        self
    }

    /// Lets a call be made up to this number of times.
    #[must_use]
    pub fn repeat(mut self, call: impl Into<String>, most: usize) -> Self {
        self.repeat.push((call.into(), most));
        self
    }

    /// Sets what a value in the response of a tool may be.
    #[must_use]
    pub fn response(mut self, call: impl Into<String>, path: &str, matcher: Matcher) -> Self {
        let call = call.into();
        let entry = (ArgPath::unchecked(path), matcher);
        match self.responses.iter_mut().find(|(name, _)| *name == call) {
            Some((_, values)) => values.push(entry),
            None => self.responses.push((call, vec![entry])),
        }
        self
    }

    /// Sets the demands on the answer.
    #[must_use]
    pub fn answer(mut self, demands: Demands) -> Self {
        self.answer = demands;
        self
    }

    fn to_value(&self) -> Value {
        let texts = |texts: &[String]| texts.iter().map(String::as_str).collect::<Value>();
        let some = |map: Map| (!map.is_empty()).then_some(Value::Object(map));
        let calls = self.calls.iter().map(|(name, call)| {
            (
                name.as_str(),
                match call {
                    CallExpect::Any => "any".into(),
                    CallExpect::Args(args) => matchers(args),
                },
            )
        });
        let repeat =
            self.repeat.iter().map(|(name, most)| (name.as_str(), Value::Number((*most as u64).into())));
        let responses = self.responses.iter().map(|(name, values)| (name.as_str(), matchers(values)));
        let entries = [
            ("calls", some(calls.collect())),
            ("order", self.any_order.then(|| "any".into())),
            (
                "others",
                self.others.as_ref().map(|others| match others {
                    Others::Any => "any".into(),
                    Others::Tools(tools) => texts(tools),
                }),
            ),
            ("optional", (!self.optional.is_empty()).then(|| texts(&self.optional))),
            ("repeat", some(repeat.collect())),
            ("responses", some(responses.collect())),
            ("answer", (!self.answer.is_empty()).then(|| self.answer.to_value())),
        ];
        Value::Object(entries.into_iter().filter_map(|(key, value)| Some((key, value?))).collect())
    }
}

fn matchers(matchers: &[(ArgPath, Matcher)]) -> Value {
    Value::Object(matchers.iter().map(|(path, matcher)| (path.as_str(), matcher.to_value())).collect())
}

impl EvalCase {
    /// The key of a case with its rules and demands.
    pub const EXPECT_KEY: &'static str = KEY;

    /// Sets the rules and demands of the case: the key `_expect`.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "setters take their value")]
    pub fn with_expect(self, expect: Expect) -> Self {
        if expect.turns.is_empty() {
            let mut case = self;
            case.extra.remove(KEY);
            return case;
        }
        self.with_extra(KEY, expect.to_value())
    }
}
