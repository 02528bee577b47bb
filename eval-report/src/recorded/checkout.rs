//! The git checkout that a run was of, as far as its record and the present state of the checkout tell.

use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use eval_core::journal::Revision;
use eval_support::words::count;

use super::run::LoadedRun;
use crate::journal::revision_of_run;

/// How long git may take to look for changes. It reads the whole work tree.
const PATIENCE: Duration = Duration::from_secs(5);

/// The revisions that were checked out when the run began: several if it was put together of several.
pub fn revisions(run: &LoadedRun) -> Vec<Revision> {
    let mut revisions: Vec<Revision> = Vec::new();
    for revision in run.folders.iter().filter_map(|folder| revision_of_run(folder)) {
        if !revisions.contains(&revision) {
            revisions.push(revision);
        }
    }
    revisions
}

/// Whether tracked files differ from the revision of the run. Nobody looks while tests run, so this is what is there now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changes {
    /// So many files do.
    Files(usize),
    /// Another revision is checked out now.
    OtherRevision,
    /// There is no git here, or no checkout of the run.
    Unknown,
}

impl Changes {
    /// Asks git in the current folder.
    pub fn now(run: &[Revision]) -> Self {
        let here = std::env::current_dir().ok();
        let (Some(here), [of_run]) = (here.as_deref().and_then(Revision::of), run) else {
            return Self::Unknown;
        };
        if here.commit != of_run.commit {
            return Self::OtherRevision;
        }
        changed_files().map_or(Self::Unknown, Self::Files)
    }

    /// For people who read what was known then.
    pub fn shown(self) -> Option<String> {
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

/// How many tracked files differ from the commit. Git writes nothing for it, and asks no watcher of files.
fn changed_files() -> Option<usize> {
    let mut git = Command::new("git");
    git.args(["--no-optional-locks", "-c", "core.fsmonitor=false", "status", "--porcelain", "-z"])
        .args(["--untracked-files=no", "--ignore-submodules=all", "--no-renames"])
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    let (tell, told) = mpsc::channel();
    // If git takes too long, the page does not wait for it.
    thread::spawn(move || tell.send(git.output()));
    let output = told.recv_timeout(PATIENCE).ok()?.ok()?;
    output
        .status
        .success()
        .then(|| output.stdout.split(|byte| *byte == 0).filter(|it| !it.is_empty()).count())
}
