//! `serve --store`: the runs of a store.

use std::path::PathBuf;
use std::time::Duration;

use crate::output::CommandError;
use crate::recorded::new_root;
use crate::store::{Store, StoreArg, fetch_last, runtime};

const POLL_PAUSE: Duration = Duration::from_mins(1);

/// The arguments that say where the runs are.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct StoreArgs {
    /// Shows the runs of a store: `gs://BUCKET/PREFIX`, `s3://BUCKET/PREFIX` or `file:///FOLDER`. The 100 that were stored last are
    /// fetched, and each minute what is new.
    #[arg(long, value_name = "URL")]
    store: Option<StoreArg>,
}

impl StoreArgs {
    /// Refuses an agent beside a store: its runs would be recorded here, but the pages show the store's runs.
    pub(super) fn check(&self, has_agent: bool) -> Result<(), CommandError> {
        if self.store.is_none() || !has_agent {
            return Ok(());
        }
        let help = "leave the agent out, or start the run with `cargo evalset run --store`";
        Err(CommandError::new("`--store` shows stored runs, and the browser starts none beside them", help))
    }

    /// The folder with copies of the stored runs, if a store is named. It is kept up to date while the program runs.
    pub(super) fn records(&self) -> Result<Option<PathBuf>, CommandError> {
        let Some(arg) = &self.store else { return Ok(None) };
        let store = arg.open_to_read()?;
        let root = new_root();
        let mut told = String::new();
        let (folder, broken) = runtime()?.block_on(fetch_last(&store, &root))?;
        tell(&broken, &mut told);
        let looks = std::thread::Builder::new().name("evalset-store".to_owned()).spawn(move || {
            let Ok(runtime) = runtime() else { return };
            loop {
                std::thread::sleep(POLL_PAUSE);
                let store: &Store = &store;
                match runtime.block_on(fetch_last(store, &root)) {
                    Ok((_, broken)) => tell(&broken, &mut told),
                    Err(error) => tell(&[error], &mut told),
                }
            }
        });
        looks.map(|_| Some(folder)).map_err(|error| {
            let help = "raise this user's limit of processes";
            CommandError::new(format!("cannot start the thread that looks into the store: {error}"), help)
        })
    }
}

/// Prints the error, unless it is the same as the last one.
fn tell(broken: &[CommandError], told: &mut String) {
    let text: String = broken.iter().map(CommandError::shown).collect();
    if !text.is_empty() && *told != text {
        crate::output::tell(&text);
    }
    *told = text;
}
