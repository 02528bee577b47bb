//! Why nothing was run, or nothing is known of it.

use eval_core::runner::{RunDirError, RunnerError};
use eval_format::ReadError;
use eval_format::reader::{drafts_are, how_to_accept};
use eval_support::shell;
use eval_support::untrusted::one_line;
use eval_support::words::count;

use crate::edited::not_found;
use crate::output::CommandError;

/// Why the sets cannot be run.
pub(super) fn of_plan(error: &RunDirError) -> CommandError {
    let of_set = |set: &str| format!("`cargo evalset run {set}` runs all its cases");
    if let Some(error) = not_found(error, of_set) {
        return error;
    }
    match error {
        RunDirError::Runner { source: RunnerError::Journal { .. } | RunnerError::Environment(_), .. } => {
            CommandError::new(in_one_line(error), "`EVALSET_DIR` names the folder for journals")
        }
        RunDirError::Runner { path, source: RunnerError::Drafts { eval_ids, .. } } => {
            let ids: Vec<&str> = eval_ids.iter().map(String::as_str).collect();
            let path = path.display().to_string();
            CommandError::new(format!("`{path}`: {}", drafts_are(&ids)), how_to_accept(&path, &ids))
        }
        RunDirError::Read(ReadError::Problems(problems)) => {
            let errors: Vec<_> = problems.iter().filter(|problem| problem.is_error()).collect();
            let first = errors.first().map(|problem| one_line(&problem.message)).unwrap_or_default();
            CommandError::new(
                format!("`{}` has {}: {first}", one_line(problems.file()), count(errors.len(), "error")),
                format!("`cargo evalset check {}` shows where", shell::word(problems.file())),
            )
        }
        RunDirError::Runner { .. } => CommandError::new(
            in_one_line(error),
            "change the config, or name criteria with `--config` or `-m`",
        ),
        _ => CommandError::new(
            in_one_line(error),
            "`cargo evalset check` shows the problems of sets and configs",
        ),
    }
}

/// The error in one line. Problems of files take several.
fn in_one_line(error: &RunDirError) -> String {
    let text = error.to_string();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join("; ")
}

/// The error of a run whose journal cannot be read.
pub(super) fn no_record(why: &str) -> CommandError {
    CommandError::new(
        format!("the cases ran, and what came out is not known: {why}"),
        "let `EVALSET_DIR` name a folder in which this user can write",
    )
}
