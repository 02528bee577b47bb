//! The user of one run of a scenario.

use eval_format::config::{InstructionTemplate, TemplateVariable, UserSimulatorConfig};
use eval_format::{Content, ConversationScenario, Persona, UserPersona};
use eval_support::words::count;

use super::history::{History, MAX_CONVERSATION_BYTES, STOP_SIGNAL, is_end};
use super::profile;
use crate::guard::catch_panic;
use crate::judge::{BoxJudge, Judge, JudgeError, JudgePrompt, JudgeReply, JudgeRequest};
use crate::transcript::TurnRecord;

#[derive(Debug)]
pub(crate) enum Trouble {
    Judge(JudgeError),
    /// The simulated user failed in another way, such as with an empty reply. The text says how.
    Simulator(String),
}

#[derive(Debug)]
pub(crate) struct Simulator<'a> {
    scenario: &'a ConversationScenario,
    simulation: &'a Simulation,
    judge: &'a BoxJudge,
    /// The sample that is asked for. It differs in each run, so that each run has replies and recordings of its own.
    sample: u32,
    history: History,
}

impl<'a> Simulator<'a> {
    pub(crate) fn new(
        scenario: &'a ConversationScenario,
        simulation: &'a Simulation,
        judge: &'a BoxJudge,
        run: usize,
    ) -> Self {
        let sample = u32::try_from(run.saturating_sub(1)).unwrap_or(u32::MAX);
        let history = History::new(simulation.include_function_calls);
        Self { scenario, simulation, judge, sample, history }
    }

    /// The next message, or `None` if the user has ended the conversation. `turns` are all turns so far.
    pub(crate) async fn next(&mut self, turns: &[TurnRecord]) -> Result<Option<Content>, Trouble> {
        if turns.len() >= self.simulation.most {
            return Err(Trouble::Simulator(format!(
                "the user sent {} and did not end the conversation; raise `max_allowed_invocations` in \
                 `user_simulator_config` if the plan needs more; otherwise see in the record what keeps the user from \
                 ending it",
                count(self.simulation.most, "message")
            )));
        }
        if turns.is_empty() && self.scenario.starting_prompt.is_empty() {
            let message = "the scenario begins with an empty message, which ADK cannot send either; write what the user \
                           says first as its `starting_prompt`";
            return Err(Trouble::Simulator(message.to_owned()));
        }
        if turns.is_empty() {
            return Ok(Some(Content::user(self.scenario.starting_prompt.as_str())));
        }
        self.history.add(turns).ok_or_else(too_long)?;
        let reply = self.ask().await?;
        // As in ADK, the signal ends the conversation, and the rest of the reply is not sent.
        if is_end(&reply.text) {
            return Ok(None);
        }
        if reply.text.trim().is_empty() {
            return Err(Trouble::Simulator(format!(
                "the model `{}` answered with no text (nothing, or thoughts only) when it was asked for the user's \
                 next message; run again, or name another `model` in `user_simulator_config`",
                self.simulation.request.model
            )));
        }
        if reply.text.len() > MAX_CONVERSATION_BYTES {
            return Err(too_long());
        }
        Ok(Some(Content::user(reply.text)))
    }

    async fn ask(&self) -> Result<JudgeReply, Trouble> {
        let (template, prompt) =
            prompt(self.scenario, self.simulation.instructions.as_ref(), &self.history.text);
        let request = JudgeRequest {
            prompt,
            ..self.simulation.request.clone().with_template(template).with_sample(self.sample)
        };
        match catch_panic(self.judge.ask(&request)).await {
            Ok(reply) => reply.map_err(Trouble::Judge),
            Err(panic) => Err(Trouble::Simulator(format!(
                "the judge that plays the user panicked: {panic}; `judge = ..` or `EvalRunner::judge` gave it"
            ))),
        }
    }
}

fn too_long() -> Trouble {
    Trouble::Simulator(format!(
        "the conversation is longer than {} MiB, which is more than a model reads; see in the record who says so much",
        MAX_CONVERSATION_BYTES >> 20
    ))
}

