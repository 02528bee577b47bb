//! A draft as it is shown to whoever accepts it.

use eval_format::{Content, EvalCase, Invocation, Map, Value};

use super::draft::Draft;
use crate::output::foreign::{one_line, quoted};
use crate::output::style::{BOLD, styled};

/// The column in which texts begin.
const INDENT: usize = 12;

/// A part of what is shown of a draft.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A turn begins, with its number.
    Turn(usize),
    /// What was said or done, and by whom. `what` is empty for more of the same.
    Line { what: String, said: String },
    /// The turn expects no answer.
    NoAnswer,
}

/// Where a draft comes from, and all that it expects.
pub(crate) fn text(draft: &Draft) -> String {
    let Draft { path, case } = draft;
    let (id, file) = (one_line(&case.eval_id), one_line(&path.display().to_string()));
    let mut text = format!("{} in `{file}`\n", styled(BOLD, &id));
    for part in parts(case) {
        match part {
            Part::Turn(number) => text.push_str(&format!("  turn {number}\n")),
            Part::Line { what, said } => line(&what, &said, &mut text),
            Part::NoAnswer => text.push_str("    (no answer is expected)\n"),
        }
    }
    text.push('\n');
    text
}

/// Where a draft comes from, and all that it expects, in parts.
pub(crate) fn parts(case: &EvalCase) -> Vec<Part> {
    let mut parts = Vec::new();
    mark(case, &mut parts);
    if let Some(session) = &case.session_input {
        map("state", &session.state, &mut parts);
    }
    if let Some(scenario) = &case.conversation_scenario {
        add("prompt", &scenario.starting_prompt, &mut parts);
        add("plan", &scenario.conversation_plan, &mut parts);
    }
    for (at, turn) in case.conversation.iter().enumerate() {
        parts.push(Part::Turn(at + 1));
        of_turn(turn, &mut parts);
    }
    map("at the end", &case.final_session_state, &mut parts);
    parts
}

/// What the mark says: the origin, what varied, and what else its writer knew.
fn mark(case: &EvalCase, parts: &mut Vec<Part>) {
    match case.draft() {
        Some(Value::Object(mark)) => {
            for (key, value) in mark {
                add(&one_line(key), &plain(value), parts);
            }
        }
        Some(other) => add("draft", &plain(other), parts),
        None => {}
    }
}

fn of_turn(turn: &Invocation, parts: &mut Vec<Part>) {
    content("user", &turn.user_content, parts);
    for call in turn.tool_calls() {
        add("calls", &call.to_string(), parts);
    }
    for said in turn.intermediate_texts() {
        add("says", &said, parts);
    }
    match &turn.final_response {
        Some(answer) => content("answer", answer, parts),
        None => parts.push(Part::NoAnswer),
    }
}

fn content(what: &str, content: &Content, parts: &mut Vec<Part>) {
    add(what, &content.text(), parts);
    let others = content.parts().iter().filter(|part| part.text.is_none()).count();
    if others > 0 {
        add("", &format!("({others} more that is no text)"), parts);
    }
}

fn map(what: &str, map: &Map, parts: &mut Vec<Part>) {
    if !map.is_empty() {
        add(what, &Value::from(map.clone()).to_string(), parts);
    }
}

fn add(what: &str, said: &str, parts: &mut Vec<Part>) {
    parts.push(Part::Line { what: what.to_owned(), said: said.to_owned() });
}

/// A list of texts as a sentence would have it.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

fn line(what: &str, said: &str, text: &mut String) {
    let width = INDENT.saturating_sub(6);
    text.push_str(format!("    {what:width$}  {}", quoted(said, INDENT)).trim_end());
    text.push('\n');
}
