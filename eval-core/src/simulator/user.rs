//! The user of one run of a scenario.

use eval_format::{Content, ConversationScenario};
use eval_support::words::count;

use super::history::{History, MOST_BYTES, is_end};
use super::prompt::prompt;
use super::simulation::Simulation;
use crate::guard::catch_panic;
use crate::judge::{BoxJudge, Judge, JudgeError, JudgeReply, JudgeRequest};
use crate::transcript::TurnRecord;

/// Why a simulated user has no next message.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The model that plays the user gave no answer.
    Judge(JudgeError),
    /// The model gave no message, or the conversation has too many, as this sentence says.
    Simulator(String),
}

/// The user of one run of a scenario.
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
    /// The user of the run of this number, counted from 1.
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
            return Err(Trouble::Simulator(self.no_end()));
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
            return Err(Trouble::Simulator(self.empty_reply()));
        }
        if reply.text.len() > MOST_BYTES {
            return Err(too_long());
        }
        Ok(Some(Content::user(reply.text)))
    }

    async fn ask(&self) -> Result<JudgeReply, Trouble> {
        let (template, prompt) =
            prompt(self.scenario, self.simulation.instructions.as_ref(), self.history.text());
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

    fn no_end(&self) -> String {
        format!(
            "the user sent {} and did not end the conversation; raise `max_allowed_invocations` in \
             `user_simulator_config` if the plan needs more; otherwise see in the record what keeps the user from \
             ending it",
            count(self.simulation.most, "message")
        )
    }

    fn empty_reply(&self) -> String {
        format!(
            "the model `{}` answered with no text (nothing, or thoughts only) when it was asked for the \
             user's next message; run again, or name another `model` in `user_simulator_config`",
            self.simulation.request.model
        )
    }
}

fn too_long() -> Trouble {
    Trouble::Simulator(format!(
        "the conversation is longer than {} MiB, which is more than a model reads; see in the record who says so much",
        MOST_BYTES >> 20
    ))
}
