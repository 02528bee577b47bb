//! `cargo evalset fmt`: eval sets as ADK saves them.

mod file;
mod human;
mod json;
mod results;

use std::path::PathBuf;

use crate::files::{Scope, find_files};
use crate::output::{Answer, CommandError, Format};
use file::FormattedFile;
use json::Files;
use results::FmtResults;

/// Writes eval sets in the form in which ADK saves them.
///
/// In this form, sets are indented by two spaces. Keys are in `snake_case` and in ADK's order; keys that are null or have
/// their default value are left out. Numbers are written as ADK writes them. A round trip through ADK then changes
/// nothing. A line break at the end of a file is kept as it is. A file is not changed if it has errors or would lose
/// something.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Files, folders, or globs in quotes.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Writes nothing, and fails if a file is not formatted.
    #[arg(long)]
    check: bool,

    /// The output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset fmt evals
  cargo evalset fmt evals/weather.evalset.json
  cargo evalset fmt --check evals           # in CI

Exit codes:
  0  all files are formatted
  1  a file is not formatted (with --check), or has errors or would lose something
  2  a path is missing, holds no sets, or cannot be read or written";

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    let inputs = find_files(&args.paths, Scope::Sets);
    let files = inputs.files.iter().map(|input| FormattedFile::of(&input.path, args.check)).collect();
    let results = FmtResults { files, errors: inputs.errors };
    match args.format {
        Format::Human => Ok(Answer::new(results.outcome(), human::text(&results))),
        Format::Json => Answer::results("fmt", results.outcome(), &Files::of(&results)),
    }
}
