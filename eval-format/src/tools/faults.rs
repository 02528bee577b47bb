//! The faults of a case's tools: the key `_tools`.

use std::time::Duration;

use eval_support::words::{code_list, did_you_mean};

use crate::mistakes::{Mistake, Step};
use crate::model::EvalCase;
use crate::options::SECONDS_OF_A_DAY;
use crate::problem::{ProblemCode, shown};
use crate::value::{Map, Value};

/// The faults of the tools of a case, from its key `_tools`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolFaults(Vec<ToolFault>);

/// One fault: what is otherwise about one call that the agent makes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolFault {
    /// The turn, from 1.
    pub turn: usize,
    /// The name of the tool.
    pub tool: String,
    /// The number of the call among the calls of this tool that the agent makes in the turn, from 1.
    pub call: usize,
    /// The replacement of the golden's answer; `None` if the golden answers.
    pub outcome: Option<FaultOutcome>,
    /// The wait before the answer.
    pub after: Duration,
    /// Changes of the session state that the tool would make.
    pub state: Map,
}

/// A tool's behaviour in place of the golden's answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FaultOutcome {
    /// `error`: the tool answers with this object, as ADK's environment simulation does.
    Error(Map),
    /// `raises`: the tool fails as code does, with this message.
    Raises(String),
    /// `response`: the tool answers with this value, which may be malformed for the agent.
    Response(Value),
    /// `never`: the tool does not answer.
    Never,
}

const KEYS: [&str; 5] = ["error", "raises", "response", "after", "state"];

const EXAMPLE: &str =
    r#"`{"1": {"search#1": {"raises": "connection reset"}}}`: turn, tool and number of the call, fault"#;

impl ToolFaults {
    /// The faults of a case. Parts with mistakes, which the reader refuses, are left out.
    pub fn of(case: &EvalCase) -> Self {
        case.extra.get(EvalCase::TOOLS_KEY).map(Self::read).unwrap_or_default().0
    }

    /// The fault of a call, if it has one.
    pub fn of_call(&self, turn: usize, tool: &str, call: usize) -> Option<&ToolFault> {
        self.iter().find(|fault| (fault.turn, fault.call) == (turn, call) && fault.tool == tool)
    }

    /// All faults, in the order of the file.
    pub fn iter(&self) -> std::slice::Iter<'_, ToolFault> {
        self.0.iter()
    }

    /// The faults and the mistakes of a value.
    pub(crate) fn read(value: &Value) -> (Self, Vec<Mistake>) {
        let mut reader = Reader::default();
        reader.turns(value);
        (Self(reader.faults), reader.mistakes)
    }
}

impl<'a> IntoIterator for &'a ToolFaults {
    type Item = &'a ToolFault;
    type IntoIter = std::slice::Iter<'a, ToolFault>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl ToolFault {
    /// Its place as the file names it: `search#1`.
    pub fn name(&self) -> String {
        format!("{}#{}", self.tool, self.call)
    }
}

#[derive(Default)]
struct Reader {
    faults: Vec<ToolFault>,
    mistakes: Vec<Mistake>,
    path: Vec<Step>,
}

impl Reader {
    fn turns(&mut self, value: &Value) {
        if value.is_null() {
            return;
        }
        let Some(turns) = self.object(value, "`_tools` is an object of turns") else { return };
        if turns.is_empty() {
            self.wrong_value("no turn has a fault".to_owned(), EXAMPLE);
        }
        for (turn, calls) in turns {
            self.path.push(Step::key(turn));
            match counted(turn) {
                Some(number) => self.calls(number, calls),
                None => {
                    self.wrong_key(format!("`{}` is no turn", shown(turn)), "number the turns from \"1\"");
                }
            }
            self.path.pop();
        }
    }

    fn calls(&mut self, turn: usize, value: &Value) {
        let Some(calls) = self.object(value, "a turn of `_tools` is an object of calls") else { return };
        if calls.is_empty() {
            self.wrong_value("the turn has no fault".to_owned(), EXAMPLE);
        }
        for (name, fault) in calls {
            self.path.push(Step::key(name));
            let named = name.rsplit_once('#').filter(|(tool, _)| !tool.is_empty());
            match named.and_then(|(tool, number)| Some((tool, counted(number)?))) {
                Some((tool, call)) => self.fault(turn, tool, call, fault),
                None => self.wrong_key(
                    format!("`{}` names no call", shown(name)),
                    "write the tool and the number of its call in the turn, from 1: \"search#1\"",
                ),
            }
            self.path.pop();
        }
    }

