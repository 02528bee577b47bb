//! The first steps of the README, taken as they are written.

use std::fs;
use std::path::Path;

use crate::project::{Draft, WORKSPACE};

#[test]
fn who_follows_the_readme_has_a_test_that_passes() {
    let readme = fs::read_to_string(Path::new(WORKSPACE).join("README.md")).expect("the sources are here");
    // The package of somebody who tries it is likely to have this name, and a library.
    Draft::empty("weather")
        .file("src/lib.rs", "/// The sky.\npub fn sky() -> &'static str {\n    \"sunny\"\n}\n")
        .file("evals/weather.evalset.json", first_block(&readme, "json"))
        .file("tests/weather.rs", format!("{}{USES_THE_LIBRARY}", first_block(&readme, "rust")))
        .shared()
        .cargo(&["test", "--test", "weather"])
        .passes()
        .never_says("warning")
        .says(first_block(&readme, "text").trim())
        .ran(&[("the_library_is_not_hidden", "ok"), ("weather_cases::sunny_in_Paris", "ok")]);
}

const USES_THE_LIBRARY: &str =
    "\n#[test]\nfn the_library_is_not_hidden() {\n    assert_eq!(weather::sky(), \"sunny\");\n}\n";

/// What the first code block in a language holds.
fn first_block<'a>(text: &'a str, language: &str) -> &'a str {
    let block = text.split_once(&format!("```{language}\n")).and_then(|(_, rest)| rest.split_once("```"));
    block.unwrap_or_else(|| panic!("the README has no block of {language}")).0
}
