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
        let Some(file) = &started.file else {
            return Err("it stands in no file, so its expectations are not known here".to_owned());
        };
        let read = || Set::read(file, started.set_file.as_deref()).map(Rc::new);
        let set = self.0.entry(file.clone()).or_insert_with(read).clone()?;
        let (case, hash) = set.cases.get(&started.eval_id).ok_or_else(|| {
            format!("`{}` has no case `{}` any more", one_line(file), one_line(&started.eval_id))
        })?;
        Ok(Found {
            case: case.clone(),
            is_edited: started.case_hash.as_ref().is_some_and(|before| before != hash),
            recording: recording_path(&set.path.to_string_lossy()).into(),
        })
    }
}

impl Set {
    fn read(file: &str, set_file: Option<&str>) -> Result<Self, String> {
        let shown = one_line(file);
        let path = path_of(file, set_file)
            .ok_or_else(|| format!("`{shown}` is not here; run this where the sets are"))?;
        let bytes = fs::read(&path).map_err(|error| format!("cannot read `{shown}`: {error}"))?;
        let checked = check_set(file, &bytes, None);
        let set = checked
            .set
            .ok_or_else(|| format!("`{shown}` has errors; `cargo evalset check {shown}` shows them"))?;
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
fn path_of(file: &str, set_file: Option<&str>) -> Option<PathBuf> {
    let here = env::current_dir().ok()?;
    [Some(file), set_file].into_iter().flatten().find_map(|file| {
        here.ancestors().map(|folder| folder.join(Path::new(file))).find(|path| path.is_file())
    })
}
