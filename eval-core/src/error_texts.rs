//! The text of each error has its cause, once.

use std::io;
use std::sync::Arc;

use eval_format::{EvalSet, ReadError};
use eval_support::test_support::assert_said_once;

use crate::runner::{RunDirError, RunnerError};

const CAUSE: &str = "no such luck";

fn system() -> io::Error {
    io::Error::other(CAUSE)
}

#[test]
fn the_text_of_an_error_of_runners_has_its_cause_once() {
    let problems = EvalSet::parse("{").unwrap_err();
    let of_file = problems.to_string();
    let journal = || RunnerError::Journal { path: "runs".into(), source: Arc::new(system()) };
    let read = || ReadError::Io { path: "a.evalset.json".into(), source: system() };
    assert_said_once(&RunnerError::Set(problems.clone()), &of_file);
    assert_said_once(&RunnerError::Criteria(problems.clone()), &of_file);
    assert_said_once(&RunnerError::Metrics(Arc::new(system())), CAUSE);
    assert_said_once(&RunnerError::Environment(Arc::new(system())), CAUSE);
    assert_said_once(&journal(), CAUSE);
    assert_said_once(&RunDirError::Read(read()), CAUSE);
    assert_said_once(&RunDirError::Read(ReadError::Problems(problems)), &of_file);
    assert_said_once(&RunDirError::Runner { path: "a.evalset.json".into(), source: journal() }, CAUSE);
}
