//! Rules for scenarios beyond their shape.

use crate::config::{InstructionTemplate, InstructionsError};
use crate::problem::ProblemCode;
use crate::schema::{CONVERSATION_SCENARIO, Place, Walker};
use crate::syntax::{Entry, Node};

/// Checks a scenario whose shape has been checked.
pub(super) fn check(scenario: &Entry<'_>, case: &Place<'_>, walker: &mut Walker<'_>) {
    let place = &Place::Key(case, &scenario.key);
    let Some(entries) = scenario.value.object() else { return };
    let field = |name: &str| CONVERSATION_SCENARIO.entry(entries, name);
    for (name, message, label, help) in [
        (
            "starting_prompt",
            "the scenario begins with an empty message",
            "the case ends in an error when it runs, as in ADK",
            "write what the user says first; it is sent word for word",
        ),
        (
            "conversation_plan",
            "the scenario has no plan",
            "the simulated user is told nothing",
            "write what the user wants, knows, and when they are content",
        ),
    ] {
        let Some(entry) = field(name).filter(|entry| entry.value.string() == Some("")) else { continue };
        let problem = Place::Key(place, &entry.key).warning(
            ProblemCode::EmptyConversation,
            entry.value.range.clone(),
            message,
        );
        walker.problems.push(problem.label(label).help(help));
    }
    if let Some(entry) = field("user_persona") {
        check_persona(&entry.value, &Place::Key(place, &entry.key), walker);
    }
}

/// Checks the texts of behaviors. ADK renders each as a template, and a text that it cannot render ends its
/// run.
fn check_persona(persona: &Node<'_>, place: &Place<'_>, walker: &mut Walker<'_>) {
    let behaviors = persona.get("behaviors").and_then(|entry| entry.value.array()).unwrap_or_default();
    let place = &Place::Key(place, "behaviors");
    for (at, behavior) in behaviors.iter().enumerate() {
        let place = &Place::Index(place, at);
        for entry in behavior.object().unwrap_or_default() {
            let place = &Place::Key(place, &entry.key);
            match entry.key.as_ref() {
                "name" | "description" => check_template(&entry.value, place, walker),
                "behavior_instructions" | "violation_rubrics" => {
                    let items = entry.value.array().unwrap_or_default();
                    for (at, item) in items.iter().enumerate() {
                        check_template(item, &Place::Index(place, at), walker);
                    }
                }
                _ => {}
            }
        }
    }
}

fn check_template(node: &Node<'_>, place: &Place<'_>, walker: &mut Walker<'_>) {
    let Some(Err(error)) = node.string().map(InstructionTemplate::parse) else { return };
    let message = format!("in the behavior of a persona, {error}");
    let problem = place
        .error(ProblemCode::WrongType, node.range.clone(), message)
        .label("a template")
        .help(InstructionsError::help());
    walker.problems.push(problem);
}
