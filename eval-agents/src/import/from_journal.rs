//! Conversations of recorded runs.

use eval_report::journal::{RecordedRun, RecordedTest};
use eval_report::recorded::TestResult;

use super::error::ImportError;
use crate::draft::{Draft, Origin, played};

/// The drafts of a case of a recorded test run: a draft for each run of the case in its last attempt.
///
/// `case` is the id of the case, or the name of its test as cargo shows it. Records of runs are masked already.
///
/// ```no_run
/// use eval_agents::import;
/// use eval_report::journal::RecordedRun;
///
/// let run = RecordedRun::read("target/evalset/nightly".as_ref())?;
/// for draft in import::journal("nightly", &run, "sunny")? {
///     println!("{}: {:?}", draft.case.eval_id, draft.gaps);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn journal(from: &str, run: &RecordedRun, case: &str) -> Result<Vec<Draft>, ImportError> {
    let test = recorded(from, run, case)?;
    let Some(attempt) = test.last() else { return Ok(Vec::new()) };
    let (mut drafts, mut left_out) = (Vec::new(), Vec::new());
    for evaluation in &attempt.evaluations {
        let number = evaluation.ran.run;
        let which = format!("run {number} of `{case}`");
        let Some((case, gaps)) = played(Some(&attempt.started.eval_id), &evaluation.ran.transcript) else {
            left_out.push(format!("{which} has no turn"));
            continue;
        };
        let mut origin =
            Origin::new(from).with("format", "journal").with("case", test.name()).with("run", number);
        if let Some(passed) = evaluation.passed {
            origin = origin.with("passed", passed);
        }
        let draft = Draft::from_case(case, origin).map_err(ImportError::case(from, which))?;
        drafts.push(draft.with_gaps(gaps));
    }
    if drafts.is_empty() {
        if left_out.is_empty() {
            left_out.push(format!("no run of `{case}` came to its end"));
        }
        return Err(ImportError::Nothing { from: from.to_owned(), left_out });
    }
    Ok(drafts)
}

/// The recorded test of a case. `case` is its name in reports, the name of its test as cargo shows it, or the id of the case.
pub fn recorded<'r>(from: &str, run: &'r RecordedRun, case: &str) -> Result<&'r RecordedTest, ImportError> {
    let id = |test: &RecordedTest| test.last().map(|attempt| attempt.started.eval_id.clone());
    let all = TestResult::all(run);
    let mut found: Vec<&RecordedTest> = all.iter().filter(|it| it.name == case).map(|it| it.test).collect();
    if found.is_empty() {
        found = run.tests.iter().filter(|test| test.name() == case).collect();
    }
    if found.is_empty() {
        found = run.tests.iter().filter(|test| id(test).as_deref() == Some(case)).collect();
    }
    let [test] = found.as_slice() else {
        let (what, there) = if found.is_empty() {
            (format!("case `{case}`"), run.tests.iter().filter_map(id).collect())
        } else {
            let named = all.iter().filter(|it| found.iter().any(|test| std::ptr::eq(*test, it.test)));
            (format!("single case `{case}`; name its test"), named.map(|it| it.name.to_string()).collect())
        };
        return Err(ImportError::Missing { from: from.to_owned(), what, there });
    };
    Ok(test)
}
