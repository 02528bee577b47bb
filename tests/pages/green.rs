//! `docs/green.md` names a test for every way to a pass. Each of them exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

const PAGE: &str = "docs/green.md";

/// Folders with tests of this project.
const FOLDERS: [&str; 10] = [
    "eval-agents",
    "eval-cli",
    "eval-core",
    "eval-format",
    "eval-gateway",
    "eval-macros",
    "eval-report",
    "eval-server",
    "eval-support",
    "tests",
];

#[test]
fn every_row_names_tests_and_each_of_them_exists() {
    let known = FOLDERS.into_iter().fold(BTreeSet::new(), |mut known, folder| {
        collect(&root().join(folder), &mut known);
        known
    });
    assert!(known.len() > 500, "only {} tests were found", known.len());
    let rows = rows(&fs::read_to_string(root().join(PAGE)).expect("the page is here"));
    assert!(rows.len() > 20, "only {} rows were found", rows.len());
    let mut wrong = Vec::new();
    for row in rows {
        let (first, named) = row.split_first().expect("a row has cells");
        let named = named.last().map_or_else(Vec::new, |cell| cell.codes.clone());
        if named.is_empty() {
            wrong.push(format!("`{}`: no test holds it", first.text));
        }
        let is_known =
            |name: &String| known.contains(name) || (name.contains('/') && root().join(name).is_file());
        wrong
            .extend(named.into_iter().filter(|name| !is_known(name)).map(|name| format!("no test `{name}`")));
    }
    assert!(wrong.is_empty(), "{PAGE}:\n{}", wrong.join("\n"));
}

#[test]
fn a_function_without_the_attribute_of_a_test_is_no_test() {
    let source = "#[test]\nfn one() {}\n\n#[tokio::test]\nasync fn two() {}\n\nfn three() {}\n\n\
                  #[cfg(unix)]\n#[test]\n#[ignore]\nfn four() {}\n\n#[derive(Debug)]\nstruct S;\n\nfn five() {}\n";
    let mut known = BTreeSet::new();
    tests_in(source, &mut known);
    assert_eq!(known, ["four", "one", "two"].map(str::to_owned).into());
}

/// A cell of a table: its text, and its code spans.
#[derive(Default)]
struct Cell {
    text: String,
    codes: Vec<String>,
}

/// The rows of all tables, without their heads.
fn rows(page: &str) -> Vec<Vec<Cell>> {
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    let mut cell: Option<Cell> = None;
    for event in Parser::new_ext(page, Options::ENABLE_TABLES) {
        match (event, &mut cell) {
            (Event::Start(Tag::TableRow | Tag::TableHead), _) => rows.push(Vec::new()),
            (Event::End(TagEnd::TableHead), _) => drop(rows.pop()),
            (Event::Start(Tag::TableCell), cell) => *cell = Some(Cell::default()),
            (Event::End(TagEnd::TableCell), cell) => {
                rows.last_mut().expect("a cell is in a row").extend(cell.take());
            }
            (Event::Text(text), Some(cell)) => cell.text.push_str(&text),
            (Event::Code(code), Some(cell)) => {
                cell.text.push_str(&code);
                cell.codes.push(code.to_string());
            }
            _ => {}
        }
    }
    rows
}

/// Adds the tests of a folder.
fn collect(folder: &Path, known: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("the sources are here") {
        let path = entry.expect("it can be listed").path();
        if path.is_dir() {
            collect(&path, known);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            tests_in(&fs::read_to_string(&path).expect("sources are text"), known);
        }
    }
}

/// Adds the functions behind an attribute that makes a test of them.
fn tests_in(source: &str, known: &mut BTreeSet<String>) {
    let mut is_test = false;
    for line in source.lines().map(str::trim) {
        if line.starts_with("#[") {
            is_test |= line == "#[test]" || line.starts_with("#[tokio::test");
            continue;
        }
        let signature = line.strip_prefix("async ").unwrap_or(line);
        let name = signature.strip_prefix("fn ").and_then(|rest| rest.split_once('('));
        if let (true, Some((name, _))) = (is_test, name) {
            known.insert(name.to_owned());
        }
        is_test = false;
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
