//! The cases of a baseline that are gone, by the sets that are on disk and by what ran. What did not run is not gone.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use eval_core::journal::project::Project;
use eval_format::reader::check_set;
use eval_report::baseline::{Key, Measured};
use eval_support::untrusted::one_line;
use eval_support::words::short_code_list;

use crate::files::read_if_there;

/// The sets that were read so far, by their names in the baseline.
pub(super) struct Gone {
    root: PathBuf,
    sets: HashMap<String, Set>,
}

enum Set {
    Missing,
    Unreadable,
    Cases(BTreeSet<String>),
}

impl Default for Gone {
    fn default() -> Self {
        Self { root: Project::here().folder, sets: HashMap::new() }
    }
}

impl Gone {
    /// The reason why a case is gone; `None` if it is not.
    pub(super) fn why(&mut self, key: &Key, measured: &Measured) -> Option<&'static str> {
        let path = self.root.join(&key.set);
        match self.sets.entry(key.set.clone()).or_insert_with(|| Set::read(&key.set, &path)) {
            Set::Missing => Some("there is no such set"),
            Set::Cases(cases) if !cases.contains(&key.case) => Some("the set has no such case"),
            _ if measured.lacks_function(key) => Some("the test binary has no such function"),
            _ if measured.lacks_variant(key) => Some("the case ran in this build, and not with this variant"),
            _ => None,
        }
    }

    /// A note about sets whose lines stay because they cannot be read.
    pub(super) fn notes(&self) -> Option<String> {
        let unreadable = self.sets.iter().filter(|(_, set)| matches!(set, Set::Unreadable));
        let mut names: Vec<String> = unreadable.map(|(name, _)| one_line(name)).collect();
        names.sort();
        (!names.is_empty()).then(|| {
            format!(
                "no line of {} was removed, as its cases cannot be read: `cargo evalset check`",
                short_code_list(&names)
            )
        })
    }
}

impl Set {
    fn read(name: &str, path: &Path) -> Self {
        match read_if_there(path) {
            Ok(None) => Self::Missing,
            Err(_) => Self::Unreadable,
            Ok(Some(bytes)) => check_set(name, &bytes, None).set.map_or(Self::Unreadable, |set| {
                Self::Cases(set.eval_cases.into_iter().map(|case| case.eval_id).collect())
            }),
        }
    }
}