    fn fault(&mut self, turn: usize, tool: &str, call: usize, value: &Value) {
        let before = self.mistakes.len();
        let mut fault = ToolFault {
            turn,
            tool: tool.to_owned(),
            call,
            outcome: None,
            after: Duration::ZERO,
            state: Map::new(),
        };
        if value.as_str() == Some("never") {
            fault.outcome = Some(FaultOutcome::Never);
        } else {
            let Some(keys) = self.object(value, "a fault is an object, or \"never\"") else { return };
            if keys.is_empty() {
                self.wrong_value("the fault changes nothing".to_owned(), keys_help());
            }
            for (key, value) in keys {
                self.path.push(Step::key(key));
                self.key(&mut fault, key, value);
                self.path.pop();
            }
        }
        if self.mistakes.len() == before {
            self.faults.push(fault);
        }
    }

    fn key(&mut self, fault: &mut ToolFault, key: &str, value: &Value) {
        let outcome = match key {
            "error" => match value.as_object() {
                Some(error) if !error.is_empty() => FaultOutcome::Error(error.clone()),
                _ => {
                    return self.wrong_value(
                        format!("`error` is {}", kind(value)),
                        r#"it is the answer of a tool that failed: {"error_code": 503, "error_message": "down"}"#,
                    );
                }
            },
            "raises" => match value.as_str().filter(|text| !text.trim().is_empty()) {
                Some(text) => FaultOutcome::Raises(text.to_owned()),
                None => {
                    return self.wrong_value(
                        match value {
                            Value::String(_) => "`raises` has no message".to_owned(),
                            other => format!("`raises` is {}", other.kind()),
                        },
                        "it is the message of the exception: \"connection reset\"",
                    );
                }
            },
            "response" => FaultOutcome::Response(value.clone()),
            "after" => {
                let seconds = value.as_f64().filter(|seconds| *seconds > 0.0 && *seconds <= SECONDS_OF_A_DAY);
                match seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
                    Some(after) => fault.after = after,
                    None => self.wrong_value(
                        format!("`after` is {value}"),
                        format!("it is a number of seconds, above 0 and at most {SECONDS_OF_A_DAY}"),
                    ),
                }
                return;
            }
            "state" => {
                match value.as_object() {
                    Some(state) if !state.is_empty() => fault.state = state.clone(),
                    _ => self.wrong_value(
                        format!("`state` is {}", kind(value)),
                        r#"name the keys of the session state that the tool sets: {"last_city": "Paris"}"#,
                    ),
                }
                return;
            }
            other => {
                let help = did_you_mean(other, KEYS).unwrap_or_else(keys_help);
                let message = format!("a fault has no key `{}`", shown(other));
                return self.add(ProblemCode::UnknownKey, true, message, help);
            }
        };
        if fault.outcome.replace(outcome).is_some() {
            self.wrong_key(
                "the fault has more than one outcome".to_owned(),
                "keep one of `error`, `raises` and `response`",
            );
        }
    }

    fn object<'v>(&mut self, value: &'v Value, what: &str) -> Option<&'v Map> {
        let map = value.as_object();
        if map.is_none() {
            self.wrong_value(format!("{what}, and this is {}", value.kind()), EXAMPLE);
        }
        map
    }

    fn wrong_key(&mut self, message: String, help: &str) {
        self.add(ProblemCode::ToolFault, true, message, help);
    }

    fn wrong_value(&mut self, message: String, help: impl Into<String>) {
        self.add(ProblemCode::WrongType, false, message, help);
    }

    fn add(&mut self, code: ProblemCode, at_key: bool, message: String, help: impl Into<String>) {
        self.mistakes.push(Mistake { code, path: self.path.clone(), at_key, message, help: help.into() });
    }
}

/// The kind of a value that may be an object without keys.
fn kind(value: &Value) -> &'static str {
    if value.as_object().is_some() { "an empty object" } else { value.kind() }
}

fn keys_help() -> String {
    format!("the keys are {}, or the fault is \"never\"", code_list(&KEYS))
}

