//! The modules for the tests of a directory: each folder is a module, and so is each file.

use std::collections::HashMap;

use eval_format::__private::test_names;
use eval_format::conventions::file_stem;

/// The modules of each file, outermost first, from the files' paths below the directory.
///
/// A module is named after the stem of its file. If two entries of a folder have the same stem
/// (`a.evalset.json`, `a.test.json`, a folder `a`), they are named after their whole names.
pub(crate) fn module_paths(files: &[&str]) -> Vec<Vec<String>> {
    let mut folders: HashMap<&str, Vec<&str>> = HashMap::new();
    for file in files {
        for (at, _) in file.match_indices('/').chain([(file.len(), "")]) {
            let (folder, name) = split(&file[..at]);
            let names = folders.entry(folder).or_default();
            // Files are sorted, so a repeated name is the last one in the list.
            if names.last() != Some(&name) {
                names.push(name);
            }
        }
    }
    let modules: HashMap<(&str, &str), String> = folders
        .iter()
        .flat_map(|(folder, names)| names.iter().map(|name| (*folder, *name)).zip(named(names)))
        .collect();
    let module = |path: &str| modules.get(&split(path)).cloned();
    files
        .iter()
        .map(|file| {
            file.match_indices('/')
                .chain([(file.len(), "")])
                .filter_map(|(at, _)| module(&file[..at]))
                .collect()
        })
        .collect()
}

/// The folder and the last part of a path.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

fn named(entries: &[&str]) -> Vec<String> {
    let mut uses: HashMap<&str, usize> = HashMap::new();
    for entry in entries {
        *uses.entry(file_stem(entry)).or_default() += 1;
    }
    let mut ids: Vec<&str> = entries
        .iter()
        .map(|entry| if uses[file_stem(entry)] == 1 { file_stem(entry) } else { entry })
        .collect();
    let distinct: std::collections::HashSet<&str> = ids.iter().copied().collect();
    if distinct.len() < ids.len() {
        // One stem is the whole name of another entry. Whole names are distinct.
        ids = entries.to_vec();
    }
    test_names(ids)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[&str], expected: &[&str]) {
        let paths: Vec<String> = module_paths(files).iter().map(|path| path.join("::")).collect();
        assert_eq!(paths, expected, "{files:?}");
    }

    #[test]
    fn modules_follow_the_folders() {
        check(
            &["refund.test.json", "sub/deep/trip-2.evalset.json", "sub/weather.evalset.json", "x.json"],
            &["refund", "sub::deep::trip_2", "sub::weather", "x"],
        );
    }

    #[test]
    fn equal_stems_fall_back_to_whole_names() {
        check(
            &["a.evalset.json", "a.test.json", "a/b.evalset.json", "c.evalset.json"],
            &["a_evalset_json", "a_test_json", "a::b", "c"],
        );
    }

    #[test]
    fn names_are_unique_whatever_the_files_are_called() {
        let files = ["a.json", "a.json.json", "a.json.test.json", "a.test.json", "a_json.json"];
        let mut paths = module_paths(&files);
        paths.sort();
        paths.dedup();
        assert_eq!(paths.len(), files.len(), "{paths:?}");
    }
}
