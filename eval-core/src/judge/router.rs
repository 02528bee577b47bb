//! The routing of questions. An offline judge is asked directly. Any other judge is behind its recording, and
//! is asked only if `EVALSET_JUDGE` says so.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::OnceCell;

use super::ask::ask_in_time;
use super::budget::Budgets;
#[cfg(feature = "model-judge")]
use super::client::default_judge;
use super::closure::Making;
use super::environment::{self, JudgeMode, Settings};
use super::recording::{RecordingStore, no_recording};
use super::{BoxJudge, Judge, JudgeError, JudgeErrorKind, JudgeReply, JudgeRequest};
use crate::guard::catch_panic;

/// The judges of the cases of a set. They share one judge, which is made once, and one recording. The default
/// router has neither, so each question is an error.
#[derive(Clone, Debug, Default)]
pub(crate) struct JudgeRouter {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    settings: Settings,
    source: JudgeSource,
    store: Option<RecordingStore>,
    /// The judge, or the reason why it could not be made. It is made when it is first needed.
    made: OnceCell<Result<BoxJudge, JudgeError>>,
}

#[derive(Clone, Debug, Default)]
pub(crate) enum JudgeSource {
    #[default]
    Nobody,
    Judge(BoxJudge),
    /// The user names a function. It is called when the judge is first needed.
    Function(fn() -> Making),
}

impl JudgeRouter {
    pub(crate) fn new(settings: Settings, source: JudgeSource, store: Option<RecordingStore>) -> Self {
        Self { shared: Arc::new(Shared { settings, source, store, made: OnceCell::new() }) }
    }

    pub(crate) fn of_case(&self, eval_id: &str) -> BoxJudge {
        let (shared, eval_id) = (self.shared.clone(), eval_id.to_owned());
        RoutedJudge { shared, eval_id, hung: OnceLock::new(), budgets: Budgets::default() }.boxed()
    }

    /// Whether a metric that got this error is left out of the verdict: no judge was there, and
    /// `EVALSET_MISSING_JUDGE` is `skip`.
    pub(crate) fn skips(&self, error: &JudgeError) -> bool {
        self.shared.settings.skip_missing && error.kind() == JudgeErrorKind::NoJudge
    }

    /// A sentence about recorded answers that a case did not ask for. `None` if there are none, or if judges
    /// are asked.
    pub(crate) fn unused(&self, eval_id: &str) -> Option<String> {
        let Shared { settings, store, .. } = &*self.shared;
        let store = store.as_ref().filter(|store| settings.replays() && store.exists())?;
        let unused = store.unused(Some(eval_id));
        (!unused.is_empty()).then(|| {
            let shown = store.shown();
            format!(
                "`{shown}` holds {} that this case did not ask for; remove what is no longer asked, or delete the \
                 file and record again",
                unused.join("; ")
            )
        })
    }
}

impl Shared {
    /// The judge to ask. The first question makes it; concurrent questions wait for that.
    async fn live(&self) -> &Result<BoxJudge, JudgeError> {
        let make = || async {
            match &self.source {
                JudgeSource::Nobody => default_judge(),
                JudgeSource::Judge(judge) => Ok(judge.clone()),
                JudgeSource::Function(make) => call(*make).await,
            }
        };
        self.made.get_or_init(make).await
    }

    /// Whether the judge may be asked directly. The default judge asks over the network, so it need not be
    /// made to find out.
    async fn is_offline(&self) -> bool {
        match &self.source {
            JudgeSource::Nobody => false,
            JudgeSource::Judge(judge) => judge.is_offline(),
            JudgeSource::Function(_) => self.live().await.as_ref().is_ok_and(Judge::is_offline),
        }
    }
}

async fn call(make: fn() -> Making) -> Result<BoxJudge, JudgeError> {
    let limit = environment::time_limit();
    match tokio::time::timeout(limit, catch_panic(async { make().await })).await {
        Ok(Ok(made)) => made.map_err(|error| not_made(&error)),
        Ok(Err(panic)) => Err(not_made(&format_args!("panicked: {panic}"))),
        Err(_) => Err(not_made(&format_args!("it did not return within {limit:?}"))),
    }
}

/// The error of a function that made no judge. Its kind is not [`NoJudge`](JudgeErrorKind::NoJudge), which
/// may be skipped: a named judge must exist.
fn not_made(why: &dyn fmt::Display) -> JudgeError {
    let mut message = format!("the function of `judge = ..` made no judge: {why}");
    // The error of `std::env::var` has no name in it.
    if message.ends_with(&std::env::VarError::NotPresent.to_string()) {
        message.push_str(" (its name: `std::env::var(NAME).map_err(|error| format!(\"{NAME}: {error}\"))?`)");
    }
    JudgeError::failed(message)
}

#[cfg(not(feature = "model-judge"))]
fn default_judge() -> Result<BoxJudge, JudgeError> {
    Err(JudgeError::new(
        JudgeErrorKind::NoJudge,
        "no judge: `EVALSET_JUDGE` asks for one, and none is named\n\
         turn on eval-core's feature `model-judge`, which asks models of several providers, or name a judge with \
         `judge = my_judge` in the attribute, or with `EvalRunner::judge`",
    ))
}

struct RoutedJudge {
    shared: Arc<Shared>,
    eval_id: String,
    /// The error of a judge that did not answer in time. The judge is not asked again: each sample, metric
    /// and turn would take as long.
    hung: OnceLock<JudgeError>,
    budgets: Budgets,
}

impl RoutedJudge {
    async fn ask_live(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        let judge = self.shared.live().await.as_ref().map_err(Clone::clone)?;
        let budget = self.shared.settings.budget;
        let budget =
            budget.unwrap_or(environment::DEFAULT_BUDGET.max(judge.time_limit().unwrap_or_default()));
        self.budgets.spend(request, budget, self.ask_directly(request)).await
    }

    async fn ask_directly(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        let judge = self.shared.live().await.as_ref().map_err(Clone::clone)?;
        if let Some(error) = self.hung.get() {
            return Err(error.clone());
        }
        let answer = ask_in_time(judge, request, &format!("case `{}`, ", self.eval_id)).await.flatten();
        // The timeout may also come from the judge's own limit.
        if let Err(error) = &answer
            && error.kind() == JudgeErrorKind::Timeout
        {
            return Err(self.hung.get_or_init(|| error.clone()).clone());
        }
        answer
    }
}

impl Judge for RoutedJudge {
    async fn ask(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        let Shared { settings, store, .. } = &*self.shared;
        let overridden = settings.model.clone().map(|model| JudgeRequest { model, ..request.clone() });
        let request = overridden.as_ref().unwrap_or(request);
        if self.shared.is_offline().await {
            return self.ask_directly(request).await;
        }
        match (settings.mode, store) {
            (Some(JudgeMode::Live), _) => self.ask_live(request).await,
            (Some(JudgeMode::Record), Some(store)) => {
                Box::pin(store.record(request, Some(&self.eval_id), Box::pin(self.ask_live(request)))).await
            }
            (Some(JudgeMode::Record), None) => Err(JudgeError::failed(
                "cannot record: this set was not read from a file, so it has no recording\n\
                 name a file for it with `EvalRunner::recording`",
            )),
            (None | Some(JudgeMode::Replay), Some(store)) => store.replay(request, Some(&self.eval_id)).await,
            (None | Some(JudgeMode::Replay), None) => Err(no_recording(None)),
        }
    }

    /// `None`: the limit of the judge behind it applies to each question.
    fn time_limit(&self) -> Option<Duration> {
        None
    }
}

#[cfg(test)]
mod tests;
