//! Runs by their ids, and their revisions.

use std::io;
use std::path::Path;

use eval_core::journal::Revision;
use eval_core::journal::file_names::{LATEST, MARKER};
use eval_core::journal::runs::{RunDir, latest_id, read_small, runs, runs_named};
use eval_format::Value;

/// The run of this id, or the newest one for `latest`; `None` if there is none. The id is compared with the
/// names of folders, and is never part of a path.
pub(crate) fn find_run(folder: &Path, id: &str) -> io::Result<Option<RunDir>> {
    let found = if id == LATEST { runs(folder)? } else { runs_named(folder, |name| name == id)? };
    Ok(found.into_iter().next())
}

/// The run that was joined last, in a folder such as `target/evalset`; `None` if it is not known or was
/// removed.
pub fn latest(folder: &Path) -> Option<RunDir> {
    let id = latest_id(folder)?;
    find_run(folder, &id).ok()?
}

/// The revision that was checked out when a run began; `None` if its folder does not tell.
pub fn revision_of_run(folder: &Path) -> Option<Revision> {
    let marker = Value::parse(&read_small(&folder.join(MARKER))?).ok()?;
    Some(Revision {
        commit: marker["revision"].as_str()?.to_owned(),
        branch: marker["branch"].as_str().map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_run_is_found_by_its_id_and_the_newest_one_without() {
        let temporary = tempfile::TempDir::new().unwrap();
        let folder = temporary.path();
        for (id, hour) in [("a", 1), ("c", 3), ("b", 2)] {
            fs::create_dir(folder.join(id)).unwrap();
            let marker = format!("{{\"run\":\"{id}\",\"started\":\"2026-11-22T0{hour}:00:00.000Z\"}}");
            fs::write(folder.join(id).join(MARKER), marker).unwrap();
        }
        fs::create_dir(folder.join("empty")).unwrap();
        for (id, found) in
            [("b", Some("b")), ("latest", Some("c")), ("empty", None), ("x", None), ("../runs", None)]
        {
            assert_eq!(find_run(folder, id).unwrap().map(|run| run.id).as_deref(), found, "{id}");
        }
        assert_eq!(find_run(&folder.join("missing"), "latest").unwrap(), None);
        assert_eq!(latest(folder), None);
        fs::write(folder.join("latest"), "b").unwrap();
        assert_eq!(latest(folder).map(|run| run.id).as_deref(), Some("b"));
    }
}
