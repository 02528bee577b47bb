//! Faults of models as data: what goes wrong at a stated call. They are in the key `_models` of a case, or in an argument of
//! the attribute.

mod check;

use std::time::Duration;

use eval_support::words::{code_list, did_you_mean};

pub(crate) use check::check;
pub use check::check_model_faults;

use crate::mistakes::{Mistake, Step};
use crate::model::EvalCase;
use crate::options::SECONDS_OF_A_DAY;
use crate::problem::{ProblemCode, shown};
use crate::value::{Map, Value};

// Code in help texts is written without the braces around it, so that the attribute can show it as arguments.
const EXAMPLE: &str = r#"`"faults": [{"at": {"turn": 1, "call": 2}, "fault": "reset"}]`"#;
const EXAMPLE_OF_ONE: &str = r#"`"at": {"turn": 1, "call": 2}, "fault": "reset"`"#;
const KINDS: &str = r#"for example `"fault": {"status": 429, "retry_after": 0.001}`; others are `"reset"`, `"hang": 2`, `"cut": {"events": 1}`, `"error_in_stream": {"events": 1}`, `"truncate": "max_tokens"`, `"malformed_arguments"` and `"empty"`"#;

/// The faults of the models of a case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelFaults(Vec<ModelFault>);

impl ModelFaults {
    /// The key in `_models` with the faults.
    pub const LIST_KEY: &'static str = "faults";
}

/// One fault: what goes wrong at one call.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelFault {
    /// The turn, from 1.
    pub turn: usize,
    /// The number of the call in its turn, from 1.
    pub call: usize,
    /// The kind of the fault.
    pub kind: FaultKind,
    /// The fault as it is written.
    pub written: String,
}

/// A kind of fault: an answer that fails, breaks off or changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FaultKind {
    /// An error of the provider.
    Status {
        /// The status, from 400 to 599.
        status: u16,
        /// The time that a client is told to wait.
        retry_after: Option<Duration>,
    },
    /// The connection ends before an answer.
    Reset,
    /// No answer for this time; then the connection ends.
    Hang(Duration),
    /// The stream ends after some events.
    Cut {
        /// The number of events before the end.
        events: usize,
        /// Whether it ends in an error, and not with the connection.
        is_error: bool,
    },
    /// The answer is changed.
    Changed(AnswerChange),
}

/// A change of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerChange {
    /// It ends because it is too long.
    Truncated,
    /// The arguments of its calls are no JSON.
    MalformedArguments,
    /// It says nothing, and calls nothing.
    Empty,
}

impl ModelFaults {
    /// Reads the faults of the value under `_models`. The error is a sentence about the first mistake.
    pub fn parse(value: &Value) -> Result<Self, String> {
        let (faults, mistakes) = Self::read(value);
        match mistakes.first() {
            None => Ok(faults),
            Some(mistake) => {
                let number = mistake.path.iter().find_map(|step| match step {
                    Step::Index(at) => Some(format!("fault {}: ", at + 1)),
                    Step::Key(_) => None,
                });
                Err(format!("{}{}; {}", number.unwrap_or_default(), mistake.message, mistake.help))
            }
        }
    }

    /// All faults, in the order of the file.
    pub fn iter(&self) -> std::slice::Iter<'_, ModelFault> {
        self.0.iter()
    }

    /// The fault at a call.
    pub fn at(&self, turn: usize, call: usize) -> Option<&ModelFault> {
        self.iter().find(|fault| (fault.turn, fault.call) == (turn, call))
    }

    /// The first fault of a turn that a case does not have. A scenario may have any number of turns.
    pub fn beyond(&self, case: &EvalCase) -> Option<&ModelFault> {
        let turns = case.conversation.len();
        self.iter().find(|fault| turns > 0 && fault.turn > turns)
    }

    fn read(value: &Value) -> (Self, Vec<Mistake>) {
        let mut reader = Reader::default();
        if !value.is_null() {
            reader.list(value);
        }
        (Self(reader.faults), reader.mistakes)
    }
}

