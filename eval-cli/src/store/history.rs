//! The last runs of a store, for `serve`.

use std::path::{Path, PathBuf};

use super::fetch::{cache, fetch, runs};
use super::open::Store;
use crate::output::CommandError;

/// How many runs are fetched.
const LAST: usize = 100;

/// Fetches the last runs that have an upload that ended, and returns the folder that they are in. One that cannot be read is left
/// out, and told.
pub(crate) async fn fetch_last(
    store: &Store,
    root: &Path,
) -> Result<(PathBuf, Vec<CommandError>), CommandError> {
    let mut broken = Vec::new();
    for run in runs(store).await?.into_iter().filter(|run| !run.uploads.is_empty()).take(LAST) {
        if let Err(error) = fetch(store, &run.id, root).await {
            broken.push(error);
        }
    }
    Ok((cache(store, root).join("runs"), broken))
}
