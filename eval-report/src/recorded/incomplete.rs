//! Reasons why a recorded run is not complete, for what counts its passes and failures.

use eval_support::untrusted::one_line;
use eval_support::words::{count, short_code_list};

use super::problems::Problem;
use super::results::RunResults;
use super::test::State;
use crate::journal::Asked;

impl RunResults<'_> {
    /// The reasons why the run is not complete; empty if it is. What did not run, or was killed, may have failed.
    pub fn why_incomplete(&self) -> Vec<String> {
        let Self { totals, loaded, .. } = self;
        let mut reasons: Vec<String> = self.problems.iter().map(Problem::shown).collect();
        if totals.is_running {
            reasons.push("the run is still in progress".to_owned());
        }
        if totals.unfinished > 0 {
            let of_state = self.tests.iter().filter(|test| test.state == State::Unfinished);
            let names: Vec<String> = of_state.map(|test| one_line(&test.name)).collect();
            reasons.push(format!(
                "{} without an end: {}; its process was killed, or still runs",
                count(totals.unfinished, "case"),
                short_code_list(&names)
            ));
        }
        // A test that a rerun passed has its end in another file.
        let is_mended = loaded.run.processes.iter().any(|head| head.is_rerun());
        if loaded.run.torn > 0 && !is_mended && reasons.is_empty() {
            let lines = count(loaded.run.torn, "incomplete line");
            reasons.push(format!("{lines} in its record: a process was killed, or its disk was full"));
        }
        if reasons.is_empty() && self.has_test_runner() && !self.is_partial {
            reasons.extend(self.cut_short());
        }
        reasons
    }

    /// Whether cargo or nextest ran any of it. A program says which cases it was to run.
    fn has_test_runner(&self) -> bool {
        let is_of_runner = self.loaded.run.processes.iter().any(|head| Asked::from_head(head).is_some());
        is_of_runner || self.tests.iter().any(|test| !test.attempt.started.of_program)
    }
}
