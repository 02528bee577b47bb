//! Journals that runs leave behind, however they end.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use eval_core::agent::{Agent, BoxAgent, BoxError, Recorder, Replay, Unreachable, agent_fn, turn_fn};
use eval_core::report::{MetricOutcome, Role};
use eval_core::{Criterion, EvalCase, EvalRunner, EvalSet, Invocation, Verdict, json};
use eval_core::{Metric, MetricInput, Score, Scores};
use eval_format::MatchType;
use tempfile::TempDir;

use crate::journal::{Attempt, RecordedRun, runs};

fn run(
    runner: EvalRunner,
    folder: &Path,
    setup: fn(&EvalCase) -> Result<BoxAgent, &'static str>,
) -> RecordedRun {
    let case = EvalCase::new("sunny").turn(Invocation::user("Paris?").response("It is sunny."));
    let set = EvalSet::new("weather").case(case);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let runner = runner.journal(folder);
    let _ = runtime.block_on(runner.run_set(&set, setup, 1)).unwrap();
    RecordedRun::read(&runs(folder).unwrap()[0].path).unwrap()
}

fn only(run: &RecordedRun) -> &Attempt {
    assert_eq!((run.tests.len(), run.torn, run.unreadable.len()), (1, 0, 0));
    assert_eq!(run.tests[0].name(), "weather/sunny");
    run.tests[0].last().unwrap()
}

fn sunny() -> BoxAgent {
    Replay::new([["It is sunny."]]).boxed()
}

#[test]
fn each_run_leaves_its_transcript_its_scores_and_a_verdict() {
    let temporary = TempDir::new().unwrap();
    let folder = temporary.path();
    let run = run(EvalRunner::new().runs(3), folder, |_| Ok(sunny()));
    let attempt = only(&run);
    assert_eq!((attempt.started.runs, attempt.started.attempt, attempt.started.line), (3, 1, None));
    let numbers: Vec<_> = attempt.evaluations.iter().map(|it| (it.ran.run, it.ran.evaluation)).collect();
    assert_eq!(numbers, [(1, 1), (2, 2), (3, 3)]);
    for evaluation in &attempt.evaluations {
        assert_eq!(evaluation.ran.transcript.turns[0].invocation.response_text(), "It is sunny.");
        let metrics = &evaluation.scored.as_ref().unwrap().metrics;
        assert!(
            matches!(&metrics[1].outcome, MetricOutcome::Scored(scores) if scores.overall() == Some(1.0))
        );
    }
    let decided = attempt.decided.as_ref().unwrap();
    assert_eq!((&decided.verdict, decided.metrics[1].score), (&Verdict::Passed, Some(1.0)));
}

#[test]
fn a_runner_opens_one_file_for_all_its_sets() {
    let temporary = TempDir::new().unwrap();
    let folder = temporary.path();
    let runner = EvalRunner::new().journal(folder);
    let set = EvalSet::new("s").case(EvalCase::new("c").turn(Invocation::user("Hi").response("Hi")));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for _ in 0..2 {
        let _ = runtime.block_on(runner.run_set(&set, || Replay::new([["Hi"]]), 1)).unwrap();
    }
    let run = RecordedRun::read(&runs(folder).unwrap()[0].path).unwrap();
    let [one, two] = run.tests.as_slice() else { panic!("each time counts: {:?}", run.tests.len()) };
    assert_eq!((one.attempts.len(), two.attempts.len(), run.never_began.len()), (1, 1, 0));
    assert_eq!(one.attempts[0].file, two.attempts[0].file);
}

/// A folder with two sets of one id, each with a case `c` that expects another answer.
fn twins() -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, answer) in [("a", "yes"), ("b", "no")] {
        let case = EvalCase::new("c").turn(Invocation::user("Hi").response(answer));
        let other = EvalCase::new("d").turn(Invocation::user("Hi").response(answer));
        std::fs::create_dir(folder.path().join(name)).unwrap();
        let set = EvalSet::new("s").case(case).case(other);
        std::fs::write(folder.path().join(name).join("s.evalset.json"), set.to_json()).unwrap();
    }
    folder
}

