//! Whether a run ended before all its tests began.
//!
//! A journal tells only of tests that began. After a failure, `cargo test` starts no further binary, and nextest no
//! further test. So a run in which nothing began after the first failure may lack tests.

use std::collections::BTreeSet;
use std::time::SystemTime;

use super::cargo_tests::TestBinary;
use super::targets::Targets;
use crate::recorded::{State, TestResult};

/// A note on a run that looks cut short.
pub(super) fn remark(tests: &[TestResult<'_>], targets: &Targets) -> Option<&'static str> {
    let tests: Vec<&TestResult<'_>> = tests.iter().filter(|test| TestBinary::of(test).is_some()).collect();
    if !looks_cut_short(&tests) {
        return None;
    }
    if tests.iter().any(|test| test.attempt.head.is_of_nextest()) {
        return Some(
            "tests that were never started are not in the journal; `cargo nextest run --no-fail-fast` runs them all",
        );
    }
    let started: BTreeSet<TestBinary<'_>> = tests.iter().filter_map(|test| TestBinary::of(test)).collect();
    targets.may_be_others(&started).then_some(
        "binaries that were never started are not in the journal; `cargo test --no-fail-fast` runs them all",
    )
}

/// Whether a process was killed, or no process began after the first test that failed.
fn looks_cut_short(tests: &[&TestResult<'_>]) -> bool {
    if tests.iter().any(|test| test.state == State::Unfinished) {
        return true;
    }
    let failures = tests.iter().filter(|test| test.needs_attention());
    let first = failures.filter_map(|test| Some(test.attempt.decided.as_ref()?.at)).min();
    let begun = |test: &&TestResult<'_>| -> Option<SystemTime> {
        test.test.attempts.iter().map(|attempt| attempt.head.started).max()
    };
    first.is_some_and(|first| tests.iter().filter_map(begun).all(|begun| begun <= first))
}
