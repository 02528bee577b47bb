//! The runs before a run: which of them are comparable, and what became of each case since.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use eval_support::mutex::Mutex;

use crate::journal::{self, RecordedRun};
use crate::output::time;
use crate::page::{CaseHistory, Compared, Count, PassRate, PastRun, Spark, line};
use crate::recorded::{RunResults, State, TestResult};

/// The number of runs on the page, this one included.
const MAX_SHOWN_RUNS: usize = 12;
/// The most runs that are read to find comparable ones.
const MAX_READ_RUNS: usize = 16;

const THIS_RUN: &str = "this run";

/// The change of a case since the run before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SinceBefore {
    NewFailure,
    /// It has no verdict: it ended in an error, or was not scored.
    NoVerdictNow,
    Fixed,
    StillFailing,
    StillNoVerdict,
}

impl SinceBefore {
    /// The name of its filter.
    pub(super) fn filter(self) -> &'static str {
        match self {
            Self::NewFailure => "new",
            Self::NoVerdictNow => "unmeasured",
            Self::Fixed => "fixed",
            Self::StillFailing => "still",
            Self::StillNoVerdict => "still_unmeasured",
        }
    }

    pub(super) fn words(self, cases: usize) -> &'static str {
        match self {
            Self::NewFailure if cases == 1 => "new failure",
            Self::NewFailure => "new failures",
            Self::NoVerdictNow => "without a verdict now",
            Self::Fixed => "fixed",
            Self::StillFailing => "still failing",
            Self::StillNoVerdict => "still without a verdict",
        }
    }
}

/// The identity of a case across runs. Its text may have changed.
type Key = (Option<String>, Option<String>, String, Option<String>);

fn key(test: &TestResult<'_>) -> Key {
    let owned = |text: Option<&str>| text.map(str::to_owned);
    let label = owned(test.attempt.started.label.as_deref());
    (owned(test.test.package()), owned(test.test.binary()), test.name.clone().into_owned(), label)
}

/// A case in a run: its state, and its meaning then.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PastCase {
    state: State,
    /// The runs that passed: `2/3`.
    passed: String,
    meaning: Meaning,
}

/// The hashes of what a case asks and expects. Results of a case that meant something else are not joined.
type Meaning = (String, String);

fn meaning(test: &TestResult<'_>) -> Meaning {
    let started = &test.attempt.started;
    (started.asks.clone(), started.expects.clone())
}

#[derive(Debug)]
struct Past {
    id: String,
    label: String,
    sets: BTreeSet<String>,
    cases: HashMap<Key, PastCase>,
}

impl Past {
    fn new(id: String, label: String, tests: &[TestResult<'_>]) -> Self {
        let set = |test: &TestResult<'_>| {
            let started = &test.attempt.started;
            started.eval_set_id.clone().or_else(|| started.file.clone()).unwrap_or_default()
        };
        let case = |test: &TestResult<'_>| PastCase {
            state: test.state,
            passed: test.runs.tally().to_string(),
            meaning: meaning(test),
        };
        Self {
            id,
            label,
            sets: tests.iter().map(set).collect(),
            cases: tests.iter().map(|test| (key(test), case(test))).collect(),
        }
    }

    /// The case of a test, if it meant the same.
    fn same(&self, test: &TestResult<'_>) -> Option<&PastCase> {
        self.cases.get(&key(test)).filter(|case| case.meaning == meaning(test))
    }

    /// Whether another run is of the same sets, and not of a selection of their cases.
    fn is_comparable(&self, other: &Self) -> bool {
        let both = self.cases.keys().filter(|key| other.cases.contains_key(*key)).count();
        self.sets == other.sets && 2 * both >= self.cases.len().max(other.cases.len())
    }
}

/// The runs before the run of the page, as far as they are in the same folder.
#[derive(Debug)]
pub(super) struct History {
    /// The comparable runs, the oldest first, with the run of the page at the end.
    runs: Vec<Arc<Past>>,
    /// All runs before that were read, the newest first.
    before: Vec<Arc<Past>>,
}

impl History {
    pub(super) fn new(results: &RunResults<'_>) -> Self {
        let before = before(results).into_iter().filter_map(|run| read(&run));
        Self::of(Arc::new(Past::new(String::new(), THIS_RUN.to_owned(), &results.tests)), before)
    }