#[test]
fn a_directory_that_is_run_remembers_its_files() {
    let (sets, temporary) = (twins(), TempDir::new().unwrap());
    let runner = EvalRunner::new().label("yes-man").journal(temporary.path());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let report = runtime.block_on(runner.run_dir(sets.path(), || Replay::new([["yes"]]), 1)).unwrap();
    let file = |name: &str| sets.path().join(name).join("s.evalset.json").display().to_string();
    let location = report.cases[1].location.as_ref().unwrap();
    assert_eq!((&location.file, location.line, location.column), (&file("a"), 27, 5));
    assert_eq!(report.cases[3].label.as_deref(), Some("yes-man"));
    assert!(report.to_string().contains(&format!("--> {}:27:5", file("b"))), "{report}");

    let run = RecordedRun::read(&runs(temporary.path()).unwrap()[0].path).unwrap();
    let told: Vec<_> = run
        .tests
        .iter()
        .map(|test| {
            let attempt = test.last().unwrap();
            let decided = attempt.decided.as_ref().unwrap();
            (
                attempt.started.file.as_deref().unwrap().to_owned(),
                &*attempt.started.eval_id,
                decided.verdict.passed(),
            )
        })
        .collect();
    let expected =
        [(file("a"), "c", true), (file("a"), "d", true), (file("b"), "c", false), (file("b"), "d", false)];
    assert_eq!(told, expected);
    let last = run.tests[3].last().unwrap();
    let started = &last.started;
    assert_eq!(
        (started.set_cases, started.of_program, started.label.as_deref()),
        (Some(2), true, Some("yes-man"))
    );
    let set = std::fs::read_to_string(file("b")).unwrap();
    let checked = eval_format::reader::check_set("s", set.as_bytes(), None);
    let meaning = eval_format::Meaning::from_case(&checked.set.unwrap().eval_cases[1]);
    let recorded = (&started.asks, &started.expects);
    assert_eq!(
        recorded,
        (&meaning.asks, &meaning.expects),
        "the hashes that tell whether it was edited since"
    );
    let headline = last.decided.as_ref().unwrap().headline.as_deref();
    assert_eq!(headline, Some("response_match_score is 0.0, below 0.8"));
}

#[test]
fn a_run_that_is_cancelled_lacks_the_cases_and_the_sets_that_it_did_not_come_to() {
    let (sets, temporary) = (twins(), TempDir::new().unwrap());
    let runner = EvalRunner::new().journal(temporary.path());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let hangs = |case: &EvalCase| {
        let hangs = case.eval_id == "d";
        async move {
            if hangs {
                std::future::pending::<()>().await;
            }
            Replay::new([["yes"]])
        }
    };
    let limit = std::time::Duration::from_millis(200);
    let ended =
        runtime.block_on(async { tokio::time::timeout(limit, runner.run_dir(sets.path(), hangs, 1)).await });
    assert!(ended.is_err(), "it was cancelled");
    let run = RecordedRun::read(&runs(temporary.path()).unwrap()[0].path).unwrap();
    let unfinished = run.tests.iter().filter(|test| test.is_unfinished()).count();
    assert_eq!((run.tests.len(), unfinished, run.never_began.len()), (2, 1, 2));
}

#[test]
fn sets_that_are_built_in_rust_are_told_apart_by_what_is_in_them() {
    let temporary = TempDir::new().unwrap();
    let runner = EvalRunner::new().journal(temporary.path());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for answer in ["no", "yes"] {
        let set = EvalSet::new("s").case(EvalCase::new("c").turn(Invocation::user("Hi").response(answer)));
        let _ = runtime.block_on(runner.run_set(&set, || Replay::new([["yes"]]), 1)).unwrap();
    }
    let run = RecordedRun::read(&runs(temporary.path()).unwrap()[0].path).unwrap();
    let hashes: Vec<_> = run.tests.iter().map(|test| test.last().unwrap().started.expects.clone()).collect();
    assert!(hashes.len() == 2 && !hashes[0].is_empty() && hashes[0] != hashes[1], "{hashes:?}");
}

#[test]
fn a_setup_that_fails_is_on_record() {
    let temporary = TempDir::new().unwrap();
    let folder = temporary.path();
    let run = run(EvalRunner::new(), folder, |_| Err("no agent today"));
    let attempt = only(&run);
    let error = attempt.evaluations[0].ran.transcript.error.as_ref().unwrap();
    assert_eq!((error.role, error.message.as_str()), (Role::Setup, "no agent today"));
    assert!(attempt.evaluations[0].scored.is_none());
    assert!(matches!(attempt.decided.as_ref().unwrap().verdict, Verdict::Error { role: Role::Setup, .. }));
}

#[test]
fn an_agent_that_breaks_leaves_what_it_did_until_then() {
    let temporary = TempDir::new().unwrap();
    let folder = temporary.path();
    let run = run(EvalRunner::new(), folder, |_| {
        let agent = agent_fn(|_, recorder| async move {
            recorder.text("so far");
            Err::<String, BoxError>("gone".into())
        });
        Ok(agent.boxed())
    });
    let ran = &only(&run).evaluations[0].ran;
    assert_eq!(ran.transcript.turns[0].events.len(), 1);
    assert_eq!(ran.transcript.error.as_ref().unwrap().message, "gone");
}

/// A metric that looks at the journal while it scores.
struct Reads(std::path::PathBuf);

impl Metric for Reads {
    async fn score(&self, _: MetricInput<'_>) -> Result<Scores, BoxError> {
        let run = RecordedRun::read(&runs(&self.0)?[0].path)?;
        let attempt = only(&run);
        assert!(attempt.decided.is_none());
        let evaluation = attempt.evaluations.first().ok_or("nothing is recorded yet")?;
        Ok(Scores::whole_run(evaluation.scored.is_none()))
    }
}

/// Has nothing to find fault with.
struct Fine;

impl Metric for Fine {
    async fn score(&self, _: MetricInput<'_>) -> Result<Scores, BoxError> {
        Ok(Scores::whole_run(true))
    }
}

