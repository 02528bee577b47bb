//! The cases as they are in the files now.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::env;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use eval_core::journal::Started;
use eval_format::__private::test_names;
use eval_format::conventions::recording_path;
use eval_format::reader::check_set;
use eval_format::{EvalCase, Meaning};
use eval_support::command;
use eval_support::untrusted::one_line;

use crate::journal::RecordedRun;
use crate::output::read;

/// The files that were read so far, by their names in the journal.
#[derive(Debug, Default)]
pub struct Cases(HashMap<String, Result<Rc<Set>, NotFound>>);

#[derive(Debug)]
struct Set {
    path: PathBuf,
    cases: HashMap<String, EvalCase>,
}

#[derive(Debug)]
pub struct Found {
    /// The file of its set.
    pub path: PathBuf,
    pub case: EvalCase,
    /// Whether what it asks, or what it expects, has changed since it ran.
    pub is_edited: bool,
    /// The path of the recording of its set, if there is one.
    pub recording: PathBuf,
}

/// The reason for a case that is not found.
#[derive(Clone, Debug)]
pub struct NotFound {
    /// Whether the file exists and no longer has the case.
    pub is_gone: bool,
    /// A sentence without a period.
    pub why: String,
    /// Help if the case is to be changed.
    pub help: &'static str,
}

impl Cases {
    /// The number of cases in a file that was read.
    pub fn count(&self, file: &str) -> Option<usize> {
        Some(self.0.get(file)?.as_ref().ok()?.cases.len())
    }

    pub fn find(&mut self, started: &Started) -> Result<Found, NotFound> {
        let no_file = || NotFound {
            is_gone: false,
            why: "it comes from no file, so its expectations are not known here".to_owned(),
            help: "change the case in the program that makes it",
        };
        let file = started.file.as_deref().ok_or_else(no_file)?;
        let read = || Set::read(file, started.set_file.as_deref()).map(Rc::new);
        let set = self.0.entry(file.to_owned()).or_insert_with(read).clone()?;
        let case = set.cases.get(&started.eval_id).ok_or_else(|| NotFound {
            is_gone: true,
            why: format!("`{}` has no case `{}` any more", one_line(file), one_line(&started.eval_id)),
            help: "name a case that the set has, or make a new case of it: `-o SET` in place of `--replace`",
        })?;
        Ok(Found {
            path: set.path.clone(),
            case: case.clone(),
            is_edited: !is_of(started, &Meaning::from_case(case)),
            recording: recording_path(&set.path.to_string_lossy()).into(),
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compared {
    Same,
    /// The cases that ran are the same. The file holds others, which may have been left out.
    HasMore,
    Differs,
}

/// Compares the cases of a file with the cases of it that ran.
pub(super) fn compared(file: &str, set_file: Option<&str>, ran: &[&Started]) -> Compared {
    let Ok(set) = Set::read(file, set_file) else { return Compared::Differs };
    let mut meanings: HashMap<&str, Meaning> = HashMap::new();
    for started in ran {
        let Some(case) = set.cases.get(&started.eval_id) else { return Compared::Differs };
        if !is_of(started, meanings.entry(&started.eval_id).or_insert_with(|| Meaning::from_case(case))) {
            return Compared::Differs;
        }
    }
    if meanings.len() == set.cases.len() { Compared::Same } else { Compared::HasMore }
}

/// The ids of cases in a file that the run neither ran (`ran`) nor listed: they were added after the run.
pub(super) fn added(file: &str, set_file: Option<&str>, ran: &[&Started], run: &RecordedRun) -> Vec<String> {
    let Ok(set) = Set::read(file, set_file) else { return Vec::new() };
    let ids: BTreeSet<&str> = set.cases.keys().map(String::as_str).collect();
    let modules: BTreeSet<&str> = ran.iter().filter_map(|it| Some(it.name.rsplit_once("::")?.0)).collect();
    let listed = run.listings.iter().flat_map(|listing| &listing.sets).flat_map(|set| &set.tests);
    let listed = listed.filter_map(|test| test.rsplit_once("::"));
    let of_modules = listed.filter_map(|(module, name)| modules.contains(module).then_some(name));
    let of_modules: HashSet<&str> = of_modules.collect();
    let is_new = |(id, name): &(&str, String)| {
        !of_modules.contains(name.as_str()) && !ran.iter().any(|started| started.eval_id == *id)
    };
    let names = test_names(ids.iter().copied());
    ids.into_iter().zip(names).filter(is_new).map(|(id, _)| id.to_owned()).collect()
}

fn is_of(started: &Started, meaning: &Meaning) -> bool {
    (&started.asks, &started.expects) == (&meaning.asks, &meaning.expects)
}

impl Set {
    fn read(file: &str, set_file: Option<&str>) -> Result<Self, NotFound> {
        let named = one_line(file);
        let not = |why, help| NotFound { is_gone: false, why, help };
        let path = path_of(file, set_file).ok_or_else(|| {
            let why = format!("`{named}` is not here; run this where the sets are");
            not(why, "run this in the folder in which the tests ran")
        })?;
        let bytes = read(&path).map_err(|error| {
            not(one_line(&error.message), "give this user permission to read it, then run this again")
        })?;
        let set = check_set(file, &bytes, None).set.ok_or_else(|| {
            let why = format!("`{named}` has errors; `{} check {named}` shows them", command::name());
            not(why, "fix the file, then run this again")
        })?;
        let cases = set.eval_cases.into_iter().map(|case| (case.eval_id.clone(), case));
        Ok(Self { path, cases: cases.collect() })
    }
}

/// The file of a set: `file` is relative to the folder that cargo built in, which is the current folder or one above;
/// `set_file` is relative to the folder of its package.
pub(super) fn path_of(file: &str, set_file: Option<&str>) -> Option<PathBuf> {
    let here = env::current_dir().ok()?;
    [Some(file), set_file].into_iter().flatten().find_map(|file| {
        here.ancestors().map(|folder| folder.join(Path::new(file))).find(|path| path.is_file())
    })
}