    /// `before` has the newest run first.
    fn of(this: Arc<Past>, before: impl Iterator<Item = Arc<Past>>) -> Self {
        let before: Vec<Arc<Past>> = before.collect();
        let comparable = before.iter().filter(|past| this.is_comparable(past)).take(MAX_SHOWN_RUNS - 1);
        let mut runs: Vec<Arc<Past>> = comparable.map(Arc::clone).collect();
        runs.reverse();
        runs.push(this);
        Self { runs, before }
    }

    fn last(&self) -> Option<&Past> {
        self.runs.len().checked_sub(2).and_then(|at| self.runs.get(at)).map(Arc::as_ref)
    }

    /// The states of a case in the comparable runs; `None` if there is no run before this one. A run in which it meant something
    /// else has no state of it.
    pub(super) fn spark(&self, test: &TestResult<'_>) -> Option<Spark> {
        let of_run = |past: &Arc<Past>| {
            let state = past.same(test)?.state;
            Some((state == State::Passed, state.filter_name()))
        };
        (self.runs.len() > 1).then(|| Spark::new(&self.runs.iter().map(of_run).collect::<Vec<_>>()))
    }

    pub(super) fn pass_rate(&self) -> Option<PassRate> {
        let rates = self.runs.iter().map(|past| {
            let counted = || past.cases.values().filter(|case| case.state != State::Skipped);
            (
                past.label.clone(),
                counted().filter(|case| case.state == State::Passed).count(),
                counted().count(),
            )
        });
        PassRate::new(&rates.collect::<Vec<_>>(), THIS_RUN)
    }

    /// The change of a case since the run before. What failed in a case that it did not have, or that meant something else, is
    /// new.
    pub(super) fn change(&self, test: &TestResult<'_>) -> Option<SinceBefore> {
        let before = self.last()?.same(test).map(|case| case.state);
        let is_in_work = test.state == State::Unfinished && !test.needs_attention();
        if is_in_work { None } else { change(before, test.state) }
    }

    /// The time at which a case that needs attention passed last, in any run of this folder.
    pub(super) fn last_passed(&self, test: &TestResult<'_>) -> Option<&str> {
        let passed = |past: &&Arc<Past>| past.same(test).is_some_and(|case| case.state == State::Passed);
        let last = self.before.iter().find(passed).filter(|_| test.needs_attention());
        last.map(|past| past.label.as_str())
    }

    /// The results of a case in the runs before that were read.
    pub(super) fn of_case(&self, test: &TestResult<'_>) -> CaseHistory {
        let has = |past: &&Arc<Past>| past.cases.contains_key(&key(test));
        let runs: Vec<PastRun> = self
            .before
            .iter()
            .filter_map(|past| {
                let case = past.same(test)?;
                let (state, passed) = (case.state.name(), case.passed.clone());
                Some(PastRun { id: line(&past.id), when: past.label.clone(), state, passed })
            })
            .collect();
        let others = self.before.iter().filter(has).count() - runs.len();
        CaseHistory { runs, others }
    }

    /// The changes since the run before, counted; `None` without a comparable run.
    pub(super) fn compared(&self, changes: &[Option<SinceBefore>]) -> Option<Compared> {
        let all = [
            SinceBefore::NewFailure,
            SinceBefore::NoVerdictNow,
            SinceBefore::Fixed,
            SinceBefore::StillFailing,
            SinceBefore::StillNoVerdict,
        ];
        let counted = all.map(|change| {
            let cases = changes.iter().filter(|it| **it == Some(change)).count();
            Count { filter: change.filter(), name: change.words(cases), cases, of: None }
        });
        let changes = counted.into_iter().filter(|count| count.cases > 0).collect();
        Some(Compared { changes, since: self.last()?.label.clone() })
    }
}

