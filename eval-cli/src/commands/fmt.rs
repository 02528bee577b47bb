//! `cargo evalset fmt`: eval sets as ADK saves them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use eval_format::Problem;
use eval_format::problem::Severity;
use eval_format::reader::{CheckedSet, SetFormat, check_set};
use eval_support::command;
use eval_support::untrusted::one_line;
use eval_support::words::count;
use serde::Serialize;

use crate::files::{self, FoundProblems, Scope, find_files, form_name, read, replace, text_like};
use crate::output::{Answer, BOLD, CommandError, ERROR, Format, GOOD, Outcome, styled};

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
    let files = inputs.files.iter().map(|input| FormattedFile::format(&input.path, args.check)).collect();
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
    /// An error for each path that names no file.
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
        0 => String::new(),
        _ => format!("\n  = help: `{} fmt` without `--check` formats them", command::name()),
    };
    format!("{}: {}{help}", count(results.files.len(), "file"), said.join(", "))
}

/// A file as `--format json` prints it. Fields may be added; no field is removed or changes its meaning.
#[derive(Debug, Serialize)]
struct Entry<'r> {
    /// `None` for a path that names no file.
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

/// A file and the result of formatting it.
#[derive(Debug)]
struct FormattedFile {
    /// Its path, as messages show it.
    shown: String,
    state: FileState,
}

#[derive(Debug)]
enum FileState {
    Unchanged,
    /// It was written.
    Formatted,
    /// It would be written without `--check`.
    NotFormatted,
    /// It has errors or would lose something. The problems point into the text.
    Kept(FoundProblems),
    /// It has a form that ADK does not write any more.
    OldForm(CommandError),
    /// It could not be read or written.
    Unmeasurable(CommandError),
}

impl FormattedFile {
    /// Reads a file. Writes it in ADK's form, unless `only_check` is true.
    fn format(path: &Path, only_check: bool) -> Self {
        let shown = path.display().to_string();
        let state = FileState::format(path, &shown, only_check).unwrap_or_else(FileState::Unmeasurable);
        Self { shown, state }
    }
}

impl FileState {
    fn format(path: &Path, shown: &str, only_check: bool) -> Result<Self, CommandError> {
        let bytes = read(path)?;
        let text = match canonical(check_set(shown, &bytes, None)) {
            Ok(text) => text,
            Err(state) => return Ok(state),
        };
        if text.as_bytes() == bytes {
            return Ok(Self::Unchanged);
        }
        if only_check {
            return Ok(Self::NotFormatted);
        }
        replace(path, &text).map_err(|error| {
            let help = "give this user permission to write it, or use `--check`";
            CommandError::new(format!("cannot write `{shown}`: {error}"), help)
        })?;
        Ok(Self::Formatted)
    }

    fn outcome(&self) -> Outcome {
        match self {
            Self::Unchanged | Self::Formatted => Outcome::Passed,
            Self::NotFormatted | Self::Kept(_) | Self::OldForm(_) => Outcome::Failed,
            Self::Unmeasurable(_) => Outcome::Unmeasurable,
        }
    }

    fn error(&self) -> Option<&CommandError> {
        match self {
            Self::OldForm(error) | Self::Unmeasurable(error) => Some(error),
            _ => None,
        }
    }

    /// The name of the state in JSON.
    fn name(&self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Formatted => "formatted",
            Self::NotFormatted => "not_formatted",
            Self::Kept(_) | Self::OldForm(_) => "kept",
            Self::Unmeasurable(_) => "unmeasurable",
        }
    }
}

/// The text of a set as ADK saves it. The error is the state of a file that is not to be changed.
fn canonical(checked: CheckedSet) -> Result<String, FileState> {
    let Some(set) = &checked.set else {
        let problems = checked.problems.into_iter().filter(Problem::is_error).collect();
        return Err(FileState::Kept(FoundProblems { text: checked.text, problems }));
    };
    if checked.form != SetFormat::EvalSet {
        let file = one_line(&checked.file);
        return Err(FileState::OldForm(CommandError::new(
            format!("`{file}` is {}, a form that ADK does not write any more", form_name(checked.form)),
            format!(
                "`cargo evalset check --fix {file}` or `cargo evalset migrate` converts it to an eval set"
            ),
        )));
    }
    let mut lost = checked.unwritten();
    if !lost.is_empty() {
        // Warnings elsewhere; here they stop the file from being written.
        for problem in &mut lost {
            problem.severity = Severity::Error;
        }
        return Err(FileState::Kept(FoundProblems { text: checked.text, problems: lost }));
    }
    Ok(text_like(set, &checked.text))
}
