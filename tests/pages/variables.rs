//! The variables `EVALSET_..` have one list: the page shows it, and no source spells a name beside it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use eval_support::variables::{ALL, OF_THIS_PROJECT};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_page_lists_the_variables_that_are_read() {
    let page = fs::read_to_string(root().join("docs/configuration.md")).expect("the page is there");
    let (_, section) = page.split_once("## Environment variables").expect("the page has the section");
    let (section, _) = section.split_once("\n## ").expect("another section follows");
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `EVALSET_"));
    let listed: Vec<String> =
        rows.filter_map(|row| Some(format!("EVALSET_{}", row.split_once('`')?.0))).collect();
    assert_eq!(listed, ALL);
    for name in OF_THIS_PROJECT {
        assert!(section.contains(&format!("`{name}`")), "{name} is said");
    }
}

/// The Rust files below a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("it can be listed").filter_map(Result::ok) {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn a_name_of_a_variable_is_spelt_in_one_place() {
    let mut files = Vec::new();
    for name in [
        "eval-agents/src",
        "eval-core/src",
        "eval-cli/src",
        "eval-format/src",
        "eval-gateway/src",
        "eval-macros/src",
        "eval-report/src",
        "eval-server/src",
        "eval-support/src",
    ] {
        sources(&root().join(name), &mut files);
    }
    assert!(files.len() > 200, "{} files", files.len());
    let mut spelt = BTreeSet::new();
    for file in &files {
        let text = fs::read_to_string(file).expect("it can be read");
        // Tests are at the end of a file, or in files of their own.
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        let is_name = |text: &str| text.chars().all(|c| c.is_ascii_uppercase() || c == '_');
        let reads = code.split('"').any(|word| word.strip_prefix("EVALSET_").is_some_and(is_name));
        let path = file.strip_prefix(root()).expect("it is below").to_string_lossy().replace('\\', "/");
        let is_test = path.contains("/tests") || path.contains("/test_support");
        if reads && !is_test {
            spelt.insert(path);
        }
    }
    assert_eq!(spelt.into_iter().collect::<Vec<_>>(), ["eval-support/src/variables.rs"]);
}
