//! ADK's sets and results, where google-adk's `GcsEvalSetsManager` and `GcsEvalSetResultsManager` look for them.

mod results;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use eval_format::conventions::check_path_part;
use eval_support::untrusted::one_line;
use eval_support::words::did_you_mean;

use super::fetch::cache;
use super::layout::{self, RESULT, SET, hash};
use super::open::{JSON, Store};
use super::url::{Place, StoreUrl, is_url};
use crate::files::replace_private;
use crate::output::CommandError;
#[cfg(test)]
pub(crate) use results::parse as parse_result;
pub(crate) use results::{CaseOutcome, StoredResult, put_results, read_result};

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct App {
    pub(crate) name: String,
    pub(crate) sets: Vec<String>,
    pub(crate) results: Vec<String>,
}

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PutSet {
    Stored,
    /// The same bytes are stored already.
    Same,
}

/// Stores a set where ADK's manager reads it. A stored set that differs is kept, unless it may be replaced.
pub(crate) async fn put_set(
    store: &Store,
    app: &str,
    id: &str,
    text: &[u8],
    may_replace: bool,
) -> Result<PutSet, CommandError> {
    let help = "ADK's managers take names that can be file names";
    check_names([("app", app), ("id of the set", id)]).map_err(|why| CommandError::new(why, help))?;
    let path = format!("{}{id}{SET}", layout::sets(app));
    match store.find(&path).await? {
        Some(stored) if hash(&stored) == hash(text) => return Ok(PutSet::Same),
        Some(_) if !may_replace => {
            let message = format!("{}: `{}` is there and differs", store.shown(), one_line(&path));
            return Err(CommandError::new(message, "fetch and compare it; `--replace` replaces it"));
        }
        _ => {}
    }
    store.put(&path, text.to_vec(), JSON).await?;
    Ok(PutSet::Stored)
}

/// The arguments of `run` with paths in place of URLs: the sets are fetched into a folder such as `target/evalset`.
pub(crate) async fn fetch_sets(args: &[OsString], root: &Path) -> Result<Vec<OsString>, CommandError> {
    let mut paths = Vec::new();
    for arg in args {
        let Some(text) = arg.to_str().filter(|text| is_url(text)) else {
            paths.push(arg.clone());
            continue;
        };
        let (store, object, cases) = parse(text)?;
        let names = if object.ends_with(SET) {
            vec![object]
        } else {
            let folder = if object.is_empty() { String::new() } else { format!("{object}/") };
            let names = store.list(&folder, true).await?;
            names.into_iter().filter(|name| name.ends_with(SET)).collect()
        };
        if names.is_empty() {
            let help = "name a set or a folder of sets: `gs://BUCKET/APP/evals/eval_sets/ID.evalset.json`";
            return Err(CommandError::new(format!("`{}` holds no set (`*{SET}`)", one_line(text)), help));
        }
        for name in names {
            let mut path = OsString::from(fetch(&store, &name, root).await?);
            path.push(cases.as_deref().map(|cases| format!(":{cases}")).unwrap_or_default());
            paths.push(path);
        }
    }
    Ok(paths)
}

/// The store, the object, and the cases that a URL selects: `gs://b/app/evals/eval_sets/s.evalset.json:case1,case2`.
fn parse(text: &str) -> Result<(Store, String, Option<String>), CommandError> {
    let (url, cases) = match text.rfind(&format!("{SET}:")) {
        Some(at) => (&text[..at + SET.len()], Some(text[at + SET.len() + 1..].to_owned())),
        None => (text, None),
    };
    let mut url = StoreUrl::parse(url)?;
    let object = match &mut url.place {
        Place::Folder(path) => match path.file_name().filter(|_| !path.is_dir()) {
            Some(name) => {
                let name = name.to_string_lossy().into_owned();
                path.pop();
                if !path.is_dir() {
                    let help = "name a set or a folder of sets";
                    return Err(CommandError::new(format!("`{}` is not there", one_line(text)), help));
                }
                name
            }
            None => String::new(),
        },
        Place::Google(_) | Place::S3(_) => std::mem::take(&mut url.prefix),
    };
    Ok((Store::open_to_read(url)?, object, cases))
}

/// Fetches a set and returns the path of its copy, which ends with the name of the object.
async fn fetch(store: &Store, object: &str, root: &Path) -> Result<PathBuf, CommandError> {
    // An untrusted name becomes a path.
    if let Some(Err(why)) = object.split('/').map(check_path_part).find(Result::is_err) {
        let message = format!("{}: a part of the name `{}` {why}", store.shown(), one_line(object));
        return Err(CommandError::new(message, "name a set whose name can be a file name"));
    }
    let Some(bytes) = store.find(object).await? else {
        let folder = object.rsplit_once('/').map(|(folder, _)| format!("{folder}/")).unwrap_or_default();
        let names = store.list(&folder, false).await?;
        let sets = names.iter().map(String::as_str).filter(|name| name.ends_with(SET));
        let list = || format!("`cargo evalset store list {}` lists the sets", store.word());
        let help = did_you_mean(object, sets).unwrap_or_else(list);
        let message = format!("{} holds no set `{}`", store.shown(), one_line(object));
        return Err(CommandError::new(message, help));
    };
    let path = cache(store, root).join("sets").join(object);
    let written =
        std::fs::create_dir_all(path.parent().unwrap_or(root)).and_then(|()| replace_private(&path, &bytes));
    written.map_err(|error| {
        let help = "let `EVALSET_DIR` name a folder in which this user can write";
        CommandError::new(format!("cannot write a copy of the set to `{}`: {error}", path.display()), help)
    })?;
    Ok(path)
}
