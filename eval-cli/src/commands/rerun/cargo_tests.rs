//! The tests that cargo can run again.

use std::collections::{BTreeMap, BTreeSet};

use crate::recorded::TestResult;

/// A test binary that cargo ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TestBinary<'r> {
    pub(super) package: &'r str,
    /// `None` if the system did not tell its name. It may be any of the package then.
    pub(super) name: Option<&'r str>,
}

impl<'r> TestBinary<'r> {
    /// The binary of a test; `None` if cargo did not run it, but a program of the user's own.
    pub(super) fn of(test: &TestResult<'r>) -> Option<Self> {
        let package = test.test.package()?;
        let is_test = !test.attempt.started.of_program && is_path(test.test.name());
        is_test.then(|| Self { package, name: test.test.binary() })
    }
}

/// The names of tests, by test binary.
#[derive(Debug, Default)]
pub(super) struct CargoTests<'r>(BTreeMap<TestBinary<'r>, BTreeSet<String>>);

impl<'r> CargoTests<'r> {
    /// Adds a test. Returns `false` if cargo did not run it: cases that a program runs without the attribute are no tests
    /// of cargo's.
    pub(super) fn add(&mut self, test: &TestResult<'r>) -> bool {
        let Some(binary) = TestBinary::of(test) else { return false };
        self.add_name(binary, test.test.name().to_owned());
        true
    }

    pub(super) fn add_name(&mut self, binary: TestBinary<'r>, name: String) {
        self.0.entry(binary).or_default().insert(name);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The test binaries, and the names of their tests.
    pub(super) fn iter(&self) -> impl Iterator<Item = (TestBinary<'r>, &BTreeSet<String>)> {
        self.0.iter().map(|(binary, names)| (*binary, names))
    }
}

/// Whether a name is the path of a Rust function, and so can be that of a test.
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
