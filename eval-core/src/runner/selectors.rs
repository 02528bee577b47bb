//! Selectors, the words of a command line that select cases: `SET[:case1,case2]`.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use eval_format::conventions::FileKind;
use eval_format::find::{find_sets, fixed_folder, is_glob};
use eval_format::{ReadError, Value};
use eval_support::spelling::suggest;

use super::builder::EvalRunner;
use super::directory::{self, Found, Selected};
use super::error::RunDirError;

/// The marks in a selector: between the set and its cases, and between the cases.
const BEFORE_CASES: char = ':';
const BETWEEN_CASES: char = ',';

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Place {
    File(PathBuf),
    Folder(PathBuf),
    Glob(String),
    /// The id of a set, which is no path.
    Id(String),
}

impl EvalRunner {
    /// The sets that the words select, each once and in the order of the words. All cases that are named exist.
    pub(super) fn selected<S: AsRef<OsStr>>(&self, words: &[S]) -> Result<Vec<Selected>, RunDirError> {
        let mut places: HashMap<PathBuf, usize> = HashMap::new();
        let mut all: Vec<Selected> = Vec::new();
        for (place, words) in by_place(words) {
            let sets = self.sets_in(&place)?;
            let known = sets.iter().flat_map(|found| &found.set.eval_cases);
            let known = KnownCases::new(known.map(|case| case.eval_id.as_str()));
            let ids = words.into_iter().map(|(word, cases)| {
                cases.map_or(Ok(None), |cases| known.of_selector(word, &cases).map(Some))
            });
            // A word without cases selects all.
            let ids = ids.collect::<Result<Option<Vec<_>>, _>>().map(|ids| ids.map(|ids| ids.concat()))?;
            for found in sets {
                let of_set = ids.as_ref().map(|ids| {
                    let own: HashSet<&str> =
                        found.set.eval_cases.iter().map(|case| case.eval_id.as_str()).collect();
                    ids.iter().filter(|id| own.contains(id.as_str())).cloned().collect::<Vec<_>>()
                });
                if of_set.as_ref().is_some_and(Vec::is_empty) {
                    continue;
                }
                let file = found.path.canonicalize().unwrap_or_else(|_| found.path.clone());
                match places.get(&file) {
                    Some(at) => all[*at].select(of_set),
                    None => {
                        places.insert(file, all.len());
                        all.push(Selected { found, ids: of_set });
                    }
                }
            }
        }
        Ok(all)
    }

    fn sets_in(&self, place: &Place) -> Result<Vec<Found>, RunDirError> {
        let names = self.custom_names();
        let top = searched(place);
        files_in(place)?.iter().map(|file| directory::read_one(file, top.as_deref(), &names)).collect()
    }
}

/// The files of the sets that a selector names, and its list of cases, if it has one.
pub fn files_of_selector(word: &OsStr) -> Result<(Vec<PathBuf>, Option<String>), RunDirError> {
    let (place, cases) = place(word);
    Ok((files_in(&place)?, cases))
}

fn files_in(place: &Place) -> Result<Vec<PathBuf>, RunDirError> {
    match place {
        Place::Folder(folder) => {
            let files = sets_below(folder, "")?;
            if !files.is_empty() {
                return Ok(files);
            }
            // The folder of an agent is often named like the set.
            let of_id = folder.to_str().filter(|name| is_bare(name)).and_then(|id| set_of_id(id).ok());
            of_id.map(|file| vec![file]).ok_or_else(|| RunDirError::NoSets(folder.clone()))
        }
        Place::File(file) => match file.metadata() {
            // Its name would be another one in the record, and in each command.
            _ if file.to_str().is_none() => Err(unreadable(file, "its name is not UTF-8; rename it")),
            Err(_) if file.is_symlink() => {
                Err(unreadable(file, "it is a link to a file that does not exist"))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(RunDirError::NoSuchSet { name: file.display().to_string(), meant: nearest(file) })
            }
            // The reader reports all other errors.
            _ => Ok(vec![file.clone()]),
        },
        Place::Glob(pattern) => {
            let base = folder_of_glob(pattern);
            let rest =
                pattern.trim_start_matches('/').strip_prefix(&fixed_folder(pattern)).unwrap_or(pattern);
            let files = sets_below(&base, rest.trim_start_matches('/'))?;
            if files.is_empty() {
                return Err(RunDirError::NoSuchSet { name: pattern.clone(), meant: None });
            }
            Ok(files)
        }
        Place::Id(id) => Ok(vec![set_of_id(id)?]),
    }
}

fn unreadable(file: &Path, why: &str) -> RunDirError {
    ReadError::Io { path: file.to_owned(), source: std::io::Error::other(why) }.into()
}

/// The folder that is searched for sets; `None` if one file is named.
fn searched(place: &Place) -> Option<PathBuf> {
    match place {
        Place::Folder(folder) => Some(folder.clone()),
        Place::Glob(pattern) => Some(folder_of_glob(pattern)),
        Place::Id(_) => Some(PathBuf::new()),
        Place::File(_) => None,
    }
}

