//! The table that ADK's `AgentEvaluator` writes: a row per metric, turn and run.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use eval_format::{FunctionCall, Invocation};

use super::adk::{ExportedMetric, ExportedRun, ExportedTurn};
use super::file::{ExportError, create_folder_of};
use super::python;
use crate::report::{CaseReport, EvalReport};
use crate::secrets::mask;

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

impl EvalReport {
    /// The report as the table that google-adk's `AgentEvaluator` writes (`output_file`).
    ///
    /// ```
    /// use eval_core::{EvalCase, EvalRunner, EvalSet, Invocation, Replay};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// let set = EvalSet::new("weather")
    ///     .case(EvalCase::new("sunny").turn(Invocation::user("Paris?").response("Sunny, at last.")));
    /// let report = EvalRunner::new().run_set(&set, || Replay::new([["Sunny, at last."]]), 1).await?;
    ///
    /// let table = report.to_csv();
    /// let row = r#"weather,sunny,response_match_score,0.8,1.0,PASSED,Paris?,"Sunny, at last.","Sunny, at last.",,"#;
    /// assert!(table.lines().any(|line| line == row));
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// A row of column names, then a row per metric, run and turn, informational metrics included. Numbers and tool
    /// calls are printed as Python prints them. A missing value is an empty field. Lines end in `\n`.
    ///
    /// As in ADK, runs that ended in an error have no rows. So the table alone does not tell whether all cases passed. A metric
    /// that was skipped has rows without a score, `NOT_EVALUATED`. Unlike pandas, a field with a lone carriage return is quoted: most readers would
    /// otherwise end the row there.
    pub fn to_csv(&self) -> String {
        text(std::iter::once(COLUMNS.map(str::to_owned)).chain(self.rows()))
    }

    /// Appends the rows of [`to_csv`](Self::to_csv) to a file. A new or empty file begins with the column names.
    ///
    /// Creates the folder of the file if it does not exist.
    pub fn append_csv(&self, path: impl AsRef<Path>) -> Result<(), ExportError> {
        let path = path.as_ref();
        create_folder_of(path)?;
        let append = || -> io::Result<()> {
            let mut file: File = OpenOptions::new().create(true).append(true).open(path)?;
            let is_empty = file.metadata()?.len() == 0;
            let rows = if is_empty { self.to_csv() } else { text(self.rows()) };
            // One write, so that tests that share the file do not mix their rows.
            file.write_all(rows.as_bytes())
        };
        append().map_err(ExportError::io(path))
    }

    fn rows(&self) -> impl Iterator<Item = Row> {
        self.cases.iter().flat_map(rows_of_case)
    }
}

type Row = [String; COLUMNS.len()];

/// The rows as text.
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
    let runs: Vec<ExportedRun<'_>> = case.runs.iter().map(|run| ExportedRun::new(case, run)).collect();
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

/// A row per turn of a run.
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
