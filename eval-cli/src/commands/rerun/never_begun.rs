//! Tests that a killed process never began.

use std::collections::BTreeSet;

use eval_report::journal::{Completeness, RecordedRun, RecordedTest};
use eval_support::untrusted::one_line;

use super::cargo_tests::{CargoTests, TestBinary};
use super::notice::{asking_for_tests, notice};
use super::targets::Targets;

/// Adds the tests that were to run and never began. Those of a binary that cargo did not run are added to `others`.
///
/// If the journal does not say what a binary was to run, cargo lists its tests. Then only sets of which a test began are considered,
/// since nothing tells what else was to run.
pub(super) fn add<'r>(
    chosen: &mut CargoTests<'r>,
    others: &mut Vec<String>,
    run: &'r RecordedRun,
    lacks: &'r Completeness,
    targets: &Targets,
    more: &[String],
) {
    for ((package, binary), names) in &lacks.never_began {
        match package {
            Some(package) => {
                let binary = TestBinary { package, name: binary.as_deref() };
                for name in names {
                    chosen.add_name(binary, name.clone());
                }
            }
            None => others.extend(names.iter().map(|name| one_line(name))),
        }
    }
    let binaries: BTreeSet<TestBinary<'r>> = lacks
        .unlisted
        .iter()
        .filter_map(|(package, name)| {
            Some(TestBinary { package: package.as_deref()?, name: name.as_deref() })
        })
        .collect();
    if targets.is_empty() && !binaries.is_empty() {
        notice(
            "cargo finds no package here, so tests that never began are not found: run this in the project's folder",
        );
    }
    for binary in binaries {
        let begun: BTreeSet<&str> = run
            .tests
            .iter()
            .filter(|test| (test.package(), test.binary()) == (Some(binary.package), binary.name))
            .map(RecordedTest::name)
            .collect();
        asking_for_tests(binary);
        let sets: BTreeSet<&str> = begun.iter().filter_map(|name| Some(name.rsplit_once("::")?.0)).collect();
        for name in targets.unignored(binary, more) {
            let of_a_set = name.rsplit_once("::").is_some_and(|(set, _)| sets.contains(set));
            if of_a_set && !begun.contains(name.as_str()) {
                chosen.add_name(binary, name);
            }
        }
    }
}
