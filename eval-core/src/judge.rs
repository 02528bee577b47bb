//! # From a metric to a model
//!
//! A question passes through several judges, each around the next one:
//!
//! 1. `MeteredJudge`, one for each metric of a run and one for its simulated user: counts questions and
//!    tokens, measures the time spent waiting for the judge, and turns a panic of the judge into an error. It
//!    is the outermost one, so it sees every question, whatever answers it.
//! 2. `RoutedJudge`, one for each case: decides who answers. An offline judge is asked directly. Any other
//!    judge is asked if `EVALSET_JUDGE` says so; otherwise the recording answers, and the judges below are
//!    not reached. It keeps the budget of each question, and does not ask a judge again after a timeout.
//! 3. `Retrying`: retries after a transient error. It is outside of `Limited`, so that no slot is held while
//!    it waits.
//! 4. `Limited`: takes one of the slots that all test processes share. The time limit of a request begins when it has
//!    a slot.
//! 5. `ModelJudge`: sends one HTTP request.
//!
//! The last three are the default judge, which needs the feature `model-judge`. A judge that the user names replaces
//! them.

mod ask;
mod budget;
#[cfg(feature = "model-judge")]
mod client;
mod closure;
mod environment;
mod in_case;
mod judging;
mod metered;
mod prompt;
mod provider;
mod recording;
pub(crate) mod reply_json;
mod reply_scan;
pub(crate) mod reply_text;
mod request;
mod router;
mod scripted;

pub use ask::{BoxJudge, Judge};
#[cfg(feature = "model-judge")]
#[doc(hidden)]
pub use client::patient as __patient;
#[cfg(feature = "model-judge")]
pub use client::{ModelJudge, default_judge};
pub use closure::{ClosureJudge, IntoJudge, IntoReply, JudgeFn, judge_fn};
pub(crate) use closure::{Making, nobody};
pub(crate) use environment::Settings;
pub use environment::{EnvironmentError, JudgeMode};
pub(crate) use in_case::{in_case, inherited};
pub(crate) use judging::majority;
pub use judging::{JudgeClient, Rating, Sample, Vote};
pub(crate) use metered::MeteredJudge;
pub use prompt::JudgePrompt;
pub(crate) use prompt::{answer, dialogue, grounding, instructions, rubrics, steps, tools, visible_text};
#[cfg(test)]
pub(crate) use prompt::{data_of, without_mark};
pub use provider::{Provider, check_judge_model};
pub use recording::RecordedJudge;
pub(crate) use recording::{RecordingStore, RecordingText};
pub(crate) use reply_scan::{CONTRADICTION, is_copy};
pub(crate) use reply_text::{is_space, reasoning};
pub use request::{JudgeReply, JudgeRequest};
pub(crate) use router::{JudgeRouter, JudgeSource};
pub use scripted::ScriptedJudge;

pub use crate::judge_outcome::{JudgeError, JudgeErrorKind};
