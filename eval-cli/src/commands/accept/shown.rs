//! A draft as it is shown to whoever accepts it.

use eval_format::{Content, EvalCase, Invocation, Map, Value};

use super::draft::Draft;
use crate::output::foreign::{one_line, quoted};
use crate::output::style::{BOLD, styled};

/// The column in which texts begin.
const INDENT: usize = 12;

/// Where a draft comes from, and all that it expects.
pub(super) fn text(draft: &Draft) -> String {
    let Draft { path, case } = draft;
    let (id, file) = (one_line(&case.eval_id), one_line(&path.display().to_string()));
    let mut text = format!("{} in `{file}`\n", styled(BOLD, &id));
    mark(case, &mut text);
    if let Some(session) = &case.session_input {
        map("state", &session.state, &mut text);
    }
    if let Some(scenario) = &case.conversation_scenario {
        line("prompt", &scenario.starting_prompt, &mut text);
        line("plan", &scenario.conversation_plan, &mut text);
    }
    for (at, turn) in case.conversation.iter().enumerate() {
        text.push_str(&format!("  turn {}\n", at + 1));
        of_turn(turn, &mut text);
    }
    map("at the end", &case.final_session_state, &mut text);
    text.push('\n');
    text
}

/// What the mark says: the origin, what varied, and what else its writer knew.
fn mark(case: &EvalCase, text: &mut String) {
    match case.draft() {
        Some(Value::Object(mark)) => {
            for (key, value) in mark {
                line(&one_line(key), &plain(value), text);
            }
        }
        Some(other) => line("draft", &plain(other), text),
        None => {}
    }
}

fn of_turn(turn: &Invocation, text: &mut String) {
    content("user", &turn.user_content, text);
    for call in turn.tool_calls() {
        line("calls", &call.to_string(), text);
    }
    for said in turn.intermediate_texts() {
        line("says", &said, text);
    }
    match &turn.final_response {
        Some(answer) => content("answer", answer, text),
        None => text.push_str("    (no answer is expected)\n"),
    }
}

fn content(what: &str, content: &Content, text: &mut String) {
    line(what, &content.text(), text);
    let others = content.parts().iter().filter(|part| part.text.is_none()).count();
    if others > 0 {
        line("", &format!("({others} more that is no text)"), text);
    }
}

fn map(what: &str, map: &Map, text: &mut String) {
    if !map.is_empty() {
        line(what, &Value::from(map.clone()).to_string(), text);
    }
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
