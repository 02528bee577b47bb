//! Facts about the origin of a run: the recorded ones, and the missing ones.

use std::collections::{BTreeMap, BTreeSet};

use eval_core::journal::{Revision, Started};
use eval_support::hash::content_hash;
use eval_support::words::count;

use super::scores;
use crate::git::changed_files;
use crate::journal::revision_of_run;
use crate::output::time;
use crate::page::{Fact, line};
use crate::recorded::{LoadedRun, ModelCalls, RunResults, TestResult};

pub(super) fn facts(results: &RunResults<'_>, cost: Option<String>) -> (Vec<Fact>, Vec<Fact>) {
    let heads = || results.loaded.run.processes.iter();
    let packages = heads().filter_map(|head| {
        let version = head.version.as_deref().map(|version| format!(" {version}")).unwrap_or_default();
        Some(line(&format!("{}{version}", head.package.as_deref()?)))
    });
    let of_run = revisions(results.loaded);
    let changes = Changes::now(&of_run);
    let of_ci = || joined(heads().filter_map(|head| head.env.get("GITHUB_SHA")).map(|it| line(it)).collect());
    let revision = joined(of_run.iter().map(whole).collect()).or_else(of_ci);
    let agents = joined(scores::agent_models(results));
    let judges = joined(scores::judge_models(results));
    let evalset = joined(heads().map(|head| line(&head.evalset)).collect());
    let fact = |name, value| Fact { name, value };
    let all = vec![
        fact("Run", Some(line(&results.loaded.name()))),
        fact("Began", results.times.began.map(time::shown)),
        fact("Took", Some(time::took(results.totals.elapsed)).filter(|_| !results.totals.is_running)),
        fact("Tests built", results.times.built.map(time::shown)),
        fact("Git revision", revision.clone()),
        fact("Uncommitted changes", changes.shown()),
        fact("Criteria, with their hash", criteria(results)),
        fact("Agent models", agents.clone()),
        fact("Judge models", judges.clone().or_else(|| Some("none was asked".to_owned()))),
        fact("Packages", joined(packages.collect())),
        fact("evalset", evalset),
        fact("Cost", cost.or_else(|| Some(NO_PRICES.to_owned()))),
        fact("Sets, with a hash of the cases that ran", sets(results)),
    ];
    let calls = model_calls(results).map(|calls| fact("Recorded calls of models", Some(calls)));
    let all = all.into_iter().chain(calls).collect();
    let short = joined(of_run.iter().map(|it| short(it, changes)).collect()).or(revision);
    let glance = [("Git revision", short), ("Agent model", agents), ("Judge model", judges)];
    let known = glance.into_iter().filter(|(_, value)| value.is_some());
    (all, known.map(|(name, value)| fact(name, value)).collect())
}

/// `gpt-5-mini: 4 calls, 2 asked, 22 tokens in and 14 out`; `None` if no call was recorded or replayed.
fn model_calls(results: &RunResults<'_>) -> Option<String> {
    let of_model = |it: ModelCalls| {
        let ModelCalls { model, calls, asked, input_tokens, output_tokens, .. } = it;
        let tokens = match (input_tokens, output_tokens) {
            (Some(input), Some(output)) => format!("{input} tokens in and {output} out"),
            _ => "unknown tokens".to_owned(),
        };
        line(&format!("{model}: {}, {asked} asked, {tokens}", count(calls, "call")))
    };
    let models = ModelCalls::of(results.tests.iter().map(|test| test.attempt));
    joined(models.into_iter().map(of_model).collect())
}

const NO_PRICES: &str = "not known without prices: `report --html FILE --price IN/OUT`";

fn joined(values: BTreeSet<String>) -> Option<String> {
    let values: Vec<String> = values.into_iter().collect();
    (!values.is_empty()).then(|| values.join(", "))
}

