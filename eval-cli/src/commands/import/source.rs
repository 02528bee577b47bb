//! The sources of an import: the errors of reading them, and cases of recorded runs.

use std::path::Path;

use eval_agents::import::ImportError;
use eval_support::untrusted::one_line;

use crate::files::first_error;
use crate::output::CommandError;

/// The error for a source that cannot be imported.
pub(super) fn refused(error: &ImportError) -> CommandError {
    if let ImportError::OldDatabase { from, migrate, .. } = error {
        return CommandError::new(
            format!("`{from}` has the schema of an earlier ADK, whose events only Python can read"),
            format!("make a new database of it with ADK's own command, then import that: `{migrate}`"),
        );
    }
    if let ImportError::Case { from, what, source, .. } = error {
        let (why, help) = first_error(source);
        let help = help.unwrap_or_else(|| "fix the file".to_owned());
        return CommandError::new(one_line(&format!("`{from}`, {what}: {why}")), help);
    }
    let help = match error {
        ImportError::Missing { what, there, .. } if there.is_empty() && what.starts_with("case") => {
            "no case of that run began; name another run: `RUN:CASE`"
        }
        ImportError::Io { .. } => "give this user permission to read it, or name another file",
        ImportError::TooLarge { .. } => "split it, or import a part of it",
        ImportError::Unknown { .. } => "name its format with `--from-format`, if it is one of these",
        ImportError::Mapping { .. } => "`--map COLUMN=user,COLUMN=final` says what the columns hold",
        ImportError::Missing { .. } => "name one that is there",
        ImportError::Nothing { .. } => {
            "a conversation begins with a message of the user; `cargo evalset traces` shows what traces lack"
        }
        ImportError::NotCompiled { .. } => "install `cargo-evalset` with its default features",
        _ => "fix the file, or name its format with `--from-format`",
    };
    CommandError::new(one_line(&error.to_string()), help)
}

/// The run and the case of `RUN:CASE`. The name of a test may have colons, and so may the path of a folder on Windows.
pub(super) fn run_and_case(text: &str) -> Option<(Option<&str>, &str)> {
    let colons = || text.match_indices(':').map(|(at, _)| (&text[..at], &text[at + 1..]));
    let of_folder = colons().filter(|(run, _)| !run.is_empty()).find(|(run, _)| Path::new(run).is_dir());
    let (run, case) = of_folder.or_else(|| colons().next())?;
    (!case.is_empty()).then_some((Some(run).filter(|run| !run.is_empty()), case))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_and_a_case_are_told_apart_at_the_first_colon() {
        for (text, expected) in [
            ("2026:sunny", Some((Some("2026"), "sunny"))),
            (":weather::sunny", Some((None, "weather::sunny"))),
            ("2026:weather::sunny", Some((Some("2026"), "weather::sunny"))),
            ("session.json", None),
            ("2026:", None),
        ] {
            assert_eq!(run_and_case(text), expected, "{text}");
        }
    }
}
