//! A test that the text of each error has its cause once.

use std::error::Error as _;
use std::io;

use crate::{BindError, DraftRefused, TokenError};

#[test]
fn the_text_of_an_error_has_its_cause_once() {
    let random = BindError::Token(TokenError::Random { source: io::Error::other("no such luck") });
    let draft = DraftRefused::failed(io::Error::other("no such luck"));
    assert!(random.source().is_none() && random.to_string().ends_with("no such luck"), "{random}");
    assert!(draft.source().is_none() && draft.to_string().ends_with("no such luck"), "{draft}");
    let (address, system) = (([127, 0, 0, 1], 80).into(), || io::Error::other("no such luck"));
    for error in
        [BindError::Address { address, source: system() }, BindError::Receiver { address, source: system() }]
    {
        assert!(error.to_string().contains("no such luck"), "{error}");
        assert!(error.source().is_none(), "printers of chains would say it twice: {error}");
    }
}
