//! Problems as JSON.

use std::ops::Range;

use eval_format::Problem;
use eval_format::problem::Positions;
use eval_format::problem::Severity;
use serde::{Serialize, Serializer};

/// A text and what was found in it, in the order of the text.
#[derive(Debug, Default)]
pub(crate) struct FoundProblems {
    /// The ranges of the problems point into it.
    pub(crate) text: String,
    pub(crate) problems: Vec<Problem>,
}

impl Serialize for FoundProblems {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let positions = Positions::of(&self.text, &self.problems);
        serializer.collect_seq(self.problems.iter().map(|problem| ProblemEntry::new(problem, &positions)))
    }
}

/// A problem as JSON.
#[derive(Debug, Serialize)]
struct ProblemEntry {
    code: &'static str,
    severity: &'static str,
    message: String,
    path: String,
    place: Place,
    label: String,
    help: Option<String>,
    related: Vec<Related>,
}

/// A range of the text.
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

impl ProblemEntry {
    fn new(problem: &Problem, positions: &Positions) -> Self {
        let related = problem.related.iter();
        Self {
            code: problem.code.as_str(),
            severity: severity_name(problem.severity),
            message: problem.message.clone(),
            path: if problem.path.steps().is_empty() { String::new() } else { problem.path.to_string() },
            place: Place::of(&problem.range, positions),
            label: problem.label.clone(),
            help: problem.help.clone(),
            related: related
                .map(|(range, label)| Related { place: Place::of(range, positions), label: label.clone() })
                .collect(),
        }
    }
}

/// The severity as JSON and annotations of GitHub Actions have it.
pub(crate) fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}
