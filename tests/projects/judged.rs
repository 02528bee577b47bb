//! Judges that cost money: asked on demand, recorded, replayed.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use eval_core::format::recording::Recording;

use crate::project::{Draft, Project, TestBinary, echo_set};
use crate::run::Run;

const SET: &str = "evals/manners.evalset.json";
const RECORDING: &str = "evals/manners.evalset.judge.json";
const KEY: (&str, &str) = ("MY_API_KEY", "sk-0123456789");
const RECORD: (&str, &str) = ("EVALSET_JUDGE", "record");
const PASSES: [(&str, &str); 2] = [("manners::bread", "ok"), ("manners::salt", "ok")];
const FAILS: [(&str, &str); 2] = [("manners::bread", "FAILED"), ("manners::salt", "FAILED")];

fn project(name: &'static str) -> Project {
    let set = echo_set(&[("bread", "The bread"), ("salt", "The salt")]);
    Draft::new("judged").named(name).file(SET, set).owned()
}

impl Project {
    fn test(&self, variables: &[(&str, &str)]) -> Run {
        Run::of(self.command().args(["test"]).envs(variables.iter().copied()))
    }

    fn recording(&self) -> Recording {
        let text = fs::read_to_string(self.folder().join(RECORDING)).expect("it was recorded");
        Recording::parse(&text).unwrap_or_else(|problems| panic!("{problems}"))
    }
}

/// The number of times that the judge was asked.
fn paid(binary: &TestBinary, variables: &[(&str, &str)]) -> usize {
    binary.run_with(variables, &["--nocapture"]).passes().output().matches("PAID").count()
}

#[test]
fn nobody_is_asked_unless_the_environment_says_so() {
    let project = project("judged_unasked");
    let binary = project.test_binary("tests/evals.rs");
    for variables in [&[][..], &[KEY], &[KEY, ("EVALSET_JUDGE", "replay")], &[KEY, ("EVALSET_JUDGE", "")]] {
        let run = binary.run_with(variables, &[]).fails().ran(&FAILS).never_says("PAID");
        let text = run.failure("manners::bread");
        let expected = format!(
            "Error: manners::bread: polite: no judge: there is no recording `{RECORDING}`, and a judge is asked only \
             if `EVALSET_JUDGE` says so\n"
        );
        assert!(text.starts_with(&expected), "{text}");
        let record = "\nrecord it     EVALSET_JUDGE=record cargo test -p judged_unasked --test evals manners::bread -- --exact\n";
        assert!(text.contains(record), "{text}");
        assert_eq!(text.matches("EVALSET_MISSING_JUDGE=skip").count(), 1, "{text}");
    }
    assert_eq!(
        paid(&binary, &[KEY, ("EVALSET_JUDGE", "live")]),
        4,
        "two cases of three samples, of which two agree"
    );
    assert!(!project.folder().join(RECORDING).exists(), "`live` keeps nothing");

    let run = binary.run_with(&[("EVALSET_MISSING_JUDGE", "skip")], &[]).passes().ran(&PASSES);
    run.says("manners::bread: skipped: no judge for polite: no judge: there is no recording");
    let run = binary.run_with(&[("EVALSET_JUDGE", "rec")], &[]).fails();
    run.says("harness error: `EVALSET_JUDGE` is `rec`; it can be `replay`, `record` or `live`");
    let run = binary.run_with(&[("EVALSET_MISSING_JUDGE", "yes")], &[]).fails();
    run.says("harness error: `EVALSET_MISSING_JUDGE` is `yes`; it can be `fail` or `skip`");
    let run = binary.run_with(&[("EVALSET_JUDGE", "live"), ("EVALSET_MISSING_JUDGE", "skip")], &[]).fails();
    run.says("the function of `judge = ..` made no judge: environment variable not found");
}

