//! `cargo evalset check`: the problems of eval sets and of the files beside them.

mod file;
mod fix;
mod models;

use std::path::PathBuf;

use eval_format::Problem;
use eval_format::options::ToolSource;
use eval_format::problem::ProblemCode;
use eval_support::untrusted::{self, one_line};
use eval_support::words::{count, short_code_list};
use serde::Serialize;

use crate::files::{self, Positions, Scope, find_files, severity_name};
use crate::output::{Answer, BOLD, CommandError, ERROR, Format, GOOD, Outcome, WARNING, styled};
use file::{CheckedFile, Used};
use fix::FixState;

/// Checks eval sets, configs, session files and recordings.
///
/// A folder is searched as the attribute searches it: for `*.evalset.json` and `*.test.json`, in all its folders. The
/// configs (`test_config.json`, `eval_config.json`), session files (`*.session.json`) and recordings of judges
/// (`*.judge.json`) beside the sets are checked too, and whether recorded calls of models can be read. A set is also checked against the `test_config.json` beside it: each
/// case needs a metric that can fail it, and rubric metrics need rubrics. What a set expects and no metric of that config
/// (or, without one, of ADK's default criteria) reads is counted as `not compared`, and the points that `_expect` lets vary
/// as `loosened`.
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

    /// Checks also whether the cases fit what answers the agent's calls: with `golden`, each expected call needs a response.
    #[arg(long, value_name = "SOURCE")]
    tools: Option<ToolSource>,

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
  cargo evalset check evals --tools golden  # each expected call has a response that can answer it
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
    let used = Used { metrics: &metrics, tools: args.tools };
    let results = CheckResults {
        files: inputs.files.iter().map(|input| CheckedFile::check(input, used, args.fix)).collect(),
        errors: inputs.errors,
        deny_warnings: args.deny_warnings,
        fix: args.fix,
    };
    match args.format {
        Format::Json => {
            let not_checked = results.not_checked().map(|(file, error)| NotChecked { file, error }).collect();
            let fields = Fields { files: &results.files, not_checked, summary: results.counts() };
            Answer::results("check", results.outcome(), &fields)
        }
        Format::Human => {
            let answer = Answer::new(results.outcome(), text(&results));
            let annotations = if args.github { annotations(&results) } else { String::new() };
            Ok(Answer { annotations, ..answer })
        }
    }
}

#[derive(Debug)]
struct CheckResults {
    files: Vec<CheckedFile>,
    /// An error for each path that names no file.
    errors: Vec<CommandError>,
    deny_warnings: bool,
    fix: bool,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct Counts {
    files: usize,
    cases: usize,
    drafts: usize,
    errors: usize,
    warnings: usize,
    /// Paths that name no file, and files that could not be read or written.
    not_checked: usize,
}

impl CheckResults {
    fn counts(&self) -> Counts {
        let problems = || self.files.iter().flat_map(|file| &file.found.problems);
        let errors = problems().filter(|problem| problem.is_error()).count();
        Counts {
            files: self.files.len(),
            cases: self.files.iter().map(|file| file.cases).sum(),
            drafts: self.files.iter().map(|file| file.drafts).sum(),
            errors,
            warnings: problems().count() - errors,
            not_checked: self.not_checked().count(),
        }
    }

    fn outcome(&self) -> Outcome {
        let counts = self.counts();
        if counts.not_checked > 0 {
            Outcome::Unmeasurable
        } else if counts.errors > 0 || (self.deny_warnings && counts.warnings > 0) {
            Outcome::Failed
        } else {
            Outcome::Passed
        }
    }

    /// The errors of paths that could not be checked, each with the name of its file, if the path names one.
    fn not_checked(&self) -> impl Iterator<Item = (Option<&str>, &CommandError)> {
        let of_files =
            self.files.iter().filter_map(|file| Some((Some(file.shown.as_str()), file.error.as_ref()?)));
        of_files.chain(self.errors.iter().map(|error| (None, error)))
    }
}

fn annotations(results: &CheckResults) -> String {
    let mut text = String::new();
    for file in &results.files {
        let positions = Positions::new(&file.found.text, &file.found.problems);
        text.extend(file.found.problems.iter().map(|problem| annotation(problem, file, &positions)));
    }
    text.extend(results.not_checked().map(|(file, error)| of_error(error, file)));
    text
}

fn annotation(problem: &Problem, file: &CheckedFile, positions: &Positions) -> String {
    let (start, end) = (positions.get(problem.range.start), positions.get(problem.range.end));
    let message = match &problem.help {
        Some(help) => format!("{}\nhelp: {help}", problem.message),
        None => problem.message.clone(),
    };
    let [line, end_line] = [start.line, end.line].map(|line| line.to_string());
    let [column, end_column] = [start.column, end.column].map(|column| column.to_string());
    let mut properties = vec![("file", &*file.shown), ("line", &*line), ("endLine", &*end_line)];
    if start.line == end.line {
        // GitHub accepts columns only if the range is within one line.
        properties.extend([("col", &*column), ("endColumn", &*end_column)]);
    }
    properties.push(("title", problem.code.as_str()));
    untrusted::annotation(severity_name(problem.severity), &properties, &message)
}

fn of_error(error: &CommandError, file: Option<&str>) -> String {
    let message = format!("{}\nhelp: {}", error.message, error.help);
    let properties: Vec<_> =
        file.map(|file| ("file", file)).into_iter().chain([("title", "not checked")]).collect();
    untrusted::annotation("error", &properties, &message)
}

/// The output of `--format json`. Fields may be added; no field is removed or changes its meaning.
#[derive(Debug, Serialize)]
struct Fields<'r> {
    files: &'r [CheckedFile],
    not_checked: Vec<NotChecked<'r>>,
    summary: Counts,
}

