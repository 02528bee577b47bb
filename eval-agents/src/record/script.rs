//! Scripts: the user's messages in conversations that are to be recorded.

use std::fmt;

use eval_core::format::problem::line_column;
use eval_core::format::{Content, EvalCase, EvalSet, Map, Problems, SessionInput, Value};
use eval_support::setters;
use eval_support::words::count;

use crate::wire;

/// The user's messages in one conversation, turn by turn.
///
/// ```
/// use eval_agents::record::Script;
///
/// let script = Script::new("two_cities").say("Weather in Paris?").say("And in Oslo?");
/// assert_eq!(script.turns.len(), 2);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Script {
    /// The id that the case will have; `None` to derive one from what the user says.
    pub eval_id: Option<String>,
    /// The messages of the user.
    pub turns: Vec<Content>,
    /// The session of the conversation; `None` for one without state.
    pub session: Option<SessionInput>,
}

impl Script {
    /// A script without turns. An empty id counts as none.
    pub fn new(eval_id: impl Into<String>) -> Self {
        Self { eval_id: Some(eval_id.into()).filter(|id| !id.is_empty()), ..Self::default() }
    }

    /// Adds a message of the user.
    #[must_use]
    pub fn say(self, text: impl Into<String>) -> Self {
        self.send(Content::user(text))
    }

    setters! {
        /// Adds a message of the user, of any parts.
        send(message: Content) { turns.push(message) }

        /// Sets the session of the conversation.
        with_session(session: SessionInput) { session = Some(session) }
    }
}

/// The user's messages in a case, and its session.
impl From<&EvalCase> for Script {
    fn from(case: &EvalCase) -> Self {
        let turns = case.conversation.iter().map(|turn| turn.user_content.clone()).collect();
        Self { eval_id: Some(case.eval_id.clone()), turns, session: case.session_input.clone() }
    }
}

/// An error in a text of scripts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScriptError {
    /// The name of the text.
    pub from: String,
    /// The line, what was expected there, and what was seen.
    pub why: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.from, self.why)
    }
}

impl std::error::Error for ScriptError {}

/// Parses the scripts of a text. `from` is its name in messages. The text is one of these:
///
/// - plain text: a paragraph is a conversation, a line is a turn
/// - JSON lines: a line is a text, an array of texts, or an object with `turns` or `user`, and optionally
///   with `id`, `state`, `app_name` and `user_id`
/// - an eval set: the messages of its users
///
/// A name with the ending of a table, YAML, TOML, XML or HTML file is an error.
///
/// ```
/// use eval_agents::record::scripts;
///
/// let text = "Weather in Paris?\nAnd in Oslo?\n\nHello!\n";
/// let lines = "[\"Weather in Paris?\", \"And in Oslo?\"]\n\"Hello!\"\n";
/// assert_eq!(scripts("prompts.txt", text)?, scripts("prompts.jsonl", lines)?);
/// # Ok::<(), eval_agents::record::ScriptError>(())
/// ```
pub fn scripts(from: &str, text: &str) -> Result<Vec<Script>, ScriptError> {
    let failed = |why: String| ScriptError { from: from.to_owned(), why };
    if let Some(kind) = kind_of_other(from) {
        return Err(failed(format!("it is {kind}, whose lines are no messages of a user")));
    }
    let text = text.trim_start_matches('\u{feff}');
    let begin = text.trim_start();
    let is_set =
        || Value::parse(text).is_ok_and(|it| !it["eval_cases"].is_null() || !it["evalCases"].is_null());
    let scripts = match begin.chars().next() {
        None => Vec::new(),
        Some('{') if is_set() => of_set(text).map_err(failed)?,
        Some('{' | '[') => of_lines(text).map_err(failed)?,
        // Plain text may begin with a quote too.
        Some('"') => of_lines(text).unwrap_or_else(|_| of_paragraphs(text)),
        Some(_) => of_paragraphs(text),
    };
    match scripts.iter().position(|script| script.turns.is_empty()) {
        Some(at) => Err(failed(format!("conversation {} has no turn", at + 1))),
        None if scripts.is_empty() => Err(failed("there is no message of a user in it".to_owned())),
        None => Ok(scripts),
    }
}

