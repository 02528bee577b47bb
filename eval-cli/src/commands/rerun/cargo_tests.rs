//! The tests that cargo can run again.

use std::collections::{BTreeMap, BTreeSet};

use crate::recorded::TestResult;

/// The names of tests, by package and test binary.
#[derive(Debug, Default)]
pub(super) struct CargoTests<'r>(BTreeMap<(&'r str, &'r str), BTreeSet<String>>);

impl<'r> CargoTests<'r> {
    /// Adds a test. Returns `false` if cargo did not run it: cases that a program runs without the attribute are no tests
    /// of cargo's.
    pub(super) fn add(&mut self, test: &TestResult<'r>) -> bool {
        if !is_of_cargo(test) {
            return false;
        }
        self.add_name(
            test.test.package.as_deref().unwrap_or_default(),
            test.test.binary.as_deref().unwrap_or_default(),
            test.test.name.clone(),
        );
        true
    }

    pub(super) fn add_name(&mut self, package: &'r str, binary: &'r str, name: String) {
        self.0.entry((package, binary)).or_default().insert(name);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Package, test binary, and the names of its tests.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'r str, &'r str, &BTreeSet<String>)> {
        self.0.iter().map(|((package, binary), names)| (*package, *binary, names))
    }
}

/// Whether cargo ran a test, rather than a program of the user's own.
pub(super) fn is_of_cargo(test: &TestResult<'_>) -> bool {
    !test.attempt.started.of_program && is_path(&test.test.name) && test.test.package.is_some()
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
