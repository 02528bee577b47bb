//! The commands of the README, in its order, with the agents and the traces of `readme/` in place of a user's.

use std::fs;
use std::path::Path;

use crate::WORKSPACE;
use crate::first_steps::Walk;

/// The name of the draft that the README's traces hold. On a terminal `accept` asks; a test has to name it.
const DRAFT: &str = "support:what_is_the_weather_in_oslo";

#[test]
fn who_follows_the_readme_has_tests_that_pass() {
    let readme = read("README.md");
    // A newcomer's package is likely to have this name, and a library.
    let walk = Walk::begin("readme", "weather");
    for file in ["agent.py", "adk", "traces.jsonl"] {
        walk.copy(&format!("eval-cli/tests/projects/readme/{file}"), file);
    }
    let start = section(&readme, "## Start", "## When a case fails");
    // The program beside the agent takes the place of google-adk's.
    let start = &start.replace("'adk ", "'./adk ");
    for line in blocks(start, "sh").into_iter().flat_map(str::lines) {
        match words(line).iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            // The program of this workspace takes the place of the installed one.
            ["export", "EVALSET_REPOSITORY=ADDRESS"]
            | ["cargo", "install", "--locked", "--git", "$EVALSET_REPOSITORY", "cargo-evalset"] => {}
            ["cargo", "evalset", "accept", "support"] => {
                drop(walk.evalset(&["accept", DRAFT]).passes());
            }
            ["cargo", "evalset", args @ ..] => drop(walk.evalset(args).passes()),
            ["cargo", "test"] => {
                let both = [("weather_cases::rainy_in_Oslo", "ok"), ("weather_cases::sunny_in_Paris", "ok")];
                walk.cargo(&["test", "--test", "weather"]).passes().ran(&both);
            }
            _ => panic!("what is `{line}`?"),
        }
    }
    assert_eq!(walk.read("tests/weather.rs"), blocks(start, "rust")[0]);
    assert!(
        walk.read("evals/support.evalset.json").contains("What is the weather in Oslo?"),
        "the traces became a set"
    );
    walk.append("tests/weather.rs", USES_THE_LIBRARY);
    walk.cargo(&["test", "--test", "weather"]).passes().never_says("warning").ran(&[
        ("the_library_is_not_hidden", "ok"),
        ("weather_cases::rainy_in_Oslo", "ok"),
        ("weather_cases::sunny_in_Paris", "ok"),
    ]);
}

const USES_THE_LIBRARY: &str =
    "\n#[test]\nfn the_library_is_not_hidden() {\n    assert_eq!(weather::add(2, 2), 4);\n}\n";

/// The words of a line, as a shell reads them; single and double quotes keep words together, `#` begins a comment.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in line.chars() {
        match (c, quote) {
            ('\'' | '"', None) => quote = Some(c),
            (_, Some(open)) if c == open => quote = None,
            (' ', None) => words.push(String::new()),
            _ => words.last_mut().expect("there is one").push(c),
        }
    }
    words.into_iter().filter(|word| !word.is_empty()).take_while(|word| word != "#").collect()
}

/// The text from one heading to another.
fn section<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let section = text.split_once(from).and_then(|(_, rest)| rest.split_once(to));
    section.unwrap_or_else(|| panic!("the README lacks `{from}` or `{to}`")).0
}

/// The code blocks in a language.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    text.split(&fence).skip(1).filter_map(|rest| Some(rest.split_once("```")?.0)).collect()
}

fn read(file: &str) -> String {
    fs::read_to_string(Path::new(WORKSPACE).join(file)).expect("the sources are here")
}
