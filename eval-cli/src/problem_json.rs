//! Problems as programs get them.

use std::ops::Range;

use eval_format::{Problem, Severity};
use serde::Serialize;

use crate::places::Places;

/// The problems of a file in the order of its text.
pub(crate) fn entries(text: &str, problems: &[Problem]) -> Vec<ProblemEntry> {
    let places = Places::of(text, problems);
    problems.iter().map(|problem| ProblemEntry::new(problem, &places)).collect()
}

/// A problem as programs get it.
#[derive(Debug, Serialize)]
pub(crate) struct ProblemEntry {
    code: &'static str,
    severity: &'static str,
    message: String,
    path: String,
    place: Place,
    label: String,
    help: Option<String>,
    related: Vec<Related>,
}

#[derive(Debug, Serialize)]
struct Place {
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
    start_byte: usize,
    end_byte: usize,
}

#[derive(Debug, Serialize)]
struct Related {
    place: Place,
    label: String,
}

impl ProblemEntry {
    fn new(problem: &Problem, places: &Places) -> Self {
        let place = |range: &Range<usize>| {
            let ((line, column), (end_line, end_column)) = (places.get(range.start), places.get(range.end));
            Place { line, column, end_line, end_column, start_byte: range.start, end_byte: range.end }
        };
        Self {
            code: problem.code.as_str(),
            severity: match problem.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            message: problem.message.clone(),
            path: if problem.path.steps().is_empty() { String::new() } else { problem.path.to_string() },
            place: place(&problem.range),
            label: problem.label.clone(),
            help: problem.help.clone(),
            related: problem
                .related
                .iter()
                .map(|(range, label)| Related { place: place(range), label: label.clone() })
                .collect(),
        }
    }
}
