//! `cargo evalset check`: the problems that the compiler shows, for any number of files.

mod file;
mod fix;
mod github;
mod human;
mod json;

use std::path::PathBuf;

use crate::answer::{Answer, Format, Outcome, Refusal};
use crate::input::{self, Scope};
use file::File;

/// Checks eval sets, configs, session files and recordings.
///
/// A folder is searched as the attribute searches it: for `*.evalset.json` and `*.test.json`, in all its folders. The
/// configs (`test_config.json`, `eval_config.json`), session files (`*.session.json`) and recordings of judges
/// (`*.judge.json`) beside them are checked too. A set is held against the `test_config.json` beside it: whether each case
/// is decided by a metric, and has the rubrics that it is to be judged by.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Files, folders, or globs in quotes.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Rewrites what can be rewritten without loss: keys of a set that ADK does not read in camelCase, and the forms
    /// that ADK had before eval sets. Files with errors are left alone.
    #[arg(long)]
    fix: bool,

    /// Fails on warnings too.
    #[arg(long)]
    deny_warnings: bool,

    /// The names of your own metrics, as in the attribute's `metrics(..)`; configs may ask for them.
    #[arg(long = "metric", value_name = "NAME", value_delimiter = ',')]
    metrics: Vec<String>,

    /// Prints the problems as annotations of GitHub Actions too.
    #[arg(long, conflicts_with = "format")]
    github: bool,

    /// For whom to print.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset check evals
  cargo evalset check evals/weather.evalset.json evals/strict.json --metric brevity
  cargo evalset check 'crates/*/evals/**/*.evalset.json' --deny-warnings
  cargo evalset check evals --fix
  cargo evalset check evals --github        # in a workflow: annotations on the lines of the JSON
  cargo evalset check evals --format json

Exit codes:
  0  no errors
  1  errors, or warnings that are denied
  2  a path is missing, holds no sets, or cannot be read or written";

/// What was found in all files.
#[derive(Debug)]
pub(crate) struct Report {
    files: Vec<File>,
    /// Paths that stand for no file.
    refusals: Vec<Refusal>,
    deny_warnings: bool,
    /// Whether files were to be rewritten.
    fix: bool,
}

pub(crate) fn run(args: &Args) -> Result<Answer, Refusal> {
    let inputs = input::find(&args.paths, Scope::Companions);
    let metrics: Vec<&str> = args.metrics.iter().map(String::as_str).collect();
    let files = inputs.files.iter().map(|input| File::check(input, &metrics, args.fix)).collect();
    let report =
        Report { files, refusals: inputs.refusals, deny_warnings: args.deny_warnings, fix: args.fix };
    match args.format {
        Format::Json => Answer::json(report.outcome(), &json::Document::from(&report)),
        Format::Human => {
            let mut text = human::text(&report);
            if args.github {
                text.push_str(&github::annotations(&report));
            }
            Ok(Answer { outcome: report.outcome(), text })
        }
    }
}

impl Report {
    fn outcome(&self) -> Outcome {
        if !self.refusals.is_empty() || self.files.iter().any(|file| file.failure.is_some()) {
            Outcome::Unmeasurable
        } else if self.errors() > 0 || (self.deny_warnings && self.warnings() > 0) {
            Outcome::Failed
        } else {
            Outcome::Passed
        }
    }

    fn cases(&self) -> usize {
        self.files.iter().map(|file| file.cases).sum()
    }

    fn errors(&self) -> usize {
        self.files.iter().flat_map(|file| &file.problems).filter(|problem| problem.is_error()).count()
    }

    fn warnings(&self) -> usize {
        self.files.iter().map(|file| file.problems.len()).sum::<usize>() - self.errors()
    }

    /// Paths and files of which nothing is known.
    fn unread(&self) -> usize {
        self.refusals.len() + self.files.iter().filter(|file| file.failure.is_some()).count()
    }
}
