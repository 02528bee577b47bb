//! What the words of a command line select: sets and their cases, as `run` selects them.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use eval_core::runner::{RunDirError, cases_of_selector, files_of_selector};
use eval_support::shell;
use eval_support::untrusted::one_line;

use super::open;
use crate::output::CommandError;

/// A set, and which of its cases are meant; `None` if no case is named.
#[derive(Debug)]
pub(crate) struct SelectedSet {
    pub(crate) path: PathBuf,
    pub(crate) cases: Option<Vec<String>>,
}

/// The sets that words select, each once and in the order of the words. All cases that are named exist.
pub(crate) fn select(words: &[OsString]) -> Result<Vec<SelectedSet>, CommandError> {
    let mut places: HashMap<PathBuf, usize> = HashMap::new();
    let mut all: Vec<SelectedSet> = Vec::new();
    for word in words {
        let (files, cases) = files_of_selector(word).map_err(|error| error_of(&error))?;
        let mut of_files: Vec<(PathBuf, Option<Vec<String>>)> = Vec::new();
        if let Some(list) = cases {
            let editors = files.iter().map(|path| open(path)).collect::<Result<Vec<_>, _>>()?;
            let known: Vec<&str> = editors.iter().flat_map(eval_format::SetEditor::case_ids).collect();
            let ids = cases_of_selector(word, &list, &known).map_err(|error| error_of(&error))?;
            for (path, editor) in files.into_iter().zip(&editors) {
                let own: Vec<String> = ids.iter().filter(|id| editor.case(id).is_some()).cloned().collect();
                if !own.is_empty() {
                    of_files.push((path, Some(own)));
                }
            }
        } else {
            of_files.extend(files.into_iter().map(|path| (path, None)));
        }
        for (path, cases) in of_files {
            let path = path.strip_prefix(".").map(Path::to_path_buf).unwrap_or(path);
            let file = path.canonicalize().unwrap_or_else(|_| path.clone());
            let at = *places.entry(file).or_insert_with(|| {
                all.push(SelectedSet { path, cases: Some(Vec::new()) });
                all.len() - 1
            });
            all[at].add(cases);
        }
    }
    Ok(all)
}

/// The one set that a word selects, and the cases that are named.
pub(crate) fn one_set(word: &OsString) -> Result<SelectedSet, CommandError> {
    let mut sets = select(std::slice::from_ref(word))?;
    match (sets.pop(), sets.len()) {
        (Some(set), 0) => Ok(set),
        (_, more) => Err(CommandError::new(
            format!("`{}` selects {} sets", one_line(&word.to_string_lossy()), more + 1),
            "name the file of one set",
        )),
    }
}

impl SelectedSet {
    fn add(&mut self, cases: Option<Vec<String>>) {
        match (&mut self.cases, cases) {
            (Some(known), Some(more)) => {
                for id in more {
                    if !known.contains(&id) {
                        known.push(id);
                    }
                }
            }
            (known, _) => *known = None,
        }
    }
}

fn error_of(error: &RunDirError) -> CommandError {
    let of_set = |set: &str| format!("`cargo evalset list {}` shows its cases", shell::word(set));
    let other = || CommandError::new(one_line(&error.to_string()), "name the file of a set");
    not_found(error, of_set).unwrap_or_else(other)
}

/// The error for a set or a case that is not there; `of_set` is the help where a set lacks a case.
pub(crate) fn not_found(error: &RunDirError, of_set: impl Fn(&str) -> String) -> Option<CommandError> {
    let (message, meant, help) = match error {
        RunDirError::NoSuchSet { name, meant } => {
            let help = "name a file, a folder, a glob in quotes, or the id of a set below this folder";
            (format!("there is no set `{name}`"), meant, help.to_owned())
        }
        RunDirError::NoSuchCase { set, id, meant } => {
            (format!("`{set}` has no case `{id}`"), meant, of_set(set))
        }
        _ => return None,
    };
    let help = meant.as_ref().map_or(help, |meant| format!("did you mean `{meant}`?"));
    Some(CommandError::new(message, help))
}
