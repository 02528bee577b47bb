//! Runs in which the agent was not reached.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::agent::{Session, Unreachable, turn_fn};

/// Fails on its way in the first attempts, at a place, and answers then.
struct Far<'a> {
    attempts: &'a AtomicUsize,
    unreached: usize,
    place: &'static str,
    is_reached: bool,
}

impl Far<'_> {
    fn go(&self, place: &str) -> Result<(), BoxError> {
        if self.is_reached || self.place != place {
            return Ok(());
        }
        // As the source of an error of another type.
        Err(std::io::Error::other(Unreachable::new("connection refused")).into())
    }
}

impl Agent for Far<'_> {
    async fn start(&mut self, _: &Session) -> Result<(), BoxError> {
        self.is_reached = self.attempts.fetch_add(1, Ordering::Relaxed) >= self.unreached;
        self.go("start")
    }

    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        turn.recorder().text("It is sunny.");
        self.go("turn")
    }

    async fn state(&mut self) -> Result<Option<Map>, BoxError> {
        self.go("state").map(|()| None)
    }
}

fn played(retry: u32, unreached: usize, place: &'static str) -> (CaseReport, usize) {
    let attempts: &'static AtomicUsize = Box::leak(Box::default());
    let set = case("far", &[("Paris?", "It is sunny.")]);
    let runner = EvalRunner::new().retry(retry);
    let agent = || Far { attempts, unreached, place, is_reached: false };
    let report = run(runner.run_case(&set, agent)).unwrap();
    (report, attempts.load(Ordering::Relaxed))
}

#[test]
fn a_run_is_repeated_until_its_agent_is_reached_and_the_report_says_so() {
    for (place, doing) in
        [("start", "opening the session: "), ("turn", ""), ("state", "reading the session state: ")]
    {
        let (report, attempts) = played(2, 1, place);
        assert_eq!((report.verdict, attempts), (Verdict::Passed, 2), "{place}");
        assert_eq!(report.runs.len(), 1);
        let turn = if place == "turn" { " in turn 1" } else { "" };
        let note = format!(
            "run 1 was repeated 1 time, as the agent was not reached: agent error{turn}: {doing}connection refused"
        );
        assert_eq!((report.notes, report.repeated.len()), (vec![note], 1));
    }
}

#[test]
fn an_agent_that_is_never_reached_is_an_error_after_all_attempts() {
    let (report, attempts) = played(1, 9, "start");
    assert!(matches!(report.verdict, Verdict::Error { role: Role::Agent, .. }));
    assert_eq!(attempts, 2);
    assert!(report.runs[0].error.as_ref().unwrap().unreachable);
    let text = report.to_string();
    assert!(text.contains("connection refused") && text.contains("run 1 was repeated 1 time"), "{text}");
    let (report, attempts) = played(0, 9, "start");
    assert_eq!((attempts, report.notes), (1, vec![]));
}

#[test]
fn nothing_else_is_repeated() {
    let calls = AtomicUsize::new(0);
    let failing = |error: &'static str| {
        calls.fetch_add(1, Ordering::Relaxed);
        agent_fn(move |text, _| async move {
            match error {
                "wrong" => Ok(text),
                other => Err(BoxError::from(other)),
            }
        })
    };
    let set = case("near", &[("Paris?", "It is sunny.")]);
    let runner = EvalRunner::new().retry(3).timeout(Duration::from_secs(5));
    for error in ["wrong", "503 of the tool"] {
        calls.store(0, Ordering::Relaxed);
        let report = run(runner.run_case(&set, || failing(error))).unwrap();
        assert_ne!(report.verdict, Verdict::Passed);
        assert_eq!(calls.load(Ordering::Relaxed), 1, "{error}");
        assert_eq!(report.notes, [""; 0]);
    }
}

#[test]
fn each_run_has_its_own_attempts() {
    // The first of two attempts fails in each run.
    let attempts: &'static AtomicUsize = Box::leak(Box::default());
    let agent = || {
        let is_first = attempts.load(Ordering::Relaxed).is_multiple_of(2);
        Far { attempts, unreached: if is_first { usize::MAX } else { 0 }, place: "start", is_reached: false }
    };
    let runner = EvalRunner::new().retry(1).runs(2);
    let report = run(runner.run_case(&case("far", &[("Paris?", "It is sunny.")]), agent)).unwrap();
    assert_eq!(
        (report.verdict, report.runs.len(), attempts.load(Ordering::Relaxed)),
        (Verdict::Passed, 2, 4)
    );
    assert_eq!(report.notes.len(), 2);
}