/// The folder before the first wildcard.
fn folder_of_glob(pattern: &str) -> PathBuf {
    let absolute = if pattern.starts_with('/') { "/" } else { "" };
    PathBuf::from(format!("{absolute}{}", fixed_folder(pattern)))
}

/// The sets below a folder, by a pattern that is relative to it.
fn sets_below(base: &Path, pattern: &str) -> Result<Vec<PathBuf>, RunDirError> {
    let folder = if base.as_os_str().is_empty() { Path::new(".") } else { base };
    let files = find_sets(folder, pattern)
        .map_err(|error| ReadError::Io { path: folder.to_owned(), source: std::io::Error::other(error) })?;
    Ok(files.iter().map(|file| base.join(file)).collect())
}

/// The set with an id, below the current folder. The id is the `eval_set_id` in the file, or the name of the file
/// without its ending, as in ADK.
fn set_of_id(id: &str) -> Result<PathBuf, RunDirError> {
    let files = sets_below(Path::new(""), "")?;
    let mut known: Vec<(String, &PathBuf)> = Vec::new();
    for file in &files {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        known.push((eval_format::conventions::file_stem(&name).to_owned(), file));
        // A set with problems may be named too: its reader reports them.
        let set = fs::read_to_string(file).ok().and_then(|text| Value::parse(&text).ok());
        let id = set.and_then(|set| {
            ["eval_set_id", "evalSetId"].into_iter().find_map(|key| Some(set[key].as_str()?.to_owned()))
        });
        known.extend(id.map(|id| (id, file)));
    }
    let mut of_id: Vec<&PathBuf> =
        known.iter().filter(|(known, _)| known == id).map(|(_, file)| *file).collect();
    of_id.dedup();
    match of_id.as_slice() {
        [file] => Ok((*file).clone()),
        [] => {
            let meant = suggest(id, known.iter().map(|(known, _)| known.as_str())).map(str::to_owned);
            Err(RunDirError::NoSuchSet { name: id.to_owned(), meant })
        }
        several => {
            let paths = several.iter().map(|path| (*path).clone()).collect();
            Err(RunDirError::SeveralSets { id: id.to_owned(), paths })
        }
    }
}

/// The path of a set in the same folder that has a similar name.
fn nearest(file: &Path) -> Option<String> {
    let folder = file.parent().unwrap_or(Path::new(""));
    let listed = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let names: Vec<String> = fs::read_dir(listed)
        .ok()?
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| FileKind::from_name(name) == Some(FileKind::Set))
        .collect();
    let meant = suggest(file.file_name()?.to_str()?, names.iter().map(String::as_str))?;
    Some(folder.join(meant).display().to_string())
}

/// The place where a selector looks for sets, and the cases that it selects. An existing path takes
/// precedence over any other reading.
fn place(word: &OsStr) -> (Place, Option<String>) {
    if let Some(place) = existing(Path::new(word)) {
        return (place, None);
    }
    let Some(text) = word.to_str() else { return (Place::File(word.into()), None) };
    for (at, _) in text.match_indices(BEFORE_CASES) {
        if let Some(place) = existing(Path::new(&text[..at])) {
            return (place, Some(text[at + 1..].to_owned()));
        }
    }
    let (name, cases) = match text.split_once(BEFORE_CASES) {
        // `C:\evals`.
        Some((drive, rest)) if drive.len() == 1 && rest.starts_with(['\\', '/']) => (text, None),
        Some((name, cases)) => (name, Some(cases.to_owned())),
        None => (text, None),
    };
    let place = if is_glob(name) {
        Place::Glob(name.to_owned())
    } else if is_bare(name) {
        Place::Id(name.to_owned())
    } else {
        Place::File(name.into())
    };
    (place, cases)
}

fn is_bare(name: &str) -> bool {
    let is_json = Path::new(name).extension().is_some_and(|extension| extension == "json");
    !name.contains(['/', '\\']) && !is_json && !matches!(name, "" | "." | "..")
}

fn existing(path: &Path) -> Option<Place> {
    if path.as_os_str().is_empty() {
        return None;
    }
    let found = path.metadata().ok()?;
    Some(if found.is_dir() { Place::Folder(path.to_owned()) } else { Place::File(path.to_owned()) })
}

/// A word, and its list of cases.
type Word<'w> = (&'w OsStr, Option<String>);

