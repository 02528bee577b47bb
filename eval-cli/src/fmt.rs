//! `cargo evalset fmt`: eval sets as ADK saves them.

use std::fs;
use std::path::{Path, PathBuf};

use eval_format::{CheckedSet, Form, Problem, Severity, check_set};
use serde::Serialize;

use crate::answer::{Answer, Format, Outcome, Refusal};
use crate::input::{self, Scope};
use crate::modern::{form_name, text_like};
use crate::problem_json::{self, ProblemEntry};
use crate::replace::replace;
use crate::show::{self, BOLD, ERROR, GOOD, one_line, styled};
use crate::words::count;

/// Writes eval sets in the form in which ADK saves them.
///
/// Indented by two, keys in `snake_case` and in ADK's order, without those that are null or have their default value;
/// numbers as ADK writes them. A round trip through ADK changes nothing then. A file that would lose something is left
/// alone, and so is one with errors; a line break at the end is kept or left out as it was.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Files, folders, or globs in quotes.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Writes nothing, and fails where something would be written.
    #[arg(long)]
    check: bool,

    /// For whom to print.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset fmt evals
  cargo evalset fmt evals/weather.evalset.json
  cargo evalset fmt --check evals           # in CI

Exit codes:
  0  all are formatted
  1  a file is not (with --check), or was left alone
  2  a path is missing, holds no sets, or cannot be read or written";

pub(crate) fn run(args: &Args) -> Result<Answer, Refusal> {
    let inputs = input::find(&args.paths, Scope::Sets);
    let files = inputs.files.iter().map(|input| format_file(&input.path, args.check)).collect();
    let report = Report { files, refusals: inputs.refusals };
    match args.format {
        Format::Human => Ok(Answer { outcome: report.outcome(), text: report.text() }),
        Format::Json => Answer::json(report.outcome(), &report.document()),
    }
}

#[derive(Debug)]
struct Report {
    files: Vec<File>,
    refusals: Vec<Refusal>,
}

#[derive(Debug)]
struct File {
    shown: String,
    state: State,
}

#[derive(Debug)]
enum State {
    Unchanged,
    /// Written anew.
    Formatted,
    /// Would be written anew.
    NotFormatted,
    /// Left alone for what is wrong with it or would be lost, with the text that the problems point into.
    Kept {
        text: String,
        problems: Vec<Problem>,
    },
    /// Of a form that has no canonical one.
    OldForm(Refusal),
    /// Could not be read or written.
    Unmeasurable(Refusal),
}

fn format_file(path: &Path, only_check: bool) -> File {
    let shown = path.display().to_string();
    let state = match fs::read(path) {
        Ok(bytes) => match canonical(check_set(&shown, &bytes, None)) {
            Ok(text) if text.as_bytes() == bytes => State::Unchanged,
            Ok(_) if only_check => State::NotFormatted,
            Ok(text) => match replace(path, &text) {
                Ok(()) => State::Formatted,
                Err(error) => State::Unmeasurable(Refusal::new(
                    format!("cannot write `{shown}`: {error}"),
                    "let this user write it, or use `--check`",
                )),
            },
            Err(state) => state,
        },
        Err(error) => State::Unmeasurable(input::unreadable(path, &error)),
    };
    File { shown, state }
}

/// The text of a set as ADK saves it, or why it is left alone.
fn canonical(checked: CheckedSet) -> Result<String, State> {
    let Some(set) = &checked.set else {
        let problems = checked.problems.into_iter().filter(Problem::is_error).collect();
        return Err(State::Kept { text: checked.text, problems });
    };
    if checked.form != Form::EvalSet {
        let file = one_line(&checked.file);
        return Err(State::OldForm(Refusal::new(
            format!("`{file}` is {}, a form that ADK does not write any more", form_name(checked.form)),
            format!("`cargo evalset check --fix {file}` or `cargo evalset migrate` makes an eval set of it"),
        )));
    }
    let mut lost = checked.unwritten();
    if !lost.is_empty() {
        // Here they stop the file from being written.
        for problem in &mut lost {
            problem.severity = Severity::Error;
        }
        return Err(State::Kept { text: checked.text, problems: lost });
    }
    Ok(text_like(set, &checked.text))
}