/// Its first run calls a tool and is not reached then; the next ones do what they should.
fn refunds_first(retry: u32, pass: PassRule, journal: &std::path::Path) -> CaseReport {
    let attempts: &'static AtomicUsize = Box::leak(Box::default());
    let agent = || {
        turn_fn(move |turn| async move {
            if attempts.fetch_add(1, Ordering::Relaxed) < 2 {
                turn.recorder().tool_call("refund", json!({}), json!("done"));
                return Err(BoxError::from(Unreachable::new("connection refused")));
            }
            turn.recorder().text("It is sunny.");
            Ok(())
        })
    };
    let criterion = Criterion::new(1.0).with_match_type(MatchType::InOrder).with_forbidden_tools(["refund"]);
    let runner = EvalRunner::new().retry(retry).runs(2).pass(pass).journal(journal);
    let runner = runner.criterion("tool_trajectory_avg_score", criterion);
    run(runner.run_case(&case("far", &[("Paris?", "It is sunny.")]), agent)).unwrap()
}

#[test]
fn a_forbidden_call_in_an_attempt_that_is_repeated_fails_the_case() {
    let said = "run 1, attempt 1, turn 1: `refund` was called, which `forbidden_tools` forbids in attempts that are \
                repeated too (and 1 more such call)";
    for pass in [PassRule::Mean, PassRule::All, PassRule::Any] {
        let folder = tempfile::tempdir().unwrap();
        let report = refunds_first(2, pass, folder.path());
        assert_eq!(
            (&report.verdict, report.runs.len(), report.repeated.len()),
            (&Verdict::Failed, 2, 2),
            "{pass}"
        );
        assert!(report.runs.iter().all(|run| run.error.is_none()), "{report}");
        let metric = report.metric("tool_trajectory_avg_score").unwrap();
        assert_eq!((&metric.verdict, &*metric.notes[0]), (&Verdict::Failed, said));
        assert!(report.to_string().starts_with(&format!("Error: far: {said}\n")), "{report}");
    }
}

#[test]
fn a_forbidden_call_is_told_with_the_attempt_of_its_own_run() {
    let attempts: &'static AtomicUsize = Box::leak(Box::default());
    let agent = || {
        turn_fn(move |turn| async move {
            let attempt = attempts.fetch_add(1, Ordering::Relaxed);
            if attempt == 2 {
                turn.recorder().tool_call("refund", json!({}), json!("done"));
            }
            // The first attempt of each of two runs.
            if attempt.is_multiple_of(2) {
                return Err(BoxError::from(Unreachable::new("connection refused")));
            }
            turn.recorder().text("It is sunny.");
            Ok(())
        })
    };
    let criterion = Criterion::new(1.0).with_match_type(MatchType::InOrder).with_forbidden_tools(["refund"]);
    let runner = EvalRunner::new().retry(1).runs(2).criterion("tool_trajectory_avg_score", criterion);
    let report = run(runner.run_case(&case("far", &[("Paris?", "It is sunny.")]), agent)).unwrap();
    let told = &report.metric("tool_trajectory_avg_score").unwrap().notes[0];
    assert!(told.starts_with("run 2, attempt 1, turn 1: `refund` was called"), "{told}");
    assert!(!told.contains("more such call"), "{told}");
}

#[test]
fn the_errors_of_attempts_that_differ_are_all_told() {
    let attempts: &'static AtomicUsize = Box::leak(Box::default());
    let agent = || {
        agent_fn(move |_, _| async move {
            match attempts.fetch_add(1, Ordering::Relaxed) {
                0 => Err(BoxError::from(Unreachable::new("connection refused"))),
                1 => Err(BoxError::from(Unreachable::new("503"))),
                _ => Ok("It is sunny.".to_owned()),
            }
        })
    };
    let runner = EvalRunner::new().retry(2);
    let report = run(runner.run_case(&case("far", &[("Paris?", "It is sunny.")]), agent)).unwrap();
    let said = "run 1 was repeated 2 times, as the agent was not reached: \
                attempt 1: agent error in turn 1: connection refused; attempt 2: agent error in turn 1: 503";
    assert_eq!(report.notes, [said]);
}

#[test]
fn what_is_recorded_after_an_attempt_that_is_repeated_is_an_error() {
    let attempts: &'static AtomicUsize = Box::leak(Box::default());
    let agent = || {
        turn_fn(move |turn| async move {
            let recorder = turn.recorder().clone();
            if attempts.fetch_add(1, Ordering::Relaxed) == 0 {
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    recorder.tool_call("refund", json!({}), json!("done"));
                });
                return Err(BoxError::from(Unreachable::new("connection refused")));
            }
            recorder.text("It is sunny.");
            Ok(())
        })
    };
    let report =
        run(EvalRunner::new().retry(1).run_case(&case("far", &[("Paris?", "It is sunny.")]), agent)).unwrap();
    let Verdict::Error { role: Role::Agent, message } = &report.verdict else { panic!("{report}") };
    assert!(message.contains("in an attempt that was repeated: ") && message.contains("refund"), "{message}");
}