#[test]
fn a_recording_is_replayed_until_the_question_changes() {
    let project = project("judged_recorded");
    project.test(&[KEY, RECORD]).passes().ran(&PASSES);
    let text = fs::read_to_string(project.folder().join(RECORDING)).expect("it was recorded");
    assert!(text.contains("\"The bread, please\",\n") && !text.contains(KEY.1), "{text}");
    assert!(project.recording().questions().iter().all(|question| question.replies.len() == 2), "{text}");

    // The first recording makes cargo build again, so the next run has it compiled in.
    let run = project.test(&[]).passes().ran(&PASSES);
    assert!(run.compiled("judged_recorded"), "{run}");
    let binary = project.test_binary("tests/evals.rs");
    assert_eq!(paid(&binary, &[KEY]), 0);
    assert_eq!(paid(&binary, &[KEY, RECORD]), 0, "what is recorded is not asked again");
    binary.run_with(&[("CARGO_MANIFEST_DIR", "/nowhere")], &[]).passes().ran(&PASSES);

    project.write(SET, &echo_set(&[("bread", "The butter"), ("salt", "The salt")]));
    let run = project.test(&[]).fails().ran(&[FAILS[0], PASSES[1]]);
    let text = run.failure("manners::bread");
    for part in [
        &format!(
            "Error: manners::bread: polite: not recorded: `{RECORDING}` has no answer to this question of `polite`"
        ),
        "\n  |   - The bread, please\n  |   + The butter, please\n",
        "\nrecord it     EVALSET_JUDGE=record cargo test -p judged_recorded --test evals manners::bread -- --exact\n",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(text.matches("EVALSET_JUDGE=record").count(), 1, "{text}");
    assert!(!text.contains("run again"), "it would fail again: {text}");
    project.test(&[KEY, RECORD]).passes();
    project.test(&[]).passes();
    let binary = project.test_binary("tests/evals.rs");
    let run = binary.run_with(&[("EVALSET_PRINT", "all")], &["--nocapture"]).passes();
    run.says(&format!("note: `{RECORDING}` holds 2 answers to polite/1, `m` that this case did not ask for"));

    project.write(RECORDING, "{\"judge_recording\": 1, \"questions\": [\n<<<<<<< HEAD\n]}\n");
    project
        .test(&[])
        .fails()
        .says("the file holds the marks of a merge conflict")
        .says(&format!("{RECORDING}:2:1"));
    project.remove(RECORDING);
    project.test(&[]).fails().ran(&FAILS).says(&format!("no judge: there is no recording `{RECORDING}`"));
}

#[test]
fn secrets_are_not_recorded() {
    let project = project("judged_secrets");
    let binary = project.test_binary("tests/evals.rs");
    let run = binary.run_with(&[KEY, RECORD, ("OTHER_TOKEN", "The bread")], &[]).fails();
    run.says("cannot record: the question holds the value of `OTHER_TOKEN`")
        .says("test manners::salt ... ok");
    let run = binary.run_with(&[KEY, RECORD, ("ANSWER", KEY.1)], &[]).fails();
    run.says("cannot record: the answer holds the value of `MY_API_KEY`");
    let text = fs::read_to_string(project.folder().join(RECORDING)).expect("the other case was recorded");
    assert!(!text.contains(KEY.1) && !text.contains("The bread"), "{text}");
}

#[test]
fn many_processes_record_at_once_and_a_killed_one_leaves_a_whole_file() {
    let ids: Vec<String> = (0..24).map(|at| format!("case_{at}")).collect();
    let cases: Vec<(&str, &str)> = ids.iter().map(|id| (id.as_str(), id.as_str())).collect();
    let draft = Draft::new("judged").named("judged_at_once").file(SET, echo_set(&cases));
    let project = draft.owned();
    let binary = project.test_binary("tests/evals.rs");

    let mut killed = binary
        .command(&[KEY, RECORD], &[])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it was just built");
    let begun = Instant::now();
    while !project.folder().join(RECORDING).exists() && begun.elapsed() < Duration::from_mins(1) {
        std::thread::sleep(Duration::from_millis(1));
    }
    killed.kill().expect("it is ours");
    killed.wait().expect("it was killed");
    assert!(!project.recording().questions().is_empty());

    let halves = ["case_1", "case_"].map(|filter| {
        let mut command = binary.command(&[KEY, RECORD], &[filter]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it was just built")
    });
    for mut half in halves {
        assert!(half.wait().expect("it ends by itself").success());
    }
    let recording = project.recording();
    assert_eq!(recording.questions().len(), cases.len());
    assert!(recording.questions().iter().all(|question| question.replies.len() == 2));
    let left: Vec<_> = fs::read_dir(project.folder().join("evals")).expect("a folder").collect();
    assert_eq!(left.len(), 2, "the set and the recording: {left:?}");

    if project.has(&["nextest", "--version"]) {
        project.remove(RECORDING);
        let mut command = project.command();
        Run::of(command.args(["nextest", "run"]).envs([KEY, RECORD])).passes();
        let recording = project.recording();
        assert_eq!(recording.questions().len(), cases.len());
        assert!(recording.questions().iter().all(|question| question.replies.len() == 2));
        project.cargo(&["nextest", "run"]).passes();
    }
}
