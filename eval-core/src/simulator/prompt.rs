//! The prompt that asks the simulated user for the next message.

use eval_format::config::{Instructions, Variable};
use eval_format::{ConversationScenario, Persona, UserPersona};

use super::history::STOP_SIGNAL;
use super::personas::profile;
use crate::judge::JudgePrompt;

/// The name and the version of the built-in prompt. A change of its words makes a new version.
const TEMPLATE: &str = "user_simulator/2";
const TEXT: &str = include_str!("prompt.md");
/// How a user without a persona behaves.
const WITHOUT_PERSONA: &str = include_str!("behavior.md");
/// The name of a prompt that a config gives.
const CUSTOM_TEMPLATE: &str = "user_simulator_custom/2";

/// The name of the prompt, and its text.
pub(super) fn prompt(
    scenario: &ConversationScenario,
    custom: Option<&Instructions>,
    history: &str,
) -> (&'static str, String) {
    let persona = scenario.user_persona.as_ref();
    match custom {
        Some(instructions) => {
            (CUSTOM_TEMPLATE, instructions.render(|variable| value(variable, scenario, history)))
        }
        None => (TEMPLATE, built_in(scenario, persona, history)),
    }
}

fn built_in(scenario: &ConversationScenario, persona: Option<&Persona>, history: &str) -> String {
    let behavior = persona.map_or_else(
        || WITHOUT_PERSONA.replace("{{stop_signal}}", STOP_SIGNAL).trim_end().to_owned(),
        |persona| described(persona, scenario, history),
    );
    JudgePrompt::new(&TEXT.replace("{{stop_signal}}", STOP_SIGNAL))
        .data("plan", scenario.conversation_plan.as_str())
        .data("who you are", behavior)
        .data("conversation", history)
        .render()
}

fn value(variable: Variable, scenario: &ConversationScenario, history: &str) -> String {
    let persona = scenario.user_persona.as_ref();
    match variable {
        Variable::StopSignal => STOP_SIGNAL.to_owned(),
        Variable::ConversationPlan => scenario.conversation_plan.clone(),
        Variable::ConversationHistory => history.to_owned(),
        Variable::PersonaId => persona.map(|persona| persona.id().to_owned()).unwrap_or_default(),
        Variable::PersonaDescription => {
            persona.map(|persona| profile(persona).description.clone()).unwrap_or_default()
        }
        _ => persona.map(|persona| described(persona, scenario, history)).unwrap_or_default(),
    }
}

/// A persona as text: its description, then each behavior with its instructions.
fn described(persona: &Persona, scenario: &ConversationScenario, history: &str) -> String {
    let persona: &UserPersona = &profile(persona);
    // The texts of behaviors are templates too; the reader has refused all others. In them `persona` stands for the
    // description alone, since it cannot stand for the text that is made here.
    let filled = |text: &str| match Instructions::parse(text) {
        Ok(template) => template.render(|variable| match variable {
            Variable::Persona => persona.description.clone(),
            other => value(other, scenario, history),
        }),
        Err(_) => text.to_owned(),
    };
    let mut out = persona.description.trim().to_owned();
    for behavior in &persona.behaviors {
        out.push_str(&format!("\n\n## {}\n\n{}", filled(&behavior.name), filled(&behavior.description)));
        if !behavior.behavior_instructions.is_empty() {
            out.push('\n');
        }
        for instruction in &behavior.behavior_instructions {
            out.push_str(&format!("\n* {}", filled(instruction)));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use eval_format::UserBehavior;

    fn scenario() -> ConversationScenario {
        ConversationScenario::new("Hi", "Book a room in Paris. {{conversation}}")
    }

    fn ready_made(persona: Persona) -> String {
        prompt(&scenario().persona(persona), None, "user: Hi\n\nclerk: Hello").1
    }

    #[test]
    fn everything_that_is_needed_is_in_the_prompt() {
        let (template, plain) = prompt(&scenario(), None, "user: Hi\n\nclerk: Hello");
        assert_eq!(template, "user_simulator/2");
        for part in
            ["\nBook a room in Paris. {{conversation}}\n", "\nuser: Hi\n\nclerk: Hello\n", STOP_SIGNAL]
        {
            assert!(plain.contains(part), "{part} is not in\n{plain}");
        }
        assert!(!plain.contains("{{plan}}") && !plain.contains("{{stop_signal}}"), "{plain}");
        insta::assert_snapshot!("prompt", plain);
    }

    #[test]
    fn each_persona_has_a_prompt_of_its_own() {
        let prompts = [Persona::Expert, Persona::Novice, Persona::Evaluator].map(ready_made);
        for (at, prompt) in prompts.iter().enumerate() {
            assert!(prompt.contains(STOP_SIGNAL) && !prompt.contains("{{ "), "{prompt}");
            assert!(!prompts[..at].contains(prompt));
        }
        insta::assert_snapshot!("expert", prompts[0]);
    }

    #[test]
    fn a_persona_of_ones_own_is_told_with_its_variables() {
        let behavior =
            UserBehavior::new("Brief", "One line. {% odd").instruction("End with `{{ stop_signal }}`.");
        let persona = UserPersona::new("ME", "In a hurry.").behavior(behavior);
        let (_, prompt) = prompt(&scenario().persona(persona), None, "");
        assert!(
            prompt.contains("In a hurry.\n\n## Brief\n\nOne line. {% odd\n\n* End with `</finished>`."),
            "{prompt}"
        );
    }

    #[test]
    fn custom_instructions_are_the_whole_prompt() {
        let custom = Instructions::parse(
            "{{ stop_signal }}|{{ conversation_plan }}|{{ conversation_history }}|{{ persona }}|{{ persona.id }}|\
             {{ persona.description }}",
        )
        .unwrap();
        let persona = UserPersona::new("ME", "Hurried.").behavior(UserBehavior::new("n", "{{ persona }}"));
        let (template, text) = prompt(&scenario().persona(persona), Some(&custom), "user: Hi");
        assert_eq!(template, "user_simulator_custom/2");
        assert_eq!(
            text,
            "</finished>|Book a room in Paris. {{conversation}}|user: Hi|Hurried.\n\n## n\n\nHurried.|ME|Hurried."
        );
        let (_, without) = prompt(&scenario(), Some(&custom), "");
        assert_eq!(without, "</finished>|Book a room in Paris. {{conversation}}||||");
    }
}
