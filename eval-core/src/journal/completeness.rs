//! Whether a run is complete: which tests began, of those that its test binaries hold and that were asked for.
//!
//! A journal tells of tests that began. The test binaries tell of all others, as long as they are the ones that ran. Without
//! them, the journal tells how many cases a set has of which a test began.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::listed::{ListedSet, listed_tests};
use super::read::{RecordedRun, RecordedTest};
use super::record::Head;
use super::selection::Selection;

/// A package and one of its test binaries.
type Binary = (Option<String>, Option<String>);

/// What a run lacks.
#[derive(Clone, Debug, Default)]
pub struct Completeness {
    /// Tests that were to run and never began, by package and binary.
    pub never_began: BTreeMap<Binary, BTreeSet<String>>,
    /// The binaries whose tests are all known by name.
    listed: BTreeSet<Binary>,
    /// The binaries of which more tests never began, and how many: only their number is known.
    unnamed: BTreeMap<Binary, usize>,
    /// How many cases programs were to run and never began.
    pub of_programs: usize,
    /// How many were left out on purpose.
    pub left_out: usize,
}

impl Completeness {
    /// Compares a run with the tests that its binaries list. A binary is read if it is the one that ran.
    pub fn of(run: &RecordedRun) -> Self {
        let mut found = Self { of_programs: run.never_began, ..Self::default() };
        let mut begun: BTreeMap<Binary, BTreeSet<&str>> = BTreeMap::new();
        for test in &run.tests {
            let binary = (test.package().map(str::to_owned), test.binary().map(str::to_owned));
            begun.entry(binary).or_default().insert(test.name());
        }
        let mut processes: BTreeMap<Binary, Vec<&Head>> = BTreeMap::new();
        for head in &run.processes {
            processes.entry((head.package.clone(), head.binary.clone())).or_default().push(head);
        }
        let mut listed = HashMap::new();
        for (binary, heads) in processes {
            let begun = begun.remove(&binary).unwrap_or_default();
            match heads.iter().find_map(|head| listed_by(head, &mut listed)) {
                Some(sets) => found.by_name(binary, &sets, &heads, &begun),
                None => found.by_number(run, &binary, &heads),
            }
        }
        found
    }

    /// How many tests never began.
    pub fn missing(&self) -> usize {
        let named: usize = self.never_began.values().map(BTreeSet::len).sum();
        named + self.unnamed.values().sum::<usize>() + self.of_programs
    }

    fn by_name(&mut self, binary: Binary, sets: &[ListedSet], heads: &[&Head], begun: &BTreeSet<&str>) {
        let selections: Vec<Option<Selection<'_>>> =
            heads.iter().map(|head| (!head.is_of_nextest()).then(|| Selection::of(&head.args))).collect();
        let mut missing = BTreeSet::new();
        for set in sets {
            let any_began = set.tests.iter().any(|test| begun.contains(test.as_str()));
            let was_asked = |test: &str| {
                selections.iter().any(|selection| match selection {
                    Some(selection) => selection.selects(test, set.ignored),
                    // nextest does not tell a test what else was asked for.
                    None => !set.ignored || any_began,
                })
            };
            for test in set.tests.iter().filter(|test| !begun.contains(test.as_str())) {
                if was_asked(test) {
                    missing.insert(test.clone());
                } else if !set.ignored {
                    self.left_out += 1;
                }
            }
        }
        self.listed.insert(binary.clone());
        if !missing.is_empty() {
            self.never_began.insert(binary, missing);
        }
    }

    /// Whether the tests of a binary that never began are known by name, if there are any.
    pub fn knows(&self, package: &str, binary: Option<&str>) -> bool {
        self.listed.contains(&(Some(package.to_owned()), binary.map(str::to_owned)))
    }

    /// The package and the name of binaries of which more tests never began than are known by name.
    pub fn unnamed(&self) -> impl Iterator<Item = (&str, &str)> {
        self.unnamed.keys().filter_map(|(package, binary)| Some((package.as_deref()?, binary.as_deref()?)))
    }

    /// Counts by the sets of which a test began. The tests of a set are in one module.
    fn by_number(&mut self, run: &RecordedRun, (package, binary): &Binary, heads: &[&Head]) {
        let mut modules: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        let of_binary =
            |test: &&RecordedTest| (test.package(), test.binary()) == (package.as_deref(), binary.as_deref());
        // A program tells how many cases it was to run.
        let is_test = |test: &&RecordedTest| test.last().is_none_or(|attempt| !attempt.started.of_program);
        for test in run.tests.iter().filter(of_binary).filter(is_test) {
            let module = test.name().rsplit_once("::").map_or("", |(module, _)| module);
            let (cases, ran) = modules.entry(module).or_default();
            let of_set = test.attempts.iter().filter_map(|attempt| attempt.started.set_cases).max();
            *cases = of_set.unwrap_or_default().max(*cases);
            *ran += 1;
        }
        let lacking: usize = modules.values().map(|(cases, ran)| cases.saturating_sub(*ran)).sum();
        let on_purpose =
            heads.iter().all(|head| !head.is_of_nextest() && Selection::of(&head.args).leaves_out());
        if on_purpose {
            self.left_out += lacking;
        } else if lacking > 0 {
            self.unnamed.insert((package.clone(), binary.clone()), lacking);
        }
    }
}

/// The sets of the binary that a process ran; `None` if the binary is not the one that ran, or cannot be read.
fn listed_by(head: &Head, known: &mut HashMap<String, Option<Vec<ListedSet>>>) -> Option<Vec<ListedSet>> {
    let program = head.program.as_ref()?;
    let listed = known.entry(program.clone()).or_insert_with(|| {
        let path = Path::new(program);
        is_unchanged(path, head.built?).then(|| listed_tests(path).ok()).flatten()
    });
    listed.clone().filter(|sets| !sets.is_empty())
}

/// Whether a program is the one that was built then.
fn is_unchanged(program: &Path, built: SystemTime) -> bool {
    // A journal can name anything, and opening a pipe would wait forever.
    let found = fs::metadata(program).ok().filter(fs::Metadata::is_file);
    found.and_then(|found| found.modified().ok()).is_some_and(|now| {
        let apart = now.duration_since(built).unwrap_or_else(|earlier| earlier.duration());
        apart < Duration::from_millis(2)
    })
}
