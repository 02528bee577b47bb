//! A recorded run as a report of eval-core, for the formats of other tools.

use std::path::{Path, PathBuf};

use eval_core::EvalReport;
use eval_core::report::ExportError;

use crate::output::CommandError;
use crate::output::foreign::one_line;
use crate::recorded::{Cases, RunResults};

/// The cases that have a verdict, with what their files expect of them.
///
/// Fails if a case is not in its file any more, or was edited since it ran: what it expected then is in no journal.
pub(super) fn report(results: &RunResults<'_>) -> Result<EvalReport, CommandError> {
    let mut files = Cases::default();
    let mut report = EvalReport::default();
    for test in results.tests.iter().filter(|test| test.attempt.decided.is_some()) {
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
    Ok(report)
}

/// The table of ADK's `AgentEvaluator`.
pub(super) fn csv(results: &RunResults<'_>) -> Result<String, CommandError> {
    Ok(report(results)?.to_csv())
}

/// Saves ADK's results and returns their files.
pub(super) fn save_adk_results(
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
