//! Files on a command line: finding them, reading and writing them, and showing their problems.

mod find;
mod kept;
mod locked;

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use eval_format::compat::{Incompatibility, NotCompared, check_passable};
use eval_format::config::check_config;
use eval_format::conventions::{FileKind, SET_NAMES, SET_SUFFIX, SHARED_CONFIG, shared_config_path};
pub(crate) use eval_format::problem::Positions;
use eval_format::problem::render;
use eval_format::reader::SetFormat;
use eval_format::{EvalCase, EvalConfig, EvalSet, Problem, Problems, Value};
use eval_report::output::problem::problems;
pub(crate) use eval_report::output::problem::severity_name;
use eval_support::shell;
use eval_support::untrusted::{guard, one_line};
pub(crate) use eval_support::whole_file::{check_replaceable, create, replace};
#[cfg(feature = "store")]
pub(crate) use eval_support::whole_file::{private_beside, replace_private};
use eval_support::words::count;
pub(crate) use find::{Input, Scope, find_files, sessions_in};
pub(crate) use kept::{check_report_path, is_config};
pub(crate) use locked::locked;
use serde::{Serialize, Serializer};

pub(crate) use crate::output::read;
use crate::output::{CommandError, ERROR, WARNING, styled};

/// Writes a report, whole, in place of an older one.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), CommandError> {
    check_report_path(path)?;
    replace(path, text).map_err(|error| unwritten(&path.display().to_string(), &error))
}

/// The error of a file that was not written, by its path as it is shown. The help goes by the reason of the system.
pub(crate) fn unwritten(shown: &str, error: &io::Error) -> CommandError {
    let help = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "make room on its disk, and run the command again"
        }
        ErrorKind::ReadOnlyFilesystem => {
            "its file system is read-only: name a file elsewhere, or mount it for writing"
        }
        ErrorKind::NotFound => "its folder does not exist: make the folder first",
        ErrorKind::NotADirectory => "its folder is a file: name a file in a folder",
        ErrorKind::IsADirectory => "it is a folder: name a file",
        _ => "give this user permission to write it and its folder, or name a file elsewhere",
    };
    CommandError::new(format!("cannot write `{}`: {error}", one_line(shown)), help)
}

/// The bytes of a file; `None` if there is no such file.
pub(crate) fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, CommandError> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        _ => read(path).map(Some),
    }
}

/// A text and its problems, in the order of the text.
#[derive(Debug, Default)]
pub(crate) struct FoundProblems {
    pub(crate) text: String,
    pub(crate) problems: Vec<Problem>,
}

impl Serialize for FoundProblems {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        problems(&self.text, &self.problems).serialize(serializer)
    }
}

/// Serializes the number of expectations of each kind that no metric reads: `tool_responses`, `rubrics` and so on.
pub(crate) fn counts_not_compared<S: Serializer>(of: &NotCompared, serializer: S) -> Result<S::Ok, S::Error> {
    of.counts().collect::<BTreeMap<_, _>>().serialize(serializer)
}

/// Fails if no set can have the name of a path. `help` takes a path with a name that a set can have.
pub(crate) fn check_set_name(path: &Path, help: impl Fn(&str) -> String) -> Result<(), CommandError> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if FileKind::from_name(name) == Some(FileKind::Set) {
        return Ok(());
    }
    let near = path.with_file_name(format!("{}{SET_SUFFIX}", name.strip_suffix(".json").unwrap_or(name)));
    let shown = one_line(&path.display().to_string());
    let message = format!("`{shown}` is no name of an eval set: those are {SET_NAMES}");
    Err(CommandError::new(message, help(&shell::word(&near.display().to_string()))))
}

/// The name of a form, with its article.
pub(crate) fn form_name(form: SetFormat) -> &'static str {
    match form {
        SetFormat::EvalSet => "an eval set",
        SetFormat::TestFile => "an old test file",
        SetFormat::OldEvalSet => "an old eval set",
    }
}

