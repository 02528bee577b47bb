//! Differences between two requests, part by part.

use std::fmt;
use std::time::Duration;

use eval_format::{Map, Value};
use eval_support::message::cut;
use eval_support::words::count;
use similar::{ChangeTag, TextDiff};

use crate::canonical::name_of_tool;
use crate::recording::Exchange;
use crate::wire::Asked;

const MAX_LINES: usize = 12;
const MAX_LINE_CHARS: usize = 160;
/// The equal characters that are shown before a difference in a long line.
const MAX_CHARS_BEFORE: usize = 40;
/// The time after which a difference is no longer the shortest one.
const DIFF_TIMEOUT: Duration = Duration::from_millis(200);

/// A part of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Part {
    Wire,
    Model,
    Options,
    System,
    Tools,
    Messages,
    Results,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Wire => "the wire",
            Self::Model => "the model",
            Self::Options => "options",
            Self::System => "the system prompt",
            Self::Tools => "the tools",
            Self::Messages => "the messages",
            Self::Results => "the results of tools",
        })
    }
}

/// The parts that differ, with the lines that say how.
pub(crate) fn parts(known: &Exchange, asked: &Asked) -> Vec<(Part, Vec<String>)> {
    let mut parts = Vec::new();
    let mut differ = |part: Part, lines: Vec<String>| {
        if !lines.is_empty() {
            parts.push((part, lines));
        }
    };
    differ(Part::Wire, field("wire", &known.wire.to_string(), &asked.wire.to_string()));
    differ(Part::Model, field("model", &known.model, &asked.model));
    differ(Part::Options, options(&known.parts.options, &asked.parts.options));
    differ(Part::System, system(known.parts.system.as_ref(), asked.parts.system.as_ref()));
    differ(Part::Tools, tools(known.parts.tools.as_ref(), asked.parts.tools.as_ref()));
    let (part, lines) = messages(&known.parts.messages, &asked.parts.messages);
    differ(part, lines);
    parts
}

fn field(name: &str, was: &str, is: &str) -> Vec<String> {
    if was == is {
        return Vec::new();
    }
    let (was, is) = from_difference(&escaped(was), &escaped(is));
    vec![format!("- {name}: {was}"), format!("+ {name}: {is}")]
}

fn one_line(text: &str) -> String {
    cut(&escaped(text), MAX_LINE_CHARS)
}

fn escaped(text: &str) -> String {
    text.replace('\n', "\\n")
}

/// Two lines as far as they are shown: long ones from a little before their first difference on.
fn from_difference(was: &str, is: &str) -> (String, String) {
    let same = was.chars().zip(is.chars()).take_while(|(was, is)| was == is).count();
    let skipped = if same < MAX_LINE_CHARS / 2 { 0 } else { same.saturating_sub(MAX_CHARS_BEFORE) };
    let shown = |text: &str| {
        let begin = text.char_indices().nth(skipped).map_or(text.len(), |(at, _)| at);
        let rest = cut(&text[begin..], MAX_LINE_CHARS);
        if skipped == 0 { rest } else { format!("...{rest}") }
    };
    (shown(was), shown(is))
}

