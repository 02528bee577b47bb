//! Scenarios: conversations with a simulated user, and the persona of that user.

use std::fmt;

use super::saved::{Saved, saved, setters};
use crate::schema::{Checked, FromChecked, PERSONAS};
use crate::value::Value;

/// A conversation with a simulated user: how the user begins, and what the user wants.
///
/// ```
/// use eval_format::{ConversationScenario, EvalCase, EvalSet, Persona};
///
/// let scenario = ConversationScenario::new("I need a hotel.", "Book two nights in Paris in May.")
///     .persona(Persona::Novice);
/// let set = EvalSet::new("trips").case(EvalCase::new("hotel").scenario(scenario));
/// assert_eq!(EvalSet::parse(&set.to_json()).unwrap(), set);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ConversationScenario {
    /// The user's first message, word for word.
    pub starting_prompt: String,
    /// The wishes, knowledge and actions of the simulated user, as prose.
    pub conversation_plan: String,
    /// The persona of the simulated user.
    pub user_persona: Option<Persona>,
}

saved! {
    /// The scenario in ADK's saved form, except that a ready-made persona stays a name.
    ConversationScenario: CONVERSATION_SCENARIO { starting_prompt, conversation_plan, user_persona }
}

impl ConversationScenario {
    /// A scenario without a persona.
    pub fn new(starting_prompt: impl Into<String>, conversation_plan: impl Into<String>) -> Self {
        Self {
            starting_prompt: starting_prompt.into(),
            conversation_plan: conversation_plan.into(),
            user_persona: None,
        }
    }

    setters! {
        /// Sets who the simulated user is.
        persona(persona: impl Into<Persona>) { user_persona = Some(persona.into()) }
    }
}

/// The persona of a simulated user: a ready-made one, or one of your own.
///
/// A ready-made persona is written as its name. ADK writes its whole description instead, which is read back as
/// [`Own`](Self::Own).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Persona {
    /// `EXPERT`: knows what they want, says all of it, and corrects the agent.
    Expert,
    /// `NOVICE`: relies on the agent, says what it asks for, and cannot correct it.
    Novice,
    /// `EVALUATOR`: finds out whether the agent can do what the plan asks for, and stops if it cannot.
    Evaluator,
    /// A persona that the file describes.
    Own(UserPersona),
}

impl Persona {
    /// The id: the name of a ready-made persona, or the id in the file.
    pub fn id(&self) -> &str {
        match self {
            Self::Expert => PERSONAS[0],
            Self::Novice => PERSONAS[1],
            Self::Evaluator => PERSONAS[2],
            Self::Own(persona) => &persona.id,
        }
    }

    /// The persona in a file: a ready-made one is its name.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Own(persona) => persona.to_value(),
            ready_made => Value::from(ready_made.id()),
        }
    }
}

impl FromChecked for Persona {
    fn take_from(slot: &mut Option<Checked>) -> Option<Self> {
        if let Some(Checked::Value(Value::String(name))) = slot {
            let ready_made = [Self::Expert, Self::Novice, Self::Evaluator];
            return ready_made.into_iter().find(|persona| persona.id() == name);
        }
        UserPersona::take_from(slot).map(Self::Own)
    }
}

impl Saved for Persona {
    fn saved(&self) -> Value {
        self.to_value()
    }
}

impl fmt::Display for Persona {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

impl From<UserPersona> for Persona {
    fn from(persona: UserPersona) -> Self {
        Self::Own(persona)
    }
}

/// A persona as a file describes it.
///
/// ```
/// use eval_format::{UserBehavior, UserPersona};
///
/// let hurried = UserPersona::new("HURRIED", "Is about to board a train and wants short answers.").behavior(
///     UserBehavior::new("Keep it short", "Never writes more than one sentence.")
///         .instruction("Ask the agent to come to the point where it is chatty.")
///         .violation("The message has more than one sentence."),
/// );
/// assert_eq!(hurried.behaviors[0].violation_rubrics.len(), 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct UserPersona {
    /// The id, for readers of the file.
    pub id: String,
    /// A description of the user.
    pub description: String,
    /// The behaviors of the user.
    pub behaviors: Vec<UserBehavior>,
}

saved! {
    /// The persona in ADK's saved form.
    UserPersona: USER_PERSONA { id, description, behaviors }
}

impl UserPersona {
    /// A persona without behaviors.
    pub fn new(id: impl Into<String>, description: impl Into<String>) -> Self {
        Self { id: id.into(), description: description.into(), behaviors: Vec::new() }
    }

    setters! {
        /// Adds a behavior.
        behavior(behavior: UserBehavior) { behaviors.push(behavior) }
    }
}

/// One way in which a persona behaves. Each text may contain `{{ stop_signal }}` and the other variables of
/// [`InstructionTemplate`](crate::config::InstructionTemplate).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct UserBehavior {
    /// The name of the behavior.
    pub name: String,
    /// A description of the behavior.
    pub description: String,
    /// The instructions for the simulated user.
    pub behavior_instructions: Vec<String>,
    /// The properties that a message of the simulated user must not have. `per_turn_user_simulator_quality_v1` reads
    /// them.
    pub violation_rubrics: Vec<String>,
}

saved! {
    /// The behavior in ADK's saved form.
    UserBehavior: USER_BEHAVIOR { name, description, behavior_instructions, violation_rubrics }
}

impl UserBehavior {
    /// A behavior without instructions.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self { name: name.into(), description: description.into(), ..Self::default() }
    }

    setters! {
        /// Adds an instruction for the simulated user.
        instruction(instruction: impl Into<String>) { behavior_instructions.push(instruction.into()) }

        /// Adds a property that a message of the simulated user must not have.
        violation(violation: impl Into<String>) { violation_rubrics.push(violation.into()) }
    }
}
