//! The completeness of a run: whether all requested tests of its binaries began.
//!
//! Only the journal decides, so the answer is the same on every machine. Before its first test, a test
//! process records the tests of its binary ([`Listed`]). A program records which cases it is about to run
//! ([`Planned`]). A binary that was never started is known from other processes of its package: they record
//! its tests ([`Beside`]), and the command line of the runner, which says whether it was to run ([`Asked`]).

use std::collections::{BTreeMap, BTreeSet};

use eval_core::journal::Head;

use super::read::{Listing, RecordedRun, RecordedTest};
use super::runner::Asked;

#[cfg(doc)]
use eval_core::journal::{Beside, Listed, Planned};

type Binary = (Option<String>, Option<String>);

/// The missing parts of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completeness {
    /// Tests that were to run and never began, by package and binary.
    pub never_began: BTreeMap<Binary, BTreeSet<String>>,
    /// The binaries whose tests the journal does not list, or not all of them.
    pub unlisted: BTreeSet<Binary>,
    /// The cases that programs were to run and never began.
    pub of_programs: Vec<String>,
    /// The number of tests that were left out on purpose.
    pub left_out: usize,
}

/// The tests of a binary, as a journal tells them.
#[derive(Default)]
struct Tests<'r> {
    /// The tests, and whether they are ignored unless they are asked for.
    listed: BTreeMap<&'r str, bool>,
    /// The sets with ignored tests, each as the names of its tests.
    ignored_sets: Vec<BTreeSet<&'r str>>,
    begun: BTreeSet<&'r str>,
    processes: Vec<&'r Head>,
    began: bool,
}

impl Completeness {
    /// Compares the tests that began with the tests that were to run.
    pub fn new(run: &RecordedRun) -> Self {
        let mut found = Self { of_programs: run.never_began.clone(), ..Self::default() };
        let mut binaries: BTreeMap<Binary, Tests<'_>> = BTreeMap::new();
        for listing in &run.listings {
            binaries.entry(binary_of(listing)).or_default().list(listing);
        }
        let is_test = |test: &&RecordedTest| test.last().is_none_or(|attempt| !attempt.started.of_program);
        for test in run.tests.iter().filter(is_test) {
            let binary = (test.package().map(str::to_owned), test.binary().map(str::to_owned));
            binaries.entry(binary).or_default().begun.insert(test.name());
        }
        for head in &run.unlisted {
            binaries.entry((head.package.clone(), head.binary.clone())).or_default();
        }
        for head in &run.processes {
            if let Some(tests) = binaries.get_mut(&(head.package.clone(), head.binary.clone())) {
                tests.processes.push(head);
                tests.began = true;
            }
        }
        for (head, listing) in &run.beside {
            let tests = binaries.entry(binary_of(listing)).or_default();
            let asked = Asked::from_head(head).filter(|_| !tests.began && !head.is_rerun());
            if asked.is_some_and(|asked| listing.binary.as_ref().is_some_and(|name| asked.has(name))) {
                tests.list(listing);
                tests.processes.push(head);
            }
        }
        binaries.retain(|_, tests| tests.began || !tests.processes.is_empty() || !tests.begun.is_empty());
        for (binary, tests) in binaries {
            found.add(binary, &tests);
        }
        found
    }

    /// The number of tests and cases that never began.
    pub fn missing(&self) -> usize {
        self.never_began.values().map(BTreeSet::len).sum::<usize>() + self.of_programs.len()
    }

    fn add(&mut self, binary: Binary, tests: &Tests<'_>) {
        let is_listed = |name: &&str| tests.listed.contains_key(name);
        if tests.listed.is_empty() || !tests.begun.iter().all(is_listed) {
            self.unlisted.insert(binary.clone());
        }
        let selections: Vec<Option<Selection<'_>>> = tests
            .processes
            .iter()
            .map(|head| (!head.is_of_nextest()).then(|| Selection::from_args(&head.args)))
            .collect();
        let was_asked = |test: &str, ignored: bool| {
            selections.iter().any(|selection| match selection {
                Some(selection) => selection.selects(test, ignored),
                // nextest does not tell a test process which other tests were selected.
                None => !ignored || tests.began_in_its_set(test),
            })
        };
        let mut missing = BTreeSet::new();
        for (test, ignored) in tests.listed.iter().filter(|(test, _)| !tests.begun.contains(*test)) {
            if was_asked(test, *ignored) {
                missing.insert((*test).to_owned());
            } else if !ignored && tests.began {
                self.left_out += 1;
            }
        }
        if !missing.is_empty() {
            self.never_began.insert(binary, missing);
        }
    }
}

