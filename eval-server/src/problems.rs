//! Problems of files, with their places.

use std::ops::Range;

use eval_format::Problem;
use eval_format::problem::Positions;
use eval_format::problem::Severity;
use serde::Serialize;
use utoipa::ToSchema;

/// What is wrong with a file, and where.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProblemEntry {
    /// The kind of problem. It is stable.
    code: &'static str,
    /// `error` or `warning`.
    severity: &'static str,
    /// What is wrong.
    message: String,
    /// Where it is in the tree: `eval_cases[0].eval_id`; null if it is the whole file.
    path: Option<String>,
    /// Where it is in the text.
    place: Place,
    /// What is there.
    label: String,
    /// What to do about it.
    help: Option<String>,
    /// Other places that have to do with it.
    related: Vec<Related>,
}

/// A range of the text. Lines and columns are from 1; columns count characters.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Place {
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
    start_byte: usize,
    end_byte: usize,
}

/// Another place that has to do with a problem.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Related {
    place: Place,
    label: String,
}

/// The most problems in an answer, which must not be much larger than its request.
const MOST: usize = 1000;

/// The problems of a file, in the order of its text, up to a number of them. Errors go before warnings if there are more.
pub(crate) fn entries(text: &str, problems: &[Problem]) -> Vec<ProblemEntry> {
    if problems.len() > MOST {
        let mut first: Vec<Problem> = problems.to_vec();
        first.sort_by_key(|problem| !problem.is_error());
        first.truncate(MOST);
        first.sort_by_key(|problem| problem.range.start);
        return all(text, &first);
    }
    all(text, problems)
}

fn all(text: &str, problems: &[Problem]) -> Vec<ProblemEntry> {
    let positions = Positions::of(text, problems);
    problems.iter().map(|problem| ProblemEntry::new(problem, &positions)).collect()
}

/// The errors in one line each, as clients read them that know no places.
pub(crate) fn errors(entries: &[ProblemEntry]) -> Vec<String> {
    let errors = entries.iter().filter(|entry| entry.severity == "error");
    errors.map(ProblemEntry::in_one_line).collect()
}

impl ProblemEntry {
    fn new(problem: &Problem, positions: &Positions) -> Self {
        let related = problem.related.iter();
        Self {
            code: problem.code.as_str(),
            severity: match problem.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            message: problem.message.clone(),
            path: (!problem.path.steps().is_empty()).then(|| problem.path.to_string()),
            place: Place::of(&problem.range, positions),
            label: problem.label.clone(),
            help: problem.help.clone(),
            related: related
                .map(|(range, label)| Related { place: Place::of(range, positions), label: label.clone() })
                .collect(),
        }
    }

    fn in_one_line(&self) -> String {
        let Self { message, path, place: Place { line, column, .. }, .. } = self;
        match path {
            Some(path) => format!("{line}:{column}: {message} (`{path}`)"),
            None => format!("{line}:{column}: {message}"),
        }
    }
}

impl Place {
    fn of(range: &Range<usize>, positions: &Positions) -> Self {
        let (start, end) = (positions.get(range.start), positions.get(range.end));
        Self {
            line: start.line,
            column: start.column,
            end_line: end.line,
            end_column: end.column,
            start_byte: range.start,
            end_byte: range.end,
        }
    }
}
