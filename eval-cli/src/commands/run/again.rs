//! The command that runs cases again.

use std::collections::BTreeMap;

use super::options::RunOptions;
use super::source::SourceArgs;
use crate::output::shell;

/// A case by the file of its set and its id.
pub(super) type CaseOfFile<'c> = (&'c str, &'c str);

/// What a command needs to run cases again: the agent and the options of this run.
#[derive(Clone, Copy)]
pub(super) struct Again<'a> {
    pub(super) agent: &'a SourceArgs,
    pub(super) options: &'a RunOptions,
}

/// The command that runs these cases again.
pub(super) fn command<'c>(again: Again<'_>, cases: impl IntoIterator<Item = CaseOfFile<'c>>) -> String {
    let mut sets: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (file, case) in cases {
        sets.entry(file).or_default().push(case);
    }
    let mut words: Vec<String> = ["cargo", "evalset", "run"].map(str::to_owned).into();
    words.extend(sets.into_iter().map(|(file, cases)| format!("{file}:{}", cases.join(","))));
    words.extend(again.agent.words());
    words.extend(again.options.words());
    shell::line(&words)
}