impl<'r> Tests<'r> {
    /// Adds a listing. Parts and processes of a run may be different builds, so the tests of all builds were
    /// to run.
    fn list(&mut self, listing: &'r Listing) {
        for set in &listing.sets {
            let names = set.tests.iter().map(String::as_str);
            for name in names.clone() {
                let ignored = self.listed.entry(name).or_insert(set.ignored);
                *ignored &= set.ignored;
            }
            self.ignored_sets.extend(set.ignored.then(|| names.collect()));
        }
    }

    /// Whether a test of this test's ignored set began.
    fn began_in_its_set(&self, test: &str) -> bool {
        self.ignored_sets.iter().any(|set| set.contains(test) && !set.is_disjoint(&self.begun))
    }
}

fn binary_of(listing: &Listing) -> Binary {
    (listing.package.clone(), listing.binary.clone())
}

/// The arguments of test binaries that have a value.
const WITH_VALUE: [&str; 8] =
    ["--color", "--ensure-time", "--format", "--logfile", "--shuffle-seed", "--skip", "--test-threads", "-Z"];

/// The selection of tests that the arguments of a test binary make.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Selection<'a> {
    filters: Vec<&'a str>,
    skipped: Vec<&'a str>,
    exact: bool,
    ignored: bool,
    include_ignored: bool,
}

impl<'a> Selection<'a> {
    pub(super) fn from_args(args: &'a [String]) -> Self {
        let mut selection = Self::default();
        let mut args = args.iter().map(String::as_str);
        while let Some(arg) = args.next() {
            match arg {
                "--exact" => selection.exact = true,
                "--ignored" => selection.ignored = true,
                "--include-ignored" => selection.include_ignored = true,
                "--skip" => selection.skipped.extend(args.next()),
                _ if WITH_VALUE.contains(&arg) => drop(args.next()),
                _ => match arg.strip_prefix("--skip=") {
                    Some(skipped) => selection.skipped.push(skipped),
                    None if arg.starts_with('-') => {}
                    None => selection.filters.push(arg),
                },
            }
        }
        selection
    }

    pub(super) fn selects(&self, test: &str, ignored: bool) -> bool {
        let matches = |filter: &&str| if self.exact { test == *filter } else { test.contains(*filter) };
        let named = self.filters.is_empty() || self.filters.iter().any(matches);
        let asked = match (ignored, self.include_ignored) {
            (_, true) => true,
            (ignored, false) => ignored == self.ignored,
        };
        named && asked && !self.skipped.iter().any(matches)
    }
}

#[cfg(test)]
mod selection_tests {
    use super::*;

    #[test]
    fn tests_are_selected_as_libtest_selects_them() {
        for (args, test, ignored, expected) in [
            ("", "a::x", false, true),
            ("", "a::x", true, false),
            ("--ignored", "a::x", true, true),
            ("--ignored", "a::x", false, false),
            ("--include-ignored", "a::x", true, true),
            ("a::", "a::x", false, true),
            ("b:: ::x", "a::x", false, true),
            ("a:: --exact", "a::x", false, false),
            ("--exact a::x", "a::x", false, true),
            ("--skip x", "a::x", false, false),
            ("--skip=x --exact", "a::x", false, true),
            ("--test-threads 1 --nocapture -Z unstable-options --format json", "a::x", false, true),
            ("--test-threads=1 -q", "a::x", false, true),
        ] {
            let words: Vec<String> = args.split_whitespace().map(str::to_owned).collect();
            assert_eq!(Selection::from_args(&words).selects(test, ignored), expected, "{args}: {test}");
        }
    }
}