fn options(known: &Map, asked: &Map) -> Vec<String> {
    let mut keys: Vec<&str> = known.keys().chain(asked.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let shown = |value: Option<&Value>| value.map_or("(absent)".to_owned(), ToString::to_string);
    keys.into_iter().flat_map(|key| field(key, &shown(known.get(key)), &shown(asked.get(key)))).collect()
}

fn system(known: Option<&Value>, asked: Option<&Value>) -> Vec<String> {
    if known == asked {
        return Vec::new();
    }
    let (known, asked) = (known.map(readable).unwrap_or_default(), asked.map(readable).unwrap_or_default());
    let mut lines = vec!["system prompt:".to_owned()];
    lines.extend(changed_lines(&known, &asked));
    lines
}

/// The lines that are not in both texts, each with its sign.
fn changed_lines(known: &str, asked: &str) -> Vec<String> {
    // Two long texts with nothing in common would take minutes.
    let diff = TextDiff::configure().timeout(DIFF_TIMEOUT).diff_lines(known, asked);
    let mut changed = Changed::default();
    for change in diff.iter_all_changes() {
        let line = change.value().trim_end_matches('\n');
        match change.tag() {
            ChangeTag::Delete => changed.was.push(line),
            ChangeTag::Insert => changed.is.push(line),
            ChangeTag::Equal => changed.flush(),
        }
    }
    changed.flush();
    let left = changed.number - changed.lines.len();
    if left > 0 {
        changed.lines.push(format!("  ... and {}", count(left, "more line")));
    }
    changed.lines
}

/// The changed lines of two texts.
#[derive(Default)]
struct Changed<'t> {
    /// Lines next to each other that are in the first text alone, and in the second alone.
    was: Vec<&'t str>,
    is: Vec<&'t str>,
    /// The lines as they are shown, and the number of all.
    lines: Vec<String>,
    number: usize,
}

impl Changed<'_> {
    fn flush(&mut self) {
        let line = |lines: &[&str], at: usize| lines.get(at).copied().unwrap_or_default().to_owned();
        let was = (0..self.was.len()).map(|at| ('-', at));
        for (sign, at) in was.chain((0..self.is.len()).map(|at| ('+', at))) {
            self.number += 1;
            if self.lines.len() < MAX_LINES {
                let (was, is) = from_difference(&line(&self.was, at), &line(&self.is, at));
                self.lines.push(format!("  {sign} {}", if sign == '-' { was } else { is }));
            }
        }
        (self.was, self.is) = (Vec::new(), Vec::new());
    }
}

/// The texts in a value, as a person reads them.
fn readable(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(readable).collect::<Vec<_>>().join("\n"),
        Value::Object(map) => {
            let text = ["text", "content", "parts"].iter().find_map(|key| map.get(key));
            text.map_or_else(|| value.to_string(), readable)
        }
        other => other.to_string(),
    }
}

/// The declared tools, also those in groups of Gemini's.
fn declared(tools: Option<&Value>) -> Vec<&Value> {
    let items = tools.and_then(Value::as_array).unwrap_or_default();
    items.iter().flat_map(|tool| group(tool).unwrap_or_else(|| vec![tool])).collect()
}

fn group(tool: &Value) -> Option<Vec<&Value>> {
    let map = tool.as_object()?;
    let group = map.get("functionDeclarations").or_else(|| map.get("function_declarations"))?;
    Some(group.as_array()?.iter().collect())
}

fn tools(known: Option<&Value>, asked: Option<&Value>) -> Vec<String> {
    if known == asked {
        return Vec::new();
    }
    let (known, asked) = (declared(known), declared(asked));
    let name = |tool: &Value| name_of_tool(tool).unwrap_or("(without a name)").to_owned();
    let with = |tools: &[&Value], wanted: &str| tools.iter().any(|tool| name(tool) == wanted);
    let mut lines: Vec<String> = Vec::new();
    for tool in &known {
        match asked.iter().find(|other| name(other) == name(tool)) {
            None => lines.push(format!("- tool `{}`", name(tool))),
            Some(other) if other != tool => {
                lines.push(format!("tool `{}`:", name(tool)));
                lines.extend(changed_lines(&format!("{tool:#}"), &format!("{other:#}")));
            }
            Some(_) => {}
        }
    }
    lines.extend(
        asked.iter().filter(|tool| !with(&known, &name(tool))).map(|tool| format!("+ tool `{}`", name(tool))),
    );
    if lines.is_empty() {
        lines.push("tools: their groups differ".to_owned());
    }
    lines
}