impl State {
    fn outcome(&self) -> Outcome {
        match self {
            Self::Unchanged | Self::Formatted => Outcome::Passed,
            Self::NotFormatted | Self::Kept { .. } | Self::OldForm(_) => Outcome::Failed,
            Self::Unmeasurable(_) => Outcome::Unmeasurable,
        }
    }

    fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::OldForm(refusal) | Self::Unmeasurable(refusal) => Some(refusal),
            _ => None,
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Formatted => "formatted",
            Self::NotFormatted => "not_formatted",
            Self::Kept { .. } | Self::OldForm(_) => "kept",
            Self::Unmeasurable(_) => "unmeasurable",
        }
    }
}

impl Report {
    fn outcome(&self) -> Outcome {
        let files = self.files.iter().map(|file| file.state.outcome());
        let refused = if self.refusals.is_empty() { Outcome::Passed } else { Outcome::Unmeasurable };
        files.max().map_or(refused, |worst| worst.max(refused))
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for file in &self.files {
            if let State::Kept { text: before, problems } = &file.state {
                text.push_str(&show::problems(&file.shown, before, problems.iter()));
            }
        }
        for refusal in self.files.iter().filter_map(|file| file.state.refusal()).chain(&self.refusals) {
            text.push_str(&show::refusal(refusal));
            text.push('\n');
        }
        for file in &self.files {
            let word = match &file.state {
                State::Formatted => styled(GOOD, "formatted"),
                State::NotFormatted => styled(ERROR, "not formatted"),
                State::Kept { .. } => styled(BOLD, "left alone"),
                _ => continue,
            };
            text.push_str(&format!("{word} `{}`\n", one_line(&file.shown)));
        }
        text + &self.summary() + "\n"
    }

    fn summary(&self) -> String {
        let number = |name: &str| self.files.iter().filter(|file| file.state.name() == name).count();
        let unmeasurable = number("unmeasurable") + self.refusals.len();
        let parts = [
            (number("formatted"), "formatted"),
            (number("not_formatted"), "not formatted"),
            (number("unchanged"), "unchanged"),
            (number("kept"), "left alone"),
        ];
        let mut said: Vec<String> = parts
            .iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, what)| format!("{number} {what}"))
            .collect();
        if unmeasurable > 0 {
            said.push(format!("{} not read or written", count(unmeasurable, "path")));
        }
        let help = match number("not_formatted") {
            0 => "",
            _ => "\n  = help: `cargo evalset fmt` without `--check` writes them",
        };
        format!("{}: {}{help}", count(self.files.len(), "file"), said.join(", "))
    }

    fn document(&self) -> Document<'_> {
        let refusals = self.refusals.iter().map(|refusal| Entry {
            file: None,
            state: "unmeasurable",
            problems: Vec::new(),
            message: Some(&refusal.message),
            help: Some(&refusal.help),
        });
        Document {
            command: "fmt",
            outcome: self.outcome(),
            files: self.files.iter().map(File::entry).chain(refusals).collect(),
        }
    }
}

impl File {
    fn entry(&self) -> Entry<'_> {
        Entry {
            file: Some(&self.shown),
            state: self.state.name(),
            problems: match &self.state {
                State::Kept { text, problems } => problem_json::entries(text, problems),
                _ => Vec::new(),
            },
            message: self.state.refusal().map(|refusal| refusal.message.as_str()),
            help: self.state.refusal().map(|refusal| refusal.help.as_str()),
        }
    }
}

#[derive(Debug, Serialize)]
struct Document<'r> {
    command: &'static str,
    outcome: Outcome,
    files: Vec<Entry<'r>>,
}

#[derive(Debug, Serialize)]
struct Entry<'r> {
    /// None for a path that stands for no file.
    file: Option<&'r str>,
    state: &'static str,
    problems: Vec<ProblemEntry>,
    message: Option<&'r str>,
    help: Option<&'r str>,
}
