//! The origin of the runs on a side: commits and models.

use std::collections::BTreeSet;

use eval_core::journal::Revision;
use eval_support::untrusted::one_line;
use serde::Serialize;

use super::file::Baseline;

/// The origin of the runs of all cases.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Origin {
    /// The commits that were checked out; empty if none is known.
    pub commits: Vec<String>,
    /// Whether tracked files differed from one of these commits, as far as it is known.
    pub dirty: bool,
    /// The models that the agent reported.
    pub models: Vec<String>,
}

impl Baseline {
    /// The origin of its runs: commits and models, sorted.
    pub fn origin(&self) -> Origin {
        let sorted = |names: BTreeSet<&String>| names.into_iter().cloned().collect();
        Origin {
            commits: sorted(self.lines().filter_map(|line| line.from.commit.as_ref()).collect()),
            dirty: self.lines().any(|line| line.from.dirty == Some(true)),
            models: sorted(self.lines().flat_map(|line| &line.from.models).collect()),
        }
    }
}

impl Origin {
    /// The origin in one line: `commit 1a2b3c4 with changes; models gemini-2.5-flash-001`.
    pub(crate) fn words(&self) -> String {
        let list = |names: &[String], one: &str, short: fn(&str) -> String| {
            let s = if names.len() == 1 { "" } else { "s" };
            let names: Vec<String> = names.iter().map(|name| one_line(&short(name))).collect();
            format!("{one}{s} {}", names.join(", "))
        };
        let changes = if self.dirty { " with changes" } else { "" };
        let commits = if self.commits.is_empty() {
            "commit not known".to_owned()
        } else {
            format!("{}{changes}", list(&self.commits, "commit", Revision::short))
        };
        let models = (!self.models.is_empty()).then(|| list(&self.models, "model", str::to_owned));
        [commits].into_iter().chain(models).collect::<Vec<_>>().join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_names_commits_and_models_once() {
        let origin = |commits: &[&str], dirty, models: &[&str]| {
            let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            Origin { commits: owned(commits), dirty, models: owned(models) }.words()
        };
        assert_eq!(origin(&[], false, &[]), "commit not known");
        assert_eq!(origin(&["1a2b3c4d5e6f"], false, &["m-1"]), "commit 1a2b3c4; model m-1");
        assert_eq!(
            origin(&["1a2b3c4d5e6f", "99aabbccdd"], true, &["m-1", "m\n2"]),
            "commits 1a2b3c4, 99aabbc with changes; models m-1, m\\n2"
        );
    }
}
