//! The user who speaks to the agent: the recorded one of a conversation, or the simulated one of a scenario.

use std::borrow::Cow;
use std::slice::Iter;

use eval_format::{Content, EvalCase, Invocation, Rubric};

use crate::judge::BoxJudge;
use crate::simulator::{Simulation, Simulator, Trouble};
use crate::transcript::{RunError, TurnRecord};
use crate::verdict::Role;

#[derive(Debug)]
pub(crate) enum User<'a> {
    Recorded(Iter<'a, Invocation>),
    Simulated(Box<Simulator<'a>>),
}

#[derive(Debug)]
pub(crate) struct Message<'a> {
    pub(crate) content: Cow<'a, Content>,
    pub(crate) rubrics: Option<&'a Vec<Rubric>>,
}

impl Message<'_> {
    pub(crate) fn of(content: Content) -> Self {
        Self { content: Cow::Owned(content), rubrics: None }
    }
}

impl<'a> User<'a> {
    /// The user of a case; `run` counts from 1.
    pub(crate) fn of(
        case: &'a EvalCase,
        simulation: &'a Simulation,
        judge: &'a BoxJudge,
        run: usize,
    ) -> Self {
        match &case.conversation_scenario {
            Some(scenario) => Self::Simulated(Box::new(Simulator::new(scenario, simulation, judge, run))),
            None => Self::Recorded(case.conversation.iter()),
        }
    }

    /// The next message; `None` if the conversation is over. `turns` are the turns played so far.
    pub(crate) async fn next(&mut self, turns: &[TurnRecord]) -> Result<Option<Message<'a>>, RunError> {
        match self {
            Self::Recorded(rest) => Ok(rest.next().map(|turn| Message {
                content: Cow::Borrowed(&turn.user_content),
                rubrics: turn.rubrics.as_ref(),
            })),
            Self::Simulated(simulator) => match simulator.next(turns).await {
                Ok(content) => Ok(content.map(|it| Message { content: Cow::Owned(it), rubrics: None })),
                Err(trouble) => Err(error(trouble, turns.len() + 1)),
            },
        }
    }
}

fn error(trouble: Trouble, turn: usize) -> RunError {
    let (message, judge) = match trouble {
        Trouble::Judge(error) => {
            (format!("the model that plays the user gave no message: {error}"), Some(error))
        }
        Trouble::Simulator(message) => (message, None),
    };
    RunError { judge, ..RunError::new(Role::Simulator, Some(turn), message) }
}
