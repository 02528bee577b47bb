//! The simulated user of a scenario: a model that is told what it wants and what was said so far.
//!
//! It is asked as judges are, so that it is recorded and replayed as they are. Settings and ends are ADK's
//! (`LlmBackedUserSimulator`), the words are not; and where ADK lets a conversation just stop, this is an error.

mod history;
mod personas;
mod prompt;

use eval_format::{Content, ConversationScenario, Instructions, Map, UserSimulatorConfig, Value};

use crate::guard::catch_panic;
use crate::judge::{BoxJudge, Judge, JudgeError, JudgeReply, JudgeRequest};
use crate::message::count;
use crate::transcript::TurnRecord;
use history::History;

pub(crate) use personas::profile;

/// What the simulated user writes to end the conversation, in any case and anywhere in a reply.
pub(crate) const STOP_SIGNAL: &str = "</finished>";
/// What ends a conversation that has no limit of its own.
const MOST_INVOCATIONS: usize = 1000;

/// How users are simulated: a config that has been looked through.
#[derive(Clone, Debug)]
pub(crate) struct Simulation {
    request: JudgeRequest,
    most: usize,
    instructions: Option<Instructions>,
    include_function_calls: bool,
}

impl Simulation {
    /// Fails where the config says what cannot be done.
    pub(crate) fn new(config: &UserSimulatorConfig) -> Result<Self, String> {
        let most = match config.max_allowed_invocations {
            0 => {
                return Err(
                    "`max_allowed_invocations` is 0: a conversation of no messages checks nothing".to_owned()
                );
            }
            ..0 => MOST_INVOCATIONS,
            most => usize::try_from(most).unwrap_or(usize::MAX),
        };
        let instructions = config.custom_instructions.as_deref().map(Instructions::parse).transpose();
        let instructions = instructions.map_err(|error| format!("in `custom_instructions`, {error}"))?;
        let options = &config.model_configuration;
        let temperature = options.get("temperature").and_then(Value::as_f64);
        let rest: Map = options
            .iter()
            .filter(|(key, _)| temperature.is_none() || *key != "temperature")
            .map(|(key, value)| (key, value.clone()))
            .collect();
        Ok(Self {
            request: JudgeRequest {
                temperature,
                config: rest,
                ..JudgeRequest::new(config.model.as_str(), "")
            },
            most,
            instructions,
            include_function_calls: config.include_function_calls,
        })
    }
}

/// Why a simulated user has nothing to say.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The model that plays the user could not be asked.
    Judge(JudgeError),
    /// It was asked, or could not be asked any more, and this came of it.
    Simulator(String),
}

/// The user of one run of a scenario.
#[derive(Debug)]
pub(crate) struct Simulator<'a> {
    scenario: &'a ConversationScenario,
    simulation: &'a Simulation,
    judge: &'a BoxJudge,
    /// Runs differ in this, so that each has replies and recordings of its own.
    sample: u32,
    history: History,
}

impl<'a> Simulator<'a> {
    /// A user that has said nothing yet. `run` counts from 1.
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

    /// The next message, or `None` where the user is done. `turns` are all that were played so far.
    pub(crate) async fn next(&mut self, turns: &[TurnRecord]) -> Result<Option<Content>, Trouble> {
        if turns.len() >= self.simulation.most {
            return Err(Trouble::Simulator(self.no_end()));
        }
        if turns.is_empty() {
            return Ok(Some(Content::user(self.scenario.starting_prompt.as_str())));
        }
        self.history.add(turns);
        let reply = self.ask().await?;
        // As in ADK, the conversation is over and what else the reply says is never sent.
        if contains_ignoring_case(&reply.text, STOP_SIGNAL) {
            return Ok(None);
        }
        if reply.text.trim().is_empty() {
            return Err(Trouble::Simulator(self.empty_reply()));
        }
        Ok(Some(Content::user(reply.text)))
    }

    async fn ask(&self) -> Result<JudgeReply, Trouble> {
        let (template, prompt) =
            prompt::prompt(self.scenario, self.simulation.instructions.as_ref(), self.history.text());
        let request = JudgeRequest {
            template: template.to_owned(),
            prompt,
            sample: self.sample,
            ..self.simulation.request.clone()
        };
        match catch_panic(self.judge.ask(&request)).await {
            Ok(reply) => reply.map_err(Trouble::Judge),
            Err(panic) => Err(Trouble::Simulator(format!(
                "the judge that plays the user panicked: {panic}; `judge = ..` or `EvalRunner::judge` gave it"
            ))),
        }
    }

    fn no_end(&self) -> String {
        format!(
            "the user sent {} and did not end the conversation; raise `max_allowed_invocations` in \
             `user_simulator_config` if the plan needs more, else see in the record what keeps it from its end",
            count(self.simulation.most, "message")
        )
    }

    fn empty_reply(&self) -> String {
        format!(
            "the model `{}` answered with no text (nothing, or thoughts only) where the user's next message was \
             asked of it; run again, or name another `model` in `user_simulator_config`",
            self.simulation.request.model
        )
    }
}

fn contains_ignoring_case(text: &str, ascii: &str) -> bool {
    text.as_bytes().windows(ascii.len()).any(|window| window.eq_ignore_ascii_case(ascii.as_bytes()))
}

#[cfg(test)]
mod adk;
#[cfg(test)]
mod tests;
