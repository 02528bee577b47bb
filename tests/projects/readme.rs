//! The first steps of the README, taken as they are written.

use std::fs;
use std::path::Path;

use crate::project::{Draft, WORKSPACE};

#[test]
fn who_follows_the_readme_has_a_test_that_passes() {
    let readme = fs::read_to_string(Path::new(WORKSPACE).join("README.md")).expect("the sources are here");
    Draft::empty("readme")
        .file("evals/weather.evalset.json", first_block(&readme, "json"))
        .file("tests/weather.rs", first_block(&readme, "rust"))
        .shared()
        .cargo(&["test", "--test", "weather"])
        .passes()
        .never_says("warning")
        .says(first_block(&readme, "text").trim())
        .ran(&[("weather::sunny_in_Paris", "ok")]);
}

/// What the first code block in a language holds.
fn first_block<'a>(text: &'a str, language: &str) -> &'a str {
    let block = text.split_once(&format!("```{language}\n")).and_then(|(_, rest)| rest.split_once("```"));
    block.unwrap_or_else(|| panic!("the README has no block of {language}")).0
}
