//! The first steps of the README, taken as they are written.

use std::fs;
use std::path::Path;

use crate::WORKSPACE;
use crate::first_steps::Walk;

#[test]
fn who_follows_the_readme_has_tests_that_pass() {
    let readme = fs::read_to_string(Path::new(WORKSPACE).join("README.md")).expect("the sources are here");
    // A newcomer's package is likely to have this name, and a library.
    let walk = Walk::begin("readme", "weather");
    let mut ran = None;
    for line in first_block(&readme, "sh").lines() {
        let words: Vec<_> = line.split_whitespace().take_while(|word| *word != "#").collect();
        match words.as_slice() {
            // The program of this workspace takes its place.
            ["cargo", "install", "--path", "../evalset/eval-cli"] => {}
            ["cargo", "evalset", args @ ..] => drop(walk.evalset(args).passes()),
            ["cargo", args @ ..] => ran = Some(walk.cargo(args).passes()),
            _ => panic!("what is `{line}`?"),
        }
    }
    let ran = ran.expect("the README runs the tests");
    for line in first_block(&readme, "text").lines() {
        assert!(ran.stdout().contains(line), "this should say `{line}`:\n{ran}");
    }
    assert_eq!(walk.read("evals/weather.evalset.json"), first_block(&readme, "json"));
    assert_eq!(walk.read("tests/weather.rs"), first_block(&readme, "rust"));
    walk.append("tests/weather.rs", USES_THE_LIBRARY);
    walk.cargo(&["test", "--test", "weather"]).passes().never_says("warning").ran(&[
        ("the_library_is_not_hidden", "ok"),
        ("weather_cases::rainy_in_Oslo", "ok"),
        ("weather_cases::sunny_in_Paris", "ok"),
    ]);
}

const USES_THE_LIBRARY: &str =
    "\n#[test]\nfn the_library_is_not_hidden() {\n    assert_eq!(weather::add(2, 2), 4);\n}\n";

/// The text of the first code block in a language.
fn first_block<'a>(text: &'a str, language: &str) -> &'a str {
    let block = text.split_once(&format!("```{language}\n")).and_then(|(_, rest)| rest.split_once("```"));
    block.unwrap_or_else(|| panic!("the README has no block of {language}")).0
}
