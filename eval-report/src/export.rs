//! Reports for programs: the trait [`Export`]. Each format of another tool has a file here.
//!
//! | file | format |
//! | --- | --- |
//! | `adk` | google-adk's results of an eval set |
//! | `csv` | the table of google-adk's `AgentEvaluator` |
//! | `adk_rs` | adk-rs's report |

mod adk;
mod adk_rs;
mod csv;
mod file;
mod python;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use eval_core::EvalReport;
use eval_support::secrets::mask;
use serde_json::Value;

use crate::document::Document;
use crate::recorded::{LoadedRun, RunResults};

pub use adk::EvalSetResult;
pub(crate) use csv::table_with_errors;
pub use file::ExportError;

/// An [`EvalReport`] for programs: as JSON, and in the formats of other tools.
pub trait Export {
    /// The report as JSON: cases, metrics with their thresholds, the verdict of each turn, and what was skipped.
    ///
    /// ```
    /// use eval_core::{EvalCase, EvalRunner, EvalSet, Invocation, Replay, json};
    /// use eval_report::Export;
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// let case = EvalCase::new("sunny").turn(Invocation::user("Paris?").response("Sunny."));
    /// let set = EvalSet::new("weather").case(case);
    /// let report = EvalRunner::new().runs(2).run_set(&set, || Replay::new([["Sunny."]]), 1).await?.to_json();
    ///
    /// let case = &report["cases"][0];
    /// assert_eq!((&case["eval_id"], &case["state"]), (&json!("sunny"), &json!("passed")));
    /// let metric = &case["metrics"][1];
    /// assert_eq!((&metric["threshold"], &metric["runs"][1]["scores"]), (&json!(0.8), &json!([1.0])));
    /// assert_eq!(metric["runs"][1]["verdicts"], json!(["passed"]));
    /// assert_eq!((&report["outcome"], &report["summary"]["passed"]), (&json!("passed"), &json!(1)));
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// It is the document that `cargo evalset report --json` writes, and `docs/report.schema.json` is its
    /// JSON Schema. Facts that only journals have, such as attempts and files, are null. A score that is
    /// missing, or is no finite number, is null. Secrets are masked.
    fn to_json(&self) -> Value;

    /// The report as the table that google-adk's `AgentEvaluator` writes (`output_file`).
    ///
    /// ```
    /// use eval_core::{EvalCase, EvalRunner, EvalSet, Invocation, Replay};
    /// use eval_report::Export;
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
    /// As in ADK, runs that ended in an error have no rows, and verdicts on cases have none. So the table
    /// alone does not tell whether all cases passed. A skipped metric has rows without a score and with the
    /// status `NOT_EVALUATED`. Unlike in pandas, a field with a lone carriage return is quoted: most readers
    /// would otherwise end the row there.
    fn to_csv(&self) -> String;

    /// Appends the rows of [`to_csv`](Self::to_csv) to a file. A new or empty file begins with the column names.
    ///
    /// Creates the folder of the file if it does not exist.
    fn append_csv(&self, path: impl AsRef<Path>) -> Result<(), ExportError>;

    /// The report as ADK's results, one per eval set in the order of their first cases.
    ///
    /// The name of a result is made of the app, the set and the time `at`. Cases with equal set ids are one set.
    fn adk_results(&self, app_name: &str, at: SystemTime) -> Vec<EvalSetResult<'_>>;

    /// Saves the report where `adk web` and `adk eval` look for results, and returns the files.
    ///
    /// ```no_run
    /// # use eval_report::Export;
    /// # fn save(report: &eval_core::EvalReport) -> Result<(), eval_report::export::ExportError> {
    /// for file in report.save_adk_results("agents", "weather_app")? {
    ///     println!("saved {}", file.display());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// See [`EvalSetResult::save`] for the place and the errors. Stops at the first set that cannot be saved.
    fn save_adk_results(
        &self,
        agents_dir: impl AsRef<Path>,
        app_name: &str,
    ) -> Result<Vec<PathBuf>, ExportError>;

    /// The report as adk-rs 0.6 has it: `{"results": [..], "summary": {..}}`.
    ///
    /// ```
    /// use eval_core::{EvalCase, EvalRunner, EvalSet, Invocation, Replay, json};
    /// use eval_report::Export;
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// let case = EvalCase::new("sunny").turn(Invocation::user("Paris?").response("Sunny."));
    /// let set = EvalSet::new("weather").case(case);
    /// let report = EvalRunner::new().run_set(&set, || Replay::new([["Sunny."]]), 1).await?;
    ///
    /// let json = report.to_adk_rs();
    /// assert_eq!(json["results"][0]["scores"]["response_match_score"]["status"], "PASSED");
    /// let summary = json!({ "total": 1, "passed": 1, "failed": 0, "errors": 0, "skipped": 0, "pass_rate": 1.0 });
    /// assert_eq!(json["summary"], summary);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// A result has `eval_set_id`, `eval_case_id`, `scores` and `overall_status`; statuses are `PASSED`,
    /// `FAILED` and `ERROR`. Informational metrics are left out. `details`, whose content adk-rs leaves open,
    /// has the scores of the turns, the threshold, its direction if that is `at_most`, the number of runs,
    /// and the number of passed runs if runs are decided one by one. adk-rs's types need a number, so a
    /// missing score is 0 with the status `ERROR`. Skipped metrics have no number: `skipped` lists them, with
    /// the reason. A skipped case is an `ERROR` to adk-rs, so it counts among the `errors` of `summary` too.
    fn to_adk_rs(&self) -> Value;
}

impl Export for EvalReport {
    fn to_json(&self) -> Value {
        let loaded = LoadedRun::of_report(self, None);
        // Neither step can fail: without a `k` any number of runs is enough, the keys are texts, and the
        // numbers are finite.
        let results = RunResults::new(&loaded, None, false);
        let text = results.ok().and_then(|results| serde_json::to_string(&Document::new(&results)).ok());
        serde_json::from_str(&mask(&text.unwrap_or_default())).unwrap_or_default()
    }

    fn to_csv(&self) -> String {
        csv::table(self)
    }

    fn append_csv(&self, path: impl AsRef<Path>) -> Result<(), ExportError> {
        csv::append(self, path.as_ref())
    }

    fn adk_results(&self, app_name: &str, at: SystemTime) -> Vec<EvalSetResult<'_>> {
        adk::of_report(self, app_name, at)
    }

    fn save_adk_results(
        &self,
        agents_dir: impl AsRef<Path>,
        app_name: &str,
    ) -> Result<Vec<PathBuf>, ExportError> {
        let results = self.adk_results(app_name, SystemTime::now());
        results.iter().map(|result| result.save(&agents_dir)).collect()
    }

    fn to_adk_rs(&self) -> Value {
        adk_rs::report(self)
    }
}
