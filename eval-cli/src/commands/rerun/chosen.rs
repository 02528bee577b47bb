//! The tests of a run that are run again: tests that cargo ran, by test binary, and the names of the others.

use std::collections::{BTreeMap, BTreeSet};

use eval_report::journal::{Completeness, RecordedRun};
use eval_support::untrusted::one_line;

use crate::cargo::TestBinary;
use crate::recorded::{RunResults, TestResult};

/// Tests by test binary. A binary without names is run as a whole.
pub(in crate::commands) type CargoTests<'r> = BTreeMap<TestBinary<'r>, BTreeSet<&'r str>>;

pub(in crate::commands) struct Chosen<'r> {
    pub(in crate::commands) tests: CargoTests<'r>,
    /// The names of cases that programs ran, not cargo.
    pub(in crate::commands) others: Vec<String>,
}

impl<'r> Chosen<'r> {
    /// The wanted tests and, with `never_began`, the tests that never began.
    pub(in crate::commands) fn new(
        results: &RunResults<'r>,
        wants: impl Fn(&TestResult<'r>) -> bool,
        never_began: bool,
    ) -> Self {
        let mut chosen = Self { tests: CargoTests::default(), others: Vec::new() };
        for test in results.tests.iter().filter(|test| wants(test)) {
            match binary_of(test) {
                Some(binary) => drop(chosen.tests.entry(binary).or_default().insert(test.test.name())),
                None => chosen.others.push(one_line(&test.name)),
            }
        }
        if never_began {
            chosen.add_what_never_began(&results.loaded.run);
        }
        chosen
    }

    fn add_what_never_began(&mut self, run: &'r RecordedRun) {
        let lacks = Completeness::new(run);
        // The names are borrowed from the listings, which outlive `lacks`.
        for listing in run.listings.iter().chain(run.beside.iter().map(|(_, listing)| listing)) {
            let place = (listing.package.clone(), listing.binary.clone());
            let Some(missing) = lacks.never_began.get(&place) else { continue };
            let names = listing.sets.iter().flat_map(|set| &set.tests).map(String::as_str);
            let names = names.filter(|name| missing.contains(*name));
            match &listing.package {
                Some(package) => {
                    let binary = TestBinary { package, name: listing.binary.as_deref() };
                    self.tests.entry(binary).or_default().extend(names);
                }
                None => self.others.extend(names.map(one_line)),
            }
        }
        self.others.extend(lacks.of_programs.iter().map(|name| one_line(name)));
        for head in &run.unlisted {
            let is_unlisted = lacks.unlisted.contains(&(head.package.clone(), head.binary.clone()));
            if let Some(package) = head.package.as_deref().filter(|_| is_unlisted) {
                self.tests.insert(TestBinary { package, name: head.binary.as_deref() }, BTreeSet::new());
            }
        }
    }
}

/// The binary of a test; `None` if a program of the user's own ran it, not cargo.
fn binary_of<'r>(test: &TestResult<'r>) -> Option<TestBinary<'r>> {
    let package = test.test.package()?;
    let is_test = !test.attempt.started.of_program && is_path(test.test.name());
    is_test.then(|| TestBinary { package, name: test.test.binary() })
}

/// Whether a name is the path of a Rust function, and so may name a test.
fn is_path(name: &str) -> bool {
    name.split("::").all(|part| {
        let part = part.strip_prefix("r#").unwrap_or(part);
        !part.is_empty()
            && !part.starts_with(|c: char| c.is_ascii_digit())
            && part.chars().all(|c| {
                c == '_' || c.is_alphanumeric() || !c.is_ascii() && !c.is_control() && !c.is_whitespace()
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_functions_are_tests_of_cargo() {
        for (name, expected) in [
            ("weather::sunny_in_Paris", true),
            ("a::r#match", true),
            ("日本::大阪", true),
            ("weather/sunny in Paris", false),
            ("weather::", false),
            ("", false),
            ("a::$(rm -rf x)", false),
            ("a b", false),
            ("--ignored", false),
            ("a::1st", false),
        ] {
            assert_eq!(is_path(name), expected, "{name}");
        }
    }
}
