//! A test that the text of each error contains its cause, once.

use std::error::Error;
use std::io;

use crate::{EvalSet, ReadError};

/// Fails if the text of an error lacks its cause, or if a printer of chains would say it twice.
fn assert_said_once(error: &dyn Error, cause: &str) {
    let text = error.to_string();
    assert!(text.contains(cause), "{cause:?} is not in {text:?}");
    assert!(error.source().is_none(), "said twice: {text}");
}

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
