//! The prompt about a message of the simulated user.

use eval_format::config::{InstructionTemplate, TemplateVariable};
use eval_format::{ConversationScenario, Invocation, Persona};

use crate::judge::{JudgePrompt, answer, dialogue, visible_text};
use crate::simulator::profile;

pub(super) const TEMPLATE: &str = "per_turn_user_simulator_quality_v1/2";

pub(super) fn prompt(
    scenario: &ConversationScenario,
    stop_signal: &str,
    before: &[Invocation],
    message: &str,
) -> String {
    // The user sees texts, and no tool calls.
    let seen: Vec<Invocation> = before
        .iter()
        .map(|turn| Invocation::user(visible_text(&turn.user_content)).response(answer(turn, true)))
        .collect();
    let criteria = match &scenario.user_persona {
        Some(persona) => criteria_of(persona, scenario, stop_signal),
        None => include_str!("criteria.md").replace("{{stop_signal}}", stop_signal),
    };
    let template = include_str!("message.md").replace("{{stop_signal}}", stop_signal);
    JudgePrompt::new(&template)
        .data("plan", scenario.conversation_plan.as_str())
        .data("conversation", dialogue(&seen))
        .data("message", message)
        .data("criteria", criteria.trim_end())
        .render()
}

/// The properties that a message must not have, from the behaviors of a persona.
fn criteria_of(persona: &Persona, scenario: &ConversationScenario, stop_signal: &str) -> String {
    let persona = profile(persona);
    // These texts are templates themselves.
    let filled = |text: &str| match InstructionTemplate::parse(text) {
        Ok(template) => template.render(|variable| match variable {
            TemplateVariable::StopSignal => stop_signal.to_owned(),
            TemplateVariable::ConversationPlan => scenario.conversation_plan.clone(),
            TemplateVariable::PersonaId => persona.id.clone(),
            TemplateVariable::Persona | TemplateVariable::PersonaDescription => persona.description.clone(),
            _ => String::new(),
        }),
        Err(_) => text.to_owned(),
    };
    let mut criteria = format!("The user: {}\n", persona.description.trim());
    for behavior in &persona.behaviors {
        criteria.push_str(&format!("\n## {}\n{}\n", filled(&behavior.name), filled(&behavior.description)));
        for violation in &behavior.violation_rubrics {
            criteria.push_str(&format!("- {}\n", filled(violation)));
        }
    }
    criteria
}