/// The name and the version of the built-in prompt. A change of its words makes a new version.
const TEMPLATE: &str = "user_simulator/2";
const TEXT: &str = include_str!("prompt.md");
const WITHOUT_PERSONA: &str = include_str!("behavior.md");
const CUSTOM_TEMPLATE: &str = "user_simulator_custom/2";

pub(super) fn prompt(
    scenario: &ConversationScenario,
    custom: Option<&InstructionTemplate>,
    history: &str,
) -> (&'static str, String) {
    match custom {
        Some(instructions) => {
            (CUSTOM_TEMPLATE, instructions.render(|variable| value(variable, scenario, history)))
        }
        None => (TEMPLATE, built_in(scenario, history)),
    }
}

fn built_in(scenario: &ConversationScenario, history: &str) -> String {
    let behavior = match &scenario.user_persona {
        Some(persona) => described(persona, scenario, history),
        None => WITHOUT_PERSONA.replace("{{stop_signal}}", STOP_SIGNAL).trim_end().to_owned(),
    };
    JudgePrompt::new(&TEXT.replace("{{stop_signal}}", STOP_SIGNAL))
        .data("plan", scenario.conversation_plan.as_str())
        .data("who you are", behavior)
        .data("conversation", history)
        .render()
}

fn value(variable: TemplateVariable, scenario: &ConversationScenario, history: &str) -> String {
    let persona = scenario.user_persona.as_ref();
    match variable {
        TemplateVariable::StopSignal => STOP_SIGNAL.to_owned(),
        TemplateVariable::ConversationPlan => scenario.conversation_plan.clone(),
        TemplateVariable::ConversationHistory => history.to_owned(),
        TemplateVariable::PersonaId => persona.map(|persona| persona.id().to_owned()).unwrap_or_default(),
        TemplateVariable::PersonaDescription => {
            persona.map(|persona| profile(persona).description.clone()).unwrap_or_default()
        }
        _ => persona.map(|persona| described(persona, scenario, history)).unwrap_or_default(),
    }
}

/// A persona as text: its description, then each behavior with its instructions.
fn described(persona: &Persona, scenario: &ConversationScenario, history: &str) -> String {
    let persona: &UserPersona = &profile(persona);
    // The texts of behaviors are templates too; the reader has refused invalid ones. In them `persona` is
    // only the description, as its full text is made here.
    let filled = |text: &str| match InstructionTemplate::parse(text) {
        Ok(template) => template.render(|variable| match variable {
            TemplateVariable::Persona => persona.description.clone(),
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

const MAX_INVOCATIONS: usize = 1000;

/// The settings of simulated users: a config that was checked.
#[derive(Clone, Debug)]
pub(crate) struct Simulation {
    pub(super) request: JudgeRequest,
    /// The maximum number of messages of the user. If the conversation does not end by then, it is an error.
    pub(super) most: usize,
    pub(super) instructions: Option<InstructionTemplate>,
    pub(super) include_function_calls: bool,
}

impl Simulation {
    pub(crate) fn new(config: &UserSimulatorConfig) -> Result<Self, String> {
        let most = match config.max_allowed_invocations {
            0 => {
                let message = "`max_allowed_invocations` is 0: a conversation of no messages checks nothing";
                return Err(message.to_owned());
            }
            ..0 => MAX_INVOCATIONS,
            most => usize::try_from(most).unwrap_or(usize::MAX),
        };
        let instructions = config.custom_instructions.as_deref().map(InstructionTemplate::parse).transpose();
        let instructions = instructions.map_err(|error| format!("in `custom_instructions`, {error}"))?;
        Ok(Self {
            request: JudgeRequest::of_model(&config.model, config.model_configuration.clone()),
            most,
            instructions,
            include_function_calls: config.include_function_calls,
        })
    }
}

#[cfg(test)]
mod prompt_tests {
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
        let custom = InstructionTemplate::parse(
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
