//! The simulated user of a scenario: a model that gets the plan of the user and the conversation so far.
//!
//! The model is asked like a judge, so its answers are recorded and replayed in the same way. Settings and
//! end conditions agree with ADK's `LlmBackedUserSimulator`. The words of the prompt are not ADK's. A
//! conversation that the user did not end is an error here; ADK just stops it.

mod history;
mod user;

use std::borrow::Cow;

use eval_format::{Persona, UserBehavior, UserPersona};
use serde_json::Value;
pub(crate) use user::{Simulation, Simulator, Trouble};

/// A persona of the scenario, or a ready-made one: ADK's three, in this project's words.
pub(crate) fn profile(persona: &Persona) -> Cow<'_, UserPersona> {
    match persona {
        Persona::Own(persona) => Cow::Borrowed(persona),
        ready_made => Cow::Owned(written_out(ready_made.id())),
    }
}

fn written_out(id: &str) -> UserPersona {
    let texts: Value = serde_json::from_str(include_str!("simulator/personas.json")).unwrap_or_default();
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
mod tests;
