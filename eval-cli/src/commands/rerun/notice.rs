//! Messages on stderr that are printed at once, since the next step may take long.

use std::io::Write;

use eval_support::untrusted::one_line;

use super::cargo_tests::TestBinary;

pub(super) fn notice(text: &str) {
    // There is no other place to report that stderr cannot be written to.
    drop(writeln!(anstream::stderr().lock(), "{}", one_line(text)));
}

/// Says that cargo is asked for the tests of a binary: it may have to build it.
pub(super) fn asking_for_tests(binary: TestBinary<'_>) {
    let TestBinary { package, name } = binary;
    notice(&match name {
        Some(name) => format!("asking cargo for the tests of `{name}` in `{package}`"),
        None => format!("asking cargo for the tests of `{package}`"),
    });
}
