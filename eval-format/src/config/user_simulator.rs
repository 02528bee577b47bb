//! The `user_simulator_config` of a config: which simulator, and the shape of what it is told.

use super::object::{Extra, place, wrong_type};
use super::shape::{Field, Kind, Shape};
use crate::problem::{Code, JsonPath, Problem};
use crate::suggest::suggest;
use crate::syntax::{Entry, Node};
use crate::value::Map;

/// ADK's `LlmBackedUserSimulatorConfig`.
const LLM_BACKED: Shape = Shape {
    what: "`user_simulator_config`",
    fields: &[
        Field::nullable("type", Kind::String),
        Field::optional("model", Kind::String),
        Field::optional("model_configuration", Kind::Free),
        Field::optional("max_allowed_invocations", Kind::Int),
        Field::nullable("custom_instructions", Kind::String),
        Field::optional("include_function_calls", Kind::Bool),
    ],
    extra: Extra::Keep,
};

/// The variables that custom instructions must use.
const VARIABLES: [&str; 3] = ["stop_signal", "conversation_plan", "conversation_history"];

/// Reads `user_simulator_config`. Without a `type` it is the simulator that is backed by a model.
pub(super) fn read(entry: &Entry<'_>, problems: &mut Vec<Problem>) -> Option<Map> {
    let node = &entry.value;
    if node.is_null() {
        return None;
    }
    let path = JsonPath::default().key(&entry.key);
    if let Some(kind) = node.get("type").filter(|kind| !kind.value.is_null()) {
        match kind.value.string() {
            Some("llm_backed") => {}
            Some("llm_audio") => problems.push(audio(kind, path.key("type"))),
            other => problems.push(unknown_type(kind, path.key("type"), other)),
        }
        if kind.value.string() != Some("llm_backed") {
            return None;
        }
    }
    let config = LLM_BACKED.read(node, path.clone(), problems)?;
    if let Some(entry) = node.get("customInstructions").or_else(|| node.get("custom_instructions")) {
        problems.extend(check_instructions(&entry.value, path.key(&entry.key)));
    }
    Some(config)
}

fn audio(kind: &Entry<'_>, path: JsonPath) -> Problem {
    let range = place(&kind.value);
    Problem::error(
        Code::NotAvailable,
        path,
        range,
        "the audio user simulator is not available in this version",
    )
    .label("speaks instead of writing")
    .help("write `llm_backed` to simulate the user in text")
}

fn unknown_type(kind: &Entry<'_>, path: JsonPath, name: Option<&str>) -> Problem {
    let found = wrong_type(path, &kind.value, "`type`", "`llm_backed` or `llm_audio`");
    match name.and_then(|name| suggest(name, ["llm_backed", "llm_audio"])) {
        Some(nearest) => found.help(format!("did you mean `{nearest}`?")),
        None => found,
    }
}

/// ADK rejects instructions that leave one of the variables out. It asks Jinja, which knows; a name
/// that does not even stand in the text is missing for Jinja too.
fn check_instructions(node: &Node<'_>, path: JsonPath) -> Option<Problem> {
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
    let found = Problem::error(Code::WrongType, path, place(node), message);
    Some(found.label("a Jinja template").help("ADK fills these in for each turn; name each in the text"))
}
