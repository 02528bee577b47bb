//! Which records are of the same case.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use super::read::{Attempt, RecordedTest};

/// What makes a case the same one: where it comes from, what it means, and what its runs are called. Everything that differs
/// in one of these is another case, whatever its name.
#[derive(PartialEq, Eq, Hash)]
struct Identity<'a> {
    package: Option<&'a str>,
    binary: Option<&'a str>,
    name: &'a str,
    file: Option<&'a str>,
    asks: &'a str,
    expects: &'a str,
    label: Option<&'a str>,
}

impl<'a> Identity<'a> {
    fn of(attempt: &'a Attempt) -> Self {
        let (head, started) = (&attempt.head, &attempt.started);
        Self {
            package: head.package.as_deref(),
            binary: head.binary.as_deref(),
            name: &started.name,
            file: started.file.as_deref(),
            asks: &started.asks,
            expects: &started.expects,
            label: started.label.as_deref(),
        }
    }
}

/// The cases of a run, in the order in which they were found.
///
/// There may be a hundred thousand, so none of their texts is held twice.
#[derive(Default)]
pub(super) struct Cases {
    found: Vec<Found>,
    /// The last test with each hash.
    last: HashMap<u64, usize>,
    /// How often each case of a program began, by its hash and the number of the attempt.
    times: HashMap<(u64, u32), usize>,
    hasher: RandomState,
}

/// A case that was found.
struct Found {
    test: RecordedTest,
    /// Which time it is that a program ran it, from 0.
    time: usize,
    /// The one before it with the same hash.
    previous: Option<usize>,
}

impl Cases {
    /// Adds an attempt to its case.
    pub(super) fn add(&mut self, attempt: Attempt) {
        let identity = Identity::of(&attempt);
        let hash = self.hasher.hash_one(&identity);
        // A program can run the same case several times, and each time counts. A test runs once in a process: several
        // processes that made the same attempt at it count as one.
        let time = if attempt.started.of_program {
            let times = self.times.entry((hash, attempt.started.attempt)).or_default();
            *times += 1;
            *times - 1
        } else {
            0
        };
        let hash = self.hasher.hash_one((hash, time));
        let last = self.last.get(&hash).copied();
        let same = std::iter::successors(last, |at| self.found[*at].previous).find(|at| {
            let Found { test, time: known_time, .. } = &self.found[*at];
            *known_time == time && test.attempts.first().map(Identity::of).as_ref() == Some(&identity)
        });
        if let Some(at) = same {
            self.found[at].test.attempts.push(attempt);
            return;
        }
        let previous = self.last.insert(hash, self.found.len());
        self.found.push(Found { test: RecordedTest { attempts: vec![attempt] }, time, previous });
    }

    pub(super) fn into_tests(self) -> Vec<RecordedTest> {
        self.found.into_iter().map(|found| found.test).collect()
    }
}
