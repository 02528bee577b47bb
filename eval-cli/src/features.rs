//! Features that this build of the command lacks. The error for a missing feature says how to install it.

use eval_core::EvalRunner;
#[cfg(not(feature = "model-judge"))]
use eval_core::judge::{Judge, JudgeError, JudgeErrorKind, JudgeReply, JudgeRequest};

use crate::output::CommandError;

/// The features that are not in the default build, and whether this one has them.
const FEATURES: [(&str, bool); 4] = [
    ("https", cfg!(feature = "https")),
    ("model-judge", cfg!(feature = "model-judge")),
    ("serve", cfg!(feature = "serve")),
    ("store", cfg!(feature = "store")),
];

pub(crate) fn lacking(what: &str, feature: &str) -> CommandError {
    let help = installing(feature);
    CommandError::new(format!("{what} needs the feature `{feature}`, which this build lacks"), help)
}

/// The command that installs a feature beside the present ones.
fn installing(feature: &str) -> String {
    let all = FEATURES.iter().filter(|(name, is_on)| *is_on || *name == feature).map(|(name, _)| *name);
    let all = all.collect::<Vec<_>>().join(",");
    format!(
        "install the command with it: `cargo install --locked --git \"$EVALSET_REPOSITORY\" cargo-evalset --features {all}`"
    )
}

#[cfg(feature = "model-judge")]
pub(crate) fn with_judge(runner: EvalRunner) -> EvalRunner {
    runner
}

/// The runner with the judge of this build, which can ask no model.
#[cfg(not(feature = "model-judge"))]
pub(crate) fn with_judge(runner: EvalRunner) -> EvalRunner {
    runner.judge(NoModels)
}

#[cfg(not(feature = "model-judge"))]
struct NoModels;

#[cfg(not(feature = "model-judge"))]
impl Judge for NoModels {
    async fn ask(&self, _: &JudgeRequest) -> Result<JudgeReply, JudgeError> {
        let message = format!(
            "no judge: `EVALSET_JUDGE` asks for one, which needs the feature `model-judge`\n{}",
            installing("model-judge")
        );
        Err(JudgeError::new(JudgeErrorKind::NoJudge, message))
    }
}

/// The place of a command that needs a feature: it takes all arguments, and none of them helps.
#[cfg(not(all(feature = "serve", feature = "store")))]
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct AnyArgs {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    _args: Vec<std::ffi::OsString>,
}

/// The place of the option that names a store.
#[cfg(not(feature = "store"))]
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(crate) struct StoreArgs {
    /// Runs in buckets. This build lacks the feature `store`.
    #[arg(long, value_name = "URL", hide_short_help = true)]
    store: Option<std::ffi::OsString>,
}

#[cfg(not(feature = "store"))]
impl StoreArgs {
    pub(crate) fn check(&self) -> Result<(), CommandError> {
        if self.store.is_some() { Err(lacking("`--store`", "store")) } else { Ok(()) }
    }
}