/// A number from 1, as the file writes it: without a sign or a zero in front.
fn counted(text: &str) -> Option<usize> {
    let is_plain = !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| is_plain && *number > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (ToolFaults, Vec<Mistake>) {
        ToolFaults::read(&Value::parse(text).unwrap())
    }

    #[test]
    fn a_fault_has_an_outcome_a_wait_and_a_state() {
        let (faults, mistakes) = read(
            r#"{"1": {"search#1": {"error": {"error_code": 503, "error_message": "down"}},
                      "search#2": {"raises": "connection reset"}, "get_weather#1": {"after": 2.5},
                      "book#1": {"response": "<html>"}, "pay#1": "never"},
                "2": {"set_city#1": {"state": {"last_city": "Paris"}}, "a#b#12": {"response": null, "after": 1}}}"#,
        );
        assert!(mistakes.is_empty(), "{mistakes:?}");
        let names: Vec<String> =
            faults.iter().map(|fault| format!("{}:{}", fault.turn, fault.name())).collect();
        let expected =
            "1:search#1 1:search#2 1:get_weather#1 1:book#1 1:pay#1 2:set_city#1 2:a#b#12".split(' ');
        assert_eq!(names, expected.collect::<Vec<_>>());
        let of = |turn, tool, call| faults.of_call(turn, tool, call).unwrap();
        assert!(
            matches!(&of(1, "search", 1).outcome, Some(FaultOutcome::Error(error)) if error.len() == 2),
            "{faults:?}"
        );
        assert_eq!(of(1, "pay", 1).outcome, Some(FaultOutcome::Never));
        let waits = of(1, "get_weather", 1);
        assert_eq!((&waits.outcome, waits.after), (&None, Duration::from_millis(2500)));
        assert_eq!(of(2, "set_city", 1).state["last_city"].as_str(), Some("Paris"));
        let malformed = of(2, "a#b", 12);
        assert_eq!(malformed.outcome, Some(FaultOutcome::Response(Value::Null)));
        assert_eq!(malformed.after, Duration::from_secs(1));
        assert!(faults.of_call(1, "search", 3).is_none() && faults.of_call(2, "search", 1).is_none());
    }

    #[test]
    fn each_mistake_has_its_place() {
        for (text, place, message) in [
            ("[]", "", "`_tools` is an object of turns, and this is an array"),
            (r#"{"0": {}}"#, "0!", "`0` is no turn"),
            (r#"{"01": {}}"#, "01!", "`01` is no turn"),
            (r#"{"+1": {}}"#, "+1!", "`+1` is no turn"),
            (r#"{"1": 3}"#, "1", "a turn of `_tools` is an object of calls, and this is a number"),
            (r#"{"1": {"search": "never"}}"#, "1/search!", "`search` names no call"),
            (r##"{"1": {"#1": "never"}}"##, "1/#1!", "`#1` names no call"),
            (r#"{"1": {"f#0": "never"}}"#, "1/f#0!", "`f#0` names no call"),
            (
                r#"{"1": {"f#1": "always"}}"#,
                "1/f#1",
                "a fault is an object, or \"never\", and this is a string",
            ),
            (r#"{"1": {"f#1": {}}}"#, "1/f#1", "the fault changes nothing"),
            (r#"{"1": {"f#1": {"raise": "x"}}}"#, "1/f#1/raise!", "a fault has no key `raise`"),
            (r#"{"1": {"f#1": {"raises": " "}}}"#, "1/f#1/raises", "`raises` has no message"),
            (r#"{"1": {"f#1": {"error": "x"}}}"#, "1/f#1/error", "`error` is a string"),
            (r#"{"1": {"f#1": {"raises": 5}}}"#, "1/f#1/raises", "`raises` is a number"),
            (r#"{"1": {"f#1": {"error": {}}}}"#, "1/f#1/error", "`error` is an empty object"),
            (r#"{"1": {"f#1": {"state": {}}}}"#, "1/f#1/state", "`state` is an empty object"),
            ("{}", "", "no turn has a fault"),
            (r#"{"1": {}}"#, "1", "the turn has no fault"),
            (r#"{"1": {"f#1": {"after": -1}}}"#, "1/f#1/after", "`after` is -1"),
            (r#"{"1": {"f#1": {"after": 1e9}}}"#, "1/f#1/after", "`after` is 1000000000.0"),
            (r#"{"1": {"f#1": {"state": []}}}"#, "1/f#1/state", "`state` is an array"),
            (
                r#"{"1": {"f#1": {"raises": "x", "response": 1}}}"#,
                "1/f#1/response!",
                "the fault has more than one outcome",
            ),
        ] {
            let (faults, mistakes) = read(text);
            assert_eq!(faults, ToolFaults::default(), "{text}");
            let [mistake] = mistakes.as_slice() else { panic!("{text}: {mistakes:?}") };
            let steps = mistake.path.iter().map(|step| match step {
                Step::Key(key) => key.to_string(),
                Step::Index(at) => at.to_string(),
            });
            let found = steps.collect::<Vec<_>>().join("/") + if mistake.at_key { "!" } else { "" };
            assert_eq!((&*found, &*mistake.message), (place, message), "{text}");
            assert!(!mistake.help.is_empty());
        }
        assert_eq!(read(r#"{"1": {"f#1": {"raise": "x"}}}"#).1[0].help, "did you mean `raises`?");
        assert_eq!(read("null").0, ToolFaults::default());
    }
}
