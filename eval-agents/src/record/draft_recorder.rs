//! Recording of scripts as drafts.

use std::collections::HashSet;
use std::fmt;
use std::time::Duration;

use eval_core::format::options::DEFAULT_USER_ID;
use eval_core::format::{DEFAULT_TIMEOUT, Problems};
use eval_core::report::{RunError, Transcript};
use eval_core::testing::Conversation;
use eval_core::{Agent, Session};
use eval_support::id::fresh_id;
use eval_support::setters;

use super::script::Script;
use crate::draft::{Draft, Origin, common_part, played};

/// A recorder that has conversations with an agent, and makes drafts of them.
#[derive(Clone, Debug)]
pub struct DraftRecorder {
    from: String,
    runs: usize,
    timeout: Duration,
    app_name: String,
    user_id: String,
}

/// An error of recording a conversation.
#[derive(Debug)]
#[non_exhaustive]
pub enum DraftRecorderError {
    /// A run ended in an error, so there is no draft.
    #[non_exhaustive]
    Run {
        /// The number of the run, from 1.
        run: usize,
        /// The cause.
        source: RunError,
    },
    /// The script has no turn.
    NoTurn,
    /// The conversation is no valid case.
    Case(Problems),
}

impl fmt::Display for DraftRecorderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run { run, source } => write!(f, "run {run}: {source}"),
            Self::NoTurn => f.write_str("the user says nothing"),
            Self::Case(problems) => problems.fmt(f),
        }
    }
}

impl std::error::Error for DraftRecorderError {}

impl DraftRecorder {
    /// A recorder with one run for each conversation. `from` names the agent for the reviewer of the drafts.
    pub fn new(from: impl Into<String>) -> Self {
        Self {
            from: from.into(),
            runs: 1,
            timeout: DEFAULT_TIMEOUT,
            app_name: String::new(),
            user_id: DEFAULT_USER_ID.to_owned(),
        }
    }

    setters! {
        /// Sets the number of runs of each conversation. A case keeps the parts that were equal each time. 0 is
        /// taken as 1.
        runs(runs: usize) { runs = runs.max(1) }

        /// Sets the time limit of each turn: two minutes by default.
        timeout(timeout: Duration) { timeout = timeout }

        /// Sets the app of scripts that name none. It becomes the app of the cases.
        app_name(app_name: impl Into<String>) { app_name = app_name.into() }

        /// Sets the user of scripts that name none: `test_user_id` by default.
        user_id(user_id: impl Into<String>) { user_id = user_id.into() }
    }

    /// Records the conversation of a script. Each run has its own agent.
    pub async fn record<A: Agent>(
        &self,
        script: &Script,
        make: impl Fn() -> A,
    ) -> Result<Draft, DraftRecorderError> {
        let mut runs = Vec::with_capacity(self.runs);
        for run in 1..=self.runs {
            let transcript = self.play(script, make()).await;
            let transcript = transcript.map_err(|source| DraftRecorderError::Run { run, source })?;
            runs.push(played(script.eval_id.as_deref(), &transcript).ok_or(DraftRecorderError::NoTurn)?);
        }
        let mut gaps: Vec<String> = runs.iter().flat_map(|(_, gaps)| gaps.clone()).collect();
        let mut seen = HashSet::new();
        gaps.retain(|gap| seen.insert(gap.clone()));
        let (case, varied) = common_part(runs.into_iter().map(|(case, _)| case).collect());
        let mut origin = self.origin();
        if self.runs > 1 {
            origin = origin.with("runs", self.runs);
        }
        let draft = Draft::from_case(case, origin).map_err(DraftRecorderError::Case)?;
        Ok(draft.with_gaps(gaps).with_varied(varied))
    }

    async fn play<A: Agent>(&self, script: &Script, agent: A) -> Result<Transcript, RunError> {
        let mut conversation = self.open(script, agent);
        for message in &script.turns {
            if let Err(error) = conversation.send(message.clone()).await {
                // The agent learns that the conversation is over, and its errors change nothing.
                drop(conversation.finish().await);
                return Err(error);
            }
        }
        conversation.finish().await
    }

    pub(super) fn open<A: Agent>(&self, script: &Script, agent: A) -> Conversation<A> {
        let or = |text: Option<&String>, default: &str| {
            text.filter(|text| !text.is_empty()).map_or_else(|| default.to_owned(), Clone::clone)
        };
        let input = script.session.as_ref();
        let app_name = or(input.map(|input| &input.app_name), &self.app_name);
        let user_id = or(input.map(|input| &input.user_id), &self.user_id);
        let mut session = Session::new(app_name, user_id).with_session_id(fresh_id("record"));
        session.state = input.map(|input| input.state.clone()).unwrap_or_default();
        Conversation::new(agent).with_session(session).with_timeout(self.timeout)
    }

    pub(super) fn origin(&self) -> Origin {
        Origin::new(&self.from).with("format", "recording")
    }
}
