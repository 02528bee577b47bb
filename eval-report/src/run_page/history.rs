//! What became of the cases in the runs before.

use std::collections::HashMap;

use crate::journal::{self, RecordedRun};
use crate::statistics::Tally;

use crate::output::time;
use crate::page::{PassRate, Spark};
use crate::recorded::{RunResults, State, TestResult};

/// How many runs are shown, this one included.
const RUNS: usize = 12;

/// What the run of the page is called.
const THIS_RUN: &str = "this run";

/// The runs that stand beside this one, the oldest first, and this one at the end.
pub(super) struct History {
    runs: Vec<Past>,
}

struct Past {
    label: String,
    passed: usize,
    cases: usize,
    states: HashMap<Key, State>,
}

/// What makes a case the same in another run. Its text may have changed.
type Key = (Option<String>, Option<String>, String, Option<String>);

fn key(test: &TestResult<'_>) -> Key {
    let owned = |text: Option<&str>| text.map(str::to_owned);
    let label = owned(test.attempt.started.label.as_deref());
    (owned(test.test.package()), owned(test.test.binary()), test.name.clone().into_owned(), label)
}

impl Past {
    fn of(label: String, tests: &[TestResult<'_>]) -> Self {
        let counted = || tests.iter().filter(|test| test.state != State::Skipped);
        Self {
            label,
            passed: counted().filter(|test| test.state == State::Passed).count(),
            cases: counted().count(),
            states: tests.iter().map(|test| (key(test), test.state)).collect(),
        }
    }
}

impl History {
    pub(super) fn of(results: &RunResults<'_>) -> Self {
        let mut runs: Vec<Past> = before(results)
            .into_iter()
            .filter_map(|run| {
                let recorded = RecordedRun::outline(&[run.path]).ok()?;
                Some(Past::of(time::shown(run.started), &TestResult::all(&recorded)))
            })
            .collect();
        runs.reverse();
        runs.push(Past::of(THIS_RUN.to_owned(), &results.tests));
        Self { runs }
    }

    /// `None` if there is no run before this one.
    pub(super) fn spark(&self, test: &TestResult<'_>) -> Option<Spark> {
        let key = key(test);
        let of_run = |past: &Past| {
            let state = *past.states.get(&key)?;
            Some((state == State::Passed, state.filter_name()))
        };
        (self.runs.len() > 1).then(|| Spark::of(&self.runs.iter().map(of_run).collect::<Vec<_>>()))
    }

    pub(super) fn pass_rate(&self) -> Option<PassRate> {
        let of = |past: &Past| {
            let tally = Tally::new(past.passed, past.cases).unwrap_or_default();
            (past.label.clone(), past.passed, tally.total())
        };
        PassRate::of(&self.runs.iter().map(of).collect::<Vec<_>>(), THIS_RUN)
    }
}

/// The runs before this one in the same folder, the newest first. A run that was put together of several has none.
fn before(results: &RunResults<'_>) -> Vec<journal::RunDir> {
    let [folder] = results.loaded.folders.as_slice() else { return Vec::new() };
    // A folder beside which other folders stand need not be in a folder of runs: those without a marker are skipped.
    let beside = folder.parent().map(|root| journal::runs(root).unwrap_or_default()).unwrap_or_default();
    let mut earlier = beside.into_iter().skip_while(|run| run.path.file_name() != folder.file_name());
    earlier.next();
    earlier.take(RUNS - 1).collect()
}
