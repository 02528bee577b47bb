//! The commands: a module for each, with its arguments and a function that turns them into an answer.
//!
//! Output formats that several commands share are in `eval_report::formats`.

mod accept;
mod add_case;
mod bless;
mod check;
mod compare;
mod completions;
mod create;
mod diff;
mod fmt;
mod gate;
mod import;
mod list;
mod mcp;
mod metrics;
mod migrate;
mod models;
mod new;
mod plan;
mod record;
mod remove_case;
mod rename_case;
mod report;
mod rerun;
mod rescore;
mod review;
mod run;
mod schema;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "store")]
mod store;
mod traces;

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use eval_support::command;

#[cfg(not(all(feature = "serve", feature = "store")))]
use crate::features::{AnyArgs, lacking};
use crate::output::{Answer, CommandError};

/// Checks eval sets in the format of Google's Agent Development Kit (ADK), and reads what their tests recorded.
#[derive(Debug, Parser)]
#[command(name = command::program(), bin_name = command::name(), version, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Exit codes:
  0  passed
  1  failed: a file has errors or is not as asked for, or a case failed
  2  not measurable: wrong usage, a missing or unreadable file, or a case without a verdict";

/// A command with its arguments.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    New(new::Args),
    Check(check::Args),
    Fmt(fmt::Args),
    Migrate(migrate::Args),
    Import(import::Args),
    Record(record::Args),
    List(list::Args),
    Accept(accept::Args),
    Create(create::Args),
    AddCase(add_case::Args),
    RemoveCase(remove_case::Args),
    RenameCase(rename_case::Args),
    Mcp(mcp::Args),
    Models(models::Args),
    Metrics(metrics::Args),
    Plan(plan::Args),
    Report(report::Args),
    Compare(compare::Args),
    Diff(diff::Args),
    Gate(gate::Args),
    Bless(bless::Args),
    Rerun(rerun::Args),
    Rescore(rescore::Args),
    Review(review::Args),
    Run(Box<run::Args>),
    Schema(schema::Args),
    #[cfg(feature = "serve")]
    Serve(serve::Args),
    /// The service and the pages in the browser. This build lacks the feature `serve`.
    #[cfg(not(feature = "serve"))]
    Serve(AnyArgs),
    #[cfg(feature = "store")]
    Store(store::Args),
    /// Runs in buckets. This build lacks the feature `store`.
    #[cfg(not(feature = "store"))]
    Store(AnyArgs),
    Traces(traces::Args),
    Completions(completions::Args),
}

impl Command {
    pub(crate) fn run(&self) -> Result<Answer, CommandError> {
        match self {
            Self::New(args) => new::run(args),
            Self::Check(args) => check::run(args),
            Self::Fmt(args) => fmt::run(args),
            Self::Migrate(args) => migrate::run(args),
            Self::Import(args) => import::run(args),
            Self::List(args) => list::run(args),
            Self::Accept(args) => accept::run(args),
            Self::Create(args) => create::run(args),
            Self::AddCase(args) => add_case::run(args),
            Self::RemoveCase(args) => remove_case::run(args),
            Self::RenameCase(args) => rename_case::run(args),
            Self::Mcp(args) => mcp::run(args),
            Self::Models(args) => models::run(args),
            Self::Metrics(args) => metrics::run(args),
            Self::Plan(args) => plan::run(args),
            Self::Record(args) => record::run(args),
            Self::Report(args) => report::run(args),
            Self::Compare(args) => compare::run(args),
            Self::Diff(args) => diff::run(args),
            Self::Gate(args) => gate::run(args),
            Self::Bless(args) => bless::run(args),
            Self::Rerun(args) => rerun::run(args),
            Self::Rescore(args) => rescore::run(args),
            Self::Review(args) => review::run(args),
            Self::Run(args) => run::run(args),
            Self::Schema(args) => Ok(schema::run(args)),
            #[cfg(feature = "serve")]
            Self::Serve(args) => serve::run(args),
            #[cfg(not(feature = "serve"))]
            Self::Serve(_) => Err(lacking("`serve`", "serve")),
            #[cfg(feature = "store")]
            Self::Store(args) => store::run(args),
            #[cfg(not(feature = "store"))]
            Self::Store(_) => Err(lacking("`store`", "store")),
            Self::Traces(args) => traces::run(args),
            Self::Completions(args) => Ok(completions::run(args, command_line())),
        }
    }
}

/// The command line, with its examples as the user types them.
fn command_line() -> clap::Command {
    with_examples_as_typed(Cli::command())
}

fn with_examples_as_typed(command: clap::Command) -> clap::Command {
    let command = match command.get_after_help().map(ToString::to_string) {
        Some(text) => command.after_help(as_typed(&text)),
        None => command,
    };
    let command = match command.get_long_about().map(ToString::to_string) {
        Some(text) => command.long_about(as_typed(&text)),
        None => command,
    };
    command.mut_subcommands(with_examples_as_typed)
}

fn as_typed(text: &str) -> String {
    text.replace("cargo evalset", command::name()).replace("cargo-evalset", command::program())
}

/// Parses a command line into the command and its name as it was typed. The error is clap's output: wrong
/// usage, the help, or the version.
pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<(Command, String), clap::Error> {
    let matches = command_line().try_get_matches_from(args)?;
    let name = matches.subcommand_name().unwrap_or_default().to_owned();
    let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command_line()))?;
    Ok((cli.command, name))
}

#[cfg(test)]
mod documented;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_holds_together() {
        Cli::command().debug_assert();
    }
}
