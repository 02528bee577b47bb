//! `cargo evalset fmt`: eval sets as ADK saves them.

mod file;

use std::collections::HashMap;
use std::path::PathBuf;

use eval_support::untrusted::one_line;
use eval_support::words::count;
use file::{FileState, FormattedFile};
use serde::Serialize;

use crate::files::{self, FoundProblems, Scope, find_files};
use crate::output::style::{BOLD, ERROR, GOOD, styled};
use crate::output::{Answer, CommandError, Format, Outcome};

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
        Format::Human => Ok(Answer::new(results.outcome(), text(&results))),
        Format::Json => {
            let files = HashMap::from([("files", entries(&results))]);
            Answer::results("fmt", results.outcome(), &files)
        }
    }
}

/// The results for all files.
#[derive(Debug)]
struct FmtResults {
    files: Vec<FormattedFile>,
    /// An error for each path that stands for no file.
    errors: Vec<CommandError>,
}

impl FmtResults {
    fn outcome(&self) -> Outcome {
        let files = self.files.iter().map(|file| file.state.outcome());
        let paths = self.errors.iter().map(|_| Outcome::Unmeasurable);
        files.chain(paths).max().unwrap_or(Outcome::Passed)
    }
}

fn text(results: &FmtResults) -> String {
    let mut text = String::new();
    for file in &results.files {
        if let FileState::Kept(found) = &file.state {
            text.push_str(&files::shown(&file.shown, found));
        }
    }
    for error in results.files.iter().filter_map(|file| file.state.error()).chain(&results.errors) {
        text.push_str(&error.shown());
        text.push('\n');
    }
    for file in &results.files {
        let shown = one_line(&file.shown);
        match &file.state {
            FileState::Formatted => text.push_str(&format!("{} `{shown}`\n", styled(GOOD, "formatted"))),
            FileState::NotFormatted => {
                text.push_str(&format!("{} `{shown}`\n", styled(ERROR, "not formatted")));
            }
            FileState::Kept(_) => {
                text.push_str(&format!("{} `{shown}` as it is\n", styled(BOLD, "kept")));
            }
            FileState::Unchanged | FileState::OldForm(_) | FileState::Unmeasurable(_) => {}
        }
    }
    text + &summary(results) + "\n"
}

fn summary(results: &FmtResults) -> String {
    let number = |name: &str| results.files.iter().filter(|file| file.state.name() == name).count();
    let not_formatted = number("not_formatted");
    let parts = [
        (number("formatted"), "formatted"),
        (not_formatted, "not formatted"),
        (number("unchanged"), "already formatted"),
        (number("kept"), "kept"),
    ];
    let mut said: Vec<String> = parts
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, what)| format!("{number} {what}"))
        .collect();
    let unmeasurable = number("unmeasurable") + results.errors.len();
    if unmeasurable > 0 {
        said.push(format!("{} not read or written", count(unmeasurable, "path")));
    }
    let help = match not_formatted {
        0 => "",
        _ => "\n  = help: `cargo evalset fmt` without `--check` formats them",
    };
    format!("{}: {}{help}", count(results.files.len(), "file"), said.join(", "))
}

/// A file as `--format json` prints it. Fields may be added; no field is removed or changes its meaning.
#[derive(Debug, Serialize)]
struct Entry<'r> {
    /// `None` for a path that stands for no file.
    file: Option<&'r str>,
    state: &'static str,
    problems: &'r FoundProblems,
    message: Option<&'r str>,
    help: Option<&'r str>,
}

/// The problems of a file that has none.
static NONE: FoundProblems = FoundProblems { text: String::new(), problems: Vec::new() };

fn entries(results: &FmtResults) -> Vec<Entry<'_>> {
    let files = results.files.iter().map(|file| {
        let problems = if let FileState::Kept(found) = &file.state { found } else { &NONE };
        (Some(file.shown.as_str()), file.state.name(), problems, file.state.error())
    });
    let paths = results.errors.iter().map(|error| (None, "unmeasurable", &NONE, Some(error)));
    let entries = files.chain(paths).map(|(file, state, problems, error)| {
        let (message, help) = error.map(|error| (error.message.as_str(), error.help.as_str())).unzip();
        Entry { file, state, problems, message, help }
    });
    entries.collect()
}
