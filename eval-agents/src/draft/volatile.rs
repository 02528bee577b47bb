//! Arguments of tools and parts of answers that will probably differ next time: random ids, times and paths.

mod kind;
mod prose;

use std::fmt;

use eval_core::format::{EvalCase, Value};

pub use kind::VolatileKind;
use kind::{has_uuid, is_epoch, is_time};

/// An argument of a tool, or a part of an answer, that will probably differ next time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Volatile {
    /// The turn, from 1.
    pub turn: usize,
    /// The tool; `None` for the answer of the turn.
    pub tool: Option<String>,
    /// The argument: `at`, or `rooms[0].id` for one inside another. Empty for an answer.
    pub argument: String,
    /// The kind of the value.
    pub kind: VolatileKind,
    /// Its value.
    pub value: String,
}

impl fmt::Display for Volatile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { turn, tool, argument, kind, value } = self;
        match tool {
            Some(tool) => write!(f, "turn {turn}, `{tool}`: `{argument}` is {kind}, `{value}`"),
            None => write!(f, "turn {turn}, the answer: `{value}` is {kind}"),
        }
    }
}

/// The volatile arguments and parts of answers of a case. What the user or the state at the start gives is the same each time.
#[doc(hidden)]
pub fn volatile_of(case: &EvalCase) -> Vec<Volatile> {
    let state = case.session_input.as_ref().map(|input| Value::Object(input.state.clone()).to_string());
    // In lower case: the agent may write a day of the user in another case.
    let given = &mut state.unwrap_or_default().to_lowercase();
    let mut found = Vec::new();
    for (at, turn) in case.conversation.iter().enumerate() {
        given.push('\n');
        given.push_str(&turn.user_text().to_lowercase());
        for call in turn.tool_calls() {
            let tool = call.name.as_deref().unwrap_or("(no name)");
            let mut add = |argument: &str, kind: VolatileKind, value: &str| {
                let (argument, value) = (argument.to_owned(), value.to_owned());
                found.push(Volatile { turn: at + 1, tool: Some(tool.to_owned()), argument, kind, value });
            };
            for (name, value) in call.args.iter().flatten() {
                walk(value, name, given, &mut add);
            }
        }
        let answer = turn.response_text();
        let chances =
            prose::found(&answer).into_iter().filter(|(_, value)| !given.contains(&value.to_lowercase()));
        found.extend(chances.map(|(kind, value)| Volatile {
            turn: at + 1,
            tool: None,
            argument: String::new(),
            kind,
            value: value.to_owned(),
        }));
    }
    found
}

fn walk(value: &Value, path: &str, given: &str, add: &mut dyn FnMut(&str, VolatileKind, &str)) {
    match value {
        Value::String(text) => {
            if !given.contains(&text.to_lowercase()) {
                let found =
                    kind_of_text(text).map_or_else(|| prose::found(text), |kind| vec![(kind, text.as_str())]);
                let new = found.into_iter().filter(|(_, part)| !given.contains(&part.to_lowercase()));
                new.for_each(|(kind, part)| add(path, kind, part));
            }
        }
        Value::Number(number) => {
            let text = number.to_string();
            if is_epoch(number.as_f64()) && !given.contains(&text) {
                add(path, VolatileKind::Epoch, &text);
            }
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| walk(item, &format!("{path}[{at}]"), given, add));
        }
        Value::Object(map) => {
            map.iter().for_each(|(key, value)| walk(value, &format!("{path}.{key}"), given, add));
        }
        Value::Null | Value::Bool(_) => {}
    }
}

fn kind_of_text(text: &str) -> Option<VolatileKind> {
    if has_uuid(text) {
        return Some(VolatileKind::Uuid);
    }
    if is_time(text) {
        return Some(VolatileKind::Time);
    }
    if prose::is_path(text) {
        return Some(VolatileKind::Path);
    }
    let is_number = text.len() >= 10 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    (is_number && text.parse().is_ok_and(is_epoch)).then_some(VolatileKind::Epoch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use eval_core::format::{FunctionCall, Invocation, Map};
    use eval_core::json;

    #[test]
    fn ids_and_times_are_known_by_their_shape() {
        use VolatileKind::{Epoch, Path, Time, Uuid};
        for (text, kind) in [
            ("550e8400-e29b-41d4-a716-446655440000", Some(Uuid)),
            ("order-550E8400-E29B-41D4-A716-446655440000", Some(Uuid)),
            ("550e8400-e29b-41d4-a716-44665544000x", None),
            ("2026-11-22", Some(Time)),
            ("2026-11-22T09:30:00Z", Some(Time)),
            ("2026-11-22 09:30", Some(Time)),
            ("2026-13-22", None),
            ("2026-11-22nd", None),
            ("1795293574", Some(Epoch)),
            ("1795293574.62", Some(Epoch)),
            ("1795293574123", Some(Epoch)),
            ("/tmp/job-4711/report.csv", Some(Path)),
            ("https://example.com/a/b", None),
            ("either/or", None),
            ("17952935", None),
            ("+4917952935", None),
            ("Paris", None),
            ("", None),
            ("日本日本日本日本", None),
        ] {
            assert_eq!(kind_of_text(text), kind, "{text}");
        }
    }

    #[test]
    fn what_the_user_said_is_not_volatile() {
        let call = |args| {
            Invocation::user("Move order 550e8400-e29b-41d4-a716-446655440000!")
                .call(FunctionCall::new("move", args))
        };
        let case = EvalCase::new("a").state(Map::from([("today", "2026-11-22")])).turn(call(json!({
            "order": "550e8400-e29b-41d4-a716-446655440000",
            "from": "2026-11-22",
            "to": { "days": ["2026-11-29"], "sent": 1_795_293_574_000_i64 },
        })));
        let found: Vec<_> = volatile_of(&case).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "turn 1, `move`: `to.days[0]` is a time, `2026-11-29`",
                "turn 1, `move`: `to.sent` is a time since 1970, `1795293574000`"
            ]
        );
    }

    #[test]
    fn dates_and_paths_inside_of_arguments_are_seen() {
        let call = FunctionCall::new(
            "note",
            json!({ "day": "28 November 2026", "text": "Saved to /tmp/job-1/a.csv at 14:32:07", "on": "Monday" }),
        );
        let turn = Invocation::user("Note it for monday").call(call);
        let found: Vec<_> =
            volatile_of(&EvalCase::new("a").turn(turn)).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "turn 1, `note`: `day` is a time, `28 November 2026`",
                "turn 1, `note`: `text` is a path of a machine, `/tmp/job-1/a.csv`",
                "turn 1, `note`: `text` is a time, `14:32:07`"
            ]
        );
    }

    #[test]
    fn answers_are_read_too() {
        let turn = Invocation::user("Is it open on Monday?").response("On Monday, 23 November 2026, it is.");
        let found: Vec<_> =
            volatile_of(&EvalCase::new("a").turn(turn)).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["turn 1, the answer: `23 November 2026` is a time"]);
    }
}
