//! Real files from public repositories, in the folder that `EVALSET_CORPUS` names.
//!
//! The folder holds an `INDEX.tsv` that says what google-adk makes of each file; the folder beside
//! it, with `-golden` at its name, holds how google-adk saves the accepted ones.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use eval_format::reader::{CheckedSet, check_set};
use eval_format::{Problem, Value};

/// The words of goldens where google-adk draws or is given a value.
const DRAWN: &[&str] = &["<uuid>", "<now>", "EVAL_SET_ID_FROM_CALLER"];

struct Corpus {
    folder: PathBuf,
    files: Vec<HashMap<String, String>>,
}

impl Corpus {
    fn open() -> Option<Self> {
        let folder = PathBuf::from(std::env::var_os("EVALSET_CORPUS")?);
        let index = fs::read_to_string(folder.join("INDEX.tsv")).expect("the corpus has an index");
        let mut lines = index.lines().map(|line| line.split('\t').map(str::to_owned));
        let header: Vec<String> = lines.next().expect("the index has a header").collect();
        let files = lines.map(|line| header.iter().cloned().zip(line).collect()).collect();
        Some(Self { folder, files })
    }

    fn golden(&self, path: &str) -> PathBuf {
        let name = self.folder.file_name().expect("the corpus has a name").to_string_lossy();
        self.folder.with_file_name(format!("{name}-golden")).join(path)
    }
}

#[test]
fn real_files_end_as_in_adk() {
    let Some(corpus) = Corpus::open() else {
        say("corpus: skipped, EVALSET_CORPUS names no folder");
        return;
    };
    let (mut accepted, mut refused, mut compared) = (0, 0, 0);
    let mut wrong = Vec::new();
    for file in &corpus.files {
        let path = file["path"].as_str();
        let bytes = fs::read(corpus.folder.join(path)).expect("the file is there");
        let checked = check_set(path, &bytes, None);
        wrong.extend(flaws(&checked).into_iter().map(|flaw| format!("{path}: {flaw}")));
        if is_accepted(file) {
            accepted += 1;
            let golden = corpus.golden(path);
            compared += usize::from(golden.is_file());
            wrong.extend(difference(&checked, &golden).map(|it| format!("{path}: {it}")));
        } else if checked.set.is_none() {
            refused += 1;
        } else if !file["features"].contains("camelCase-top-level") {
            wrong.push(format!("{path}: accepted, where google-adk has: {}", file["adk_error"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    say(&format!(
        "corpus: {} files read; {accepted} accepted by google-adk load, {compared} of them saved as it saves \
         them; {refused} refused",
        corpus.files.len()
    ));
    assert!(accepted > 0 && compared > 0 && refused > 0, "the index names files of every kind");
}

/// Says it past the test harness, which keeps to itself what passing tests print.
fn say(text: &str) {
    writeln!(std::io::stderr().lock(), "{text}").expect("stderr takes a line");
}

/// Whether one of google-adk's loaders reads the file as an eval set.
fn is_accepted(file: &HashMap<String, String>) -> bool {
    let by = |loader: &str| file[loader].starts_with("accept");
    !matches!(file["kind"].as_str(), "test_config" | "other")
        && (by("adk_eval_loader") || by("adk_pytest_loader"))
}

/// Mistakes in the problems themselves.
fn flaws(checked: &CheckedSet) -> Vec<String> {
    let mut flaws = Vec::new();
    if checked.set.is_none() && !checked.problems.iter().any(Problem::is_error) {
        flaws.push("refused without an error".to_owned());
    }
    for problem in &checked.problems {
        if checked.text.get(problem.range.clone()).is_none() {
            flaws.push(format!("{problem:?} lies outside the file"));
        }
        if problem.message.is_empty() || problem.help.as_ref().is_none_or(String::is_empty) {
            flaws.push(format!("{problem:?} does not say what to do"));
        }
    }
    flaws
}

/// The differences of the set from the golden file, where there is one.
fn difference(checked: &CheckedSet, golden: &Path) -> Option<String> {
    let Some(set) = &checked.set else {
        return Some(format!("refused: {:#?}", checked.problems));
    };
    let golden = fs::read_to_string(golden).ok()?;
    let golden = Value::parse(&golden).expect("the golden file is JSON");
    first_difference(&set.to_value(), &golden, "the set")
}

/// Goldens hold default values too, which ADK's saved files leave out.
fn first_difference(ours: &Value, golden: &Value, place: &str) -> Option<String> {
    match (ours, golden) {
        (_, Value::String(mask)) if DRAWN.contains(&mask.as_str()) => None,
        (Value::Object(a), Value::Object(b)) => {
            let unknown =
                a.keys().find(|key| !b.contains_key(key)).map(|key| format!("{place}: {key} is too much"));
            unknown.or_else(|| {
                b.iter().find_map(|(key, theirs)| match a.get(key) {
                    Some(ours) => first_difference(ours, theirs, &format!("{place}.{key}")),
                    None if is_default(theirs) => None,
                    None => Some(format!("{place}: {key} is missing")),
                })
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => a
            .iter()
            .zip(b)
            .enumerate()
            .find_map(|(at, (ours, theirs))| first_difference(ours, theirs, &format!("{place}[{at}]"))),
        _ if ours == golden => None,
        _ => Some(format!("{place}: {ours} instead of {golden}")),
    }
}

fn is_default(value: &Value) -> bool {
    match value {
        Value::String(text) => text.is_empty() || DRAWN.contains(&text.as_str()),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Number(number) => number.as_f64() == 0.0,
        _ => value.is_null(),
    }
}