#[derive(Debug, Serialize)]
struct NotChecked<'r> {
    /// `None` for a path that names no file.
    file: Option<&'r str>,
    #[serde(flatten)]
    error: &'r CommandError,
}

fn text(results: &CheckResults) -> String {
    let mut text = String::new();
    text.extend(results.files.iter().map(|file| files::shown(&file.shown, &file.found)));
    text.extend(results.not_checked().map(|(_, error)| error.shown() + "\n"));
    text.push_str(&fixes(results));
    text.push_str(&own_metrics(results));
    text.extend(results.files.iter().flat_map(programs));
    for file in results.files.iter().filter(|file| !file.not_compared.is_empty()) {
        let (note, shown) = (styled(BOLD, "note"), one_line(&file.shown));
        text.push_str(&format!("{note}: `{shown}`: not compared: {}\n", file.not_compared));
    }
    text.extend(results.files.iter().map(loosened));
    text.push_str(&summary(results));
    text.push('\n');
    text
}

/// The parts that the cases of a set let vary, and the criteria that they change.
fn loosened(file: &CheckedFile) -> String {
    let (note, shown) = (styled(BOLD, "note"), one_line(&file.shown));
    let mut text = String::new();
    if !file.loosened.is_empty() {
        text.push_str(&format!("{note}: `{shown}`: loosened: {}\n", file.loosened));
    }
    if file.own_criteria > 0 {
        let (own, all) = (file.own_criteria, count(file.cases, "case"));
        text.push_str(&format!("{note}: `{shown}`: criteria of their own (`_criteria`): {own} of {all}\n"));
    }
    text
}

fn fixes(results: &CheckResults) -> String {
    let mut text = String::new();
    let mut possible = Vec::new();
    for (file, fix) in results.files.iter().filter_map(|file| Some((file, file.fix.as_ref()?))) {
        let shown = one_line(&file.shown);
        match &fix.state {
            FixState::Done => text.push_str(&format!("{} `{shown}`: {}\n", styled(GOOD, "fixed"), fix.what)),
            FixState::Kept(reason) if results.fix => {
                text.push_str(&format!("{} `{shown}` as it is: {reason}\n", styled(BOLD, "kept")));
            }
            FixState::Kept(_) => {}
            FixState::Possible => possible.push(shown),
        }
    }
    if !possible.is_empty() {
        let files = short_code_list(&possible);
        let note = styled(BOLD, "note");
        text.push_str(&format!("{note}: `--fix` would rewrite {files} in the form that ADK writes today\n"));
    }
    text
}

/// The programs that a config runs. A config of another author runs that author's code.
fn programs(file: &CheckedFile) -> impl Iterator<Item = String> {
    let (note, shown) = (styled(BOLD, "note"), one_line(&file.shown));
    file.programs.iter().map(move |program| {
        let (metric, command) = (one_line(&program.metric), one_line(&program.command));
        format!("{note}: `{shown}` runs a program to compute `{metric}`: `{command}`\n")
    })
}

fn own_metrics(results: &CheckResults) -> String {
    let mut codes = results.files.iter().flat_map(|file| &file.found.problems).map(|problem| problem.code);
    if codes.any(|code| matches!(code, ProblemCode::UnknownMetric | ProblemCode::UnansweredCustomMetric)) {
        let note = styled(BOLD, "note");
        return format!("{note}: name metrics of your own on the command line: `--metric NAME,NAME`\n");
    }
    String::new()
}

fn summary(results: &CheckResults) -> String {
    let counts = results.counts();
    let mut found = Vec::new();
    if counts.errors > 0 {
        found.push(styled(ERROR, &count(counts.errors, "error")));
    }
    if counts.warnings > 0 {
        let denied = if results.deny_warnings { " (denied)" } else { "" };
        found.push(format!("{}{denied}", styled(WARNING, &count(counts.warnings, "warning"))));
    }
    if counts.not_checked > 0 {
        found.push(styled(ERROR, &format!("{} not checked", count(counts.not_checked, "path"))));
    }
    if found.is_empty() {
        found.push(styled(GOOD, "no problems"));
    }
    let drafts = match counts.drafts {
        0 => String::new(),
        drafts => format!(" ({})", count(drafts, "draft")),
    };
    let (files, cases) = (count(counts.files, "file"), count(counts.cases, "case"));
    format!("{files}, {cases}{drafts}: {}", found.join(", "))
}