fn change(before: Option<State>, now: State) -> Option<SinceBefore> {
    match (before, now) {
        (Some(State::Failed), State::Failed) => Some(SinceBefore::StillFailing),
        (_, State::Failed) => Some(SinceBefore::NewFailure),
        (Some(before), now) if before.is_unmeasured() && now.is_unmeasured() => {
            Some(SinceBefore::StillNoVerdict)
        }
        (_, now) if now.is_unmeasured() => Some(SinceBefore::NoVerdictNow),
        (Some(before), State::Passed) if before == State::Failed || before.is_unmeasured() => {
            Some(SinceBefore::Fixed)
        }
        _ => None,
    }
}

/// An earlier run. A service makes the page of a growing run many times, so that runs which did not change are kept.
fn read(run: &journal::RunDir) -> Option<Arc<Past>> {
    static KEPT: Mutex<BTreeMap<PathBuf, (u64, Arc<Past>)>> = Mutex::new(BTreeMap::new());

    let files = fs::read_dir(&run.path).into_iter().flatten().flatten();
    let bytes = files.filter_map(|file| Some(file.metadata().ok()?.len())).sum();
    if let Some((_, past)) = KEPT.lock().get(&run.path).filter(|(known, _)| *known == bytes) {
        return Some(Arc::clone(past));
    }
    let recorded = RecordedRun::outline(std::slice::from_ref(&run.path)).ok()?;
    let past = Arc::new(Past::new(run.id.clone(), time::shown(run.started), &TestResult::all(&recorded)));
    let mut kept = KEPT.lock();
    if kept.len() >= MAX_KEPT_RUNS {
        kept.clear();
    }
    kept.insert(run.path.clone(), (bytes, Arc::clone(&past)));
    Some(past)
}

const MAX_KEPT_RUNS: usize = 2 * MAX_READ_RUNS;

/// The runs before this one in the same folder, the newest first. A merged run has none.
fn before(results: &RunResults<'_>) -> Vec<journal::RunDir> {
    let [folder] = results.loaded.folders.as_slice() else { return Vec::new() };
    // The folder need not be in a folder of runs: neighbours without a marker are skipped.
    let beside = folder.parent().map(|root| journal::runs(root).unwrap_or_default()).unwrap_or_default();
    let mut earlier = beside.into_iter().skip_while(|run| run.path.file_name() != folder.file_name());
    earlier.next();
    earlier.take(MAX_READ_RUNS).collect()
}

#[cfg(test)]
mod tests {
    use eval_core::journal::{SCHEMA, sealed_line};
    use serde_json::json;

    use super::*;

    fn case(name: &str) -> Key {
        (None, None, name.to_owned(), None)
    }

    fn past(label: &str, set: &str, states: &[(&str, State)]) -> Arc<Past> {
        let sets = BTreeSet::from([set.to_owned()]);
        let meaning = ("asks".to_owned(), "expects".to_owned());
        let of = |state: &State| PastCase { state: *state, passed: String::new(), meaning: meaning.clone() };
        let cases = states.iter().map(|(name, state)| (case(name), of(state))).collect();
        Arc::new(Past { id: label.to_owned(), label: label.to_owned(), sets, cases })
    }

    #[test]
    fn a_change_tells_a_failure_from_a_case_without_a_verdict() {
        use State::{Error, Failed, NotEvaluated, Passed, Skipped, Unfinished};
        for (before, now, expected) in [
            (Some(Passed), Failed, Some(SinceBefore::NewFailure)),
            (Some(Failed), Failed, Some(SinceBefore::StillFailing)),
            (Some(Skipped), Error, Some(SinceBefore::NoVerdictNow)),
            (None, NotEvaluated, Some(SinceBefore::NoVerdictNow)),
            (Some(Failed), Error, Some(SinceBefore::NoVerdictNow)),
            (Some(Error), NotEvaluated, Some(SinceBefore::StillNoVerdict)),
            (Some(Unfinished), Failed, Some(SinceBefore::NewFailure)),
            (Some(Error), Passed, Some(SinceBefore::Fixed)),
            (Some(Passed), Passed, None),
            (None, Passed, None),
            (Some(Failed), Skipped, None),
        ] {
            assert_eq!(change(before, now), expected, "{before:?} {now:?}");
        }
    }