/// A kind of file that is no file of prompts, by its name. Read as plain text, its columns and keys would be messages.
fn kind_of_other(name: &str) -> Option<&'static str> {
    let (_, extension) = name.rsplit_once('.')?;
    match extension.to_ascii_lowercase().as_str() {
        "csv" | "tsv" => Some("a table"),
        "yaml" | "yml" => Some("YAML"),
        "toml" => Some("TOML"),
        "xml" | "html" | "htm" => Some("a document with tags"),
        _ => None,
    }
}

fn of_set(text: &str) -> Result<Vec<Script>, String> {
    let set = EvalSet::parse(text).map_err(|problems| first_error(&problems))?;
    let script = |case: &EvalCase| match case.conversation_scenario {
        Some(_) => Err(format!("case `{}` has a scenario, so what its user says is not known", case.eval_id)),
        None => Ok(Script::from(case)),
    };
    set.eval_cases.iter().map(script).collect()
}

/// The first error of a set, and how many more there are.
fn first_error(problems: &Problems) -> String {
    let mut errors = problems.iter().filter(|problem| problem.is_error());
    let Some(first) = errors.next() else { return "it is no eval set".to_owned() };
    let (line, column) = line_column(problems.text(), first.range.start);
    let more = match errors.count() {
        0 => String::new(),
        more => format!(" (and {})", count(more, "more error")),
    };
    format!("line {line}, column {column}: {}{more}", first.message)
}

fn of_paragraphs(text: &str) -> Vec<Script> {
    let mut scripts = vec![Script::default()];
    for line in text.lines().map(str::trim) {
        let last = scripts.len() - 1;
        if !line.is_empty() {
            scripts[last].turns.push(Content::user(line));
        } else if !scripts[last].turns.is_empty() {
            scripts.push(Script::default());
        }
    }
    scripts.retain(|script| !script.turns.is_empty());
    scripts
}

