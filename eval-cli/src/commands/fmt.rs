//! `cargo evalset fmt`: eval sets as ADK saves them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use eval_format::Problem;
use eval_format::problem::Severity;
use eval_format::reader::{SetFormat, check_set};
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
    let files = inputs.files.iter().map(|input| FormattedFile::format(&input.path, args.check));
    let unfound = inputs.errors.into_iter().map(|error| FormattedFile::failed(State::Unmeasurable, error));
    let files: Vec<FormattedFile> = files.chain(unfound).collect();
    let outcome = files.iter().map(|file| file.state.outcome()).max().unwrap_or(Outcome::Passed);
    match args.format {
        Format::Human => Ok(Answer::new(outcome, text(&files))),
        Format::Json => Answer::results("fmt", outcome, &HashMap::from([("files", files)])),
    }
}

/// A formatted file. Fields may be added to its JSON; no field is removed or changes its meaning.
#[derive(Debug, Default, Serialize)]
struct FormattedFile {
    /// `None` for a path that names no file.
    file: Option<String>,
    state: State,
    problems: FoundProblems,
    message: Option<String>,
    help: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    #[default]
    Unchanged,
    Formatted,
    /// It would be written without `--check`.
    NotFormatted,
    /// It has errors, would lose something, or has a form that ADK does not write any more.
    Kept,
    /// It could not be read or written.
    Unmeasurable,
}

impl State {
    fn outcome(self) -> Outcome {
        match self {
            Self::Unchanged | Self::Formatted => Outcome::Passed,
            Self::NotFormatted | Self::Kept => Outcome::Failed,
            Self::Unmeasurable => Outcome::Unmeasurable,
        }
    }
}

impl FormattedFile {
    /// Reads a file. Writes it in ADK's form, unless `only_check` is true.
    fn format(path: &Path, only_check: bool) -> Self {
        let shown = path.display().to_string();
        let file = read(path).and_then(|bytes| Self::of_bytes(path, &shown, &bytes, only_check));
        let file = file.unwrap_or_else(|error| Self::failed(State::Unmeasurable, error));
        Self { file: Some(shown), ..file }
    }

    fn of_bytes(path: &Path, shown: &str, bytes: &[u8], only_check: bool) -> Result<Self, CommandError> {
        let checked = check_set(shown, bytes, None);
        let kept = |text, problems| Self {
            state: State::Kept,
            problems: FoundProblems { text, problems },
            ..Self::default()
        };
        let Some(set) = &checked.set else {
            let problems = checked.problems.into_iter().filter(Problem::is_error).collect();
            return Ok(kept(checked.text, problems));
        };
        if checked.form != SetFormat::EvalSet {
            let (file, form) = (one_line(shown), form_name(checked.form));
            let message = format!("`{file}` is {form}, a form that ADK does not write any more");
            let fix = format!("`cargo evalset check --fix {file}` or `cargo evalset migrate`");
            let error = CommandError::new(message, format!("{fix} converts it to an eval set"));
            return Ok(Self::failed(State::Kept, error));
        }
        let mut lost = checked.unwritten();
        if !lost.is_empty() {
            // Warnings elsewhere; here they stop the file from being written.
            for problem in &mut lost {
                problem.severity = Severity::Error;
            }
            return Ok(kept(checked.text, lost));
        }
        let text = text_like(set, &checked.text);
        let state = if text.as_bytes() == bytes {
            State::Unchanged
        } else if only_check {
            State::NotFormatted
        } else {
            replace(path, &text).map_err(|error| files::unwritten(shown, &error))?;
            State::Formatted
        };
        Ok(Self { state, ..Self::default() })
    }

    fn failed(state: State, error: CommandError) -> Self {
        Self { state, message: Some(error.message), help: Some(error.help), ..Self::default() }
    }
}

fn text(all: &[FormattedFile]) -> String {
    let mut text = String::new();
    text.extend(
        all.iter().map(|file| files::shown(file.file.as_deref().unwrap_or_default(), &file.problems)),
    );
    let errors = all.iter().filter_map(|file| file.message.as_ref().zip(file.help.as_ref()));
    text.extend(errors.map(|(message, help)| CommandError::new(message, help).shown() + "\n"));
    for file in all.iter().filter(|file| file.message.is_none()) {
        let shown = one_line(file.file.as_deref().unwrap_or_default());
        match file.state {
            State::Formatted => text.push_str(&format!("{} `{shown}`\n", styled(GOOD, "formatted"))),
            State::NotFormatted => {
                text.push_str(&format!("{} `{shown}`\n", styled(ERROR, "not formatted")));
            }
            State::Kept => text.push_str(&format!("{} `{shown}` as it is\n", styled(BOLD, "kept"))),
            State::Unchanged | State::Unmeasurable => {}
        }
    }
    text + &summary(all) + "\n"
}

fn summary(files: &[FormattedFile]) -> String {
    let number = |state| files.iter().filter(|file| file.state == state).count();
    let not_formatted = number(State::NotFormatted);
    let parts = [
        (number(State::Formatted), "formatted"),
        (not_formatted, "not formatted"),
        (number(State::Unchanged), "already formatted"),
        (number(State::Kept), "kept"),
    ];
    let some = parts.iter().filter(|(number, _)| *number > 0);
    let mut said: Vec<String> = some.map(|(number, what)| format!("{number} {what}")).collect();
    let unmeasurable = number(State::Unmeasurable);
    if unmeasurable > 0 {
        said.push(format!("{} not read or written", count(unmeasurable, "path")));
    }
    let help = match not_formatted {
        0 => String::new(),
        _ => format!("\n  = help: `{} fmt` without `--check` formats them", command::name()),
    };
    let named = files.iter().filter(|file| file.file.is_some()).count();
    format!("{}: {}{help}", count(named, "file"), said.join(", "))
}