/// A set that was read from a file of this form, as ADK would save it.
///
/// ADK draws the id of an old form at random or takes it from its caller. Here it is the stem of the file that will hold
/// the set, since ADK finds an eval set by the name of its file.
pub(crate) fn modern(set: &EvalSet, form: SetFormat, stem: &str) -> EvalSet {
    match form {
        SetFormat::EvalSet => set.clone(),
        SetFormat::TestFile | SetFormat::OldEvalSet => {
            let mut named = set.clone().with_name(stem);
            stem.clone_into(&mut named.eval_set_id);
            named
        }
    }
}

/// The text of a set as ADK saves it. It begins with the key `$schema` if `before` has it, since editors read that key. It ends
/// with a line break if `before` does. Its lines end as all lines of `before` do:
/// on Windows, git may check files out with `\r\n`.
pub(crate) fn text_like(set: &EvalSet, before: &str) -> String {
    let mut text = set.to_json();
    if let Some(schema) = Value::parse(before).ok().map(|it| it["$schema"].clone()).filter(|it| !it.is_null())
    {
        text.replace_range(..1, &format!("{{\n  \"$schema\": {schema},"));
    }
    if before.ends_with('\n') {
        text.push('\n');
    }
    let (all, with_return) = (before.matches('\n').count(), before.matches("\r\n").count());
    if all > 0 && all == with_return { text.replace('\n', "\r\n") } else { text }
}

/// The most problems of one file that are shown. With more than these, it helps more to fix the first ones than to see the rest.
const MAX_SHOWN_PROBLEMS: usize = 20;

/// The most lines of equal warnings that are listed.
const MAX_LISTED_LINES: usize = 10;

/// The problems of one file as the compiler shows them, errors first, each followed by an empty line. Of equal warnings the
/// first one is shown, with the lines of the others.
pub(crate) fn shown(file: &str, found: &FoundProblems) -> String {
    let FoundProblems { text, problems } = found;
    let groups = with_equal_warnings(problems);
    let positions = Positions::new(text, problems);
    let mut shown = String::new();
    for (problem, more) in groups.iter().take(MAX_SHOWN_PROBLEMS) {
        let level = if problem.is_error() { styled(ERROR, "error") } else { styled(WARNING, "warning") };
        shown.push_str(&format!("{level}: {}\n\n", guard(&render(problem, file, text))));
        if !more.is_empty() {
            let lines = more.iter().map(|problem| positions.get(problem.range.start).line.to_string());
            let lines: Vec<String> = lines.take(MAX_LISTED_LINES).collect();
            let rest = if more.len() > lines.len() { ", .." } else { "" };
            let on = if more.len() == 1 { "line" } else { "lines" };
            let (equal, lines) = (count(more.len(), "more warning"), lines.join(", "));
            shown.push_str(&format!("{level}: {equal} of these words, on {on} {lines}{rest}\n\n"));
        }
    }
    let hidden: usize = groups.iter().skip(MAX_SHOWN_PROBLEMS).map(|(_, more)| 1 + more.len()).sum();
    if hidden > 0 {
        shown.push_str(&format!("... and {} in `{}`\n\n", count(hidden, "more problem"), one_line(file)));
    }
    shown
}

/// The errors, each on its own, and the warnings, each with the later ones that say the same.
fn with_equal_warnings(problems: &[Problem]) -> Vec<(&Problem, Vec<&Problem>)> {
    let (errors, warnings): (Vec<_>, Vec<_>) = problems.iter().partition(|problem| problem.is_error());
    let mut groups: Vec<(&Problem, Vec<&Problem>)> =
        errors.into_iter().map(|error| (error, Vec::new())).collect();
    let mut places = HashMap::new();
    for warning in warnings {
        match places.entry((&warning.message, &warning.help)) {
            Entry::Occupied(known) => {
                let at: &usize = known.get();
                groups[*at].1.push(warning);
            }
            Entry::Vacant(new) => {
                new.insert(groups.len());
                groups.push((warning, Vec::new()));
            }
        }
    }
    groups
}