impl<'a> IntoIterator for &'a ModelFaults {
    type Item = &'a ModelFault;
    type IntoIter = std::slice::Iter<'a, ModelFault>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[derive(Default)]
struct Reader {
    faults: Vec<ModelFault>,
    mistakes: Vec<Mistake>,
    path: Vec<Step>,
}

impl Reader {
    fn list(&mut self, value: &Value) {
        let Some(map) =
            self.object(value, "`_models` is an object with `faults`", EXAMPLE, &[ModelFaults::LIST_KEY])
        else {
            return;
        };
        let Some(list) = map.get(ModelFaults::LIST_KEY) else { return };
        self.path.push(Step::named(ModelFaults::LIST_KEY));
        match list.as_array() {
            None => self.wrong_value(
                format!("`faults` is an array, and this is {}", list.kind()),
                format!("for example {EXAMPLE}"),
            ),
            Some(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.within(Step::Index(at), |reader| reader.fault(item));
                }
            }
        }
        self.path.pop();
    }

    fn fault(&mut self, value: &Value) {
        let what = "a fault is an object with `at` and `fault`";
        let Some(map) = self.object(value, what, EXAMPLE_OF_ONE, &["at", "fault"]) else { return };
        let before = self.mistakes.len();
        let place = self.needed(map, "at").map(|at| {
            self.within(Step::named("at"), |reader| {
                let what = "`at` is an object with `turn` and `call`";
                let at = reader.object(at, what, r#"`"at": {"turn": 1, "call": 1}`"#, &["turn", "call"])?;
                Some((reader.counted(at, "turn"), reader.counted(at, "call")))
            })
        });
        let kind = self.needed(map, "fault").map(|fault| {
            let kind = self.within(Step::named("fault"), |reader| reader.kind(fault));
            (kind, fault.to_string())
        });
        if self.mistakes.len() > before {
            return;
        }
        let (Some(Some((Some(turn), Some(call)))), Some((Some(kind), written))) = (place, kind) else {
            return;
        };
        if let Some(first) = self.faults.iter().find(|fault| (fault.turn, fault.call) == (turn, call)) {
            let message = format!("turn {turn}, call {call} has two faults");
            let help = format!("the first one is `{}`; keep one of them", first.written);
            return self.add(ProblemCode::ModelFault, false, message, help);
        }
        self.faults.push(ModelFault { turn, call, kind, written });
    }

    fn kind(&mut self, fault: &Value) -> Option<FaultKind> {
        let changed = |change| Some(FaultKind::Changed(change));
        match fault {
            Value::String(name) => match name.as_str() {
                "reset" => Some(FaultKind::Reset),
                "cut" => Some(FaultKind::Cut { events: 1, is_error: false }),
                "error_in_stream" => Some(FaultKind::Cut { events: 1, is_error: true }),
                "malformed_arguments" => changed(AnswerChange::MalformedArguments),
                "empty" => changed(AnswerChange::Empty),
                _ => self.unknown(fault),
            },
            Value::Object(map) => {
                let known = ["status", "hang", "cut", "error_in_stream", "truncate"];
                let named = known.into_iter().find(|name| map.contains_key(name));
                let Some((name, value)) = named.and_then(|name| Some((name, map.get(name)?))) else {
                    return self.unknown(fault);
                };
                let others = if name == "status" { &["status", "retry_after"][..] } else { &[name][..] };
                self.only(map, others);
                self.within(Step::named(name), |reader| match name {
                    "status" => reader.status(value, map),
                    "hang" => reader.seconds(value, "hang").map(FaultKind::Hang),
                    "cut" | "error_in_stream" => {
                        let is_error = name == "error_in_stream";
                        reader.events(value, name).map(|events| FaultKind::Cut { events, is_error })
                    }
                    _ if value.as_str() == Some("max_tokens") => changed(AnswerChange::Truncated),
                    _ => {
                        reader.wrong_value(
                            format!("`truncate` is {}", shown(&value.to_string())),
                            r#"it is "max_tokens""#.to_owned(),
                        );
                        None
                    }
                })
            }
            _ => self.unknown(fault),
        }
    }

    fn unknown<T>(&mut self, fault: &Value) -> Option<T> {
        let message = format!("{} is no fault", shown(&fault.to_string()));
        self.add(ProblemCode::ModelFault, false, message, KINDS.to_owned());
        None
    }

    fn status(&mut self, value: &Value, map: &Map) -> Option<FaultKind> {
        let status = value.as_i64().and_then(|status| u16::try_from(status).ok());
        let status = status.filter(|status| (400..600).contains(status));
        if status.is_none() {
            let message = format!("`status` is {}", shown(&value.to_string()));
            self.wrong_value(message, "it is a number from 400 to 599".to_owned());
        }
        let retry_after = match map.get("retry_after") {
            None => None,
            Some(wait) => {
                self.path.pop();
                let wait =
                    self.within(Step::named("retry_after"), |reader| reader.seconds(wait, "retry_after"));
                self.path.push(Step::named("status"));
                Some(wait?)
            }
        };
        Some(FaultKind::Status { status: status?, retry_after })
    }

    fn seconds(&mut self, value: &Value, name: &str) -> Option<Duration> {
        let seconds = value.as_f64().filter(|seconds| (0.0..=SECONDS_OF_A_DAY).contains(seconds));
        let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        if time.is_none() {
            let message = format!("`{name}` is {}", shown(&value.to_string()));
            self.wrong_value(message, format!("it is a number of seconds, from 0 to {SECONDS_OF_A_DAY}"));
        }
        time
    }

    fn events(&mut self, value: &Value, name: &str) -> Option<usize> {
        let what = format!("`{name}` is an object with `events`");
        let map = self.object(value, &what, r#"`"events": 3`"#, &["events"])?;
        let events =
            map.get("events").and_then(Value::as_i64).and_then(|events| usize::try_from(events).ok());
        if events.is_none() {
            let message = format!("`{name}` has no number of `events`");
            self.wrong_value(message, r#"for example `"events": 3`"#.to_owned());
        }
        events
    }

    fn counted(&mut self, map: &Map, key: &'static str) -> Option<usize> {
        let value = self.needed(map, key)?;
        let number = value.as_i64().and_then(|number| usize::try_from(number).ok());
        let number = number.filter(|number| *number > 0);
        if number.is_none() {
            let message = format!("`{key}` is {}", shown(&value.to_string()));
            self.within(Step::named(key), |reader| {
                reader.wrong_value(message, "it is a whole number from 1".to_owned());
            });
        }
        number
    }

    fn needed<'v>(&mut self, map: &'v Map, key: &str) -> Option<&'v Value> {
        let value = map.get(key);
        if value.is_none() {
            self.add(
                ProblemCode::MissingKey,
                false,
                format!("`{key}` is missing"),
                format!("for example {EXAMPLE_OF_ONE}"),
            );
        }
        value
    }

    fn object<'v>(&mut self, value: &'v Value, what: &str, example: &str, keys: &[&str]) -> Option<&'v Map> {
        let map = value.as_object();
        match map {
            Some(map) => self.only(map, keys),
            None => {
                let message = format!("{what}, and this is {}", value.kind());
                self.wrong_value(message, format!("for example {example}"));
            }
        }
        map
    }

    /// Reports keys that are not among these. A key that begins with `_` is a comment.
    fn only(&mut self, map: &Map, keys: &[&str]) {
        for key in map.keys().filter(|key| !keys.contains(key) && !key.starts_with('_')) {
            let help = did_you_mean(key, keys.iter().copied())
                .unwrap_or_else(|| format!("nothing reads it here; the keys are {}", code_list(keys)));
            self.within(Step::key(key), |reader| {
                reader.add(
                    ProblemCode::UnknownKey,
                    true,
                    format!("the key `{}` is unknown", shown(key)),
                    help,
                );
            });
        }
    }

    fn within<T>(&mut self, step: Step, work: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(step);
        let done = work(self);
        self.path.pop();
        done
    }

    fn wrong_value(&mut self, message: String, help: String) {
        self.add(ProblemCode::WrongType, false, message, help);
    }

    fn add(&mut self, code: ProblemCode, at_key: bool, message: String, help: String) {
        self.mistakes.push(Mistake { code, path: self.path.clone(), at_key, message, help });
    }
}
