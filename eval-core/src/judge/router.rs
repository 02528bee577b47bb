//! Whom a metric asks: an offline judge directly, any other through recordings, and live only where
//! `EVALSET_JUDGE` says so.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

#[cfg(feature = "model-judge")]
use super::client::default_judge;
use super::once::Once;
use super::recording::{RecordingStore, no_recording};
use super::{
    BoxJudge, Judge, JudgeError, JudgeErrorKind, JudgeMode, JudgeReply, JudgeRequest, Making, Settings, limit,
};
use crate::guard::catch_panic;

/// The judges of a plan: one per case, which share what they ask.
#[derive(Clone, Debug)]
pub(crate) struct JudgeRouter(Arc<dyn OfCases>);

/// Behind a pointer, so that a crate that asks no judge compiles none of what metered takes.
trait OfCases: fmt::Debug + Send + Sync {
    fn of_case(&self, eval_id: &str) -> BoxJudge;
    fn skips(&self, error: &JudgeError) -> bool;
    fn unused(&self, eval_id: &str) -> Option<String>;
}

#[derive(Debug, Default)]
struct Shared {
    settings: Settings,
    named: JudgeSource,
    /// The recording of the set; none for a set that stands in no file.
    store: Option<RecordingStore>,
    /// The judge, once it was needed, or why it could not be made.
    made: Once<Result<BoxJudge, JudgeError>>,
}

/// The judge that the user names.
#[derive(Clone, Default)]
pub(crate) enum JudgeSource {
    /// None.
    #[default]
    Nobody,
    /// A value.
    Judge(BoxJudge),
    /// A function, called when the first question is asked.
    Function(fn() -> Making),
}

impl fmt::Debug for JudgeSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nobody => "Nobody",
            Self::Judge(_) => "Judge(..)",
            Self::Function(_) => "Function(..)",
        })
    }
}

impl JudgeRouter {
    /// The judge that is named, asked as the environment says.
    pub(crate) fn new(settings: Settings, named: JudgeSource, store: Option<RecordingStore>) -> Self {
        Self(Arc::new(Arc::new(Shared { settings, named, store, made: Once::default() })))
    }

    /// The judge for the metrics of one case.
    pub(crate) fn of_case(&self, eval_id: &str) -> BoxJudge {
        self.0.of_case(eval_id)
    }

    /// Whether a question that met this error is left out instead: `EVALSET_MISSING_JUDGE=skip`.
    pub(crate) fn skips(&self, error: &JudgeError) -> bool {
        self.0.skips(error)
    }

    /// A sentence about answers that are recorded for a case and were not asked for; only where recordings are
    /// replayed.
    pub(crate) fn unused(&self, eval_id: &str) -> Option<String> {
        self.0.unused(eval_id)
    }
}

impl Default for JudgeRouter {
    /// Nobody: for sets that ask no judge.
    fn default() -> Self {
        Self(Arc::new(Nobody))
    }
}

/// The judge of sets that ask none.
#[derive(Debug)]
struct Nobody;

impl OfCases for Nobody {
    fn of_case(&self, _: &str) -> BoxJudge {
        Self.boxed()
    }

    fn skips(&self, _: &JudgeError) -> bool {
        false
    }

    fn unused(&self, _: &str) -> Option<String> {
        None
    }
}

impl Judge for Nobody {
    async fn ask(&self, _: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        Err(no_recording(None))
    }
}

impl OfCases for Arc<Shared> {
    fn of_case(&self, eval_id: &str) -> BoxJudge {
        RoutedJudge { shared: self.clone(), eval_id: eval_id.to_owned(), hung: OnceLock::new() }.boxed()
    }

    fn skips(&self, error: &JudgeError) -> bool {
        self.settings.skip_missing && error.kind() == JudgeErrorKind::NoJudge
    }

