//! One of the two builds of a comparison: the runs of each case, with doubts and notes about them.

use std::path::{Path, absolute};
use std::sync::Arc;

use eval_core::EvalReport;
use eval_core::journal::project::Project;
use eval_support::untrusted::one_line;

use crate::baseline::{Baseline, Measured, measure, notes};
use crate::journal::ReadRunError;
use crate::recorded::{LoadedRun, RunResults};

/// One of the two builds of a comparison: a baseline, a report, or a recorded run.
///
/// ```
/// use eval_report::comparison::Side;
/// use eval_report::Baseline;
///
/// let baseline = Baseline::parse("{\"evalset_baseline\": 1}\n")?;
/// let side = Side::from(baseline);
/// assert_eq!((side.name.as_str(), side.doubts.len()), ("baseline", 0));
/// # Ok::<_, eval_report::baseline::BaselineError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Side {
    /// Its name for people: `run 2026-11-22T02-31-07-4f1c`.
    pub name: String,
    /// The runs of each case.
    pub cases: Baseline,
    /// Reasons why they may not be all runs of their build. With one of them, a gate is unmeasurable.
    pub doubts: Vec<String>,
    /// Remarks on how the runs were counted.
    pub notes: Vec<String>,
}

impl Side {
    /// The runs that a program or a test process recorded in this folder: a folder of `EVALSET_DIR`, or
    /// [`RunDir::path`](crate::journal::RunDir).
    ///
    /// ```no_run
    /// use eval_report::comparison::{Diff, Side};
    ///
    /// let before = Side::of_run("target/evalset/2026-11-22T02-31-07-4f1c")?;
    /// let now = Side::of_run("target/evalset/2026-11-22T02-40-12-99ab")?;
    /// println!("{}", Diff::new(before, now));
    /// # Ok::<_, eval_report::journal::ReadRunError>(())
    /// ```
    pub fn of_run(folder: impl AsRef<Path>) -> Result<Self, ReadRunError> {
        let folder = folder.as_ref();
        let id = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(Self::of_loaded(&LoadedRun::of_folder(id, folder.to_owned(), false)?))
    }

    /// The runs of a recorded run that is read already.
    #[doc(hidden)]
    pub fn of_loaded(loaded: &LoadedRun) -> Self {
        let results = RunResults::new(loaded, None, false);
        let doubts = results.map_or_else(|error| vec![error.to_string()], |results| results.why_incomplete());
        Self { doubts, ..Self::of_measured(format!("run {}", loaded.name()), measure([loaded], None)) }
    }

    /// A baseline under a name.
    #[doc(hidden)]
    pub fn of_baseline(name: String, cases: Baseline) -> Self {
        Self { name, cases, ..Self::default() }
    }

    fn of_measured(name: String, measured: Measured) -> Self {
        Self { name, notes: notes(&measured), cases: measured.cases, doubts: Vec::new() }
    }
}

impl From<Baseline> for Side {
    fn from(cases: Baseline) -> Self {
        Self::of_baseline("baseline".to_owned(), cases)
    }
}

impl From<&EvalReport> for Side {
    fn from(report: &EvalReport) -> Self {
        Self::of_measured("report".to_owned(), measure([&recorded(report)], None))
    }
}

/// A baseline of a report, such as one that a program keeps in a file.
///
/// A case that comes from no file is filed under the id of its set.
impl From<&EvalReport> for Baseline {
    fn from(report: &EvalReport) -> Self {
        Side::from(report).cases
    }
}

/// A report as a recorded run, with what its cases and calls are counted by.
fn recorded(report: &EvalReport) -> LoadedRun {
    let mut loaded = LoadedRun::of_report(report, None);
    let workspace = Project::here().folder.to_str().map(str::to_owned);
    for (test, case) in loaded.run.tests.iter_mut().zip(&report.cases) {
        for attempt in &mut test.attempts {
            let started = &mut attempt.started;
            let path = started.file.as_ref().and_then(|file| absolute(file).ok());
            started.set_file = path.and_then(|path| path.to_str().map(str::to_owned));
            let of_no_file = || one_line(case.eval_set_id.as_deref().unwrap_or("(no set)"));
            started.file.get_or_insert_with(of_no_file);
            Arc::make_mut(&mut attempt.head).workspace.clone_from(&workspace);
            for (evaluation, run) in attempt.evaluations.iter_mut().zip(&case.runs) {
                let error = evaluation.ran.transcript.error.take();
                evaluation.ran.transcript = run.transcript.clone();
                evaluation.ran.transcript.error = error;
            }
        }
    }
    loaded
}

#[cfg(test)]
mod tests {
    use eval_core::agent::BoxError;
    use eval_core::{EvalRunner, agent_fn};
    use eval_format::Criterion;
    use serde_json::json;

    use super::*;
    use crate::baseline::{Line, Provenance};
    use crate::comparison::{Category, Compare};
    use crate::journal::latest;

    /// A report of three runs, and their record.
    fn reported(folder: &Path) -> (EvalReport, Side) {
        let content = |text: &str| json!({ "parts": [{ "text": text }] });
        let turn = json!({ "user_content": content("Refund?"), "final_response": content("Yes.") });
        let set =
            json!({ "eval_set_id": "desk", "eval_cases": [{ "eval_id": "refund", "conversation": [turn] }] });
        let (evals, runs) = (folder.join("evals"), folder.join("runs"));
        std::fs::create_dir(&evals).unwrap();
        std::fs::write(evals.join("desk.evalset.json"), set.to_string()).unwrap();
        let agent = || {
            agent_fn(|_, recorder| async move {
                recorder.tool_call("find_order", json!({ "id": 17 }), json!({ "state": "sent" }));
                Ok::<_, BoxError>("Yes.".to_owned())
            })
        };
        let runner =
            EvalRunner::new().runs(3).criterion("response_match_score", Criterion::new(1.0)).journal(&runs);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let report = runtime.block_on(runner.run_dir(&evals, agent, 1)).unwrap();
        drop(runner);
        (report, Side::of_run(latest(&runs).unwrap().path).unwrap())
    }

    #[test]
    fn a_report_and_its_record_are_measured_alike() {
        let folder = tempfile::tempdir().unwrap();
        let (report, recorded) = reported(folder.path());
        let lines = |cases: &Baseline| -> Vec<Line> {
            cases.lines().map(|line| Line { from: Provenance::default(), ..line.clone() }).collect()
        };
        let of_report = Side::from(&report);
        assert_eq!(lines(&of_report.cases), lines(&recorded.cases));
        let line = of_report.cases.lines().next().unwrap();
        assert_eq!((line.passed, line.runs, line.calls.as_slice()), (3, 3, &[1, 1, 1][..]));
        assert!(line.set.ends_with("/evals/desk.evalset.json"), "{}", line.set);
        let diff = report.compare(recorded);
        assert_eq!(diff.comparison.cases[0].category, Category::Same);
        assert_eq!(Baseline::parse(&Baseline::from(&report).text().unwrap()).unwrap(), of_report.cases);
    }
}
