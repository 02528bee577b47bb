//! What stands in for the simulated user if the feature `judges` is off: a user that says nothing.
//!
//! A case with a scenario is an error before it runs. If one runs all the same, its user is an error too.

use eval_format::{Content, ConversationScenario, UserSimulatorConfig};

use crate::judge::BoxJudge;
use crate::judge_outcome::JudgeError;
use crate::transcript::TurnRecord;

/// Nothing to simulate a user with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Simulation;

impl Simulation {
    #[expect(clippy::unnecessary_wraps, reason = "the call is that of the feature `judges`")]
    pub(crate) fn new(_: &UserSimulatorConfig) -> Result<Self, String> {
        Ok(Self)
    }
}

/// Why a simulated user has nothing to say.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The model that plays the user could not be asked.
    #[expect(dead_code, reason = "the variant is that of the feature `judges`")]
    Judge(JudgeError),
    /// There is no simulated user.
    Simulator(String),
}

/// A user that says nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Simulator<'a> {
    _scenario: &'a ConversationScenario,
}

impl<'a> Simulator<'a> {
    pub(crate) fn new(
        scenario: &'a ConversationScenario,
        _: &'a Simulation,
        _: &'a BoxJudge,
        _: usize,
    ) -> Self {
        Self { _scenario: scenario }
    }

    #[expect(clippy::unused_async, clippy::unused_self, reason = "the call is that of the feature `judges`")]
    pub(crate) async fn next(&mut self, _: &[TurnRecord]) -> Result<Option<Content>, Trouble> {
        Err(Trouble::Simulator("a simulated user needs the feature `judges` of `eval-core`".to_owned()))
    }
}
