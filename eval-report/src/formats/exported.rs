//! A recorded run as a report of eval-core, for the formats of other tools.

use std::path::{Path, PathBuf};
use std::time::Duration;

use eval_core::report::{Role, RunError, RunReport, Transcript};
use eval_core::{CaseReport, EvalCase, EvalReport, Gate, Verdict};
use eval_support::untrusted::one_line;

use crate::export::{Export, ExportError, table_with_errors};
use crate::output::CommandError;
use crate::recorded::{Cases, RunResults};

/// The cases that have a verdict, with what their files expect of them, and an error for each that has none or never began.
///
/// Fails if a case is not in its file any more, or was edited since it ran: what it expected then is in no journal.
pub fn report(results: &RunResults<'_>) -> Result<EvalReport, CommandError> {
    let mut files = Cases::default();
    let mut report = EvalReport::default();
    for test in &results.tests {
        if test.attempt.decided.is_none() {
            let started = &test.attempt.started;
            let (case, why) = (EvalCase::new(&started.eval_id), test.reason().unwrap_or_default());
            report.cases.push(unplayed(started.eval_set_id.as_deref(), case, &why));
            continue;
        }
        let cannot = |why: String| {
            CommandError::new(
                format!("`{}` cannot be written in the format of ADK: {why}", one_line(&test.name)),
                "run it again, where the sets are",
            )
        };
        let found = files.find(&test.attempt.started).map_err(|error| cannot(error.to_string()))?;
        if found.is_edited {
            return Err(cannot("it was edited since it ran".to_owned()));
        }
        let case = test.attempt.report(found.case);
        report.cases.push(case.ok_or_else(|| cannot("a score is missing in its records".to_owned()))?);
    }
    for problem in &results.problems {
        // The set that a test of the same module named.
        let (set, case) = problem.set_and_case();
        let of_module = results.tests.iter().find(|test| {
            let module = test.test.name().rsplit_once("::").map(|(module, _)| module);
            (test.test.package(), test.test.binary())
                == (problem.package.as_deref(), problem.binary.as_deref())
                && module.is_some()
                && module == problem.name.rsplit_once("::").map(|(module, _)| module)
        });
        let known = of_module.and_then(|test| test.attempt.started.eval_set_id.as_deref());
        report.cases.push(unplayed(known.or(Some(set)), EvalCase::new(case), &problem.message));
    }
    Ok(report)
}

/// The table of ADK's `AgentEvaluator`, with a row for each case that is an error, has no verdict, or never began.
pub fn csv(results: &RunResults<'_>) -> Result<String, CommandError> {
    Ok(table_with_errors(&report(results)?))
}

/// Saves ADK's results and returns their files.
pub fn save_adk_results(
    results: &RunResults<'_>,
    agents: &Path,
    app: &str,
) -> Result<Vec<PathBuf>, CommandError> {
    let saved = report(results)?.save_adk_results(agents, app);
    saved.map_err(|error| {
        let help = match error {
            ExportError::Name { .. } => {
                "name the folder of the agent with `--app`, and give the set an id that can be a file's name"
            }
            ExportError::Exists(_) => "remove the file, or write the results a moment later",
            _ => "name the folder that holds the folders of the agents",
        };
        CommandError::new(format!("cannot save ADK's results: {error}"), help)
    })
}

/// The report of a case that has no verdict, and of which no run is known.
fn unplayed(eval_set_id: Option<&str>, case: EvalCase, message: &str) -> CaseReport {
    let error = Some(RunError::new(Role::Harness, None, message));
    let run = RunReport { number: 1, transcript: Transcript::default(), error, metrics: Vec::new() };
    CaseReport {
        eval_set_id: eval_set_id.map(str::to_owned),
        case,
        location: None,
        label: None,
        runs: vec![run],
        metrics: Vec::new(),
        passed_runs: None,
        gate: Gate::Mean,
        verdict: Verdict::Error { role: Role::Harness, message: message.to_owned() },
        elapsed: Duration::ZERO,
        notes: Vec::new(),
        repeated: Vec::new(),
    }
}
