//! A case of a program that runs again during a review, as it ran, so that its reviewer sees whether it varies.

use eval_support::untrusted::one_line;

use super::review_loop::{Next, ReviewLoop, tell_error};
use crate::commands::gate::suspects;
use crate::output::{CommandError, tell, with_option};
use crate::recorded::{LoadedRun, TestResult, WhichRun, id_of_reviewed, root};

/// The further runs.
const RUNS: &str = "5";

impl ReviewLoop<'_, '_> {
    /// Runs the case of an entry again, and shows the entry anew with all its runs.
    pub(super) fn run_again(&mut self, at: usize) -> Option<Next> {
        let test = self.item(at).test.map(|place| &self.queue.tests[place]);
        let Some((base, words)) = test.and_then(command) else {
            tell("    it is no case of a program: run its test again, and review that run\n");
            return None;
        };
        match run(&base, &words).and_then(|loaded| self.queue.add_runs(at, loaded)) {
            Ok(true) => Some(Next::To(at)),
            Ok(false) => {
                tell("    no run of the case ended\n");
                None
            }
            Err(error) => {
                tell_error(&error);
                None
            }
        }
    }
}

/// The id of the run of a test, and the words of this program that run its case again.
fn command(test: &TestResult<'_>) -> Option<(String, Vec<String>)> {
    let (head, started) = (&test.attempt.head, &test.attempt.started);
    let file = started.file.as_deref().filter(|_| started.of_program)?;
    let mut words = vec!["run".to_owned(), format!("{file}:{}", started.eval_id)];
    words.extend(with_option(head.again.as_ref()?, "--runs", RUNS));
    Some((head.run.clone(), words))
}

/// Runs the words as a test run of its own. It has the id of a run of suspects: the case ran again because it failed, so these runs
/// alone are no sample of the build.
fn run(base: &str, words: &[String]) -> Result<&'static LoadedRun, CommandError> {
    let program = std::env::current_exe().map_err(|error| {
        CommandError::new(format!("cannot find this program: {error}"), "call it by its path")
    })?;
    let id = id_of_reviewed(base);
    suspects::run(&program.into(), words, &id)?;
    let made = WhichRun::named(Some(root().join(&id).display().to_string())).load().map_err(|error| {
        CommandError::new(format!("the case did not run again: {}", one_line(&error.message)), error.help)
    })?;
    // The queue reads it until the review ends.
    Ok(Box::leak(Box::new(made)))
}
