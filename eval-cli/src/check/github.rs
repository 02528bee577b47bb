//! Annotations of GitHub Actions, which stand beside the lines of a pull request.

use eval_format::{Problem, Severity};

use super::Report;
use super::file::File;
use crate::annotation::{data, property};
use crate::answer::Refusal;
use crate::places::Places;

pub(super) fn annotations(report: &Report) -> String {
    let mut text = String::new();
    for file in &report.files {
        let places = Places::of(&file.text, &file.problems);
        for problem in &file.problems {
            text.push_str(&annotation(problem, file, &places));
        }
        text.extend(file.failure.as_ref().map(|refusal| of_refusal(refusal, Some(&file.shown))));
    }
    text.extend(report.refusals.iter().map(|refusal| of_refusal(refusal, None)));
    text
}

fn annotation(problem: &Problem, file: &File, places: &Places) -> String {
    let level = match problem.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let (line, column) = places.get(problem.range.start);
    let (end_line, end_column) = places.get(problem.range.end);
    let message = match &problem.help {
        Some(help) => format!("{}\nhelp: {help}", problem.message),
        None => problem.message.clone(),
    };
    let mut properties = format!("file={},line={line},endLine={end_line}", property(&file.shown));
    if line == end_line {
        // GitHub takes columns of a single line only.
        properties.push_str(&format!(",col={column},endColumn={end_column}"));
    }
    format!("::{level} {properties},title={}::{}\n", property(problem.code.as_str()), data(&message))
}

fn of_refusal(refusal: &Refusal, file: Option<&str>) -> String {
    let place = file.map(|file| format!("file={},", property(file))).unwrap_or_default();
    let message = format!("{}\nhelp: {}", refusal.message, refusal.help);
    format!("::error {place}title=not checked::{}\n", data(&message))
}
