//! The cases as their files hold them now.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::{env, fs};

use eval_core::journal::{Started, case_hash};
use eval_format::{EvalCase, check_set, recording_path};

use crate::show::one_line;

/// The files that were read so far.
#[derive(Debug, Default)]
pub(super) struct Cases(HashMap<String, Result<Rc<Set>, String>>);

/// A file of cases.
#[derive(Debug)]
struct Set {
    path: PathBuf,
    cases: HashMap<String, (EvalCase, String)>,
}

/// A case as it is now.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) case: EvalCase,
    /// Whether its text is another than when it ran.
    pub(super) is_edited: bool,
    /// What judges answered to the cases of its set, if anything.
    pub(super) recording: PathBuf,
}

impl Cases {
    /// The case that a test ran, or why it is not to be had.
    pub(super) fn find(&mut self, started: &Started) -> Result<Found, String> {
        if started.file.is_empty() {
            return Err("it stands in no file, so its expectations are not known here".to_owned());
        }
        let set =
            self.0.entry(started.file.clone()).or_insert_with(|| Set::read(started).map(Rc::new)).clone()?;
        let (case, hash) = set.cases.get(&started.eval_id).ok_or_else(|| {
            format!("`{}` has no case `{}` any more", one_line(&started.file), one_line(&started.eval_id))
        })?;
        Ok(Found {
            case: case.clone(),
            is_edited: !started.case_hash.is_empty() && *hash != started.case_hash,
            recording: recording_path(&set.path.to_string_lossy()).into(),
        })
    }
}

impl Set {
    fn read(started: &Started) -> Result<Self, String> {
        let path = path_of(started).ok_or_else(|| {
            format!("`{}` is not here; run this where the sets are", one_line(&started.file))
        })?;
        let bytes =
            fs::read(&path).map_err(|error| format!("cannot read `{}`: {error}", one_line(&started.file)))?;
        let checked = check_set(&started.file, &bytes, None);
        let set = checked.set.ok_or_else(|| {
            format!("`{0}` has errors; `cargo evalset check {0}` shows them", one_line(&started.file))
        })?;
        let hashes = checked
            .cases
            .iter()
            .map(|place| case_hash(checked.text.get(place.range.clone()).unwrap_or_default()));
        let cases =
            set.eval_cases.into_iter().zip(hashes).map(|(case, hash)| (case.eval_id.clone(), (case, hash)));
        Ok(Self { path, cases: cases.collect() })
    }
}

/// The file of a set: as the compiler showed it, from the folder that cargo built in, which is here or above; or as
/// it stands in its package.
fn path_of(started: &Started) -> Option<PathBuf> {
    let here = env::current_dir().ok()?;
    [&started.file, &started.set_file].into_iter().filter(|file| !file.is_empty()).find_map(|file| {
        here.ancestors().map(|folder| folder.join(Path::new(file))).find(|path| path.is_file())
    })
}
