//! The table that ADK's `AgentEvaluator` writes: a row per metric, turn and run.
//!
//! Quoting is a dozen lines, which no crate is worth in every build of a test.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use eval_format::{FunctionCall, Invocation};

use super::adk::{ExportedMetric, ExportedRun, create_folder_of};
use super::{ExportError, python};
use crate::report::{CaseReport, EvalReport, RunReport};

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
    /// A row per metric, run and turn, informational metrics included, below a row of names. Numbers and tool
    /// calls are printed as Python does, values that are absent are empty. As in ADK, runs that ended in an
    /// error and metrics that do not apply have no rows: the table alone does not say whether all is well.
    /// Where pandas leaves a lone carriage return bare, which splits the row for most readers, it is quoted.
    pub fn to_csv(&self) -> String {
        let mut table = String::new();
        push_row(&mut table, &COLUMNS.map(str::to_owned));
        self.push_rows(&mut table);
        table
    }

    /// Appends the rows of [`to_csv`](Self::to_csv) to a file, below the names of the columns where it is new
    /// or empty. Makes its folder where that is absent.
    pub fn append_csv(&self, path: impl AsRef<Path>) -> Result<(), ExportError> {
        let path = path.as_ref();
        create_folder_of(path)?;
        let append = || -> io::Result<()> {
            let mut file: File = OpenOptions::new().create(true).append(true).open(path)?;
            let mut rows = String::new();
            if file.metadata()?.len() == 0 {
                rows = self.to_csv();
            } else {
                self.push_rows(&mut rows);
            }
            // At once, so that tests that share the file do not mix their rows.
            file.write_all(rows.as_bytes())
        };
        append().map_err(ExportError::io(path))
    }

    fn push_rows(&self, table: &mut String) {
        for case in &self.cases {
            let runs: Vec<(&RunReport, ExportedRun<'_>)> =
                case.runs.iter().map(|run| (run, ExportedRun::new(case, run))).collect();
            for metric in &case.metrics {
                for (run, scored) in &runs {
                    let same = |of_run: &&ExportedMetric<'_>| std::ptr::eq(of_run.metric, metric);
                    if let Some(of_run) = scored.metrics.iter().find(same) {
                        push_metric(table, case, run, of_run);
                    }
                }
            }
        }
    }
}

fn push_metric(table: &mut String, case: &CaseReport, run: &RunReport, metric: &ExportedMetric<'_>) {
    for (at, (turn, scored)) in run.transcript.turns.iter().zip(&metric.turns).enumerate() {
        let (actual, expected) = (&turn.invocation, case.case.conversation.get(at));
        push_row(
            table,
            &[
                case.eval_set_id.clone().unwrap_or_default(),
                case.eval_id().to_owned(),
                metric.metric.name.clone(),
                number(metric.metric.threshold()),
                number(scored.score),
                scored.status.name().to_owned(),
                expected.unwrap_or(actual).user_text(),
                expected.map(Invocation::response_text).unwrap_or_default(),
                actual.response_text(),
                expected.map(calls).unwrap_or_default(),
                calls(actual),
            ],
        );
    }
}

/// pandas takes NaN for absent.
fn number(number: Option<f64>) -> String {
    number.filter(|number| !number.is_nan()).map(python::float).unwrap_or_default()
}

fn calls(turn: &Invocation) -> String {
    let calls: Vec<String> = turn.tool_calls().map(|call: &FunctionCall| python::call(call)).collect();
    calls.join("\n")
}

fn push_row(table: &mut String, fields: &[String; COLUMNS.len()]) {
    for (at, field) in fields.iter().enumerate() {
        if at > 0 {
            table.push(',');
        }
        if field.contains([',', '"', '\n', '\r']) {
            table.push('"');
            table.push_str(&field.replace('"', "\"\""));
            table.push('"');
        } else {
            table.push_str(field);
        }
    }
    table.push('\n');
}
