//! The agent of the program as cargo tests, and the program's own command on the same set.

use std::process::Command;

use eval_core::{Agent, agent_fn, eval_set};
use example_program::answer;

#[eval_set("evals/units.evalset.json")]
fn units() -> impl Agent {
    agent_fn(answer)
}

#[test]
fn the_program_runs_its_evals() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_example-program"));
    let output = program
        .args(["eval", "--set", "evals/units.evalset.json"])
        .output()
        .expect("it runs");
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
