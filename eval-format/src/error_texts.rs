//! A test that the text of each error contains its cause, once.

use std::io;

use eval_support::test_support::assert_said_once;

use crate::{EvalSet, ReadError};

#[test]
fn the_text_of_an_error_has_its_cause_once() {
    let problems = EvalSet::parse("{").unwrap_err();
    let cause = problems.to_string();
    let source = io::Error::other("no such luck");
    assert_said_once(&ReadError::Io { path: "a.json".into(), source }, "no such luck");
    assert_said_once(&ReadError::Problems(problems.clone()), &cause);
    #[cfg(feature = "edit")]
    assert_said_once(&crate::EditError::Case(problems), &cause);
    assert_said_once(&crate::find::find_sets(".", "a[").unwrap_err(), "is not a glob: ");
}
