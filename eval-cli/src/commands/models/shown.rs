//! A recording as a dialogue: what each call added, and what the model answered.

use eval_core::models::{Answer as Recorded, Body, Exchange};
use eval_format::Value;
use eval_support::untrusted::{one_line, quoted};

use super::recorded::{Recorded as RecordedSet, unreadable};
use crate::output::{Answer, CommandError, Outcome};

pub(super) fn show(sets: &[RecordedSet]) -> Result<Answer, CommandError> {
    let mut text = String::new();
    for set in sets {
        for eval_id in set.meant() {
            let recording = set.folder.case(eval_id).map_err(|why| unreadable(&why))?;
            text.push_str(&format!("---- {} ----\n", one_line(eval_id)));
            let Some(recording) = recording else {
                text.push_str("not recorded\n\n");
                continue;
            };
            let mut before: &[Value] = &[];
            let mut system = None;
            for exchange in &recording.exchanges {
                text.push_str(&call(exchange, before, system));
                before = &exchange.parts.messages;
                system = exchange.parts.system.as_ref();
            }
            text.push('\n');
        }
    }
    Ok(Answer::new(Outcome::Passed, text))
}

/// A call: its new messages, and its answers.
fn call(exchange: &Exchange, before: &[Value], system: Option<&Value>) -> String {
    let Exchange { turn, wire, model, parts, answered, answers, .. } = exchange;
    let mut text = format!("turn {turn}  {wire}, {}\n", one_line(model));
    if parts.system.as_ref() != system
        && let Some(system) = &parts.system
    {
        text.push_str(&said("system", &system.to_string()));
    }
    let new = parts.messages.iter().enumerate().filter(|(at, message)| before.get(*at) != Some(message));
    for (_, message) in new {
        let role =
            message.as_object().and_then(|map| map.get("role")).and_then(Value::as_str).unwrap_or("sent");
        text.push_str(&said(role, &readable(message)));
    }
    for answer in answers {
        let run = if answers.iter().any(|other| other.run != answer.run) {
            format!(" of run {}", answer.run)
        } else {
            String::new()
        };
        let older = if answered.is_some() { " to an older request" } else { "" };
        text.push_str(&said(&format!("answer{run}{older}"), &spoken(answer)));
    }
    text
}

fn said(who: &str, what: &str) -> String {
    format!("  {}\n{}\n", one_line(who), quoted(what, 4))
}

/// The texts and calls in a message; the message itself, if it has neither.
fn readable(message: &Value) -> String {
    let mut found = Vec::new();
    collect(message, &mut found);
    if found.is_empty() { message.to_string() } else { found.join("\n") }
}

fn spoken(answer: &Recorded) -> String {
    let status = if answer.status == 200 { String::new() } else { format!("{}: ", answer.status) };
    match &answer.body {
        Body::Json(value) => status + &readable(value),
        Body::Events(events) => {
            let mut found = Vec::new();
            events.iter().filter_map(|event| event.json()).for_each(|value| collect(value, &mut found));
            status + &found.concat()
        }
        Body::Text { text, .. } => status + text,
    }
}

/// Texts, and calls with their arguments, in the order of the value.
fn collect(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(map) => {
            let text = |key: &str| map.get(key).and_then(Value::as_str);
            let args = ["arguments", "args", "input"].iter().find_map(|key| map.get(key));
            if let (Some(name), Some(args)) = (text("name"), args) {
                let args = args.as_str().map_or_else(|| args.to_string(), str::to_owned);
                found.push(format!("{name}({args})"));
                return;
            }
            for (key, item) in map {
                match (key, item) {
                    ("text" | "content" | "result" | "output", Value::String(text)) => {
                        found.push(text.clone());
                    }
                    (_, item) => collect(item, found),
                }
            }
        }
        _ => {}
    }
}
