//! The table that ADK's `AgentEvaluator` writes: a row per metric, turn and run.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use eval_core::report::{CaseReport, EvalReport};
use eval_format::{FunctionCall, Invocation};
use eval_support::secrets::mask;

use super::adk::{ExportedMetric, ExportedRun, ExportedTurn, Status, why};
use super::file::{ExportError, create_folder_of};
use super::python;

const COLUMNS: [&str; 11] = [
    "eval_set_id",
    "eval_id",
    "metric_name",
    "threshold",
    "score",
    "eval_status",
    "prompt",
    "expected_response",
    "actual_response",
    "expected_tool_calls",
    "actual_tool_calls",
];

pub(super) fn table(report: &EvalReport) -> String {
    text(std::iter::once(COLUMNS.map(str::to_owned)).chain(rows(report)))
}

pub(super) fn append(report: &EvalReport, path: &Path) -> Result<(), ExportError> {
    create_folder_of(path)?;
    let append = || -> io::Result<()> {
        let mut file: File = OpenOptions::new().create(true).append(true).open(path)?;
        let is_empty = file.metadata()?.len() == 0;
        let rows = if is_empty { table(report) } else { text(rows(report)) };
        // One write, so that tests that share the file do not mix their rows.
        file.write_all(rows.as_bytes())
    };
    append().map_err(ExportError::io(path))
}

/// The table of a report, and rows that ADK's table lacks: for each run that ended in an error, and for each
/// case that did not pass if no other row shows that.
pub(crate) fn table_with_errors(report: &EvalReport) -> String {
    table(report) + &text(report.cases.iter().flat_map(errors_of_case))
}

fn rows(report: &EvalReport) -> impl Iterator<Item = Row> {
    report.cases.iter().flat_map(rows_of_case)
}

type Row = [String; COLUMNS.len()];

fn text(rows: impl Iterator<Item = Row>) -> String {
    let mut writer =
        csv::WriterBuilder::new().terminator(csv::Terminator::Any(b'\n')).from_writer(Vec::new());
    for row in rows {
        // Writing to memory cannot fail, and all rows have the same length.
        let _ = writer.write_record(row.iter().map(|field| mask(field).into_owned()));
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

fn rows_of_case(case: &CaseReport) -> Vec<Row> {
    let runs = ExportedRun::all(case);
    let mut rows = Vec::new();
    for metric in &case.metrics {
        for exported in &runs {
            let same = |of_run: &&ExportedMetric<'_>| std::ptr::eq(of_run.metric, metric);
            if let Some(of_run) = exported.metrics.iter().find(same) {
                rows.extend(rows_of_metric(case, of_run));
            }
        }
    }
    rows
}

/// The rows of errors: without a metric, and with the error as the actual response.
fn errors_of_case(case: &CaseReport) -> Vec<Row> {
    let row = |status: Status, prompt: Option<String>, message: &str| {
        let mut row = Row::default();
        row[0] = case.eval_set_id.clone().unwrap_or_default();
        case.eval_id().clone_into(&mut row[1]);
        status.name().clone_into(&mut row[5]);
        row[6] = prompt.unwrap_or_default();
        message.clone_into(&mut row[8]);
        row
    };
    let of_run = |run: &ExportedRun<'_>| {
        let (_, message) = run.error.as_ref()?;
        let last = run.run.transcript.turns.last();
        Some(row(run.status, last.map(|turn| turn.invocation.user_text()), message))
    };
    let mut rows: Vec<Row> = ExportedRun::all(case).iter().filter_map(of_run).collect();
    let is_green = |row: &Row| [Status::Passed, Status::Informational].map(Status::name).contains(&&*row[5]);
    if !case.verdict.passed() && rows_of_case(case).iter().chain(&rows).all(is_green) {
        rows.push(row(Status::of_case(&case.verdict), None, &why(case).1));
    }
    rows
}

fn rows_of_metric(case: &CaseReport, metric: &ExportedMetric<'_>) -> impl Iterator<Item = Row> {
    metric.turns.iter().map(|ExportedTurn { actual, expected, score, .. }| {
        [
            case.eval_set_id.clone().unwrap_or_default(),
            case.eval_id().to_owned(),
            metric.metric.name.clone(),
            number(metric.metric.threshold()),
            number(score.score),
            score.status.name().to_owned(),
            expected.unwrap_or(*actual).user_text(),
            expected.map(Invocation::response_text).unwrap_or_default(),
            actual.response_text(),
            expected.map(calls).unwrap_or_default(),
            calls(actual),
        ]
    })
}

/// A number as Python prints it. As in pandas, NaN is an empty field.
fn number(number: Option<f64>) -> String {
    number.filter(|number| !number.is_nan()).map(python::float).unwrap_or_default()
}

fn calls(turn: &Invocation) -> String {
    let calls: Vec<String> = turn.tool_calls().map(|call: &FunctionCall| python::call(call)).collect();
    calls.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// pandas leaves a lone carriage return bare, and most readers would end the row there.
    #[test]
    fn a_lone_carriage_return_is_quoted() {
        let mut row = COLUMNS.map(|_| "x".to_owned());
        row[6] = "a\rb".to_owned();
        assert_eq!(text([row].into_iter()), "x,x,x,x,x,x,\"a\rb\",x,x,x,x\n");
    }
}
