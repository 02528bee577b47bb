//! `cargo evalset`: checks eval sets in the format of Google's Agent Development Kit (ADK), and reads what their tests
//! recorded.
//!
//! The program is one call of [`run`]. A command is a module with its `Args` and a function that turns them into an
//! answer: a text and how it ended. Nothing is printed before all of it is known, so that a reader that goes away
//! (`cargo evalset check evals | head`) changes neither the exit code nor what `--fix` has done. `rerun` alone says
//! first what it runs.

mod annotation;
mod answer;
mod check;
mod completions;
mod fmt;
mod input;
mod metrics;
mod migrate;
mod modern;
mod places;
mod plan;
mod problem_json;
mod recorded;
mod replace;
mod report;
mod rerun;
mod rescore;
mod runs;
mod shell;
mod show;
mod words;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use answer::{Answer, Outcome, Refusal};

/// Checks eval sets in the format of Google's Agent Development Kit (ADK), and reads what their tests recorded.
#[derive(Debug, Parser)]
#[command(name = "cargo-evalset", bin_name = "cargo evalset", version, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Exit codes:
  0  passed
  1  failed: a file has errors, or is not as asked for
  2  nothing could be measured: wrong usage, a file that is missing or cannot be read or written";

#[derive(Debug, Subcommand)]
enum Command {
    Check(check::Args),
    Fmt(fmt::Args),
    Migrate(migrate::Args),
    Metrics(metrics::Args),
    Plan(plan::Args),
    Report(report::Args),
    Rerun(rerun::Args),
    Rescore(rescore::Args),
    Completions(completions::Args),
}

/// Runs the program with its arguments, the name of the program first, and returns its exit code.
///
/// Cargo calls `cargo-evalset evalset check ...` for `cargo evalset check ...`; both are understood.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(without_cargo(args)) {
        Ok(cli) => cli,
        Err(error) => {
            // Nobody is left to tell that the help could not be printed.
            drop(error.print());
            return exit_code(error.exit_code());
        }
    };
    let answer = match cli.command {
        Command::Check(args) => check::run(&args),
        Command::Fmt(args) => fmt::run(&args),
        Command::Migrate(args) => migrate::run(&args),
        Command::Metrics(args) => metrics::run(&args),
        Command::Plan(args) => plan::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Rerun(args) => rerun::run(&args),
        Command::Rescore(args) => rescore::run(&args),
        Command::Completions(args) => Ok(completions::run(&args)),
    };
    match answer {
        Ok(answer) => print(&answer),
        Err(refusal) => refuse(&refusal),
    }
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
    match out.write_all(answer.text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            refuse(&Refusal::new(format!("cannot write the output: {error}"), "look at where it is sent to"))
        }
        _ => exit_code(answer.outcome.exit_code()),
    }
}

fn refuse(refusal: &Refusal) -> ExitCode {
    drop(anstream::stderr().lock().write_all(show::refusal(refusal).as_bytes()));
    exit_code(Outcome::Unmeasurable.exit_code())
}

fn exit_code(code: i32) -> ExitCode {
    u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_holds_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn cargo_and_the_shell_call_it_alike() {
        let plain = |args: &[&str]| without_cargo(args.iter().map(OsString::from));
        let called = plain(&["cargo-evalset", "evalset", "check", "evalset"]);
        assert_eq!(called, plain(&["cargo-evalset", "check", "evalset"]));
        assert_eq!(plain(&["cargo-evalset"]), ["cargo-evalset"]);
    }
}