fn of_lines(text: &str) -> Result<Vec<Script>, String> {
    // An array over several lines has an item for each conversation.
    if let Ok(Value::Array(items)) = Value::parse(text)
        && text.trim().contains('\n')
    {
        let numbered = items.iter().enumerate();
        return numbered.map(|(at, item)| of_value(item).map_err(|why| format!("[{at}]: {why}"))).collect();
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let read = lines.map(|(at, line)| {
        let value = wire::parse(line).map_err(|why| format!("line {}: {why}", at + 1))?;
        of_value(&value).map_err(|why| format!("line {}: {why}", at + 1))
    });
    read.collect()
}

fn of_value(value: &Value) -> Result<Script, String> {
    match value {
        Value::Array(items) => {
            Ok(Script { turns: items.iter().map(message).collect::<Result<_, _>>()?, ..Script::default() })
        }
        Value::Object(map) => of_object(map),
        other => Ok(Script { turns: vec![message(other)?], ..Script::default() }),
    }
}

fn message(value: &Value) -> Result<Content, String> {
    match value.as_str() {
        Some(text) if !text.trim().is_empty() => Ok(Content::user(text)),
        Some(_) => Err("a message of the user is empty".to_owned()),
        None => Err(format!("a message of the user should be a text and is {}", value.kind())),
    }
}

fn of_object(map: &Map) -> Result<Script, String> {
    let mut script = Script::default();
    let mut session = SessionInput::default();
    for (key, value) in map {
        let is_not = |expected: &str| format!("`{key}` should be {expected} and is {}", value.kind());
        let text = || value.as_str().map(str::to_owned).ok_or_else(|| is_not("a text"));
        match key {
            "turns" => {
                let items = value.as_array().ok_or_else(|| is_not("an array"))?;
                script.turns = items.iter().map(message).collect::<Result<_, _>>()?;
            }
            "user" => script.turns = vec![message(value)?],
            "id" => script.eval_id = Script::new(text()?).eval_id,
            "app_name" => session.app_name = text()?,
            "user_id" => session.user_id = text()?,
            "state" => session.state.clone_from(value.as_object().ok_or_else(|| is_not("an object"))?),
            _ if key.starts_with('_') => {}
            other => {
                return Err(format!(
                    "there is no key `{other}`: a conversation has `turns` or `user`, `id`, `state`, `app_name` and `user_id`"
                ));
            }
        }
    }
    script.session = (session != SessionInput::default()).then_some(session);
    Ok(script)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Vec<Vec<String>> {
        let scripts = scripts("here", text).unwrap_or_else(|error| panic!("{error}"));
        scripts.iter().map(|script| script.turns.iter().map(Content::text).collect()).collect()
    }

    #[test]
    fn texts_lines_and_sets_hold_conversations() {
        let set = r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation": [
            {"user_content": {"parts": [{"text": "one"}]}}, {"user_content": {"parts": [{"text": "two"}]}}]}]}"#;
        for text in [
            "one\n two \n",
            "\n\n one\r\ntwo\r\n\r\n\r\n",
            "[\"one\", \"two\"]",
            "[[\"one\", \"two\"]\n]",
            "{\"turns\": [\"one\", \"two\"], \"id\": \"x\", \"_note\": 1}\n\n",
            set,
        ] {
            assert_eq!(said(text), [["one", "two"]], "{text}");
        }
        assert_eq!(said("one\n\n \ntwo"), [["one"], ["two"]]);
        assert_eq!(said("\"one\" he said"), [["\"one\" he said"]]);
        let line = r#"{"user": "Hi", "id": "hi", "app_name": "a", "user_id": "u", "state": {"k": 1}}"#;
        let script = scripts("here", line).unwrap().remove(0);
        assert_eq!(script.eval_id.as_deref(), Some("hi"));
        assert_eq!(script.session, Some(SessionInput::new("a", "u").with_state(Map::from([("k", 1)]))));
    }

    #[test]
    fn a_file_of_another_kind_is_no_text_of_messages() {
        for (name, kind) in [("p.csv", "a table"), ("a/P.TSV", "a table"), ("p.yml", "YAML")] {
            let error = scripts(name, "question,answer\nHi,Hello\n").unwrap_err().to_string();
            assert_eq!(error, format!("`{name}`: it is {kind}, whose lines are no messages of a user"));
        }
        for name in ["prompts", "prompts.md", "prompts.txt", "csv"] {
            assert_eq!(scripts(name, "Hi, you\n").unwrap().len(), 1);
        }
    }

    #[test]
    fn what_is_no_conversation_is_an_error_with_its_line() {
        for (text, why) in [
            ("", "there is no message of a user in it"),
            (" \n\n", "there is no message of a user in it"),
            ("{\"user\": \"a\"}\n{\"turn\": 1}", "line 2: there is no key `turn`"),
            ("{\"user\": 1}", "line 1: a message of the user should be a text and is a number"),
            ("[\"a\"]\n[\" \"]", "line 2: a message of the user is empty"),
            ("{\"id\": \"x\"}", "conversation 1 has no turn"),
            ("[\"a\"]\n[\"b\"", "line 2: not JSON (line 1, column 5: the file ends inside an array)"),
            (
                r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "a"}, {"eval_id": 1}]}"#,
                "line 1, column 37: ",
            ),
            (r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "a"}, {"eval_id": 1}]}"#, " more error"),
        ] {
            let error = scripts("here", text).unwrap_err().to_string();
            assert!(!error.contains('\n'), "{error}");
            assert!(error.starts_with("`here`: ") && error.contains(why), "{error} lacks {why}");
        }
    }
}
