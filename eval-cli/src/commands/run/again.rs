//! The command that runs cases again.

use std::collections::BTreeMap;

use super::Args;
use crate::output::shell;

/// A case by the file of its set and its id.
pub(super) type CaseOfFile<'c> = (&'c str, &'c str);

/// The command that runs these cases again, with the agent and the options of this run.
pub(super) fn command<'c>(args: &Args, cases: impl IntoIterator<Item = CaseOfFile<'c>>) -> String {
    let mut sets: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (file, case) in cases {
        sets.entry(file).or_default().push(case);
    }
    let mut words: Vec<String> = ["cargo", "evalset", "run"].map(str::to_owned).into();
    words.extend(sets.into_iter().map(|(file, cases)| format!("{file}:{}", cases.join(","))));
    words.extend(args.agent.words());
    words.extend(args.options.words());
    shell::line(&words)
}
