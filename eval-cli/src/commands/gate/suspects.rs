//! Cases that passed less often than before are run again, as they ran.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::process::{Command, Stdio};

use eval_report::baseline::{Baseline, Key, Line, incomparable, key, measure};
use eval_report::decide::gate::{Counts, Policy};
use eval_support::shell;
use eval_support::variables::{DIR, RUN_ID};
use eval_support::words::count;

use crate::cargo::Targets;
use crate::commands::rerun::chosen::Chosen;
use crate::commands::rerun::commands::of_cargo;
use crate::output::{CommandError, notice, unreadable, with_option};
use crate::recorded::{LoadedRun, TestResult, WhichRun, id_of_suspects, is_of_gate, own_runs, root};
use crate::sides::results;

/// The most further runs of a suspect before it is looked at again.
const RUNS_PER_ROUND: usize = 4;

/// Runs suspects again until the rest of their runs could change nothing. The new test runs are added to `runs`. Runs that an earlier
/// gate made of them come first: they were the further runs of this build, and a gate that ran others in their place would have
/// another try. Returns the ids of these.
pub(super) fn run_again(
    before: &Baseline,
    first: &Baseline,
    runs: &mut Vec<LoadedRun>,
    policy: Policy,
) -> Result<Vec<String>, CommandError> {
    let named = runs.len();
    let mut recorded = recorded(runs)?.into_iter();
    let mut taken = Vec::new();
    let of_tests = runs_of_tests(runs);
    let mut stopped: BTreeSet<Key> = BTreeSet::new();
    // Each round adds a run to each suspect, or stops it.
    for round in 1..=policy.max_runs + recorded.len() {
        let now = measure(&*runs, None).cases;
        let mut suspects = suspects(before, first, &now, policy);
        suspects.retain(|key, left| {
            // A test of the attribute has its own number of runs, and all of them run again.
            let too_many = of_tests.get(key).copied().filter(|runs| *runs > *left);
            if let Some(runs) = too_many.filter(|_| stopped.insert(key.clone())) {
                let (runs, left) = (count(runs, "run"), count(*left, "further run"));
                notice(&format!("{key} is not run again: a round is its {runs}, and it may have {left}"));
            }
            !stopped.contains(key)
        });
        let Some(least) = suspects.values().min().copied() else { break };
        if let Some(earlier) = recorded.next() {
            taken.extend(earlier.run.ids.iter().cloned());
            runs.push(earlier);
            continue;
        }
        let keys: BTreeSet<Key> = suspects.into_keys().collect();
        let more = least.clamp(1, RUNS_PER_ROUND);
        notice(&format!("round {round}: {} again", count(keys.len(), "suspect")));
        let base = runs[0].run.ids.first().map_or("run", String::as_str);
        let id = id_of_suspects(base);
        let commands = commands(&runs[..named], &keys, more)?;
        if commands.is_empty() {
            let help = "leave out `--retry-suspects`, and name further runs: `cargo evalset gate RUN RUN ..`";
            return Err(CommandError::new(
                "nothing tells how the suspects ran: their program recorded no options",
                help,
            ));
        }
        for (program, words) in commands {
            run(&program, &words, &id)?;
        }
        let made = WhichRun::named(Some(root().join(&id).display().to_string())).load()?;
        let gained = measure([&made], None).cases;
        if !keys.iter().any(|key| gained.get(key).is_some()) {
            let help = format!("look at it: `cargo evalset report {id}`");
            return Err(CommandError::new("the suspects were run again, and no run ended", help));
        }
        stopped.extend(keys.into_iter().filter(|key| gained.get(key).is_none()));
        runs.push(made);
    }
    Ok(taken)
}

/// The test runs in which earlier gates ran suspects of these runs, on the same commit, the oldest first.
fn recorded(runs: &[LoadedRun]) -> Result<Vec<LoadedRun>, CommandError> {
    let root = root();
    let (mut found, _) = own_runs(&root).map_err(|error| unreadable(&root, &error))?;
    let ids: Vec<&String> = runs.iter().flat_map(|run| &run.run.ids).collect();
    found.retain(|run| ids.iter().any(|id| is_of_gate(&run.id, id)));
    found.sort_by_key(|run| run.started);
    let loaded = found.iter().map(|run| WhichRun::named(Some(run.path.display().to_string())).load());
    let mut loaded = loaded.collect::<Result<Vec<_>, _>>()?;
    loaded.retain(|run| !run.is_dirty() && runs.iter().any(|of| of.commit() == run.commit()));
    Ok(loaded)
}

