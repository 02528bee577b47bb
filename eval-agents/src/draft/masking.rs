//! Secrets in cases.

use std::fmt;

use eval_core::format::{EvalCase, Map, Problems, Value};
use eval_support::secrets::{is_secret_under, mask};

/// A place where a secret was masked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Masked {
    /// The place, in words: `turn 1, the message of the user`.
    pub place: String,
    /// The key of the secret, if the key is named like a secret; `None` if the text looked like a key or was
    /// the value of a variable.
    pub name: Option<String>,
}

impl fmt::Display for Masked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{}: `{name}` is named like a secret", self.place),
            None => write!(f, "{}: something that looks like a key, or the value of a variable", self.place),
        }
    }
}

const MASKED_VALUE: &str = "(a secret)";

/// A case with its secrets masked, and their places. A case without an id is called `draft`.
pub(super) fn masked(mut case: EvalCase) -> Result<(EvalCase, Vec<Masked>), Problems> {
    if case.eval_id.is_empty() {
        "draft".clone_into(&mut case.eval_id);
    }
    case.check()?;
    let mut masker = Masker::default();
    let value = masker.value(case.to_value(), "");
    if !masker.found.is_empty() {
        case = EvalCase::parse(&value.to_string())?;
    }
    Ok((case, masker.found))
}

#[derive(Default)]
struct Masker {
    found: Vec<Masked>,
    path: Vec<Step>,
}

enum Step {
    Key(String),
    Index(usize),
    Tool(String),
}

impl Masker {
    fn value(&mut self, value: Value, key: &str) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text, key)),
            Value::Array(items) => {
                let items = items.into_iter().enumerate().map(|(at, item)| {
                    self.path.push(Step::Index(at));
                    let item = self.value(item, key);
                    self.path.pop();
                    item
                });
                Value::Array(items.collect())
            }
            Value::Object(map) => Value::Object(self.map(map)),
            other => other,
        }
    }

    fn map(&mut self, map: Map) -> Map {
        let is_tool = ["args", "response"].iter().any(|key| map.contains_key(key));
        let tool = map.get("name").and_then(Value::as_str).filter(|_| is_tool).map(str::to_owned);
        let steps = self.path.len();
        self.path.extend(tool.map(Step::Tool));
        let masked = map.into_iter().map(|(key, value)| {
            self.path.push(Step::Key(key.clone()));
            let value = self.value(value, &key);
            self.path.pop();
            let shown = mask(&key).into_owned();
            if shown != key {
                self.note(None);
            }
            (shown, value)
        });
        let masked = masked.collect();
        self.path.truncate(steps);
        masked
    }

    fn text(&mut self, text: String, key: &str) -> String {
        if self.is_below_free_keys() && is_secret_under(key, &text) {
            self.note(Some(key.to_owned()));
            return MASKED_VALUE.to_owned();
        }
        let shown = mask(&text);
        if shown == text {
            return text;
        }
        let shown = shown.into_owned();
        self.note(None);
        shown
    }

    fn note(&mut self, name: Option<String>) {
        let place = self.place();
        self.found.push(Masked { place, name });
    }

    /// Whether the keys here are chosen by tools and users.
    fn is_below_free_keys(&self) -> bool {
        self.path.iter().any(|step| match step {
            Step::Key(key) => matches!(
                key.as_str(),
                "args" | "response" | "state" | "final_session_state" | "part_metadata" | "custom_metadata"
            ),
            _ => false,
        })
    }

    fn place(&self) -> String {
        let mut words = Vec::new();
        for pair in self.path.windows(2) {
            if let [Step::Key(key), Step::Index(at)] = pair
                && key == "conversation"
            {
                words.push(format!("turn {}", at + 1));
            }
        }
        let tool = self.path.iter().find_map(|step| match step {
            Step::Tool(name) => Some(format!("`{}`", mask(name))),
            _ => None,
        });
        let field = self.path.iter().find_map(|step| match step {
            Step::Key(key) => Some(match key.as_str() {
                "user_content" => "the message of the user",
                "final_response" => "the answer",
                "intermediate_data" => "what was said on the way",
                "session_input" => "the state at the start",
                "final_session_state" => "the state at the end",
                "eval_id" => "the id",
                _ => return None,
            }),
            _ => None,
        });
        words.extend(tool.or_else(|| field.map(str::to_owned)));
        if words.is_empty() { "the case".to_owned() } else { words.join(", ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eval_core::format::{Content, FunctionCall, Invocation, SessionInput};
    use eval_core::json;

    #[test]
    fn secrets_are_masked_by_name_and_shape_and_their_places_told() {
        let key = concat!("AKIA", "IOSFODNN7EXAMPLE");
        let call = FunctionCall::new(
            "log_in",
            json!({ "password": "correct-horse", "user": "anna", "key": "last_city_of_all", "list": [{ "token": "tok-12345" }] }),
        );
        let turn = Invocation::new(Content::user(format!("My key is {key}."))).call(call).response("Done.");
        let session =
            SessionInput::new("app", "anna").with_state(Map::from([("db_password", "hunter2hunter2")]));
        let case =
            EvalCase::new("a").turn(turn).with_session_input(session).final_state(Map::from([("said", key)]));
        let (case, found) = masked(case).unwrap();
        let text = case.to_value().to_string();
        for secret in [key, "correct-horse", "tok-12345", "hunter2"] {
            assert!(!text.contains(secret), "{text}");
        }
        assert!(text.contains("last_city_of_all") && text.contains("anna"), "{text}");
        let found: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "turn 1, the message of the user: something that looks like a key, or the value of a variable",
                "turn 1, `log_in`: `token` is named like a secret",
                "turn 1, `log_in`: `password` is named like a secret",
                "the state at the start: `db_password` is named like a secret",
                "the state at the end: something that looks like a key, or the value of a variable",
            ]
        );
    }

    #[test]
    fn a_case_without_secrets_stays_as_it_is() {
        let case = EvalCase::new("hi").turn(Invocation::user("Hi").response("Hello!"));
        assert_eq!(masked(case.clone()).unwrap(), (case, Vec::new()));
        assert!(masked(EvalCase::new("a")).is_err(), "nobody says anything");
    }
}
