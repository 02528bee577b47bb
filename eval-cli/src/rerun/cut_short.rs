//! Whether a run ended before everything had begun that was to run.
//!
//! A journal tells of what began. `cargo test` starts no further binary after one that failed, and nextest no further
//! test after one that failed, so that a run after whose first failure nothing began may lack some.

use std::collections::BTreeSet;
use std::time::SystemTime;

use super::targets::Targets;
use crate::recorded::{Recorded, State};

/// What there is to say about a run that looks cut short.
pub(super) fn remark(tests: &[Recorded<'_>], targets: &Targets) -> Option<&'static str> {
    let tests: Vec<&Recorded<'_>> = tests.iter().filter(|test| super::is_of_cargo(test)).collect();
    if !looks_cut_short(&tests) {
        return None;
    }
    if tests.iter().any(|test| test.attempt.head.env.contains_key("NEXTEST_RUN_ID")) {
        return Some(
            "tests that were never started are not in the journal; `cargo nextest run --no-fail-fast` runs them all",
        );
    }
    let started: BTreeSet<(&str, &str)> =
        tests.iter().map(|test| (test.test.package.as_str(), test.test.binary.as_str())).collect();
    targets.may_be_others(&started).then_some(
        "binaries that were never started are not in the journal; `cargo test --no-fail-fast` runs them all",
    )
}

/// Whether a process was killed, or none began after the first test that failed.
fn looks_cut_short(tests: &[&Recorded<'_>]) -> bool {
    if tests.iter().any(|test| test.state == State::Unfinished) {
        return true;
    }
    let failures = tests.iter().filter(|test| test.is_trouble());
    let first = failures.filter_map(|test| Some(test.attempt.decided.as_ref()?.at)).min();
    let begun = |test: &&Recorded<'_>| -> Option<SystemTime> {
        test.test.attempts.iter().map(|attempt| attempt.head.started).max()
    };
    first.is_some_and(|first| tests.iter().filter_map(begun).all(|begun| begun <= first))
}
