//! ADK's sets and results, where google-adk's `GcsEvalSetsManager` and `GcsEvalSetResultsManager` look for them.

mod results;
mod sets;

use eval_format::conventions::check_path_part;
use eval_support::untrusted::one_line;

use super::layout::{self, RESULT, SET};
use super::open::Store;
use crate::output::CommandError;
#[cfg(test)]
pub(crate) use results::parse as parse_result;
pub(crate) use results::{CaseOutcome, StoredResult, put_results, read_result};
pub(crate) use sets::{PutSet, fetch_sets, put_set};

/// An app with its stored sets and results.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct App {
    pub(crate) name: String,
    /// The ids of its sets.
    pub(crate) sets: Vec<String>,
    /// The ids of its results.
    pub(crate) results: Vec<String>,
}

/// The apps that have sets or results.
pub(crate) async fn apps(store: &Store) -> Result<Vec<App>, CommandError> {
    let mut apps = Vec::new();
    for folder in store.list("/", false).await? {
        let Some(name) = folder.strip_suffix('/').filter(|name| check_path_part(name).is_ok()) else {
            continue;
        };
        let ids = |names: Vec<String>, end: &str| -> Vec<String> {
            let id = |path: &String| Some(path.rsplit('/').next()?.strip_suffix(end)?.to_owned());
            names.iter().filter_map(id).collect()
        };
        let sets = ids(store.list(&layout::sets(name), false).await?, SET);
        let results = ids(store.list(&layout::results(name), false).await?, RESULT);
        if !sets.is_empty() || !results.is_empty() {
            apps.push(App { name: name.to_owned(), sets, results });
        }
    }
    Ok(apps)
}

/// Refuses a name that cannot be part of a path.
fn check_names(names: [(&str, &str); 2]) -> Result<(), String> {
    names.into_iter().try_for_each(|(what, name)| {
        check_path_part(name).map_err(|why| format!("the {what} `{}` {why}", one_line(name)))
    })
}
