//! Rebuilds after a file changed, and stale tests that were not rebuilt.

use crate::project::{Draft, Project, set};

const SET: &str = "evals/weather.evalset.json";
const CONFIG: &str = "evals/test_config.json";
const PASSES: [(&str, &str); 1] = [("weather::paris", "ok")];
const FAILS: [(&str, &str); 1] = [("weather::paris", "FAILED")];

/// The agent says that it is sunny in Paris.
const SUNNY: &str = "It is sunny in Paris.";
/// As long as the above.
const RAINY: &str = "It is rainy in Paris.";

fn expecting(answer: &str) -> String {
    set(&[("paris", "Weather in Paris?", answer)])
}

fn demanding(threshold: f64) -> String {
    format!(r#"{{"criteria": {{"response_match_score": {threshold:?}}}}}"#)
}

/// A project for the test of this name.
fn project(name: &'static str, config: Option<String>) -> Project {
    let draft = Draft::new("tracking").named(name).file(SET, expecting(SUNNY));
    let draft = draft.file("evals/other.json", "{}").file("README.md", "# Weather");
    match config {
        Some(config) => draft.file(CONFIG, config),
        None => draft,
    }
    .owned()
}

#[test]
fn an_edit_of_the_set_or_of_its_config_builds_again_and_no_other_does() {
    let project = project("tracking_edits", Some(demanding(0.9)));
    project.cargo(&["test"]).passes().ran(&PASSES);

    project.write(SET, &expecting("It is raining in Oslo."));
    let run = project.cargo(&["test"]).fails().ran(&FAILS).says("expected  It is raining in Oslo.");
    assert!(run.compiled("tracking_edits"), "{run}");

    project.write(CONFIG, &demanding(0.1));
    let run = project.cargo(&["test"]).passes().ran(&PASSES);
    assert!(run.compiled("tracking_edits"), "{run}");

    project.write("README.md", "# The weather");
    project.write("evals/other.json", "{\"other\": true}");
    project.write("evals/new.evalset.json", &expecting(SUNNY));
    let run = project.cargo(&["test"]).passes().ran(&PASSES);
    assert!(!run.compiled("tracking_edits"), "{run}");
}

#[test]
fn a_broken_edit_stops_the_build_and_its_repair_starts_it_again() {
    let project = project("tracking_breaks", None);
    project.cargo(&["test"]).passes().ran(&PASSES);
    project.write(SET, &expecting(SUNNY).replacen("\"eval_id\"", "\"eval_di\"", 1));
    project
        .cargo(&["test"])
        .fails()
        .says("error: ")
        .says(&format!("--> {SET}:"))
        .says("could not compile `tracking_breaks`");
    project.write_as_of_yesterday(SET, &expecting(SUNNY));
    project.cargo(&["test"]).passes().ran(&PASSES);
}

#[test]
fn an_older_file_in_place_of_the_compiled_one_is_stale() {
    let project = project("tracking_swaps", None);
    project.cargo(&["test"]).passes().ran(&PASSES);

    // Cargo goes by times, so it has nothing to do.
    project.write_as_of_yesterday(SET, &expecting("It is raining in Oslo, as always."));
    let run = project.cargo(&["test"]).fails().ran(&FAILS);
    assert!(!run.compiled("tracking_swaps"), "{run}");
    let text = run.failure("weather::paris");
    let headline = format!("Error: weather::paris: stale: `{SET}` changed after this test was built\n");
    assert!(text.starts_with(&headline), "{text}");
    assert!(text.contains(&format!("touch {SET}")), "{text}");

    // What the message says helps.
    project.touch(SET);
    project.cargo(&["test"]).fails().says("expected  It is raining in Oslo, as always.");
}

#[test]
fn an_older_file_of_the_same_length_is_stale_though_the_test_would_pass() {
    let project = project("tracking_same_length", Some(demanding(1.0)));
    project.cargo(&["test"]).passes().ran(&PASSES);
    project.write_as_of_yesterday(SET, &expecting(RAINY));
    let run = project.cargo(&["test"]).fails().ran(&FAILS);
    assert!(!run.compiled("tracking_same_length"), "{run}");
    run.says(&format!("stale: `{SET}` changed after this test was built"));
    project.touch(SET);
    project.cargo(&["test"]).fails().says(&format!("expected  {RAINY}"));
}

#[test]
fn a_large_file_that_was_moved_into_place_is_stale_though_the_test_would_pass() {
    let padded = |answer: &str| expecting(answer) + &" ".repeat(300 << 10);
    let project = project("tracking_large", None);
    project.write_as_of_yesterday("elsewhere.json", &padded(RAINY));
    project.write(SET, &padded(SUNNY));
    project.cargo(&["test"]).passes().ran(&PASSES);
    project.rename("elsewhere.json", SET);
    let run = project.cargo(&["test"]).fails().ran(&FAILS);
    assert!(!run.compiled("tracking_large"), "{run}");
    run.says(&format!("stale: `{SET}` changed after this test was built"));
}

#[test]
fn a_config_created_later_is_stale() {
    let project = project("tracking_new_config", None);
    project.cargo(&["test"]).passes().ran(&PASSES);
    project.write(CONFIG, &demanding(0.9));
    let headline =
        format!("Error: weather::paris: stale: `{CONFIG}` was created after this test was built\n");
    let run = project.cargo(&["test"]).fails().ran(&FAILS).says(&headline);
    assert!(!run.compiled("tracking_new_config"), "{run}");
    project.touch(SET);
    project.cargo(&["test"]).passes().ran(&PASSES);
}

#[test]
fn a_removed_set_is_stale() {
    let project = project("tracking_no_set", None);
    let before = project.test_binary("tests/evals.rs");
    project.remove(SET);
    let headline = format!("Error: weather::paris: stale: `{SET}` was removed after this test was built\n");
    before.run(&[]).fails().ran(&FAILS).says(&headline);
    project.cargo(&["test"]).fails().says(&format!("error: there is no file or directory `{SET}`"));
}

#[test]
fn a_removed_config_is_stale_until_cargo_builds_again() {
    let project = project("tracking_no_config", Some(demanding(0.9)));
    let before = project.test_binary("tests/evals.rs");
    before.run(&[]).passes().ran(&PASSES);
    project.remove(CONFIG);
    let headline =
        format!("Error: weather::paris: stale: `{CONFIG}` was removed after this test was built\n");
    before.run(&[]).fails().ran(&FAILS).says(&headline);
    let run = project.cargo(&["test"]).passes().ran(&PASSES);
    assert!(run.compiled("tracking_no_config"), "{run}");
}
