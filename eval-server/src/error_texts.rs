//! The text of each error has its cause, once.

use std::error::Error as _;
use std::io;

use crate::BindError;

#[test]
fn the_text_of_an_error_has_its_cause_once() {
    let (address, system) = (([127, 0, 0, 1], 80).into(), || io::Error::other("no such luck"));
    for error in
        [BindError::Address { address, source: system() }, BindError::Receiver { address, source: system() }]
    {
        assert!(error.to_string().contains("no such luck"), "{error}");
        assert!(error.source().is_none(), "printers of chains would say it twice: {error}");
    }
}
