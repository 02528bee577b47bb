//! Tests that a killed process never began.

use std::collections::BTreeSet;

use eval_core::__private::Completeness;
use eval_core::journal::{RecordedRun, RecordedTest};

use super::cargo_tests::{CargoTests, is_of_cargo};
use super::notice::{asking_for_tests, notice};
use super::targets::Targets;
use crate::recorded::{State, TestResult};

/// Adds the tests that were to run and never began: those that the test binary holds and the journal does not.
///
/// If the binary is not here as it ran, cargo lists its tests. Then only sets of which a test began are considered, since
/// nothing tells what else was to run.
pub(super) fn add<'r>(
    chosen: &mut CargoTests<'r>,
    run: &'r RecordedRun,
    tests: &[TestResult<'r>],
    lacks: &'r Completeness,
    targets: &Targets,
    more: &[String],
) {
    for ((package, binary), names) in &lacks.never_began {
        for name in names {
            let (package, binary) =
                (package.as_deref().unwrap_or_default(), binary.as_deref().unwrap_or_default());
            chosen.add_name(package, binary, name.clone());
        }
    }
    let unfinished = tests.iter().filter(|test| test.state == State::Unfinished && is_of_cargo(test));
    let binaries: BTreeSet<(&'r str, &'r str)> = unfinished
        .map(|test| (test.test.package().unwrap_or_default(), test.test.binary().unwrap_or_default()))
        .chain(lacks.unnamed())
        .filter(|(package, binary)| !lacks.knows(package, binary))
        .collect();
    if targets.is_empty() && !binaries.is_empty() {
        notice(
            "cargo finds no package here, so tests that never began are not found: run this in the project's folder",
        );
    }
    for (package, binary) in binaries {
        let begun: BTreeSet<&str> = run
            .tests
            .iter()
            .filter(|test| {
                (test.package().unwrap_or_default(), test.binary().unwrap_or_default()) == (package, binary)
            })
            .map(RecordedTest::name)
            .collect();
        asking_for_tests(package, binary);
        let sets: BTreeSet<&str> = begun.iter().filter_map(|name| Some(name.rsplit_once("::")?.0)).collect();
        for name in targets.unignored(package, binary, more) {
            let of_a_set = name.rsplit_once("::").is_some_and(|(set, _)| sets.contains(set));
            if of_a_set && !begun.contains(name.as_str()) {
                chosen.add_name(package, binary, name);
            }
        }
    }
}
