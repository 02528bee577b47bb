//! Why nothing was imported, and what to do.

use eval_agents::import::ImportError;
use eval_support::untrusted::one_line;

use crate::output::CommandError;

pub(super) fn of(error: &ImportError) -> CommandError {
    if let ImportError::OldDatabase { from, migrate, .. } = error {
        return CommandError::new(
            format!("`{from}` has the schema of an earlier ADK, whose events only Python can read"),
            format!("make a new database of it with ADK's own command, then import that: `{migrate}`"),
        );
    }
    let help = match error {
        ImportError::Io { .. } => "give this user permission to read it, or name another file",
        ImportError::TooLarge { .. } => "split it, or import a part of it",
        ImportError::Unknown { .. } => "name its format with `--from-format`, if it is one of these",
        ImportError::Mapping { .. } => "`--map COLUMN=user,COLUMN=final` says what the columns hold",
        ImportError::Missing { .. } => "name one that is there",
        ImportError::Nothing { .. } => "a conversation begins with a message of the user",
        ImportError::NotCompiled { .. } => "install `cargo-evalset` with its default features",
        _ => "mend the file, or name its format with `--from-format`",
    };
    CommandError::new(one_line(&error.to_string()), help)
}
