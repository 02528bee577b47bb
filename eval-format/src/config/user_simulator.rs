//! The `user_simulator_config` of a config: which simulator, and the shape of what it is told.

use crate::problem::{Code, Problem};
use crate::schema::{LLM_BACKED_USER_SIMULATOR, Place, Type, Walker, wrong_type};
use crate::syntax::{Entry, Node};
use crate::value::Map;

/// The variables that custom instructions must use.
const VARIABLES: [&str; 3] = ["stop_signal", "conversation_plan", "conversation_history"];

/// Reads `user_simulator_config`. Without a `type` it is the simulator that is backed by a model.
pub(super) fn read(entry: &Entry<'_>, problems: &mut Vec<Problem>) -> Option<Map> {
    let place = &Place::Key(&Place::Root, &entry.key);
    let entries = entry.value.object()?;
    if let Some(kind) = entry.value.get("type").filter(|kind| !kind.value.is_null())
        && kind.value.string() != Some("llm_backed")
    {
        problems.push(other_simulator(&kind.value, &Place::Key(place, "type")));
        return None;
    }
    let model = &LLM_BACKED_USER_SIMULATOR;
    let config = Walker { problems }.record(&entry.value, model, place)?;
    if let Some(entry) = model.entry(entries, "custom_instructions") {
        problems.extend(check_instructions(&entry.value, &Place::Key(place, &entry.key)));
    }
    Some(config.rest())
}

fn other_simulator(kind: &Node<'_>, place: &Place<'_>) -> Problem {
    if kind.string() == Some("llm_audio") {
        let message = "the audio user simulator is not available in this version";
        return Problem::error(Code::NotAvailable, place.path(), kind.range.clone(), message)
            .label("speaks instead of writing")
            .help("write `\"llm_backed\"` to simulate the user in text");
    }
    let simulators = Type::Choice { values: &["llm_backed", "llm_audio"], numbered: false };
    wrong_type(kind, &simulators, "", place)
}

/// ADK rejects instructions that leave one of the variables out. It asks Jinja, which knows; a name
/// that does not even stand in the text is missing for Jinja too.
fn check_instructions(node: &Node<'_>, place: &Place<'_>) -> Option<Problem> {
    let text = node.string()?;
    let missing: Vec<_> = VARIABLES
        .iter()
        .filter(|name| !text.contains(**name))
        .map(|name| format!("`{{{{ {name} }}}}`"))
        .collect();
    if missing.is_empty() {
        return None;
    }
    let message = format!("the custom instructions do not use {}", missing.join(", "));
    let found = Problem::error(Code::WrongType, place.path(), node.range.clone(), message);
    Some(found.label("a Jinja template").help("ADK fills these in for each turn; name each in the text"))
}
