//! Which records are of the same case.

use std::collections::HashMap;

use super::read::{Attempt, RecordedTest};

/// What makes a case the same one: where it comes from, what it means, and what its runs are called. Everything that differs
/// in one of these is another case, whatever its name.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
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

/// The tests that these attempts are at, each with its attempts in the order in which they were read.
///
/// A program can run the same case several times, and each time counts. A test runs once in a process: several processes that made
/// the same attempt at it count as one.
#[expect(clippy::vec_box, reason = "they are large, and sorted")]
pub(super) fn tests_of(mut attempts: Vec<Box<Attempt>>) -> Vec<RecordedTest> {
    attempts.sort_by(|a, b| Identity::of(a).cmp(&Identity::of(b)));
    let mut tests: Vec<RecordedTest> = Vec::new();
    let mut first_of_case = 0;
    // How often a program began the case, by the number of the attempt.
    let mut times: HashMap<u32, usize> = HashMap::new();
    for attempt in attempts {
        let before = tests.last().and_then(|test| test.attempts.first());
        if before.is_some_and(|before| Identity::of(before) != Identity::of(&attempt)) {
            first_of_case = tests.len();
            times.clear();
        }
        let mut time = 0;
        if attempt.started.of_program {
            let begun = times.entry(attempt.started.attempt).or_default();
            time = *begun;
            *begun += 1;
        }
        match tests.get_mut(first_of_case + time) {
            Some(test) => test.attempts.push(*attempt),
            None => tests.push(RecordedTest { attempts: vec![*attempt] }),
        }
    }
    tests
}
