//! The ready-made personas. They are ADK's three, in this project's words.

use std::borrow::Cow;

use eval_format::{Persona, UserBehavior, UserPersona};
use serde_json::Value;

pub(crate) fn profile(persona: &Persona) -> Cow<'_, UserPersona> {
    match persona {
        Persona::Own(persona) => Cow::Borrowed(persona),
        ready_made => Cow::Owned(written_out(ready_made.id())),
    }
}

fn written_out(id: &str) -> UserPersona {
    let texts: Value = serde_json::from_str(include_str!("personas.json")).unwrap_or_default();
    let text = |of: &Value| of.as_str().unwrap_or_default().to_owned();
    let list = |of: &Value| of.as_array().cloned().unwrap_or_default();
    let personas = &texts["personas"];
    // A persona that a later version of eval-format adds is played as the evaluator.
    let persona = personas.get(id).unwrap_or(&personas["EVALUATOR"]);
    let behaviors = list(&persona["behaviors"]).into_iter().map(|name| {
        let of = &texts["behaviors"][text(&name)];
        let behavior = UserBehavior::new(text(&of["name"]), text(&of["description"]));
        let instructions = list(&of["behavior_instructions"]);
        let behavior = instructions.iter().map(text).fold(behavior, UserBehavior::instruction);
        list(&of["violation_rubrics"]).iter().map(text).fold(behavior, UserBehavior::violation)
    });
    behaviors.fold(UserPersona::new(id, text(&persona["description"])), UserPersona::behavior)
}

#[cfg(test)]
mod tests {
    use super::*;
    use eval_format::config::InstructionTemplate;

    #[test]
    fn every_text_is_a_template_and_every_behavior_is_complete() {
        for persona in [Persona::Expert, Persona::Novice, Persona::Evaluator] {
            let profile = profile(&persona);
            assert_eq!(profile.id, persona.id());
            assert!(profile.behaviors.len() >= 5 && !profile.description.is_empty());
            for behavior in &profile.behaviors {
                let lists = [&behavior.behavior_instructions, &behavior.violation_rubrics];
                assert!(lists.iter().all(|list| !list.is_empty()), "{behavior:?}");
                let texts = lists.into_iter().flatten().chain([&behavior.name, &behavior.description]);
                for text in texts {
                    assert!(InstructionTemplate::parse(text).is_ok() && !text.contains("  "), "{text}");
                }
            }
        }
    }

    #[test]
    fn a_persona_of_ones_own_is_itself() {
        let own = UserPersona::new("EXPERT", "as ADK writes it");
        assert_eq!(*profile(&Persona::Own(own.clone())), own);
    }
}
