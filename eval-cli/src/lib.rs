//! `cargo evalset`: checks eval sets in the format of Google's Agent Development Kit (ADK), and reads what their tests
//! recorded.
//!
//! A program is one call of [`run`]: `cargo-evalset`, or `evalset`, which needs no cargo. A command turns its arguments into an answer: a text and an exit code.
//! It does not print the answer itself, so a reader that stops early (`cargo evalset check evals | head`)
//! changes neither the exit code nor the files that `--fix` writes. Slow commands (`rerun`, `run`, `record`)
//! print their progress on standard error.

mod agent;
mod commands;
mod drafts;
mod edited;
mod features;
mod files;
mod output;
mod recorded;
mod rescoring;
mod review;
#[cfg(feature = "serve")]
mod serve;
mod sides;
#[cfg(feature = "store")]
mod store;
mod tags;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

#[cfg(feature = "serve")]
use eval_report::page;
use eval_report::{cargo, run_page};
use eval_support::command;
use eval_support::untrusted::{guard_styled, one_line};
use eval_support::variables;

use output::{Answer, CommandError, Format, Outcome, WARNING, mask, styled};

/// The program that was started. Messages name its commands as its user types them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// `cargo evalset check`. Cargo calls `cargo-evalset evalset check` for it; both are understood.
    CargoEvalset,
    /// `evalset check`.
    Evalset,
}

/// Runs the program with its arguments, the name of the program first, and returns its exit code.
pub fn run(program: Program, args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args = match program {
        Program::CargoEvalset => without_cargo(args),
        Program::Evalset => {
            command::started_as_evalset();
            args.into_iter().collect()
        }
    };
    let format = asked_format(&args);
    let (chosen, name) = match commands::parse(args.clone()) {
        Ok(parsed) => parsed,
        Err(error) if format == Format::Json && error.use_stderr() => {
            let text = in_one_line(&args, error.render().to_string());
            let text = text.trim().strip_prefix("error: ").unwrap_or(text.trim());
            return print_error(&CommandError::new(text, "`--help` shows the usage"), format, None);
        }
        Err(error) => {
            let shown = guard_styled(&in_one_line(&args, error.render().ansi().to_string()));
            // There is no other place to report that the help cannot be printed.
            drop(if error.use_stderr() {
                anstream::stderr().lock().write_all(shown.as_bytes())
            } else {
                anstream::stdout().lock().write_all(shown.as_bytes())
            });
            return exit_code(error.exit_code());
        }
    };
    // Misspelt variables are refused even if the command does not read them.
    let help = "unset it, or correct its name or value; docs/configuration.md lists the variables";
    let checked = variables::check().map_err(|wrong| CommandError::new(wrong, help));
    match checked.and_then(|()| chosen.run()) {
        Ok(answer) => print(&answer),
        Err(error) => print_error(&error, format, Some(&name)),
    }
}

/// clap's message with each argument in one line: file names that a shell expanded may contain anything.
fn in_one_line(args: &[OsString], said: String) -> String {
    let args = args.iter().map(|arg| arg.to_string_lossy());
    args.fold(said, |said, arg| {
        let parts = arg.split_once('=').map_or([&*arg, ""], |(_, value)| [&*arg, value]);
        parts.iter().fold(said, |said, part| match one_line(part) {
            shown if shown == **part => said,
            shown => said.replace(part, &shown),
        })
    })
}

/// The format that the arguments ask for, even if clap cannot parse them.
fn asked_format(args: &[OsString]) -> Format {
    let before = args.split(|arg| arg == "--").next().unwrap_or_default();
    let is_json = before.windows(2).any(|pair| pair[0] == "--format" && pair[1] == "json")
        || before.iter().any(|arg| arg == "--format=json");
    if is_json { Format::Json } else { Format::Human }
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
    let text = guard_styled(&answer.text) + &answer.annotations;
    let mut out = anstream::stdout().lock();
    match out.write_all(mask(&text).as_bytes()).and_then(|()| out.flush()) {
        // A reader that stops reading is no error.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => print_error(
            &CommandError::new(
                format!("cannot write the output: {error}"),
                "check where standard output goes",
            ),
            Format::Human,
            None,
        ),
        _ => {
            if let Some(page) = &answer.opens {
                open(page);
            }
            match &answer.failed {
                Some(error) => print_error(error, Format::Human, None),
                None => exit_code(answer.exit_code),
            }
        }
    }
}

/// Opens a page in the browser of the user. A failure is a warning, and leaves the exit code as it is.
fn open(page: &Path) {
    if let Err(error) = opener::open(page) {
        let warning = format!("cannot open `{}`: {error}", page.display());
        let help = "it is written: open it in a browser, or leave `--open` out";
        let shown = format!("{}: {}\n  = help: {help}\n", styled(WARNING, "warning"), one_line(&warning));
        drop(anstream::stderr().lock().write_all(mask(&shown).as_bytes()));
    }
}

fn print_error(error: &CommandError, format: Format, command: Option<&str>) -> ExitCode {
    drop(match format {
        Format::Human => anstream::stderr().lock().write_all(mask(&error.shown()).as_bytes()),
        Format::Json => anstream::stdout().lock().write_all(mask(&error.document(command)).as_bytes()),
    });
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
