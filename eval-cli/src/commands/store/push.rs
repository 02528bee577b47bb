//! `cargo evalset store push`: the journals of runs.

use eval_support::words::count;

use crate::output::{Answer, CommandError, Outcome};
use crate::recorded::run_folder;
use crate::store::{StoreArg, push, runtime};

/// Stores the journals of a run: the last run, unless another is named.
///
/// Machines that share the id of a run (`EVALSET_RUN_ID`) store into one run. Stored journals are not stored again.
/// No reader sees a part of an upload: it counts when all of it is there.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Args {
    /// The store.
    #[arg(value_name = "URL")]
    store: StoreArg,

    /// The id or the folder of the run. Without it, the last run is meant.
    #[arg(value_name = "RUN")]
    run: Option<String>,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset store push gs://my-evals
  cargo evalset store push s3://my-evals/nightly 2026-11-22T02-31-07-1a2b3c4d

Exit codes:
  0  the run is stored
  2  it is not, or there is no run";

pub(super) fn run(args: &Args) -> Result<Answer, CommandError> {
    let folder = run_folder(args.run.as_deref())?;
    let store = args.store.open()?;
    let pushed = runtime()?.block_on(push(&store, &folder))?;
    let id = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = match pushed.journals {
        0 => format!("the run {id} is in {} already\n", store.shown()),
        number => format!("stored the run {id} ({}) in {}\n", count(number, "journal"), store.shown()),
    };
    Ok(Answer::new(Outcome::Passed, text))
}
