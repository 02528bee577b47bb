//! `run --store`: upload of a run to a store.

use std::future::poll_fn;
use std::path::Path;
use std::pin::pin;
use std::task::Poll;

use eval_report::command::{REPORT_FOLLOWS, pressed as ctrl_c_pressed};
use tokio::runtime::Runtime;

use crate::output::{CommandError, Outcome, tell};
use crate::recorded::{RunResults, near};
use crate::sides::against;
use crate::store::{Store, StoreArg, publish, push};

/// The arguments that say where the run goes.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct StoreArgs {
    /// Stores the run when it has ended, also if cases failed or Ctrl-C ended it: `gs://BUCKET/PREFIX`, `s3://BUCKET/PREFIX` or
    /// `file:///FOLDER`. ADK's results are filed under `--app`, else under the app that the set names.
    #[arg(long, value_name = "URL")]
    store: Option<StoreArg>,
}

/// A store that answers, and the upload of the run to it.
pub(super) struct RunStore<'a> {
    arg: &'a StoreArg,
    store: Store,
    /// The name of the upload; `None` if the run could not be stored.
    upload: Option<String>,
}

impl StoreArgs {
    /// The store. It is checked before anything runs, since agents and judges cost money.
    pub(super) fn open(
        &self,
        runtime: &Runtime,
        journal_stays: bool,
    ) -> Result<Option<RunStore<'_>>, CommandError> {
        let Some(arg) = &self.store else { return Ok(None) };
        if !journal_stays {
            let message = "`--store` stores the journal of the run, and `EVALSET_JOURNAL` is `off`";
            return Err(CommandError::new(message, "unset `EVALSET_JOURNAL`, or leave `--store` out"));
        }
        let store = arg.open()?;
        runtime.block_on(store.check())?;
        Ok(Some(RunStore { arg, store, upload: None }))
    }
}

impl RunStore<'_> {
    pub(super) fn push(&mut self, runtime: &Runtime, folder: &Path) {
        match runtime.block_on(unless_interrupted(push(&self.store, folder))) {
            Ok(pushed) => self.upload = Some(pushed.upload),
            Err(error) => self.tell(&error, folder),
        }
    }

    /// Stores the reports of the run. The outcome is `Passed` if both the run and its reports are stored.
    pub(super) fn publish(
        &self,
        runtime: &Runtime,
        results: &RunResults<'_>,
        folder: &Path,
        app: Option<&str>,
    ) -> Outcome {
        let Some(upload) = &self.upload else { return Outcome::Unmeasurable };
        let run = folder.file_name().unwrap_or_default().to_string_lossy();
        // One that is found is never an error.
        let against = against(None).ok().flatten();
        let stored = publish(&self.store, results, &run, Some(upload), app, against.as_ref());
        match runtime.block_on(unless_interrupted(stored)) {
            Ok(lines) => {
                tell(&lines);
                Outcome::Passed
            }
            Err(error) => {
                let later = format!("cargo evalset report --store {} --publish {run}", self.arg.word());
                let message = format!("the run is stored, and its report is not: {}", error.message);
                tell(&CommandError::new(message, format!("{}; later: `{later}`", error.help)).shown());
                Outcome::Unmeasurable
            }
        }
    }

    fn tell(&self, error: &CommandError, folder: &Path) {
        let run = folder.file_name().unwrap_or_default().to_string_lossy();
        let (why, journal) = (&error.message, near(folder).display());
        let message = format!("the run is not stored: {why}. Its journal stays in `{journal}`");
        let later = format!("cargo evalset store push {} {run}", self.arg.word());
        tell(&CommandError::new(message, format!("{}; later: `{later}`", error.help)).shown());
    }
}

/// The result of a future, unless Ctrl-C is pressed before.
async fn unless_interrupted<T>(
    work: impl Future<Output = Result<T, CommandError>>,
) -> Result<T, CommandError> {
    let (mut work, mut pressed) = (pin!(work), pin!(ctrl_c_pressed(REPORT_FOLLOWS)));
    poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Pending => pressed
            .as_mut()
            .poll(context)
            .map(|()| Err(CommandError::new("Ctrl-C was pressed while it was stored", "let it end"))),
        ended @ Poll::Ready(_) => ended,
    })
    .await
}
