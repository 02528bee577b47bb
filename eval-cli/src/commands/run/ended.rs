//! The end of a run: its output, and the errors of a run that did not begin or left no record.

use std::collections::HashSet;
use std::path::Path;

use eval_core::runner::{RunDirError, RunPlan, RunnerError};
use eval_format::compat::Incompatibility;
use eval_format::matrix::Variant;
use eval_format::problem::{ProblemCode, line_column};
use eval_format::reader::{check_set, drafts_are, how_to_accept};
use eval_format::{Problem, Problems, ReadError};
use eval_report::formats::{human_body, new_golden};
use eval_report::summary_text::review;
use eval_support::shell;
use eval_support::untrusted::one_line;
use eval_support::words::{count, short_code_list};

use crate::edited::not_found;
use crate::files::{first_error, read};
use crate::output::width::fitted;
use crate::output::{CaseOfFile, CommandError, Outcome, rerun_command};
use crate::recorded::{Lacking, RunResults, TestResult, near};

use super::matrix::in_matrix;

/// The help of a mistake in a file of faults that has none of its own.
pub(super) const WRONG_FAULTS: &str = "fix the file of `--faults`";

#[derive(Debug)]
pub(super) struct Planned {
    file: String,
    eval_id: String,
    /// The case's name in the journal.
    name: String,
    /// The label of its variant; empty without a matrix.
    variant: String,
}

pub(super) fn planned(plan: &RunPlan, variant: &Variant) -> Vec<Planned> {
    let cases = plan.cases().map(|(path, set, case)| Planned {
        file: path.display().to_string(),
        eval_id: case.eval_id.clone(),
        name: format!("{set}/{}", case.eval_id),
        variant: variant.label(),
    });
    cases.collect()
}

impl Planned {
    fn place(&self) -> CaseOfFile<'_> {
        (&self.file, &self.eval_id)
    }

    fn named(&self) -> String {
        let name = one_line(&self.name);
        if self.variant.is_empty() { name } else { format!("{name} [{}]", one_line(&self.variant)) }
    }
}

pub(super) struct Ended<'r> {
    /// The arguments of a run of the same kind, without the matrix.
    pub(super) again: &'r [String],
    /// The arguments of the matrix.
    pub(super) matrix: &'r [String],
    pub(super) results: &'r RunResults<'r>,
    pub(super) planned: &'r [Planned],
    /// The line that says what the agent cost, if there are prices.
    pub(super) cost: Option<String>,
    pub(super) is_recorded: bool,
    /// Whether an error follows that no case has: of what cases shared, or of a report that was not written.
    pub(super) has_error_below: bool,
}

impl Ended<'_> {
    pub(super) fn text(&self) -> String {
        let Self { again, results, .. } = self;
        let next = |test: &TestResult<'_>| {
            // The variant of the test alone.
            let again = [again, &*in_matrix(&test.attempt.started.variant)].concat();
            let (lacking, command) = (test.lacking(), rerun_command(&again, [place(test)?]));
            let does = if lacking.is_something() { "record it " } else { "run again " };
            let mut lines = format!("{does}    {}\n", lacking.recorded_by(&command));
            if self.is_recorded {
                lines.push_str(&new_golden(results, test).unwrap_or_default());
            }
            Some(lines)
        };
        let mut text = human_body(results, next);
        if self.has_error_below {
            text = with_error_below(&text, results.totals.outcome().exit_code());
        }
        let label = |test: &'_ TestResult<'_>| test.attempt.started.label.clone().unwrap_or_default();
        let began: HashSet<_> =
            results.tests.iter().filter_map(|test| Some((place(test)?, label(test)))).collect();
        let missing =
            self.planned.iter().filter(|case| !began.contains(&(case.place(), case.variant.clone())));
        let missing: Vec<&Planned> = missing.collect();
        if !missing.is_empty() {
            let names: Vec<String> = missing.iter().map(|case| case.named()).collect();
            let cases = count(missing.len(), "case");
            text.push_str(&fitted(format!("\nnever began   {cases}: {}\n", short_code_list(&names))));
        }
        text.push('\n');
        text.push_str(self.cost.as_deref().unwrap_or_default());
        let unpassed = results.needing_attention().filter_map(place);
        let unpassed: Vec<CaseOfFile<'_>> = unpassed.chain(missing.iter().map(|case| case.place())).collect();
        if unpassed.len() > 1 || !missing.is_empty() {
            let again = [again, self.matrix].concat();
            let lacking = Lacking::of_all(results.needing_attention().map(TestResult::lacking));
            let command = lacking.recorded_by(&rerun_command(&again, unpassed));
            text.push_str(&format!("run all again {command}\n"));
        }
        text.push_str(&review(results, true).filter(|_| self.is_recorded).unwrap_or_default());
        for folder in results.loaded.folders.iter().filter(|_| self.is_recorded) {
            text.push_str(&format!("whole record  {}\n", one_line(&near(folder).display().to_string())));
        }
        text
    }
}

/// The text whose result says that an error follows, which decides the exit code.
fn with_error_below(text: &str, code: i32) -> String {
    let end = format!("(exit code {code})");
    let is_result = |line: &&str| line.contains("Result") && line.ends_with(&end);
    match text.lines().find(is_result) {
        Some(result) => {
            let code = Outcome::Unmeasurable.exit_code();
            let now = result.replace(&end, &format!("(exit code {code}, by the error below)"));
            text.replacen(result, &now, 1)
        }
        None => text.to_owned(),
    }
}

fn place<'t>(test: &'t TestResult<'_>) -> Option<CaseOfFile<'t>> {
    let started = &test.attempt.started;
    Some((started.file.as_deref()?, &started.eval_id))
}