fn messages(known: &[Value], asked: &[Value]) -> (Part, Vec<String>) {
    let equal = known.iter().zip(asked).take_while(|(known, asked)| known == asked).count();
    if equal == known.len() && equal == asked.len() {
        return (Part::Messages, Vec::new());
    }
    let first = (known.get(equal), asked.get(equal));
    let is_result = matches!(first, (Some(was), Some(is)) if has_results(was) && has_results(is));
    let (part, name) =
        if is_result { (Part::Results, "results of tools") } else { (Part::Messages, "messages") };
    let mut lines = vec![match (equal, part) {
        (0, _) => format!("{name}:"),
        (equal, Part::Results) => format!("{name}, the first {} equal:", count(equal, "message")),
        (equal, _) => format!("{name}, the first {equal} equal:"),
    }];
    match first {
        (Some(was), Some(is)) => {
            if let Some(ids) = only_ids(was, is) {
                lines.push(ids);
            }
            lines.extend(changed_lines(&spread(was), &spread(is)));
            lines.extend(guess(&was.to_string(), &is.to_string()));
        }
        (Some(was), None) => {
            lines.push(format!("  - {}", one_line(&was.to_string())));
        }
        (None, Some(is)) => {
            lines.push(format!("  + {}", one_line(&is.to_string())));
        }
        (None, None) => {}
    }
    (part, lines)
}

/// Whether a message has results of tools, and nothing else, as each wire writes it.
fn has_results(message: &Value) -> bool {
    let Some(map) = message.as_object() else { return false };
    let text = |map: &Map, key: &str| map.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let is_part = |part: &Value| {
        let part = part.as_object();
        part.is_some_and(|part| {
            text(part, "type") == "tool_result"
                || part.contains_key("functionResponse")
                || part.contains_key("function_response")
        })
    };
    let parts = ["content", "parts"].iter().find_map(|key| map.get(key)).and_then(Value::as_array);
    text(map, "role") == "tool"
        || text(map, "type").ends_with("_call_output")
        || parts.is_some_and(|parts| !parts.is_empty() && parts.iter().all(is_part))
}

/// A message on lines: a short one on one line, so that a changed word is one line.
fn spread(message: &Value) -> String {
    let text = message.to_string();
    if text.len() <= MAX_LINE_CHARS { text } else { with_lines(&format!("{message:#}")) }
}

/// JSON with the lines of its texts on lines of their own.
fn with_lines(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let mut chars = json.chars();
    while let Some(c) = chars.next() {
        match (c, (c == '\\').then(|| chars.next()).flatten()) {
            ('\\', Some('n')) => text.push('\n'),
            (c, next) => text.extend([Some(c), next].into_iter().flatten()),
        }
    }
    text
}

/// A remark if two messages differ in the numbers of their ids alone.
fn only_ids(was: &Value, is: &Value) -> Option<String> {
    let without = |value: &Value| {
        let text = value.to_string();
        let mut out = String::with_capacity(text.len());
        let mut digits = false;
        for c in text.chars() {
            digits = c == '#' || (digits && c.is_ascii_digit());
            if !digits {
                out.push(c);
            }
        }
        out
    };
    (without(was) == without(is)).then(|| {
        "  the ids of calls belong to other results: two results were exchanged, or the gateway takes an id for another".to_owned()
    })
}

/// A guess at the cause, if two texts differ in a date, a time or an id alone, or in the order of their characters.
fn guess(was: &str, is: &str) -> Option<String> {
    let only_digits = |text: &str| -> String {
        text.chars().map(|c| if c.is_ascii_hexdigit() { '0' } else { c }).collect()
    };
    let sorted = |text: &str| {
        let mut bytes = text.as_bytes().to_vec();
        bytes.sort_unstable();
        bytes
    };
    let hint = if only_digits(was) == only_digits(is) && was.chars().any(|c| c.is_ascii_digit()) {
        "a clock or a random id? a rule in `models_mask` of `shared.json` masks it in what is recorded from then on"
    } else if sorted(was) == sorted(is) {
        "a set without an order?"
    } else {
        return None;
    };
    Some(format!("  {hint}"))
}
