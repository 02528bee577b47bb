//! The services, as far as they are emulated: what runs as there, and what is refused.

use super::machine::Machine;
use super::page::ADDRESS;
use super::{github, gitlab};

#[test]
fn what_is_not_emulated_is_refused() {
    let workflow = |job: &str, step: &str| {
        format!(
            "on: push\npermissions: {{contents: read}}\njobs:\n  evals:\n    runs-on: ubuntu-latest\n    \
             timeout-minutes: 30\n{job}    steps:\n      - run: 'true'\n{step}"
        )
    };
    let read = |job, step| github::Job::new(&workflow(job, step), None).map(drop);
    assert_eq!(read("", ""), Ok(()));
    for (job, step, refused) in [
        ("    continue: 1\n", "", "`workflow.jobs.evals` has `continue`"),
        ("", "        with: {}\n", "`step` has `with`"),
        ("", "        shell: pwsh\n", "`pwsh` is no shell"),
        ("", "        run: again\n", "duplicate"),
        ("", "      - uses: actions/cache@v4\n", "`actions/cache@v4` is no action"),
        ("", "      - uses: actions/checkout@v4\n", "`step.with.persist-credentials` is None"),
        (
            "",
            "      - uses: actions/checkout@v4\n        with: {persist-credentials: false, path: a}\n",
            "`step.with` has `path`",
        ),
    ] {
        let said = read(job, step).expect_err(refused);
        assert!(said.contains(refused), "{said}");
    }
    assert!(gitlab::Job::new("evals:\n  image: rust:1.0\n").is_err_and(|said| said.contains("image")));
}

#[test]
fn steps_run_as_at_github() {
    let workflow = "on: push\npermissions: {contents: read}\nenv: {A: of-all, B: of-all}\njobs:\n  evals:\n    \
        runs-on: ubuntu-latest\n    timeout-minutes: 1\n    env: {B: of-job}\n    steps:\n      \
        - run: false | true && echo passed\n      \
        - {run: 'false | true', shell: bash, id: pipe, continue-on-error: true}\n      \
        - run: |\n          echo \"C=of-step\" >> \"$GITHUB_ENV\"\n          mkdir programs\n          \
          echo \"$PWD/programs\" >> \"$GITHUB_PATH\"\n      \
        - {run: 'echo \"$A $B $C $D ${PATH%%:*}\"; echo summary > \"$GITHUB_STEP_SUMMARY\"', env: {D: '${{ steps.pipe.outcome }}'}}\n      \
        - {run: \"false\\necho never\", id: fails}\n      \
        - {run: echo never, id: skipped}\n      \
        - {run: echo always, if: always(), id: always}\n";
    let machine = Machine::new("emulated", ADDRESS, false);
    let ended = github::Job::new(workflow, None).expect("it is known").run(&machine, 1, &[]);
    let programs = machine.workspace().join("programs");
    assert!(
        ended.log.contains(&format!("of-all of-job of-step failure {}\n", programs.display())),
        "{}",
        ended.log
    );
    assert!(ended.log.contains("passed\n") && ended.log.contains("always\n"), "{}", ended.log);
    assert!(ended.has_failed && !ended.log.contains("never"), "{}", ended.log);
    assert_eq!(ended.with("failure"), ["pipe", "fails"]);
    assert_eq!(ended.with("skipped"), ["skipped"]);
    assert_eq!(ended.summary, "summary\n");
}
