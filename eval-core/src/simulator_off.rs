//! The module `simulator` of a build without the feature `judges`: a simulated user that says nothing.
//!
//! Such a build refuses a case with a scenario before it runs. If such a case runs anyway, it gets an
//! error in place of a message.

use std::marker::PhantomData;

use eval_format::config::UserSimulatorConfig;
use eval_format::{Content, ConversationScenario};

use crate::judge::BoxJudge;
use crate::judge_outcome::JudgeError;
use crate::transcript::TurnRecord;

/// The settings of simulated users, which do not exist without the feature.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Simulation;

impl Simulation {
    #[expect(clippy::unnecessary_wraps, reason = "the feature `judges` has this function")]
    pub(crate) fn new(_: &UserSimulatorConfig) -> Result<Self, String> {
        Ok(Self)
    }
}

#[derive(Debug)]
pub(crate) enum Trouble {
    #[expect(dead_code, reason = "the feature `judges` has this variant")]
    Judge(JudgeError),
    Simulator(String),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Simulator<'a>(PhantomData<&'a ()>);

impl<'a> Simulator<'a> {
    pub(crate) fn new(_: &'a ConversationScenario, _: &'a Simulation, _: &'a BoxJudge, _: usize) -> Self {
        Self(PhantomData)
    }

    #[expect(clippy::unused_async, reason = "the feature `judges` has this method")]
    pub(crate) async fn next(&mut self, _: &[TurnRecord]) -> Result<Option<Content>, Trouble> {
        Err(Trouble::Simulator("a simulated user needs the feature `judges` of `eval-core`".to_owned()))
    }
}
