//! The name of this project's command in messages: `cargo evalset`, or `evalset` in a process that was started by that name.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether this process is the program `evalset`, which needs no cargo.
static IS_EVALSET: AtomicBool = AtomicBool::new(false);

/// Lets messages of this process say `evalset` for `cargo evalset`.
pub fn started_as_evalset() {
    IS_EVALSET.store(true, Ordering::Relaxed);
}

/// The command as the user types it.
pub fn name() -> &'static str {
    if IS_EVALSET.load(Ordering::Relaxed) { "evalset" } else { "cargo evalset" }
}

/// The name of its program.
pub fn program() -> &'static str {
    if IS_EVALSET.load(Ordering::Relaxed) { "evalset" } else { "cargo-evalset" }
}

/// A command line: its words follow the name.
pub fn line(words: &str) -> String {
    format!("{} {words}", name())
}

/// A text of ours, such as a help line, with its commands as the user types them. Commands are in backticks:
/// names of files beside them stay as they are.
pub fn spelt(text: String) -> String {
    as_typed(text, name())
}

fn as_typed(text: String, name: &str) -> String {
    const COMMAND: &str = "`cargo evalset ";
    if name == "cargo evalset" || !text.contains(COMMAND) {
        return text;
    }
    text.replace(COMMAND, &format!("`{name} "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_in_backticks_have_the_name_that_was_started() {
        let text = "`cargo evalset check` shows `evals/cargo evalset x.json`; or `cargo test`";
        assert_eq!(as_typed(text.to_owned(), "cargo evalset"), text);
        assert_eq!(
            as_typed(text.to_owned(), "evalset"),
            "`evalset check` shows `evals/cargo evalset x.json`; or `cargo test`"
        );
    }

    #[test]
    fn cargo_is_part_of_the_name_unless_a_program_says_otherwise() {
        assert_eq!((name(), program()), ("cargo evalset", "cargo-evalset"));
        assert_eq!(line("check evals"), "cargo evalset check evals");
    }
}
