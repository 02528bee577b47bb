//! The run that a command is about.

pub(crate) use eval_report::recorded::*;

/// The arguments that name a run.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct RunArgs {
    /// The id or the folder of the run. Without it, the last run of this package or workspace is meant.
    #[arg(value_name = "RUN")]
    run: Option<String>,

    /// Merges the partitions of a test run that ran apart. Each is an id, the folder of a run, or a folder of runs, of
    /// which the last is meant.
    #[arg(long, value_name = "RUN", num_args = 1.., conflicts_with = "run")]
    merge: Vec<String>,
}

impl RunArgs {
    pub(crate) fn which(&self) -> WhichRun {
        WhichRun { run: self.run.clone(), merge: self.merge.clone(), ..WhichRun::default() }
    }
}
