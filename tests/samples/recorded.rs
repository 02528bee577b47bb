//! Recorded runs of the samples score the same again.

use std::path::Path;
use std::process::Command;

use eval_core::format::conventions::recording_path;
use eval_core::format::metric::METRICS;
use eval_core::judge::{JudgeMode, RecordedJudge, ScriptedJudge};
use eval_core::{EvalRunner, EvalSet};
use eval_report::journal::{Attempt, RecordedRun};

/// The samples' journal, written by a process of its own.
fn samples() -> RecordedRun {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("samples");
    let _ = std::fs::remove_dir_all(&folder);
    let output = Command::new(std::env::current_exe().expect("this is a program"))
        .args(["--skip", "recorded::", "--skip", "a_runner_"])
        .envs([("EVALSET_DIR", folder.as_path()), ("EVALSET_RUN_ID", Path::new("samples"))])
        .env_remove("EVALSET_JOURNAL")
        .output()
        .expect("a test can run itself");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    RecordedRun::read(&folder.join("samples")).expect("it was just written")
}

/// The file of the set of a test, relative to the package.
fn set_file(attempt: &Attempt) -> &str {
    attempt.started.set_file.as_deref().expect("samples stand in files")
}

/// The same criteria, and the recorded judge, as the attribute had them.
fn runner(attempt: &Attempt) -> EvalRunner {
    let decided = attempt.decided.as_ref().expect("samples come to their end");
    let recording = recording_path(set_file(attempt));
    let nobody = ScriptedJudge::new([""; 0]);
    let judge = RecordedJudge::with_mode(recording, nobody, JudgeMode::Replay).expect("a recording or none");
    let mut runner = EvalRunner::new()
        .runs(attempt.evaluations.len())
        .pass(attempt.started.pass)
        .gate(attempt.started.gate)
        .judge(judge);
    for metric in &decided.metrics {
        // Custom metrics are not here; the state is compared in any case.
        let is_known = METRICS.iter().any(|known| known.name == metric.name);
        let is_added = metric.name == "final_session_state_match";
        if let Some(criterion) = metric.criterion.clone().filter(|_| is_known && !is_added) {
            runner = runner.criterion(&metric.name, criterion);
        }
    }
    runner
}

#[tokio::test]
async fn recorded_samples_score_the_same_again() {
    let run = samples();
    assert_eq!((run.torn, run.unreadable.len()), (0, 0));
    let mut compared = 0;
    for test in &run.tests {
        let attempt = test.last().expect("a test that is listed has begun");
        let set = EvalSet::read(set_file(attempt)).expect("samples are valid");
        let case = set.eval_cases.iter().find(|case| case.eval_id == attempt.started.eval_id);
        let case = case.unwrap_or_else(|| panic!("{} is in its set", attempt.started.eval_id));
        let transcripts = attempt.evaluations.iter().map(|it| it.ran.transcript.clone()).collect();
        let report = runner(attempt).score_case(case, transcripts).await.expect("the criteria fit the case");
        for (again, evaluation) in report.runs.iter().zip(&attempt.evaluations) {
            let recorded = &evaluation.scored.as_ref().expect("samples are scored").metrics;
            for metric in &again.metrics {
                let before = recorded.iter().find(|before| before.name == metric.name);
                if let Some(before) = before {
                    assert_eq!(before.outcome, metric.outcome, "{} of {}", metric.name, test.name());
                    compared += 1;
                }
            }
        }
    }
    assert!(run.tests.len() > 20 && compared > 100, "{} tests, {compared} scores", run.tests.len());
}
