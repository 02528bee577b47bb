//! Features of eval-core that are off: what needs one is an error at its place that names the feature.

use crate::project::{Draft, echo_set};
use crate::run::Run;

/// The errors of rustc as it shows them.
fn errors(run: &Run) -> &str {
    let begin = run.stderr().find("error: ").unwrap_or_else(|| panic!("no errors:\n{run}"));
    let errors = &run.stderr()[begin..];
    errors[..errors.find("error: could not compile").unwrap_or(errors.len())].trim_end()
}

#[test]
fn what_asks_a_judge_needs_the_feature_judges() {
    let project = Draft::new("judges_off")
        .dependencies("[dependencies]\neval-core.path = \"{workspace}/eval-core\"\n")
        .file("evals/plain.evalset.json", echo_set(&[("hello", "Hello!")]))
        .shared();
    let expected = include_str!("features/judges_off.stderr").trim_end();
    // Without tests and with them: each error once.
    for args in [&["build"][..], &["test", "--lib", "--no-run"]] {
        let run = project.cargo(args).fails();
        assert_eq!(errors(&run), expected, "\n{run}");
    }
}

#[test]
fn a_recording_beside_a_set_needs_no_feature() {
    let test = "use eval_core::{Agent, BoxError, agent_fn, eval_set};\n\n\
                #[eval_set(\"evals/plain.evalset.json\")]\n\
                fn plain() -> impl Agent {\n    \
                agent_fn(|text: String, _| async move { Ok::<_, BoxError>(text) })\n}\n";
    let recording = "{\"judge_recording\": 1, \"questions\": []}\n";
    Draft::empty("recorded_without_judges")
        .dependencies("[dev-dependencies]\neval-core.path = \"{workspace}/eval-core\"\n")
        .file("tests/evals.rs", test)
        .file("evals/plain.evalset.json", echo_set(&[("hello", "Hello!")]))
        .file("evals/plain.evalset.judge.json", recording)
        .shared()
        .cargo(&["test"])
        .passes()
        .ran(&[("plain::hello", "ok")]);
}
