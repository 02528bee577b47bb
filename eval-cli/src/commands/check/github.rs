//! Annotations of GitHub Actions. They are shown beside the lines of a pull request.

use eval_format::Problem;
use eval_support::untrusted;

use super::file::CheckedFile;
use super::results::CheckResults;
use crate::files::{Positions, severity_name};
use crate::output::CommandError;

pub(super) fn annotations(results: &CheckResults) -> String {
    let mut text = String::new();
    for file in &results.files {
        let positions = Positions::of(&file.found.text, &file.found.problems);
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
        // GitHub takes columns of a single line only.
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
