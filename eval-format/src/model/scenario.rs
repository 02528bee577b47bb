//! Scenarios: conversations with a simulated user, and who that user is.

use std::fmt;

use crate::schema::PERSONAS;

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
    /// What the simulated user wants, knows and does, as prose.
    pub conversation_plan: String,
    /// Who the simulated user is.
    pub user_persona: Option<Persona>,
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

    /// Sets who the simulated user is.
    #[must_use]
    pub fn persona(mut self, persona: impl Into<Persona>) -> Self {
        self.user_persona = Some(persona.into());
        self
    }
}

/// Who a simulated user is: one of the ready-made personas, or one of your own.
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
    /// The ready-made persona of a name, in capitals.
    pub(super) fn named(name: &str) -> Option<Self> {
        [Self::Expert, Self::Novice, Self::Evaluator].into_iter().find(|persona| persona.id() == name)
    }

    /// The id: the name of a ready-made persona, or the id in the file.
    pub fn id(&self) -> &str {
        match self {
            Self::Expert => PERSONAS[0],
            Self::Novice => PERSONAS[1],
            Self::Evaluator => PERSONAS[2],
            Self::Own(persona) => &persona.id,
        }
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
    /// Who the user is.
    pub description: String,
    /// How the user behaves.
    pub behaviors: Vec<UserBehavior>,
}

impl UserPersona {
    /// A persona without behaviors.
    pub fn new(id: impl Into<String>, description: impl Into<String>) -> Self {
        Self { id: id.into(), description: description.into(), behaviors: Vec::new() }
    }

    /// Adds a behavior.
    #[must_use]
    pub fn behavior(mut self, behavior: UserBehavior) -> Self {
        self.behaviors.push(behavior);
        self
    }
}

/// One way in which a persona behaves. Each text may contain `{{ stop_signal }}` and the other variables of
/// [`Instructions`](crate::config::Instructions).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct UserBehavior {
    /// The name of the behavior.
    pub name: String,
    /// What is expected of the user.
    pub description: String,
    /// What the simulated user is told to do.
    pub behavior_instructions: Vec<String>,
    /// What a message of the simulated user must not be. `per_turn_user_simulator_quality_v1` reads it.
    pub violation_rubrics: Vec<String>,
}

impl UserBehavior {
    /// A behavior without instructions.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self { name: name.into(), description: description.into(), ..Self::default() }
    }

    /// Adds something that the simulated user is told to do.
    #[must_use]
    pub fn instruction(mut self, instruction: impl Into<String>) -> Self {
        self.behavior_instructions.push(instruction.into());
        self
    }

    /// Adds something that a message of the simulated user must not be.
    #[must_use]
    pub fn violation(mut self, violation: impl Into<String>) -> Self {
        self.violation_rubrics.push(violation.into());
        self
    }
}