    fn unused(&self, eval_id: &str) -> Option<String> {
        let store = self.store.as_ref().filter(|store| self.settings.replays() && store.exists())?;
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
    /// The judge to ask, made when it is first needed.
    async fn live(&self) -> &Result<BoxJudge, JudgeError> {
        self.made
            .get_or_make(async {
                match &self.named {
                    JudgeSource::Nobody => default_judge(),
                    JudgeSource::Judge(judge) => Ok(judge.clone()),
                    JudgeSource::Function(make) => made(*make).await,
                }
            })
            .await
    }

    /// Whether the judge may be asked as it is. The default one asks over the network, so it need not be made to know.
    async fn is_offline(&self) -> bool {
        match &self.named {
            JudgeSource::Nobody => false,
            JudgeSource::Judge(judge) => judge.is_offline(),
            JudgeSource::Function(_) => self.live().await.as_ref().is_ok_and(Judge::is_offline),
        }
    }
}

/// Calls the user's function, which may panic or hang.
async fn made(make: fn() -> Making) -> Result<BoxJudge, JudgeError> {
    let limit = limit::default();
    match tokio::time::timeout(limit, catch_panic(async { make().await })).await {
        Ok(Ok(made)) => made.map_err(|error| not_made(&error)),
        Ok(Err(panic)) => Err(not_made(&format_args!("panicked: {panic}"))),
        Err(_) => Err(not_made(&format_args!("it did not return within {limit:?}"))),
    }
}

/// Not of the kind that may be skipped: there should have been one.
fn not_made(why: &dyn fmt::Display) -> JudgeError {
    JudgeError::new(JudgeErrorKind::Failed, format!("the function of `judge = ..` made no judge: {why}"))
}

/// The judge where none is named.
#[cfg(not(feature = "model-judge"))]
fn default_judge() -> Result<BoxJudge, JudgeError> {
    Err(JudgeError::new(JudgeErrorKind::NoJudge, NOBODY))
}

#[cfg(not(feature = "model-judge"))]
const NOBODY: &str = "no judge: `EVALSET_JUDGE` asks for one, and none is named\n\
     turn on eval-core's feature `model-judge`, which asks models of several providers, or name a judge with \
     `judge = my_judge` in the attribute, or with `EvalRunner::judge`";

/// The judge of one case.
struct RoutedJudge {
    shared: Arc<Shared>,
    eval_id: String,
    /// The judge did not answer in time. It is not waited for again: that would take as long for each sample, metric
    /// and turn.
    hung: OnceLock<JudgeError>,
}

impl RoutedJudge {
    async fn ask_live(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        let judge = self.shared.live().await.as_ref().map_err(Clone::clone)?;
        if let Some(error) = self.hung.get() {
            return Err(error.clone());
        }
        match limit::ask_in_time(judge, request, &format!("case `{}`, ", self.eval_id)).await {
            Ok(answer) => answer,
            Err(late) => Err(self.hung.get_or_init(|| late).clone()),
        }
    }
}

impl Judge for RoutedJudge {
    async fn ask(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        let Shared { settings, store, .. } = &*self.shared;
        let overridden = settings.model.clone().map(|model| JudgeRequest { model, ..request.clone() });
        let request = overridden.as_ref().unwrap_or(request);
        if self.shared.is_offline().await {
            return self.ask_live(request).await;
        }
        match (settings.mode, store) {
            (Some(JudgeMode::Live), _) => self.ask_live(request).await,
            (Some(JudgeMode::Record), Some(store)) => {
                store.record(request, Some(&self.eval_id), self.ask_live(request)).await
            }
            (Some(JudgeMode::Record), None) => Err(JudgeError::new(JudgeErrorKind::Failed, NOWHERE)),
            (None | Some(JudgeMode::Replay), Some(store)) => store.replay(request, Some(&self.eval_id)),
            (None | Some(JudgeMode::Replay), None) => Err(no_recording(None)),
        }
    }

    fn time_limit(&self) -> Option<Duration> {
        None
    }
}

const NOWHERE: &str = "cannot record: this set stands in no file, so no recording stands beside it\n\
     name a file for it with `EvalRunner::recording`";

#[cfg(test)]
mod tests;
