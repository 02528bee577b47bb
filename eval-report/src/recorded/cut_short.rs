//! Runs that ended at a failure, so that some test binaries may not have been started.
//!
//! After a failure `cargo test` starts no further binary, and nextest no further test. The exit code of the
//! runner shows that failure. Once a rerun passes, no record shows that binaries were never started.
//! [`Completeness`] names the binaries that the journal knows and that were not started. This module covers
//! binaries of other packages, and systems that hide the command line of the runner.

use std::collections::BTreeSet;
use std::time::SystemTime;

use eval_core::Verdict;
use eval_core::journal::Head;
use eval_support::untrusted::one_line;
use eval_support::words::short_code_list;

use crate::cargo::{Targets, TestBinary};
use crate::journal::{Asked, Attempt, RecordedRun};

#[cfg(doc)]
use crate::journal::Completeness;

/// The doubt about a run that ended at a test that did not pass: cargo may not have started all test binaries. `None`
/// if there is no such doubt. `never_began` says that listed tests did not begin.
pub(super) fn cut_short(run: &RecordedRun, never_began: bool) -> Option<String> {
    let is_first = |head: &Head| !head.is_rerun();
    let first: Vec<&Head> = run.processes.iter().map(|head| &**head).filter(|head| is_first(head)).collect();
    let did_not_pass = |attempt: &&Attempt| {
        let verdict = attempt.decided.as_ref().map(|decided| &decided.verdict);
        !matches!(verdict, Some(Verdict::Passed | Verdict::Skipped(_)))
    };
    // A test that failed and then passed in the runner's own retry does not end the runner.
    let last = run.tests.iter().filter_map(|test| test.attempts.iter().rfind(|it| is_first(&it.head)));
    let attempts = last.filter(did_not_pass);
    // A test that was killed or never began has no end: its `None` sorts before all others.
    let ends = attempts.map(|attempt| attempt.decided.as_ref().map(|decided| decided.at));
    let ended: Option<SystemTime> = ends.chain(never_began.then_some(None)).min()?;
    let began = first.iter().map(|head| head.started).max();
    if ended.is_some_and(|ended| began.is_some_and(|last| last > ended)) {
        return None;
    }
    let asked: Vec<Option<Asked<'_>>> = first.iter().map(|head| Asked::from_head(head)).collect();
    let names: Vec<&str> = run.processes.iter().filter_map(|head| head.binary.as_deref()).collect();
    let is_all = |asked: &Asked<'_>| asked.goes_on && ended.is_some() || asked.is_within(&names);
    if asked.iter().all(|asked| asked.as_ref().is_some_and(is_all)) {
        return None;
    }
    let started: BTreeSet<TestBinary<'_>> = run
        .processes
        .iter()
        .filter_map(|head| {
            Some(TestBinary { package: head.package.as_deref()?, name: head.binary.as_deref() })
        })
        .collect();
    let was_asked = |(package, name): &(&str, &str)| {
        asked.iter().any(|asked| asked.as_ref().is_none_or(|asked| asked.has_of(package, name)))
    };
    let targets = Targets::here();
    let others =
        targets.others(&started).map(|others| others.into_iter().filter(was_asked).collect::<Vec<_>>());
    let which = match others {
        Some(others) if others.is_empty() => return None,
        Some(others) => {
            let names: Vec<String> =
                others.iter().map(|(package, name)| one_line(&format!("{package}::{name}"))).collect();
            format!(": {}", short_code_list(&names))
        }
        None => String::new(),
    };
    Some(format!(
        "the run ended at what did not pass, and test binaries that cargo did not start leave no record{which}; `--no-fail-fast` \
         starts them all (`cargo test --no-fail-fast`), and `--partial` says that none was left out"
    ))
}
