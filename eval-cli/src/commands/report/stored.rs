//! `report --store`: the run of a store.

use crate::output::{CommandError, tell};
use crate::recorded::{RunResults, WhichRun, new_root};
use crate::sides::against;
use crate::store::{Fetched, Store, StoreArg, fetch_run, publish, runtime};
use eval_support::command;
use eval_support::words::count;

/// The arguments that say where the run is.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct StoreArgs {
    /// Reads the run from a store: `gs://BUCKET/PREFIX`, `s3://BUCKET/PREFIX` or `file:///FOLDER`. RUN is an id; without it, the run
    /// that `EVALSET_RUN_ID` names, else the one that was stored last.
    #[arg(long, value_name = "URL", conflicts_with = "merge")]
    store: Option<StoreArg>,

    /// The number of parts of the run: of the machines that stored theirs. With fewer, the report ends with 2. No journal tells of
    /// a machine that stored nothing.
    #[arg(long, value_name = "N", requires = "store", value_parser = clap::value_parser!(u32).range(1..))]
    parts: Option<u32>,

    /// Stores the report too: the page, the JSON, and ADK's results, which are filed under `--app`, else under the app that the
    /// set names.
    #[arg(long, requires = "store")]
    pub(super) publish: bool,
}

pub(super) struct StoredRun {
    store: Store,
    pub(super) fetched: Fetched,
    publish: bool,
    parts: Option<u32>,
}

impl StoreArgs {
    pub(super) fn fetch(&self, run: &WhichRun) -> Result<Option<StoredRun>, CommandError> {
        let Some(arg) = &self.store else { return Ok(None) };
        let store = if self.publish { arg.open()? } else { arg.open_to_read()? };
        let fetched = runtime()?.block_on(fetch_run(&store, run.run.as_deref(), &new_root()))?;
        Ok(Some(StoredRun { store, fetched, publish: self.publish, parts: self.parts }))
    }
}

impl StoredRun {
    pub(super) fn missing_parts(&self) -> Option<String> {
        let (stored, expected) = (self.fetched.parts, self.parts? as usize);
        (stored < expected).then(|| {
            let are = if stored == 1 { "is" } else { "are" };
            format!(
                "{} of the run {are} stored, and `--parts` says {expected}; where the others ran: `{} store push`",
                count(stored, "part"),
                command::name(),
            )
        })
    }

    pub(super) fn end(&self, results: &RunResults<'_>, app: Option<&str>) -> Result<(), CommandError> {
        if self.publish {
            let run = self.fetched.folder.file_name().unwrap_or_default().to_string_lossy();
            let against = against(None)?;
            tell(&runtime()?.block_on(publish(&self.store, results, &run, None, app, against.as_ref()))?);
        }
        Ok(())
    }
}
