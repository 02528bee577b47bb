//! ADK's result of an eval set: what google-adk saves after a run, loads and shows.

mod case_result;
mod scored;
mod session;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use eval_core::report::{CaseReport, EvalReport};
use eval_format::conventions::check_path_part;
use eval_format::{Map, Value};
use eval_support::secrets::mask;
use serde::{Serialize, Serializer};

use super::file::{ExportError, create_folder_of, create_whole};

pub(super) use scored::{ExportedMetric, ExportedRun, ExportedTurn, Status, why};

/// The results of one eval set, in the form of google-adk 2.13.0's `EvalSetResult`.
///
/// ```
/// use std::time::SystemTime;
/// use eval_core::{EvalCase, EvalRunner, EvalSet, Invocation, Replay};
/// use eval_report::Export;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let set = EvalSet::new("weather")
///     .case(EvalCase::new("sunny").turn(Invocation::user("Weather in Paris?").response("It is sunny.")));
/// let report = EvalRunner::new().run_set(&set, || Replay::new([["It is sunny."]]), 1).await?;
///
/// let results = report.adk_results("weather_app", SystemTime::now());
/// assert_eq!(results[0].eval_set_id(), "weather");
/// assert!(results[0].id().starts_with("weather_app_weather_"));
/// assert!(results[0].to_json().contains(r#""final_eval_status": 1"#));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// One entry per case and run, in that order. Statuses are ADK's numbers: 1 passed, 2 failed, 3 not
/// evaluated, 4 informational. A run that ended in an error has the status 2 and its turns without metrics,
/// as in ADK; the text of the error is the last event of `session_details`. A skipped metric was not
/// evaluated. A metric that does not apply does not change the status of its run. The score of a metric is
/// its overall score of the run, which ADK computes in its own way for some metrics. So the status of a run
/// may differ from the verdict on the case, which is about all turns of all runs. But a case that did not
/// pass is never shown as passed: if each of its runs passed, all runs have the status of the case. A case
/// without runs has one entry with that status. The scores stay.
#[derive(Clone, Debug)]
pub struct EvalSetResult<'a> {
    app_name: String,
    eval_set_id: &'a str,
    /// Seconds since 1970.
    created: f64,
    cases: Vec<&'a CaseReport>,
}

pub(in crate::export) fn of_report<'r>(
    report: &'r EvalReport,
    app_name: &str,
    at: SystemTime,
) -> Vec<EvalSetResult<'r>> {
    let created = at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut results: Vec<EvalSetResult<'_>> = Vec::new();
    for case in &report.cases {
        let eval_set_id = case.eval_set_id.as_deref().unwrap_or_default();
        let place = *places.entry(eval_set_id).or_insert_with(|| {
            let app_name = app_name.to_owned();
            results.push(EvalSetResult { app_name, eval_set_id, created, cases: Vec::new() });
            results.len() - 1
        });
        results[place].cases.push(case);
    }
    results
}

impl EvalSetResult<'_> {
    /// The id of the eval set.
    pub fn eval_set_id(&self) -> &str {
        self.eval_set_id
    }

    /// ADK's id of the result: app, set and time.
    pub fn id(&self) -> String {
        format!("{}_{}_{}", self.app_name, self.eval_set_id, Value::from(self.created))
    }

    /// ADK's name of the result: the id, with `_` for each slash.
    pub fn name(&self) -> String {
        self.id().replace('/', "_")
    }

    /// The result as a value with every field that ADK writes.
    pub fn to_value(&self) -> Value {
        let of_case = |case: &&CaseReport| {
            let runs = ExportedRun::all(case);
            runs.iter().map(|run| case_result::value(case, run)).collect::<Vec<_>>()
        };
        let runs = self.cases.iter().flat_map(of_case);
        masked(Map::from([
            ("eval_set_result_id", Value::from(self.id())),
            ("eval_set_result_name", Value::from(self.name())),
            ("eval_set_id", Value::from(self.eval_set_id)),
            ("eval_case_results", Value::Array(runs.collect())),
            ("creation_timestamp", Value::from(self.created)),
        ]))
    }

    /// The text of the file that ADK would write.
    pub fn to_json(&self) -> String {
        format!("{:#}", self.to_value())
    }

    /// Saves the result as `<agents_dir>/<app_name>/.adk/eval_history/<name>.evalset_result.json`, where ADK
    /// keeps and lists results, and returns the path.
    ///
    /// The file appears under its name when it is complete.
    ///
    /// # Errors
    ///
    /// If the app name or the id of the set cannot be part of a path (empty, `.`, `..`, with a slash, a backslash, a
    /// NUL or a drive), if a result of that name exists, and if the file cannot be written.
    pub fn save(&self, agents_dir: impl AsRef<Path>) -> Result<PathBuf, ExportError> {
        check_path_segment("app name", &self.app_name)?;
        check_path_segment("eval set id", self.eval_set_id)?;
        let folder = agents_dir.as_ref().join(&self.app_name).join(".adk").join("eval_history");
        let path = folder.join(format!("{}.evalset_result.json", self.name()));
        create_folder_of(&path)?;
        create_whole(&path, &self.to_json())?;
        Ok(path)
    }
}

/// An object with secrets masked, at any depth.
fn masked(map: Map) -> Value {
    Value::from(
        map.into_iter().map(|(key, value)| (mask(&key).into_owned(), masked_value(value))).collect::<Map>(),
    )
}

fn masked_value(value: Value) -> Value {
    match value {
        Value::Object(map) => masked(map),
        Value::Array(items) => Value::Array(items.into_iter().map(masked_value).collect()),
        scalar => match scalar.as_str() {
            Some(text) => Value::from(&*mask(text)),
            None => scalar,
        },
    }
}

/// Fails if a name cannot become a part of a path.
fn check_path_segment(what: &'static str, name: &str) -> Result<(), ExportError> {
    let named = |reason| ExportError::Name { what, name: name.to_owned(), reason };
    check_path_part(name).map_err(named)
}

impl Serialize for EvalSetResult<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_value().serialize(serializer)
    }
}
