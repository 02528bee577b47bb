//! Problems of files, with their places.

use eval_format::problem::Positions;
use eval_format::{Problem, Value};
use eval_report::output::problem::problems_in_camel_case;
use utoipa::ToSchema;

/// A problem of a file, with its place.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "it describes what is written")]
pub(crate) struct ProblemEntry {
    /// The kind of problem. It is stable.
    code: &'static str,
    /// `error` or `warning`.
    severity: &'static str,
    /// The problem.
    message: String,
    /// The path in the tree: `eval_cases[0].eval_id`; null if it is the whole file.
    path: Option<String>,
    /// The place in the text.
    place: Place,
    /// The text at the place.
    label: String,
    /// The remedy.
    help: Option<String>,
    /// Other places that have to do with it.
    related: Vec<Related>,
}

/// A range of the text. Lines and columns are from 1; columns count characters.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "it describes what is written")]
struct Place {
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
    start_byte: usize,
    end_byte: usize,
}

/// Another place that has to do with a problem.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes what is written")]
struct Related {
    place: Place,
    label: String,
}

/// The most problems in an answer, which must not be much larger than its request.
const MAX_PROBLEMS: usize = 1000;

/// The problems of a file, and its errors as one line each. If there are too many, errors are kept first.
pub(crate) fn told(text: &str, problems: &[Problem]) -> (Vec<Value>, Vec<String>) {
    let mut told: Vec<Problem> = problems.to_vec();
    if told.len() > MAX_PROBLEMS {
        told.sort_by_key(|problem| !problem.is_error());
        told.truncate(MAX_PROBLEMS);
        told.sort_by_key(|problem| problem.range.start);
    }
    let positions = Positions::new(text, &told);
    let errors = told.iter().filter(|problem| problem.is_error()).map(|problem| {
        let at = positions.get(problem.range.start);
        let path =
            if problem.path.steps().is_empty() { String::new() } else { format!(" (`{}`)", problem.path) };
        format!("{}:{}: {}{path}", at.line, at.column, problem.message)
    });
    (problems_in_camel_case(text, &told), errors.collect())
}
