//! Tests of a run that are run again: those that cargo ran, by test binary, and the names of the others.

use std::collections::{BTreeMap, BTreeSet};

use eval_core::journal::Head;
use eval_core::report::Verdict;
use eval_report::journal::{Attempt, Completeness, RecordedRun};
use eval_support::untrusted::one_line;
use eval_support::words::short_code_list;

use super::targets::{Targets, TestBinary};
use crate::recorded::{RunResults, State, TestResult};

/// Tests by test binary. A binary without names is run as a whole.
pub(super) type CargoTests<'r> = BTreeMap<TestBinary<'r>, BTreeSet<&'r str>>;

/// Tests that are run again.
pub(super) struct Chosen<'r> {
    pub(super) tests: CargoTests<'r>,
    /// The names of what cargo did not run: cases of programs.
    pub(super) others: Vec<String>,
}

impl<'r> Chosen<'r> {
    /// The tests with states that are wanted, and those that never began if these are wanted too.
    pub(super) fn of(results: &RunResults<'r>, wants: impl Fn(State) -> bool, never_began: bool) -> Self {
        let mut chosen = Self { tests: CargoTests::default(), others: Vec::new() };
        for test in results.tests.iter().filter(|test| wants(test.state)) {
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
        let lacks = Completeness::of(run);
        // The names are those of the listings.
        for listing in &run.listings {
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

/// The binary of a test; `None` if cargo did not run it, but a program of the user's own.
fn binary_of<'r>(test: &TestResult<'r>) -> Option<TestBinary<'r>> {
    let package = test.test.package()?;
    let is_test = !test.attempt.started.of_program && is_path(test.test.name());
    is_test.then(|| TestBinary { package, name: test.test.binary() })
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

/// A note on a run that ended at its first failure, if cargo may not have come to all binaries: they leave no trace.
///
/// After a failure `cargo test` starts no further binary, and nextest no further test. The exit code of the runner tells that the run
/// failed. Once the failures pass, nothing does.
pub(super) fn cut_short(results: &RunResults<'_>, targets: &Targets) -> Option<String> {
    let run = &results.loaded.run;
    let is_first = |head: &Head| !head.is_rerun();
    let did_not_pass = |attempt: &&Attempt| {
        let verdict = attempt.decided.as_ref().map(|decided| &decided.verdict);
        is_first(&attempt.head) && !matches!(verdict, Some(Verdict::Passed | Verdict::Skipped(_)))
    };
    let attempts = run.tests.iter().flat_map(|test| &test.attempts).filter(did_not_pass);
    // What was killed, or never began, ended before all else.
    let ends = attempts.map(|attempt| attempt.decided.as_ref().map(|decided| decided.at));
    let never_began = (results.totals.missing > results.of_programs).then_some(None);
    let first = ends.chain(never_began).min()?;
    let began = run.processes.iter().filter(|head| is_first(head)).map(|head| head.started);
    if first.is_some_and(|first| began.max().is_some_and(|last| last > first)) {
        return None;
    }
    let started: BTreeSet<TestBinary<'_>> = run
        .processes
        .iter()
        .filter_map(|head| {
            Some(TestBinary { package: head.package.as_deref()?, name: head.binary.as_deref() })
        })
        .collect();
    let others = targets.others(&started)?;
    let which = if others.is_empty() { String::new() } else { format!(": {}", short_code_list(&others)) };
    Some(format!(
        "the run ended at what did not pass, and test binaries that cargo did not start leave no record{which}; `--no-fail-fast` \
         starts them all, and `rerun --partial` says that none was left out"
    ))
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
