//! What is said while the command runs.

use std::io::Write as _;

use eval_support::untrusted::guard_styled;

/// Says something while the command runs. If nobody can be told, it goes on all the same.
pub(super) fn tell(text: &str) {
    let text = guard_styled(&crate::output::mask(text));
    let mut out = anstream::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
