//! Scoring recorded runs again.

use std::sync::Arc;

use eval_format::{Content, EvalCase};
use eval_support::message::cut;
use eval_support::words::count;

use super::builder::EvalRunner;
use super::error::RunnerError;
use super::prepare::Job;
use crate::play::{check_given, renew_rubrics};
use crate::report::{CaseReport, RunReport};
use crate::transcript::{RunError, Transcript};
use crate::verdict::Role;

impl EvalRunner {
    /// Scores recorded runs of a case, without an agent: the runner's criteria, judge, pass and gate decide.
    ///
    /// ```
    /// use eval_core::{Criterion, EvalCase, EvalRunner, Invocation, Replay};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let case = EvalCase::new("sunny").turn(Invocation::user("Paris?").response("It is sunny."));
    /// let report = EvalRunner::new().run_case(&case, || Replay::new([["It is very sunny."]])).await?;
    ///
    /// let recorded = report.runs.into_iter().map(|run| run.transcript).collect();
    /// let stricter = EvalRunner::new().criterion("response_match_score", Criterion::new(1.0));
    /// assert!(!stricter.score_case(&case, recorded).await?.verdict.passed());
    /// # Ok(()) }
    /// ```
    ///
    /// The given case has the expectations; it may have been edited since the run. A run that ended in an
    /// error stays an error. A run becomes an error if its user said something else than in the case, or had
    /// fewer or more turns: the agent was never asked the questions of the case. A turn without events is
    /// checked by the rules of a turn that is played. Fails if the runner's settings contradict each other,
    /// or if there is no run.
    pub async fn score_case(
        &self,
        case: &EvalCase,
        runs: Vec<Transcript>,
    ) -> Result<CaseReport, RunnerError> {
        self.score_attempts(case, runs, &[]).await
    }

    /// Scores recorded runs of a case, as [`score_case`](Self::score_case) does. A forbidden call in one of the runs
    /// that `retry` repeated fails the case.
    pub async fn score_attempts(
        &self,
        case: &EvalCase,
        mut runs: Vec<Transcript>,
        repeated: &[RunReport],
    ) -> Result<CaseReport, RunnerError> {
        let prepared = self.with_journal(self.prepare_scoring(None, None, std::slice::from_ref(case))?)?;
        if runs.is_empty() {
            return Err(RunnerError::NothingToScore(case.eval_id.clone()));
        }
        for transcript in &mut runs {
            if !transcript.error.as_ref().is_some_and(RunError::breaks) {
                let broke = other_conversation(transcript, case).or_else(|| check_given(&transcript.turns));
                transcript.error = broke.or(transcript.error.take());
            }
            renew_rubrics(transcript, case);
        }
        let job = Job { prepared: &prepared, eval_set_id: None, case };
        let report = prepared.runner.score_recorded(&job.identified(Arc::default()), runs, repeated).await;
        Ok(CaseReport { label: self.label_of_runs(), ..report })
    }
}

/// The error of a recorded run whose conversation differs from the case. Of a simulated user, only the first
/// message is in the case and can be compared.
fn other_conversation(transcript: &Transcript, case: &EvalCase) -> Option<RunError> {
    let error = |turn, message| Some(RunError::new(Role::Harness, turn, message));
    let other = |turn: usize, said: &Content, says: &Content| {
        let (said, says) = (cut(&said.text(), MAX_MESSAGE_CHARS), cut(&says.text(), MAX_MESSAGE_CHARS));
        let message = format!(
            "the user says {says:?} in the case, and said {said:?} in the recorded run; run it again"
        );
        error(Some(turn), message)
    };
    let mut said = transcript.turns.iter().map(|turn| &turn.invocation.user_content);
    if let Some(scenario) = &case.conversation_scenario {
        let Some(said) = said.next() else {
            return error(None, "the recorded run has no turn; run it again".to_owned());
        };
        let says = Content::user(scenario.starting_prompt.as_str());
        return if said.parts() == says.parts() { None } else { other(1, said, &says) };
    }
    for (at, (said, asked)) in said.zip(&case.conversation).enumerate() {
        if said.parts() != asked.user_content.parts() {
            return other(at + 1, said, &asked.user_content);
        }
    }
    let (played, asked) = (transcript.turns.len(), case.conversation.len());
    if played == asked {
        return None;
    }
    let turns = count(asked, "turn");
    error(None, format!("the case has {turns}, and the recorded run {played}; run it again"))
}

const MAX_MESSAGE_CHARS: usize = 80;