/// The number of runs that each test of the attribute makes at once.
fn runs_of_tests(runs: &[LoadedRun]) -> BTreeMap<Key, usize> {
    let tests = runs.iter().flat_map(|run| TestResult::all(&run.run));
    let of_tests = tests.filter(|test| !test.attempt.started.of_program);
    of_tests.filter_map(|test| Some((key(&test)?, test.attempt.started.runs))).collect()
}

/// The cases to run again, with the number of runs that they still may have.
fn suspects(before: &Baseline, first: &Baseline, now: &Baseline, policy: Policy) -> BTreeMap<Key, usize> {
    let compared: Vec<(Key, Counts)> = before
        .lines()
        .filter_map(|line| Some((line, now.get(&line.key())?)))
        .filter(|(before, now)| incomparable(before, now).is_none() && before.with_verdict().total() > 0)
        .map(|(before, now)| {
            let key = now.key();
            let first = first.get(&key).map_or(now.case_runs(), Line::case_runs);
            (key, Counts { before: before.case_runs(), first, now: now.case_runs() })
        })
        .collect();
    let cases = compared.len();
    let again = compared.into_iter().map(|(key, counts)| (key, policy.left(&counts, cases)));
    again.filter(|(_, left)| *left > 0).collect()
}

/// The commands that run these cases again, each as it ran in the first of the runs that has it: of cargo for tests, and of this program for what `run` ran.
fn commands(runs: &[LoadedRun], suspects: &BTreeSet<Key>, more: usize) -> Result<Commands, CommandError> {
    let mut left = suspects.clone();
    let mut commands = Vec::new();
    for run in runs {
        let (of_run, found) = commands_of(run, &left, more)?;
        commands.extend(of_run);
        left.retain(|key| !found.contains(key));
    }
    Ok(commands)
}

type Commands = Vec<(OsString, Vec<String>)>;

/// The commands of a run, and the suspects that they run.
fn commands_of(
    loaded: &LoadedRun,
    suspects: &BTreeSet<Key>,
    more: usize,
) -> Result<(Commands, BTreeSet<Key>), CommandError> {
    let results = results(loaded, true)?;
    let suspect = |test: &TestResult<'_>| key(test).filter(|key| suspects.contains(key));
    let mut commands = Vec::new();
    let mut found = BTreeSet::new();
    let chosen = Chosen::new(&results, |test| suspect(test).is_some(), false);
    for words in of_cargo(&chosen.tests, &Targets::here(), &[]) {
        commands.push((std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()), words));
    }
    let mut of_programs: BTreeMap<(Vec<String>, &str), BTreeSet<&str>> = BTreeMap::new();
    for test in &results.tests {
        let Some(key) = suspect(test) else { continue };
        if !test.attempt.started.of_program {
            found.insert(key.clone());
            continue;
        }
        let (Some(again), Some(file)) = (&test.attempt.head.again, test.attempt.started.file.as_deref())
        else {
            continue;
        };
        // A program that ran the case several times is asked once.
        if found.insert(key.clone()) {
            let cases =
                of_programs.entry((with_option(again, "--runs", &more.to_string()), file)).or_default();
            cases.insert(&test.attempt.started.eval_id);
        }
    }
    let this = std::env::current_exe().map_err(|error| {
        CommandError::new(format!("cannot find this program: {error}"), "call it by its path")
    })?;
    for ((options, file), cases) in of_programs {
        let cases: Vec<&str> = cases.into_iter().collect();
        let mut words = vec!["run".to_owned(), format!("{file}:{}", cases.join(","))];
        words.extend(options);
        commands.push((this.clone().into(), words));
    }
    Ok((commands, found))
}

/// Runs a command in a test run of its own. Cases that fail are no error: they are counted.
pub(in crate::commands) fn run(program: &OsString, words: &[String], id: &str) -> Result<(), CommandError> {
    notice(&format!("running {} {}", shell::word(&program.to_string_lossy()), shell::line(words)));
    let mut command = Command::new(program);
    command.args(words).env(RUN_ID, id).env(DIR, root()).stdin(Stdio::null()).stdout(Stdio::null());
    command.status().map(drop).map_err(|error| {
        let shown = program.to_string_lossy().into_owned();
        CommandError::new(format!("cannot run `{shown}`: {error}"), "run this where the suspects ran")
    })
}