/// Reads a config. Its criteria may name these metrics of the user's own.
pub(crate) fn read_config(path: &Path, own: &[&str]) -> Result<EvalConfig, CommandError> {
    let shown = path.display().to_string();
    let checked = check_config(&shown, &read(path)?, own);
    let problems = checked.problems.len();
    let config = checked.config.ok_or_else(|| has(&shown, &count(problems, "problem")))?;
    Ok(config.in_folder_of(path))
}

/// The config beside a set; `None` without one, and if it has errors: the criteria are then unknown.
pub(crate) fn config_beside(set: &Path, own: &[&str]) -> Option<EvalConfig> {
    check_config(SHARED_CONFIG, &read(&shared_config_path(set)).ok()?, own).config
}

/// The cases of a set that no agent can pass by the config beside it, or by ADK's default criteria if there is none.
pub(crate) fn unpassable(set: &Path, own: &[&str], cases: &[EvalCase]) -> Vec<Incompatibility> {
    let config = config_beside(set, own);
    if config.is_none() && shared_config_path(set).exists() {
        return Vec::new();
    }
    check_passable(config.as_ref(), own, cases)
}

/// The first error in a text that is not the user's file, in a line, and what helps.
pub(crate) fn first_error(problems: &Problems) -> (String, Option<String>) {
    let mut errors = problems.iter().filter(|problem| problem.is_error());
    let Some(first) = errors.next() else { return (one_line(&problems.to_string()), None) };
    let more = match errors.count() {
        0 => String::new(),
        more => format!(" (and {})", count(more, "more error")),
    };
    (format!("{}{more}", one_line(&first.message)), first.help.clone())
}

/// The error of a command that cannot use a file, since it has `2 errors`.
pub(crate) fn has(file: &str, errors: &str) -> CommandError {
    let help = format!("`cargo evalset check {}` shows them", shell::word(file));
    CommandError::new(format!("`{}` has {errors}", one_line(file)), help)
}

#[cfg(test)]
mod tests {
    use eval_format::reader::check_set;

    use super::*;

    #[test]
    fn after_twenty_problems_the_rest_is_counted() {
        let text = format!(r#"{{"eval_set_id": "s", "eval_cases": [{}]}}"#, vec!["1"; 25].join(","));
        let checked = check_set("s.evalset.json", text.as_bytes(), None);
        let shown = shown("s.evalset.json", &FoundProblems { text, problems: checked.problems });
        assert_eq!(shown.matches("--> s.evalset.json").count(), 20);
        assert!(shown.ends_with("... and 5 more problems in `s.evalset.json`\n\n"), "{shown}");
    }

    #[test]
    fn equal_warnings_are_told_once_with_their_lines() {
        let rubric = |at: usize| {
            format!("\n{{\"rubric_id\": \"r{at}\", \"rubric_content\": {{\"text_property\": \"x\"}}}}")
        };
        let rubrics: Vec<String> = (0..12).map(rubric).collect();
        let text = format!(
            r#"{{"eval_set_id": "s", "eval_cases": [{{"eval_id": "a", "conversation": [{{"user_content": {{"parts": [{{"text": "x"}}]}}}}],
            "rubrics": [{}]}}]}}"#,
            rubrics.join(",")
        );
        let checked = check_set("s.evalset.json", text.as_bytes(), None);
        assert_eq!(checked.problems.len(), 12);
        let shown = shown("s.evalset.json", &FoundProblems { text, problems: checked.problems });
        assert_eq!(shown.matches("the rubric has no `type`").count(), 1, "{shown}");
        assert!(
            shown.contains(
                ": 11 more warnings of these words, on lines 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, ..\n"
            ),
            "{shown}"
        );
    }
}
