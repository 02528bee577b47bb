//! A test that the text of each error has its cause once.

use std::io;

use eval_support::test_support::assert_said_once;

use crate::{BindError, DraftRefused, TokenError};

#[test]
fn the_text_of_an_error_has_its_cause_once() {
    const CAUSE: &str = "no such luck";
    let (address, system) = (([127, 0, 0, 1], 80).into(), || io::Error::other(CAUSE));
    assert_said_once(&BindError::Token(TokenError::Random { source: system() }), CAUSE);
    assert_said_once(&BindError::Address { address, source: system() }, CAUSE);
    assert_said_once(&BindError::Receiver { address, source: system() }, CAUSE);
    assert_said_once(&DraftRefused::failed(system()), CAUSE);
}
