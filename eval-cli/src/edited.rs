//! Sets that commands edit: their selection, locking and writing.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use eval_core::runner::{KnownCases, RunDirError, files_of_selector};
use eval_format::{EditError, Problem, Problems, SetEditor};
use eval_support::shell;
use eval_support::untrusted::one_line;
use eval_support::words::{count, short_code_list};
use serde::Serialize;

use crate::files::{first_error, has, locked, read};
use crate::output::{Answer, CommandError, Format, GOOD, Outcome, styled};

/// Changes of a set's cases. Fields may be added to its JSON; no field is removed or changes its meaning.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Change {
    pub(crate) file: String,
    /// The ids of the cases that were changed, as they are now.
    pub(crate) cases: Vec<String>,
    /// The ids of drafts whose golden is back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) put_back: Vec<String>,
}

/// The answer of a command that edited sets. `did` is its verb and preposition: `removed`, `from`. `remark`
/// is added to the text for people.
pub(crate) fn changed(
    command: &str,
    did: (&str, &str),
    changes: &[Change],
    remark: &str,
    format: Format,
) -> Result<Answer, CommandError> {
    if format == Format::Json {
        let files = HashMap::from([("files", changes)]);
        return Answer::results(command, Outcome::Passed, &files);
    }
    let mut text = String::new();
    let is_told = |change: &&Change| change.put_back.is_empty() || !change.cases.is_empty();
    for change in changes.iter().filter(is_told) {
        let ids: Vec<String> = change.cases.iter().map(|id| one_line(id)).collect();
        let named = if ids.is_empty() { String::new() } else { format!(": {}", short_code_list(&ids)) };
        let shown = one_line(&change.file);
        let cases = count(change.cases.len(), "case");
        text.push_str(&format!("{} {cases} {} `{shown}`{named}\n", styled(GOOD, did.0), did.1));
    }
    Ok(Answer::new(Outcome::Passed, text + remark))
}

/// The error of a command that had written other places before, which it names.
pub(crate) fn after(error: CommandError, written: &[String]) -> CommandError {
    if written.is_empty() {
        return error;
    }
    let written: Vec<String> = written.iter().map(|place| one_line(place)).collect();
    let message = format!("{}; written before this error: {}", error.message, short_code_list(&written));
    CommandError { message, ..error }
}

/// Reads a set without locking it.
pub(crate) fn open(path: &Path) -> Result<SetEditor, CommandError> {
    let shown = path.display().to_string();
    SetEditor::of_file(&shown, &read(path)?).map_err(|problems| has_errors(&shown, &problems))
}

/// Edits the file of a set. It is locked while it is read, changed and written, so that concurrent edits lose
/// nothing. If the change is refused, or changes nothing, nothing is written.
pub(crate) fn edit<T>(
    path: &Path,
    change: impl FnOnce(&mut SetEditor) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    locked(path, |bytes| {
        let shown = path.display().to_string();
        let bytes = bytes.map_or_else(|| read(path), |bytes| Ok(bytes.to_vec()))?;
        let mut editor =
            SetEditor::of_file(&shown, &bytes).map_err(|problems| has_errors(&shown, &problems))?;
        let result = change(&mut editor)?;
        Ok((Some(editor.into_text()), result))
    })
}

/// Puts another text in place of the file of a set, if the file is still this one. Returns whether it was.
pub(crate) fn put_back(path: &Path, now: &str, text: &str) -> Result<bool, CommandError> {
    locked(path, |bytes| {
        let is_it = bytes == Some(now.as_bytes());
        Ok((is_it.then(|| text.to_owned()), is_it))
    })
}

pub(crate) fn refused(path: &Path, error: &EditError) -> CommandError {
    let shown = path.display().to_string();
    let help = match error {
        EditError::DuplicateId { .. } => "rename one of the two cases".to_owned(),
        EditError::OldForm { .. } => {
            let migrate = format!("cargo evalset migrate {} NEW.evalset.json", shell::word(&shown));
            let message =
                format!("`{}` is in an old form of ADK, which cannot be edited so", one_line(&shown));
            return CommandError::new(message, format!("write it as an eval set first: `{migrate}`"));
        }
        EditError::Case(problems) => {
            let (why, help) = first_error(problems);
            let message = format!("`{}` cannot take the case: {why}", one_line(&shown));
            return CommandError::new(message, help.unwrap_or_else(|| "fix the case".to_owned()));
        }
        _ => format!("`cargo evalset list {}` shows its cases", shell::word(&shown)),
    };
    CommandError::new(format!("`{}`: {}", one_line(&shown), one_line(&error.to_string())), help)
}

fn has_errors(shown: &str, problems: &Problems) -> CommandError {
    let errors = problems.iter().filter(|problem: &&Problem| problem.is_error()).count();
    has(shown, &count(errors, "error"))
}

/// A set and its named cases; `None` if no case is named.
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
            let known = KnownCases::new(editors.iter().flat_map(SetEditor::case_ids));
            let ids = known.of_selector(word, &list).map_err(|error| error_of(&error))?;
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

/// The error for a missing set or case. `of_set` makes the help for a missing case from its set.
pub(crate) fn not_found(error: &RunDirError, of_set: impl Fn(&str) -> String) -> Option<CommandError> {
    let (message, meant, help) = match error {
        RunDirError::NoSuchSet { name, meant } => {
            let help = "name a file, a folder, a glob in quotes, or the id of a set below this folder";
            (format!("there is no set `{name}`"), meant, help.to_owned())
        }
        RunDirError::NoSuchCase { set, id, meant } => {
            (format!("`{set}` has no case `{id}`"), meant, of_set(set))
        }
        RunDirError::NoSuchTag(unknown) => {
            return Some(CommandError::new(one_line(&unknown.to_string()), one_line(&unknown.help())));
        }
        _ => return None,
    };
    let help = meant.as_ref().map_or(help, |meant| format!("did you mean `{meant}`?"));
    Some(CommandError::new(message, help))
}