/// The words that name each place, with their lists of cases: a set is read once, however many words name cases of it.
fn by_place<S: AsRef<OsStr>>(words: &[S]) -> Vec<(Place, Vec<Word<'_>>)> {
    let mut groups: Vec<(Place, Vec<Word<'_>>)> = Vec::new();
    let mut known: HashMap<Place, usize> = HashMap::new();
    for word in words {
        let (place, cases) = place(word.as_ref());
        let at = *known.entry(place.clone()).or_insert_with(|| {
            groups.push((place, Vec::new()));
            groups.len() - 1
        });
        groups[at].1.push((word.as_ref(), cases));
    }
    groups
}

/// The ids of the cases of sets, among which selectors name some.
#[derive(Debug)]
pub struct KnownCases<'k> {
    all: Vec<&'k str>,
    ids: HashSet<&'k str>,
    /// The most commas that an id has.
    most_commas: usize,
}

impl<'k> KnownCases<'k> {
    /// The ids of all cases of the sets.
    pub fn new(ids: impl IntoIterator<Item = &'k str>) -> Self {
        let all: Vec<&str> = ids.into_iter().collect();
        let most_commas = all.iter().map(|id| id.matches(BETWEEN_CASES).count()).max().unwrap_or_default();
        Self { ids: all.iter().copied().collect(), all, most_commas }
    }

    /// The ids in the list of cases of a selector. An id may contain commas: the longest known id is taken.
    pub fn of_selector(&self, word: &OsStr, list: &str) -> Result<Vec<String>, RunDirError> {
        let parts: Vec<&str> = list.split(BETWEEN_CASES).collect();
        let mut ids = Vec::new();
        let mut at = 0;
        while at < parts.len() {
            let longest = parts.len().min(at + 1 + self.most_commas);
            let longest = (at + 1..=longest).rev().find_map(|end| {
                let id = parts[at..end].join(",");
                self.ids.contains(id.as_str()).then_some((id, end))
            });
            let Some((id, end)) = longest else {
                let id = parts[at].to_owned();
                let meant = suggest(&id, self.all.iter().copied()).map(str::to_owned);
                let text = word.to_string_lossy();
                let set = text.strip_suffix(list).unwrap_or(&text).trim_end_matches(BEFORE_CASES).to_owned();
                return Err(RunDirError::NoSuchCase { set, id, meant });
            };
            ids.push(id);
            at = end;
        }
        Ok(ids)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_exists_goes_before_any_other_way_to_read_a_word() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a.json"), "").unwrap();
        fs::write(at("a.json:x"), "").unwrap();
        fs::create_dir(at("evals")).unwrap();
        let shown = |name: &str| at(name).display().to_string();
        for (word, place_of, cases) in [
            (shown("a.json"), Place::File(at("a.json")), None),
            (shown("a.json:x"), Place::File(at("a.json:x")), None),
            (shown("a.json:y,z"), Place::File(at("a.json")), Some("y,z")),
            (shown("a.json:y:z"), Place::File(at("a.json")), Some("y:z")),
            (shown("evals:"), Place::Folder(at("evals")), Some("")),
            (shown("none.json:x"), Place::File(at("none.json")), Some("x")),
            (shown("*.json:x"), Place::Glob(shown("*.json")), Some("x")),
            ("weather:a*b".to_owned(), Place::Id("weather".to_owned()), Some("a*b")),
            ("weather".to_owned(), Place::Id("weather".to_owned()), None),
            ("weather.json".to_owned(), Place::File("weather.json".into()), None),
            ("C:\\evals\\a.json".to_owned(), Place::File("C:\\evals\\a.json".into()), None),
        ] {
            assert_eq!(place(word.as_ref()), (place_of, cases.map(str::to_owned)), "{word}");
        }
    }

    #[test]
    fn configs_above_a_set_are_sought_in_the_folder_that_was_searched() {
        for (word, folder) in [
            ("**/*.evalset.json", Some("")),
            ("./evals/*/a.json", Some("evals")),
            ("/evals/*.json", Some("/evals")),
            ("weather", Some("")),
            ("weather.json", None),
        ] {
            assert_eq!(searched(&place(word.as_ref()).0), folder.map(PathBuf::from), "{word}");
        }
    }

    #[test]
    fn many_cases_are_named_in_linear_time() {
        let ids: Vec<String> = (0..20_000).map(|n| format!("a case, {n}")).collect();
        let known = KnownCases::new(ids.iter().map(String::as_str));
        assert_eq!(known.of_selector("s:..".as_ref(), &ids.join(",")).unwrap(), ids);
        let words: Vec<String> = ids.iter().map(|id| format!("s:{id}")).collect();
        let groups = by_place(&words);
        assert_eq!((groups.len(), groups[0].1.len()), (1, 20_000));
    }

    #[test]
    fn the_longest_known_id_is_taken() {
        let known = KnownCases::new(["a", "a,b", "b", "c"]);
        for (list, ids) in [("a", &["a"][..]), ("a,b", &["a,b"]), ("a,c,b,a,b", &["a", "c", "b", "a,b"])] {
            assert_eq!(known.of_selector("s".as_ref(), list).unwrap(), ids, "{list}");
        }
        for list in ["", "a,", "a,d", ",a"] {
            assert!(known.of_selector("s".as_ref(), list).is_err(), "{list}");
        }
    }
}
