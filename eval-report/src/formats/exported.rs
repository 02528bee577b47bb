//! A recorded run as a report of eval-core, for the formats of other tools.

use std::path::{Path, PathBuf};

use eval_core::report::Role;
use eval_core::{CaseReport, EvalCase, EvalReport, Verdict};
use eval_support::untrusted::one_line;

use crate::export::{Export, ExportError, table_with_errors};
use crate::output::CommandError;
use crate::recorded::{Cases, RunResults};

/// The cases with a verdict, with the expectations in their files, and an error for each case that has no
/// verdict or never began.
///
/// Fails if a case with runs is not in its file any more, or was edited since it ran: journals do not record
/// expectations.
pub fn report(results: &RunResults<'_>) -> Result<EvalReport, CommandError> {
    let mut files = Cases::default();
    let mut report = EvalReport::default();
    for test in &results.tests {
        let attempt = test.attempt;
        let cannot = |why: String| {
            let message = format!("`{}` cannot be written in the format of ADK: {why}", one_line(&test.name));
            CommandError::new(message, "run it again, where the sets are")
        };
        let case = match files.find(&attempt.started) {
            Ok(found) if !found.is_edited => found.case,
            // Nothing is compared with its expectations.
            _ if attempt.decided.is_none() || attempt.evaluations.is_empty() => {
                EvalCase::new(&attempt.started.eval_id)
            }
            Ok(_) => return Err(cannot("it was edited since it ran".to_owned())),
            Err(error) => return Err(cannot(error.why)),
        };
        report.cases.push(if attempt.decided.is_none() {
            let set = attempt.started.eval_set_id.as_deref();
            unplayed(set, case, test.reason().unwrap_or_default())
        } else {
            attempt.report(case).ok_or_else(|| cannot("a score is missing in its records".to_owned()))?
        });
    }
    for problem in &results.problems {
        // The set id comes from another test of the same module.
        let (set, case) = problem.set_and_case();
        let of_module = results.tests.iter().find(|test| {
            let module = test.test.name().rsplit_once("::").map(|(module, _)| module);
            (test.test.package(), test.test.binary())
                == (problem.package.as_deref(), problem.binary.as_deref())
                && module.is_some()
                && module == problem.name.rsplit_once("::").map(|(module, _)| module)
        });
        let known = of_module.and_then(|test| test.attempt.started.eval_set_id.as_deref());
        report.cases.push(unplayed(known.or(Some(set)), EvalCase::new(case), problem.message.clone()));
    }
    Ok(report)
}

/// The table of ADK's `AgentEvaluator`, with a row for each case that is an error, has no verdict, or never
/// began, and for each other case that did not pass if no row shows that.
pub fn csv(results: &RunResults<'_>) -> Result<String, CommandError> {
    Ok(table_with_errors(&report(results)?))
}

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

fn unplayed(eval_set_id: Option<&str>, case: EvalCase, message: String) -> CaseReport {
    let eval_set_id = eval_set_id.map(str::to_owned);
    CaseReport {
        eval_set_id,
        ..CaseReport::of_verdict(case, Verdict::Error { role: Role::Harness, message })
    }
}
