//! JudgeRouter: models that are asked about what an agent did.
//!
//! A judge answers a prompt with text; what is asked, and how answers become scores, is the business of
//! the metrics. See [`Judging`] for asking several times and taking the majority.

#[cfg(feature = "model-judge")]
mod client;
mod env;
mod function;
pub(crate) mod json;
mod judging;
mod limit;
mod metered;
mod model;
mod once;
mod preflight;
mod prompt;
mod provider;
mod rating;
mod recording;
mod reply;
mod request;
mod router;
mod scripted;
mod settings;

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use crate::agent::BoxFuture;

pub use crate::judge_outcome::{JudgeError, JudgeErrorKind};
#[cfg(feature = "model-judge")]
pub use client::{Limited, ModelJudge, Retrying, Slot, Slots, default_judge};
pub use function::{IntoJudge, JudgeFn, Making};
pub use judging::{Judging, Sample, Vote};
pub(crate) use metered::MeteredJudge;
pub use preflight::check_judge_model;
pub use prompt::JudgePrompt;
pub(crate) use prompt::{answer, dialogue, grounding, instructions, rubrics, steps, tools, visible_text};
pub use provider::Provider;
pub use rating::Rating;
pub use recording::RecordedJudge;
pub(crate) use recording::{RecordingStore, RecordingText};
pub(crate) use reply::{is_space, labels, reasoning};
pub use request::{JudgeReply, JudgeRequest};
pub(crate) use router::{JudgeRouter, JudgeSource};
pub use scripted::Scripted;
pub use settings::JudgeMode;
pub(crate) use settings::Settings;

/// A model that answers questions about what an agent did.
///
/// ```
/// use eval_core::judge::{Judge, JudgeError, JudgeReply, JudgeRequest};
///
/// /// Finds everything fine.
/// struct Kind;
///
/// impl Judge for Kind {
///     async fn ask(&self, _: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
///         Ok(JudgeReply::new(r#"{"reasoning": "fine", "is_the_agent_response_valid": "valid"}"#))
///     }
///
///     fn is_offline(&self) -> bool {
///         true
///     }
/// }
/// ```
///
/// One value serves all questions of a case, some of them at the same time.
pub trait Judge: Send + Sync {
    /// Answers one request.
    fn ask(&self, request: &JudgeRequest) -> impl Future<Output = Result<JudgeReply, JudgeError>> + Send;

    /// Whether it answers without a network and for nothing.
    ///
    /// Any other judge is asked through recordings, and live only where `EVALSET_JUDGE` says so.
    fn is_offline(&self) -> bool {
        false
    }

    /// How long one question may take; nothing where the judge keeps its own time.
    ///
    /// Unless a judge says something else it has as long as `EVALSET_JUDGE_TIMEOUT` says, else ten minutes. A judge
    /// that asks another one hands on what that says.
    fn time_limit(&self) -> Option<Duration> {
        Some(limit::default())
    }

    /// This judge behind a pointer.
    fn boxed(self) -> BoxJudge
    where
        Self: Sized + 'static,
    {
        BoxJudge(Arc::new(self))
    }
}

impl<J: Judge> Judge for Arc<J> {
    async fn ask(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        J::ask(self, request).await
    }

    fn is_offline(&self) -> bool {
        J::is_offline(self)
    }

    fn time_limit(&self) -> Option<Duration> {
        J::time_limit(self)
    }
}

/// The twin of [`Judge`] that can stand behind a pointer.
trait Erased: Send + Sync {
    fn ask<'a>(&'a self, request: &'a JudgeRequest) -> BoxFuture<'a, Result<JudgeReply, JudgeError>>;
    fn is_offline(&self) -> bool;
    fn time_limit(&self) -> Option<Duration>;
}

impl<J: Judge> Erased for J {
    fn ask<'a>(&'a self, request: &'a JudgeRequest) -> BoxFuture<'a, Result<JudgeReply, JudgeError>> {
        Box::pin(Judge::ask(self, request))
    }

    fn is_offline(&self) -> bool {
        Judge::is_offline(self)
    }

    fn time_limit(&self) -> Option<Duration> {
        Judge::time_limit(self)
    }
}

/// A judge behind a pointer, cheap to clone.
#[derive(Clone)]
pub struct BoxJudge(Arc<dyn Erased>);

impl fmt::Debug for BoxJudge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BoxJudge(..)")
    }
}

impl Judge for BoxJudge {
    async fn ask(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        self.0.ask(request).await
    }

    fn is_offline(&self) -> bool {
        self.0.is_offline()
    }

    fn time_limit(&self) -> Option<Duration> {
        self.0.time_limit()
    }

    fn boxed(self) -> BoxJudge {
        self
    }
}