/// `05cde3d0c2b1a09f8e7d6c5b4a39281706f5e4d3 (branch main)`.
fn whole(revision: &Revision) -> String {
    let branch = revision.branch.as_ref().map(|branch| format!(" (branch {branch})"));
    line(&format!("{}{}", revision.commit, branch.unwrap_or_default()))
}

/// `05cde3d on main, 2 files uncommitted when this page was written`.
fn short(revision: &Revision, changes: Changes) -> String {
    let commit = Revision::short(&revision.commit);
    let branch = revision.branch.as_ref().map(|branch| format!(" on {branch}")).unwrap_or_default();
    let dirty = match changes {
        Changes::Files(files) if files > 0 => {
            format!(", {} uncommitted when this page was written", count(files, "file"))
        }
        _ => String::new(),
    };
    line(&format!("{commit}{branch}{dirty}"))
}

/// Each set with how many of its cases ran, and a hash that is the same if the same cases ran.
fn sets(results: &RunResults<'_>) -> Option<String> {
    let mut sets: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for test in &results.tests {
        let started = &test.attempt.started;
        if let Some(file) = started.file.as_deref() {
            let Started { eval_id, asks, expects, .. } = started;
            sets.entry(file).or_default().insert(format!("{eval_id}\0{asks}\0{expects}\0"));
        }
    }
    let set = |(file, cases): (&str, BTreeSet<String>)| {
        format!("{}: {}, {}", line(file), count(cases.len(), "case"), hashed(&cases))
    };
    let sets: Vec<String> = sets.into_iter().map(set).collect();
    (!sets.is_empty()).then(|| sets.join("\n"))
}

fn criteria(results: &RunResults<'_>) -> Option<String> {
    let of_case = |test: &TestResult<'_>| {
        let criteria = test.deciding().filter_map(|metric| {
            let criterion = metric.criterion.as_ref()?;
            let options: Vec<String> =
                criterion.options.iter().map(|(key, value)| format!("{key}={value}")).collect();
            Some(format!("{}\0{}\0{}\0", metric.name, criterion.threshold, options.join("\0")))
        });
        criteria.collect::<String>()
    };
    let all: BTreeSet<String> = results.tests.iter().map(of_case).filter(|text| !text.is_empty()).collect();
    match all.len() {
        0 => None,
        1 => Some(format!("the same for all cases, {}", hashed(&all))),
        several => Some(format!("{several} kinds of cases, {}", hashed(&all))),
    }
}

fn hashed(texts: &BTreeSet<String>) -> String {
    format!("{:016x}", content_hash(texts.iter().map(String::as_str).collect::<String>().as_bytes()))
}

/// The revisions that were checked out when the run began. A merged run may have several.
fn revisions(run: &LoadedRun) -> Vec<Revision> {
    let mut revisions: Vec<Revision> = Vec::new();
    for revision in run.folders.iter().filter_map(|folder| revision_of_run(folder)) {
        if !revisions.contains(&revision) {
            revisions.push(revision);
        }
    }
    revisions
}

/// Whether tracked files differ from the revision of the run, compared when the page is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Changes {
    Files(usize),
    OtherRevision,
    /// There is no git here, or no checkout of the run.
    Unknown,
}

impl Changes {
    fn now(run: &[Revision]) -> Self {
        let here = std::env::current_dir().ok();
        let (Some(here), [of_run]) = (here.as_deref().and_then(Revision::from_folder), run) else {
            return Self::Unknown;
        };
        if here.commit != of_run.commit {
            return Self::OtherRevision;
        }
        changed_files().map_or(Self::Unknown, |files| Self::Files(files.len()))
    }

    fn shown(self) -> Option<String> {
        match self {
            Self::Files(0) => Some("none when this page was written".to_owned()),
            Self::Files(files) => Some(format!("in {} when this page was written", count(files, "file"))),
            Self::OtherRevision => {
                Some("not recorded; another revision was checked out when this page was written".to_owned())
            }
            Self::Unknown => None,
        }
    }
}
