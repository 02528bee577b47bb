//! Journals of programs and of hand-written tests, which may run cases again and again.
//!
//! Such a process records the cases of each call, but does not know which calls will follow. So its last
//! record is the end of the process ([`Ended`]). This record is missing if the process was killed between two
//! calls.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use eval_support::mutex::Mutex;

use super::project::Project;
use super::record::Ended;
use super::time;
use super::writer::{Journal, OpenError, is_off};

struct Open {
    folder: PathBuf,
    project: Option<Project>,
    journal: Arc<Journal>,
}

static OPEN: Mutex<Vec<Open>> = Mutex::new(Vec::new());

/// The journal of a program that runs cases itself, in a folder such as `target/evalset`; `None` if
/// journaling is off, unless the program needs one. Without a `project`, the journal belongs to the package
/// that cargo started the program for, else to the project of the current folder. `again` holds the options
/// with which a command runs cases of this program again; reports print them. `dirty` says whether tracked files
/// differ from the commit, if it is known. A program with `again` makes
/// one call, so its journal is closed with its runner. All other runners of a process share a journal.
pub(crate) fn journal_of_program(
    folder: &Path,
    project: Option<&Project>,
    again: Option<&[String]>,
    dirty: Option<bool>,
    run: Option<&str>,
    is_needed: bool,
) -> Result<Option<Arc<Journal>>, OpenError> {
    if is_off().map_err(OpenError::Environment)? && !is_needed {
        return Ok(None);
    }
    let open = || Journal::of_program(folder, project, again, dirty, run).map(Arc::new);
    if again.is_some() {
        return open().map(Some);
    }
    let mut all = OPEN.lock();
    if let Some(known) = all.iter().find(|it| it.folder == folder && it.project.as_ref() == project) {
        return Ok(Some(Arc::clone(&known.journal)));
    }
    let journal = open()?;
    let (folder, project) = (folder.to_owned(), project.cloned());
    all.push(Open { folder, project, journal: Arc::clone(&journal) });
    Ok(Some(journal))
}

/// Records the end of the process. The system calls it when `main` returns, and in `std::process::exit`.
#[dtor::dtor(unsafe)]
fn record_end() {
    // Another thread may hold the lock forever by now, so this does not wait for it.
    let Some(mut all) = OPEN.try_lock() else { return };
    for open in all.drain(..) {
        open.journal.add_last(&Ended { at: time::now() });
    }
}
