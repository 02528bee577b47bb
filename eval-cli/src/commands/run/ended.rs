//! What a run prints when it is over.

use eval_core::runner::RunPlan;
use eval_report::formats::human_body;
use eval_support::untrusted::one_line;
use eval_support::words::{count, short_code_list};

use crate::output::again::{self, CaseOfFile};
use crate::output::width::fitted;
use crate::recorded::{RunResults, TestResult, near};

/// A case that was to run.
#[derive(Debug)]
pub(super) struct Planned {
    file: String,
    eval_id: String,
    /// As the journal calls it.
    name: String,
}

/// The cases of a plan.
pub(super) fn planned(plan: &RunPlan) -> Vec<Planned> {
    let cases = plan.cases().map(|(path, set, case)| Planned {
        file: path.display().to_string(),
        eval_id: case.eval_id.clone(),
        name: format!("{set}/{}", case.eval_id),
    });
    cases.collect()
}

/// A run that is over.
pub(super) struct Ended<'r> {
    /// The options that run cases again.
    pub(super) again: &'r [String],
    pub(super) results: &'r RunResults<'r>,
    pub(super) planned: &'r [Planned],
    /// The line that says what the agent cost, if there are prices.
    pub(super) cost: Option<String>,
    /// Whether the journal stays.
    pub(super) is_recorded: bool,
}

impl Ended<'_> {
    pub(super) fn text(&self) -> String {
        let again = |test: &TestResult<'_>| {
            Some(again::command(
                self.again,
                [(test.attempt.started.file.as_deref()?, test.attempt.started.eval_id.as_str())],
            ))
        };
        let mut text = human_body(self.results, again);
        let missing = self.missing();
        if !missing.is_empty() {
            let names: Vec<String> = missing.iter().map(|case| one_line(&case.name)).collect();
            let cases = count(missing.len(), "case");
            text.push_str(&fitted(format!("\nnever began   {cases}: {}\n", short_code_list(&names))));
        }
        text.push('\n');
        text.push_str(self.cost.as_deref().unwrap_or_default());
        let missing_places = missing.iter().map(|case| (case.file.as_str(), case.eval_id.as_str()));
        let unpassed: Vec<CaseOfFile<'_>> = self.unpassed().chain(missing_places).collect();
        if unpassed.len() > 1 || !missing.is_empty() {
            text.push_str(&format!("run all again {}\n", again::command(self.again, unpassed)));
        }
        for folder in self.results.loaded.folders.iter().filter(|_| self.is_recorded) {
            text.push_str(&format!("whole record  {}\n", one_line(&near(folder).display().to_string())));
        }
        text
    }

    /// The cases that never began.
    fn missing(&self) -> Vec<&Planned> {
        let began = |planned: &&Planned| {
            self.results.tests.iter().any(|test| {
                let started = &test.attempt.started;
                started.eval_id == planned.eval_id && started.file.as_deref() == Some(&planned.file)
            })
        };
        self.planned.iter().filter(|planned| !began(planned)).collect()
    }

    fn unpassed(&self) -> impl Iterator<Item = CaseOfFile<'_>> {
        self.results.needing_attention().filter_map(|test| {
            let started = &test.attempt.started;
            Some((started.file.as_deref()?, started.eval_id.as_str()))
        })
    }
}