    /// A run of programs in which a case had these results, each with what it expected.
    fn recorded(results: &[(&str, &str, &str)]) -> RecordedRun {
        let folder = tempfile::tempdir().unwrap();
        let at = "2026-11-22T02:31:07.250Z";
        let mut records = vec![
            json!({ "record": "head", "schema": SCHEMA, "evalset": "0", "run": "r", "pid": 1, "started": at }),
        ];
        for (test, (name, expects, verdict)) in (1..).zip(results) {
            records.push(json!({ "record": "started", "test": test, "name": name, "of_program": true, "eval_id": name, "asks": "0",
                "expects": expects, "runs": 1, "pass": "mean", "gate": "mean", "attempt": 1, "at": at }));
            records.push(json!({ "record": "decided", "test": test, "verdict": { "is": verdict }, "elapsed": 1.0, "at": at }));
        }
        let text: String = (1..).zip(&records).map(|(number, record)| sealed_line(record, number)).collect();
        fs::write(folder.path().join("a.jsonl"), text).unwrap();
        RecordedRun::read(folder.path()).unwrap()
    }

    #[test]
    fn results_of_a_case_that_meant_something_else_are_not_joined() {
        let past = |id: &str, results: &[(&str, &str, &str)]| {
            let run = recorded(results);
            Arc::new(Past::new(id.to_owned(), format!("at {id}"), &TestResult::all(&run)))
        };
        let this = recorded(&[("x", "new", "failed"), ("y", "old", "failed")]);
        let tests = TestResult::all(&this);
        let before = [
            past("3", &[("x", "old", "failed"), ("y", "old", "failed")]),
            past("2", &[("x", "new", "failed"), ("y", "old", "passed")]),
            past("1", &[("x", "old", "passed"), ("z", "old", "passed")]),
        ];
        let history =
            History::of(Arc::new(Past::new(String::new(), THIS_RUN.to_owned(), &tests)), before.into_iter());
        let told = |test: &TestResult<'_>| {
            let CaseHistory { runs, others } = history.of_case(test);
            let runs: Vec<_> = runs.into_iter().map(|run| (run.id, run.when, run.state)).collect();
            (runs, others, history.change(test), history.last_passed(test).map(str::to_owned))
        };
        let run = |id: &str, state| (id.to_owned(), format!("at {id}"), state);
        assert_eq!(told(&tests[0]), (vec![run("2", "failed")], 2, Some(SinceBefore::NewFailure), None));
        let of_y = (
            vec![run("3", "failed"), run("2", "passed")],
            0,
            Some(SinceBefore::StillFailing),
            Some("at 2".to_owned()),
        );
        assert_eq!(told(&tests[1]), of_y);
        let spark = |test| history.spark(test).unwrap().label;
        assert_ne!(spark(&tests[0]), spark(&tests[1]));
    }

    #[test]
    fn only_runs_of_the_same_sets_with_their_cases_are_compared() {
        use State::{Failed, Passed};
        let this = past("now", "a", &[("x", Failed), ("y", Failed), ("z", Passed)]);
        let before = [
            past("4", "b", &[("x", Passed), ("y", Passed), ("z", Passed)]),
            past("3", "a", &[("x", Passed)]),
            past("2", "a", &[("x", Failed), ("y", Failed), ("z", Failed)]),
            past("1", "a", &[("x", Passed), ("y", Passed)]),
        ];
        let history = History::of(this, before.into_iter());
        assert_eq!(history.runs.iter().map(|it| it.label.as_str()).collect::<Vec<_>>(), ["1", "2", "now"]);
        assert_eq!(history.last().unwrap().label, "2");
        let rate = history.pass_rate().unwrap();
        assert_eq!(rate.summary, "1/3 cases passed in this run, 0/3 in the one before");
        let changes = [
            Some(SinceBefore::StillFailing),
            Some(SinceBefore::StillFailing),
            Some(SinceBefore::Fixed),
            None,
        ];
        let compared = history.compared(&changes).unwrap();
        let told: Vec<_> = compared.changes.iter().map(|it| (it.filter, it.cases, it.name)).collect();
        assert_eq!(
            (told, compared.since.as_str()),
            (vec![("fixed", 1, "fixed"), ("still", 2, "still failing")], "2")
        );
        let alone = History::of(past("now", "a", &[("x", Failed)]), std::iter::empty());
        assert!(alone.compared(&[None]).is_none() && alone.pass_rate().is_none());
    }
}
