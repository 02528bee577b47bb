//! The language of comments and pages: headers that name their thing, and sentences that do not leave their noun to be
//! guessed. CONTRIBUTING.md has the rule, ARCHITECTURE.md the glossary.

use std::fs;
use std::path::{Path, PathBuf};

/// Words that make a module header a question instead of a noun phrase.
const QUESTIONS: [&str; 8] = ["How", "That", "What", "Where", "Whether", "Which", "Who", "Whose"];

const PERSONS: [&str; 4] = ["anybody", "nobody", "somebody", "whoever"];
const POINTERS: [&str; 2] = ["that of", "those of"];
const STANDS: [&str; 2] = ["stand", "stands"];

const MAX_HEADERS: usize = 20;
const MAX_PERSONS: usize = 30;
const MAX_POINTERS: usize = 60;
const MAX_STANDS: usize = 60;
/// The most persons, pointers and stands in all pages together.
const MAX_IN_PAGES: usize = 40;

#[test]
fn module_headers_name_their_thing() {
    let is_question =
        |text: &str| QUESTIONS.contains(&text.split(|c: char| !c.is_alphabetic()).next().unwrap_or(""));
    let mut found = Vec::new();
    for (path, text) in files("rs") {
        let header =
            (1..).zip(text.lines()).find_map(|(line, text)| Some((line, text.strip_prefix("//! ")?)));
        found.extend(
            header.filter(|(_, text)| is_question(text)).map(|(line, text)| place(&path, line, text)),
        );
    }
    assert_few("module headers begin with a question word", &found, MAX_HEADERS);
}

#[test]
fn comments_name_their_nouns() {
    assert_few("comments say nobody, somebody, whoever or anybody", &in_comments(&PERSONS), MAX_PERSONS);
    assert_few("comments say `that of` or `those of`", &in_comments(&POINTERS), MAX_POINTERS);
    assert_few("comments say that something `stands` somewhere", &in_comments(&STANDS), MAX_STANDS);
}

#[test]
fn pages_name_their_nouns() {
    let words = [PERSONS.as_slice(), &POINTERS, &STANDS].concat();
    let mut found = Vec::new();
    // Prompts of judges are Markdown too, and have other readers.
    for (path, text) in files("md").into_iter().filter(|(path, _)| !path.contains("/src/")) {
        for (line, text) in (1..).zip(text.lines()) {
            found.extend((0..count(text, &words)).map(|_| place(&path, line, text)));
        }
    }
    assert_few("words in pages leave the noun to be guessed", &found, MAX_IN_PAGES);
}

#[test]
fn whole_words_are_counted_in_any_case() {
    assert_eq!(count("Nobody understands those of us who stand; that often stands still", &STANDS), 2);
    assert_eq!(count("That of Nobody: those of nobodys", &[PERSONS.as_slice(), &POINTERS].concat()), 3);
    assert_eq!(comment("let url = \"http://a\"; // It stands."), Some(" It stands."));
    assert_eq!(comment("let url = \"http://stands\";"), None);
}

/// Each place of one of these words in a comment of the sources.
fn in_comments(words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in files("rs") {
        for (line, text) in (1..).zip(text.lines()) {
            let count = comment(text).map_or(0, |comment| count(comment, words));
            found.extend((0..count).map(|_| place(&path, line, text)));
        }
    }
    found
}

/// The comment of a line. Strings are not parsed: the slashes of an address have no blank before them.
fn comment(line: &str) -> Option<&str> {
    let is_begin = |at: usize| line[..at].chars().next_back().is_none_or(char::is_whitespace);
    let begin = line.match_indices("//").map(|(at, _)| at).find(|at| is_begin(*at))?;
    Some(&line[begin + 2..])
}

/// The number of times that a text has one of these phrases, as whole words in any case.
fn count(text: &str, phrases: &[&str]) -> usize {
    let words: Vec<String> = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase).collect();
    let text = format!(" {} ", words.join(" "));
    phrases.iter().map(|phrase| text.matches(&format!(" {phrase} ")).count()).sum()
}

fn place(path: &str, line: usize, text: &str) -> String {
    format!("{path}:{line}: {}", text.trim())
}

fn assert_few(what: &str, found: &[String], most: usize) {
    let found_all = found.join("\n");
    assert!(found.len() <= most, "{} {what}, at most {most} are allowed:\n{found_all}", found.len());
}

/// The paths and texts of all files with an extension, without links, hidden folders and what cargo builds.
fn files(extension: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.to_owned()];
    let mut paths: Vec<PathBuf> = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in
            fs::read_dir(&folder).expect("the sources are here").map(|entry| entry.expect("it can be listed"))
        {
            let (name, kind) = (entry.file_name(), entry.file_type().expect("it has a kind"));
            if kind.is_dir() && name != "target" && !name.to_string_lossy().starts_with('.') {
                folders.push(entry.path());
            } else if kind.is_file() && Path::new(&name).extension().is_some_and(|found| found == extension) {
                paths.push(entry.path());
            }
        }
    }
    paths.sort();
    assert!(paths.len() > 20, "{paths:?}");
    let shown =
        |path: &Path| path.strip_prefix(root).expect("it is below").to_string_lossy().replace('\\', "/");
    paths.iter().map(|path| (shown(path), fs::read_to_string(path).expect("sources are text"))).collect()
}
