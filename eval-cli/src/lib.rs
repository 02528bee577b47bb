//! `cargo evalset`: checks eval sets in the format of Google's Agent Development Kit (ADK), and reads what their tests
//! recorded.
//!
//! The program is one call of [`run`]. A command turns its arguments into an answer: a text and an exit code. It prints
//! nothing itself. So a reader that stops reading (`cargo evalset check evals | head`) changes neither the exit code
//! nor what `--fix` writes. The one exception is `rerun`: it prints the commands before it runs them.

mod cargo;
mod commands;
mod files;
mod output;
mod recorded;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use eval_core::__private::{mask, variables};
use output::{Answer, CommandError, Outcome};

/// Runs the program with its arguments, the name of the program first, and returns its exit code.
///
/// Cargo calls `cargo-evalset evalset check ...` for `cargo evalset check ...`; both are understood.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let answer = match commands::parse(without_cargo(args)) {
        Ok(command) => check_variables().and_then(|()| command.run()),
        Err(error) => {
            // There is no other place to report that the help cannot be printed.
            drop(error.print());
            return exit_code(error.exit_code());
        }
    };
    match answer {
        Ok(answer) => print(&answer),
        Err(error) => print_error(&error),
    }
}

/// A misspelt variable must not go unnoticed, also where a command does not read it.
fn check_variables() -> Result<(), CommandError> {
    let help = "unset it, or correct its name or value; docs/configuration.md lists the variables";
    variables::check().map_err(|wrong| CommandError::new(wrong, help))
}

/// The arguments without the `evalset` that cargo puts in front.
fn without_cargo(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<_> = args.into_iter().collect();
    if args.get(1).is_some_and(|first| first == "evalset") {
        args.remove(1);
    }
    args
}

fn print(answer: &Answer) -> ExitCode {
    let mut out = anstream::stdout().lock();
    match out.write_all(mask(&answer.text).as_bytes()).and_then(|()| out.flush()) {
        // A reader that stops reading is no error.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => print_error(&CommandError::new(
            format!("cannot write the output: {error}"),
            "check where standard output goes",
        )),
        _ => exit_code(answer.exit_code),
    }
}

fn print_error(error: &CommandError) -> ExitCode {
    drop(anstream::stderr().lock().write_all(mask(&error.shown()).as_bytes()));
    exit_code(Outcome::Unmeasurable.exit_code())
}

fn exit_code(code: i32) -> ExitCode {
    u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_and_the_shell_call_it_alike() {
        let plain = |args: &[&str]| without_cargo(args.iter().map(OsString::from));
        let called = plain(&["cargo-evalset", "evalset", "check", "evalset"]);
        assert_eq!(called, plain(&["cargo-evalset", "check", "evalset"]));
        assert_eq!(plain(&["cargo-evalset"]), ["cargo-evalset"]);
    }
}