#[test]
fn metrics_of_the_users_own_are_on_record_as_such() {
    let temporary = TempDir::new().unwrap();
    let folder = temporary.path();
    let runner = EvalRunner::new().metric("response_match_score", Fine).metric("brevity", Fine);
    let run = run(runner, folder, |_| Ok(sunny()));
    let metrics = &only(&run).evaluations[0].scored.as_ref().unwrap().metrics;
    let told: Vec<_> = metrics.iter().map(|metric| (metric.name.as_str(), metric.custom)).collect();
    assert_eq!(
        told[..3],
        [("tool_trajectory_avg_score", false), ("response_match_score", true), ("brevity", true)]
    );
    assert!(told[3..].iter().all(|(_, custom)| !custom), "{told:?}");
}

#[test]
fn the_transcript_is_on_record_before_anything_is_scored() {
    let temporary = TempDir::new().unwrap();
    let folder = temporary.path();
    let runner = EvalRunner::new().metric("reads", Reads(folder.to_path_buf()));
    let run = run(runner.criterion("reads", Criterion::new(1.0)), folder, |_| Ok(sunny()));
    assert_eq!(only(&run).decided.as_ref().unwrap().verdict, Verdict::Passed);
}

/// A metric that records through a recorder of the turn, after the turn and after the record of the run.
struct Tardy(Arc<OnceLock<Recorder>>);

impl Metric for Tardy {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        self.0.get().ok_or("no recorder")?.text("too late");
        Ok(input.actual.iter().map(|_| Score::from(1.0)).collect())
    }
}

#[test]
fn a_run_that_breaks_after_it_was_recorded_is_an_error_on_record() {
    static KEPT: OnceLock<Arc<OnceLock<Recorder>>> = OnceLock::new();
    let kept = KEPT.get_or_init(Arc::default);
    let setup: fn(&EvalCase) -> Result<BoxAgent, &'static str> = |_| {
        let answer = |_, recorder: Recorder| {
            KEPT.get_or_init(Arc::default).get_or_init(|| recorder);
            std::future::ready(Ok::<_, BoxError>("It is sunny."))
        };
        Ok(agent_fn(answer).boxed())
    };
    let temporary = TempDir::new().unwrap();
    let runner = EvalRunner::new().metric("tardy", Tardy(Arc::clone(kept)));
    let run = run(runner, temporary.path(), setup);
    let attempt = only(&run);
    let evaluation = &attempt.evaluations[0];
    let error = evaluation.ran.transcript.error.as_ref().unwrap();
    assert_eq!((error.role, error.turn), (Role::Agent, Some(1)));
    assert!(error.message.starts_with("1 event recorded after the turn had ended"), "{}", error.message);
    assert!(evaluation.scored.is_some(), "its scores are kept");
    let decided = &attempt.decided.as_ref().unwrap().verdict;
    assert!(matches!(decided, Verdict::Error { role: Role::Agent, .. }), "{decided:?}");
}

#[test]
fn runs_that_were_repeated_are_recorded_and_count_when_the_case_is_scored_again() {
    let temporary = TempDir::new().unwrap();
    let attempts = AtomicUsize::new(0);
    let agent = || {
        let is_reached = attempts.fetch_add(1, Ordering::Relaxed) >= 2;
        turn_fn(move |turn| async move {
            if !is_reached {
                turn.recorder().tool_call("refund", json!({}), json!("done"));
                return Err(BoxError::from(Unreachable::new("connection refused")));
            }
            turn.recorder().text("It is sunny.");
            Ok(())
        })
    };
    let forbids =
        |tool: &str| Criterion::new(1.0).with_match_type(MatchType::InOrder).with_forbidden_tools([tool]);
    let scores_with = |tool| EvalRunner::new().criterion("tool_trajectory_avg_score", forbids(tool));
    let case = EvalCase::new("far").turn(Invocation::user("Paris?").response("It is sunny."));
    let runner = scores_with("refund").retry(2).runs(2).journal(temporary.path());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let report = runtime.block_on(runner.run_case(&case, agent)).unwrap();

    let folder = runs(temporary.path()).unwrap().remove(0).path;
    let outline = RecordedRun::outline(&[&folder]).unwrap();
    let recorded = RecordedRun::read(&folder).unwrap();
    for run in [&outline, &recorded] {
        assert_eq!((run.unreadable.len(), run.torn), (0, 0));
        let attempt = run.tests[0].last().unwrap();
        assert_eq!((attempt.evaluations.len(), attempt.repeated.len()), (2, 2));
        assert!(attempt.repeated.iter().all(|ran| ran.transcript.error.as_ref().unwrap().unreachable));
    }
    let attempt = recorded.tests[0].last().unwrap();
    assert_eq!(attempt.report(case.clone()).unwrap().repeated, report.repeated);
    for (tool, verdict) in [("refund", Verdict::Failed), ("pay", Verdict::Passed)] {
        let (runs, repeated) = (attempt.transcripts(), attempt.repeated_reports());
        let again = runtime.block_on(scores_with(tool).score_attempts(&case, runs, &repeated)).unwrap();
        assert_eq!(again.verdict, verdict, "{again}");
    }
}
