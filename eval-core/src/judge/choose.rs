//! Whom a metric asks: an offline judge directly, any other through recordings, and live only where
//! `EVALSET_JUDGE` says so.

use std::fmt;
use std::sync::Arc;

use tokio::sync::OnceCell;

use super::{
    BoxJudge, Judge, JudgeError, JudgeErrorKind, JudgeMode, JudgeReply, JudgeRequest, Making, Settings,
};
use crate::runner::guard::catch_panic;

/// The judges of a plan: one per case, which share what they ask.
#[derive(Clone, Debug, Default)]
pub(crate) struct Judges {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    settings: Settings,
    named: Named,
    /// The judge, once it was needed, or why it could not be made.
    made: OnceCell<Result<Option<BoxJudge>, String>>,
}

/// The judge that the user names.
#[derive(Clone, Default)]
pub(crate) enum Named {
    /// None.
    #[default]
    Nobody,
    /// A value.
    Judge(BoxJudge),
    /// A function, called when the first question is asked.
    Function(fn() -> Making),
}

impl fmt::Debug for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nobody => "Nobody",
            Self::Judge(_) => "Judge(..)",
            Self::Function(_) => "Function(..)",
        })
    }
}

impl Judges {
    /// The judge that is named, asked as the environment says.
    pub(crate) fn new(settings: Settings, named: Named) -> Self {
        Self { shared: Arc::new(Shared { settings, named, made: OnceCell::new() }) }
    }

    /// The judge for the metrics of one case.
    pub(crate) fn of_case(&self, _eval_id: &str) -> BoxJudge {
        Chosen { shared: self.shared.clone() }.boxed()
    }

    /// Whether a question that met this error is left out instead: `EVALSET_MISSING_JUDGE=skip`.
    pub(crate) fn skips(&self, error: &JudgeError) -> bool {
        self.shared.settings.skip_missing && error.kind() == JudgeErrorKind::NoJudge
    }
}

impl Shared {
    /// The judge to ask, made when it is first needed.
    async fn live(&self) -> &Result<Option<BoxJudge>, String> {
        self.made
            .get_or_init(|| async {
                match &self.named {
                    Named::Nobody => Ok(None),
                    Named::Judge(judge) => Ok(Some(judge.clone())),
                    Named::Function(make) => match catch_panic(async { make().await }).await {
                        Ok(Ok(judge)) => Ok(Some(judge)),
                        Ok(Err(error)) => Err(error.to_string()),
                        Err(panic) => Err(format!("panicked: {panic}")),
                    },
                }
            })
            .await
    }
}

/// The judge of one case.
struct Chosen {
    shared: Arc<Shared>,
}

impl Judge for Chosen {
    async fn ask(&self, request: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        let Shared { settings, .. } = &*self.shared;
        let overridden = settings.model.clone().map(|model| JudgeRequest { model, ..request.clone() });
        let request = overridden.as_ref().unwrap_or(request);
        let live = self.shared.live().await;
        if let Ok(Some(judge)) = live
            && (judge.is_offline() || settings.mode == Some(JudgeMode::Live))
        {
            return judge.ask(request).await;
        }
        Err(JudgeError::new(JudgeErrorKind::NoJudge, "there is no judge"))
    }
}
