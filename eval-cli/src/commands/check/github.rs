//! Annotations of GitHub Actions. They are shown beside the lines of a pull request.

use eval_format::Problem;

use super::file::CheckedFile;
use super::results::CheckResults;
use crate::files::{Positions, severity_name};
use crate::output::CommandError;
use crate::output::annotation::{data, property};

pub(super) fn annotations(results: &CheckResults) -> String {
    let mut text = String::new();
    for file in &results.files {
        let positions = Positions::of(&file.text, &file.problems);
        text.extend(file.problems.iter().map(|problem| annotation(problem, file, &positions)));
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
    let mut properties = format!("file={},line={},endLine={}", property(&file.shown), start.line, end.line);
    if start.line == end.line {
        // GitHub takes columns of a single line only.
        properties.push_str(&format!(",col={},endColumn={}", start.column, end.column));
    }
    let (level, title) = (severity_name(problem.severity), property(problem.code.as_str()));
    format!("::{level} {properties},title={title}::{}\n", data(&message))
}

fn of_error(error: &CommandError, file: Option<&str>) -> String {
    let file = file.map(|file| format!("file={},", property(file))).unwrap_or_default();
    let message = format!("{}\nhelp: {}", error.message, error.help);
    format!("::error {file}title=not checked::{}\n", data(&message))
}
