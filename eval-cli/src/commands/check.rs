//! `cargo evalset check`: the problems of eval sets and of the files beside them.

mod file;
mod fix;
mod github;
mod human;
mod json;
mod results;

use std::path::PathBuf;

use crate::files::{Scope, find_files};
use crate::output::{Answer, CommandError, Format};
use file::CheckedFile;
use json::Fields;
use results::CheckResults;

/// Checks eval sets, configs, session files and recordings.
///
/// A folder is searched as the attribute searches it: for `*.evalset.json` and `*.test.json`, in all its folders. The
/// configs (`test_config.json`, `eval_config.json`), session files (`*.session.json`) and recordings of judges
/// (`*.judge.json`) beside the sets are checked too. A set is also checked against the `test_config.json` beside it: each
/// case needs a metric that can fail it, and rubric metrics need rubrics. What a set expects and no metric of that config
/// (or, without one, of ADK's default criteria) reads is counted as `not compared`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Files, folders, or globs in quotes.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Rewrites what can be rewritten without loss: keys of a set whose camelCase spelling ADK does not read, and ADK's
    /// old forms of eval sets. Files with errors are not changed.
    #[arg(long)]
    fix: bool,

    /// Fails on warnings too.
    #[arg(long)]
    deny_warnings: bool,

    /// The names of your own metrics, as in the attribute's `metrics(..)`. Configs may use them.
    #[arg(long = "metric", value_name = "NAME", value_delimiter = ',')]
    metrics: Vec<String>,

    /// Also prints the problems as annotations of GitHub Actions.
    #[arg(long, conflicts_with = "format")]
    github: bool,

    /// The output format.
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

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    let inputs = find_files(&args.paths, Scope::Companions);
    let metrics: Vec<&str> = args.metrics.iter().map(String::as_str).collect();
    let results = CheckResults {
        files: inputs.files.iter().map(|input| CheckedFile::check(input, &metrics, args.fix)).collect(),
        errors: inputs.errors,
        deny_warnings: args.deny_warnings,
        fix: args.fix,
    };
    match args.format {
        Format::Json => Answer::results("check", results.outcome(), &Fields::of(&results)),
        Format::Human => {
            let answer = Answer::new(results.outcome(), human::text(&results));
            let annotations = if args.github { github::annotations(&results) } else { String::new() };
            Ok(answer.with_annotations(annotations))
        }
    }
}