pub(super) fn not_planned(error: &RunDirError) -> CommandError {
    let of_set = |set: &str| format!("`cargo evalset run {}` runs all its cases", shell::word(set));
    if let Some(error) = not_found(error, of_set) {
        return error;
    }
    match error {
        RunDirError::Runner { source: RunnerError::Journal { .. }, .. } => {
            CommandError::new(in_one_line(error), "`EVALSET_DIR` names the folder for journals")
        }
        RunDirError::Runner { source: RunnerError::Environment(_), .. } => {
            CommandError::new(in_one_line(error), "set the variable to one of its values, or unset it")
        }
        RunDirError::Runner { path, source: RunnerError::Drafts { eval_ids, .. } } => {
            let ids: Vec<&str> = eval_ids.iter().map(String::as_str).collect();
            let path = path.display().to_string();
            CommandError::new(format!("`{path}`: {}", drafts_are(&ids)), how_to_accept(&path, &ids))
        }
        RunDirError::Read(ReadError::Problems(problems)) => {
            let errors: Vec<_> = problems.iter().filter(|problem| problem.is_error()).collect();
            let first = errors.first().map(|problem| one_line(&problem.message)).unwrap_or_default();
            CommandError::new(
                format!("`{}` has {}: {first}", one_line(problems.file()), count(errors.len(), "error")),
                format!("`cargo evalset check {}` shows where", shell::word(problems.file())),
            )
        }
        RunDirError::Runner { source: RunnerError::FaultsOfRealTools { .. }, .. } => {
            CommandError::new(in_one_line(error), "add `--tools golden`, or leave out `--faults`")
        }
        RunDirError::Faults(problems) => wrong_in(problems, WRONG_FAULTS),
        RunDirError::NoneOfTags => CommandError::new(
            in_one_line(error),
            "`cargo evalset list` shows the tags of cases; a case with a tag of `--skip-tag` is left out, whatever `--tag` says",
        ),
        // These criteria are of no file: they come from `-m`, or from a config with what `-m` changes.
        RunDirError::Runner { source: RunnerError::Criteria(problems), .. } => {
            let (message, help) = first_error(problems);
            CommandError::new(message, help.unwrap_or_else(|| OTHER_CRITERIA.to_owned()))
        }
        RunDirError::Runner { path, source: RunnerError::Incompatible(found) } => {
            unfit(path, found).unwrap_or_else(|| CommandError::new(in_one_line(error), OTHER_CRITERIA))
        }
        RunDirError::Runner {
            source:
                RunnerError::NoRuns
                | RunnerError::TooManyRuns(_)
                | RunnerError::PassesAlways
                | RunnerError::TooFewRuns { .. },
            ..
        } => CommandError::new(in_one_line(error), "change `--runs` or `--pass`"),
        RunDirError::SeveralSets { .. } => {
            CommandError::new(in_one_line(error), "`cargo evalset list` shows the files")
        }
        RunDirError::Runner { .. } => CommandError::new(in_one_line(error), OTHER_CRITERIA),
        _ => CommandError::new(
            in_one_line(error),
            "`cargo evalset check` shows the problems of sets and configs",
        ),
    }
}

const OTHER_CRITERIA: &str = "change the config, or name criteria with `--config` or `-m`";

/// The error of cases that do not fit their criteria or their tools, with the place of the first mistake; `None` if the set cannot
/// be read again.
fn unfit(path: &Path, found: &[Incompatibility]) -> Option<CommandError> {
    let checked = check_set(&path.display().to_string(), &read(path).ok()?, None);
    let mut problems: Vec<Problem> = found.iter().map(|it| it.problem(&checked)).collect();
    problems.sort_by_key(|problem| problem.range.start);
    if let Some(fault) = problems.first_mut().filter(|first| first.code == ProblemCode::ToolFault) {
        fault.help = Some(
            "add `--tools golden`: it answers calls with the responses of the case, and plays its faults"
                .into(),
        );
    }
    Some(first_of(&checked.file, &checked.text, &problems.iter().collect::<Vec<_>>(), OTHER_CRITERIA))
}

/// The error of a file beside the sets, with the place of its first mistake. `otherwise` is the help of a mistake without any.
pub(in crate::commands) fn wrong_in(problems: &Problems, otherwise: &str) -> CommandError {
    let errors: Vec<_> = problems.iter().filter(|problem| problem.is_error()).collect();
    if errors.is_empty() {
        return CommandError::new(one_line(&problems.to_string()), otherwise);
    }
    first_of(problems.file(), problems.text(), &errors, otherwise)
}

/// The first of some mistakes with its place, and how many others there are.
fn first_of(file: &str, text: &str, errors: &[&Problem], otherwise: &str) -> CommandError {
    let Some((first, others)) = errors.split_first() else {
        return CommandError::new(format!("`{}` has errors", one_line(file)), otherwise);
    };
    let (line, column) = line_column(text, first.range.start);
    let more = match others.len() {
        0 => String::new(),
        more => format!(" (and {})", count(more, "further error")),
    };
    let place = format!("{}:{line}:{column}", one_line(file));
    let help = first.help.as_deref().unwrap_or(otherwise);
    CommandError::new(format!("{place}: {}{more}", one_line(&first.message)), one_line(help))
}

/// The error in one line. Problems of files take several.
fn in_one_line(error: &RunDirError) -> String {
    let text = error.to_string();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join("; ")
}

/// The error of a run whose journal cannot be read.
pub(super) fn no_record(why: &str) -> CommandError {
    let help = "let `EVALSET_DIR` name a folder in which this user can write";
    CommandError::new(format!("the cases ran, and what came out is not known: {why}"), help)
}
