//! The examples that build as fast as a test does. `.ci/examples` builds the others, and all of them unchanged.

use std::fs;
use std::path::Path;

use crate::WORKSPACE;
use crate::project::Draft;

/// Runs the tests of an example.
fn passes(name: &'static str, tests: &[(&str, &str)]) {
    Draft::example(name).shared().cargo(&["test", "--tests"]).passes().never_says("warning").ran(tests);
}

#[test]
fn a_team_of_agents_records_each_agent_under_its_name() {
    passes("multi-agent", &[("trips::a_flight_and_a_hotel", "ok"), ("trips::a_flight_alone", "ok")]);
}

#[test]
fn a_metric_of_your_own_asks_a_judge() {
    passes("judged-metric", &[("service::a_late_parcel", "ok")]);
}

#[test]
fn a_user_is_simulated_by_a_function() {
    passes("simulated-user", &[("desk::has_to_be_asked", "ok")]);
}

#[test]
fn a_program_has_its_evals_as_a_command() {
    passes("program", &[("units::a_marathon", "ok"), ("the_program_runs_its_evals", "ok")]);
}

/// The most lines that are added to an agent to make it testable.
const MAX_LINES: usize = 15;

/// An adapter to copy for each agent of a framework whose runner, sessions and events are its own.
const ADAPTER: (&str, usize) = ("examples/adk-rust/tests/weather.rs", 100);

const BEGIN: &str = "// The glue";
const END: &str = "// End of the glue.";

/// The lines of code between the marks.
fn glue(text: &str) -> usize {
    let parts = text.split(BEGIN).skip(1).map(|part| part.split_once(END).expect("the glue has an end").0);
    // The first line is the rest of the mark.
    let lines = parts.flat_map(|part| part.lines().skip(1)).map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

#[test]
fn each_example_says_how_many_lines_the_glue_takes() {
    let short = [
        "eval-cli/templates/async_openai.rs",
        "eval-cli/templates/rig.rs",
        "examples/judged-metric/tests/service.rs",
        "examples/multi-agent/tests/trips.rs",
        "examples/program/src/main.rs",
        "examples/simulated-user/tests/desk.rs",
        "samples/support/agent.rs",
    ];
    for (file, most) in short.into_iter().map(|file| (file, MAX_LINES)).chain([ADAPTER]) {
        let text = fs::read_to_string(Path::new(WORKSPACE).join(file)).expect("the sources are here");
        let lines = glue(&text);
        assert!((1..=most).contains(&lines), "{file}: {lines} lines");
        let says = format!("The glue takes {lines} lines");
        let head = text.lines().take_while(|line| line.starts_with("//!")).collect::<Vec<_>>().join("\n");
        assert!(head.contains(&says), "{file} does not begin with `{says}`:\n{head}");
    }
}
