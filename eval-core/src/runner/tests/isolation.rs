//! Concurrent cases: only the case that blocks a thread is blamed.

use std::sync::Arc;
#[cfg(feature = "multi-thread")]
use std::sync::atomic::{AtomicUsize, Ordering};
#[cfg(feature = "multi-thread")]
use std::time::Instant;

use super::*;

const LIMIT: Duration = Duration::from_millis(500);
/// So long does the case `blocks` keep its thread: more than twice the limit.
const BLOCKED: Duration = Duration::from_millis(1200);

/// An agent that waits as its case says, in two steps.
fn waiting(case: &EvalCase) -> impl Agent + use<> {
    let how = case.eval_id.clone();
    agent_fn(move |text, _| {
        let how = how.clone();
        async move {
            for _ in 0..2 {
                tokio::time::sleep(LIMIT / 6).await;
                if how == "blocks" {
                    std::thread::sleep(BLOCKED / 2);
                }
            }
            Ok::<_, BoxError>(text)
        }
    })
}

async fn three_beside_each_other(setup: impl Setup<crate::setup::shape::PlainOfCase>) {
    let set = ["waits", "blocks", "waits too"]
        .into_iter()
        .fold(EvalSet::new("s"), |set, id| set.case(case(id, &[("hi", "hi"), ("bye", "bye")])));
    let report = EvalRunner::new().timeout(LIMIT).run_set(&set, setup, 3).await.unwrap();
    let verdicts: Vec<_> = report.cases.iter().map(|case| case.verdict.clone()).collect();
    assert_eq!((&verdicts[0], &verdicts[2]), (&Verdict::Passed, &Verdict::Passed), "{report}");
    let Verdict::Error { role: Role::Agent, message } = &verdicts[1] else { panic!("{report}") };
    assert!(message.starts_with("agent error in turn 1: blocked its thread for"), "{message}");
}

#[test]
fn who_blocks_the_only_thread_is_blamed_and_not_those_that_wait() {
    run(three_beside_each_other(waiting));
}

#[cfg(feature = "multi-thread")]
fn on_two_threads<T>(future: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(2).enable_all().build().unwrap().block_on(future)
}

#[cfg(feature = "multi-thread")]
#[test]
fn who_blocks_one_of_several_threads_is_blamed_and_not_those_that_wait() {
    for _ in 0..2 {
        on_two_threads(three_beside_each_other(waiting));
    }
}

#[test]
fn a_setup_that_blocks_is_blamed_and_not_those_that_wait() {
    let set = EvalSet::new("s").case(case("waits", &[("hi", "hi")])).case(case("blocks", &[("hi", "hi")]));
    let setup = async |case: &EvalCase| {
        tokio::time::sleep(LIMIT / 6).await;
        if case.eval_id == "blocks" {
            std::thread::sleep(BLOCKED);
        }
        Replay::new([["hi"]])
    };
    let report = run(EvalRunner::new().timeout(LIMIT).run_set(&set, setup, 2)).unwrap();
    assert_eq!(report.cases[0].verdict, Verdict::Passed, "{report}");
    let message = report.cases[1].verdict.reason().unwrap();
    assert!(message.starts_with("setup error: blocked its thread for"), "{message}");
}

#[test]
fn an_agent_that_waits_for_a_blocking_task_is_late_and_said_to_be_held_up() {
    let setup = || {
        agent_fn(|text, _| async move {
            tokio::spawn(async { std::thread::sleep(BLOCKED) }).await?;
            Ok::<_, BoxError>(text)
        })
    };
    let runner = EvalRunner::new().timeout(LIMIT);
    let report = run(runner.run_case(&case("c", &[("hi", "hi")]), setup)).unwrap();
    let message = report.verdict.reason().unwrap();
    assert!(message.starts_with("agent error in turn 1: ended after"), "{message}");
    assert!(message.contains("something else blocked the runtime"), "{message}");
}

#[test]
fn a_slow_agent_times_out_also_beside_one_that_blocks() {
    let set = EvalSet::new("s").case(case("hangs", &[("hi", "hi")])).case(case("blocks", &[("hi", "hi")]));
    let setup = |case: &EvalCase| match case.eval_id.as_str() {
        "hangs" => agent_fn(|_, _| std::future::pending::<Result<String, BoxError>>()).boxed(),
        _ => waiting(case).boxed(),
    };
    let report = run(EvalRunner::new().timeout(LIMIT).run_set(&set, setup, 2)).unwrap();
    let message = report.cases[0].verdict.reason().unwrap();
    assert_eq!(message, "agent error in turn 1: timed out after 500ms (`timeout` sets the limit)");
}

#[cfg(feature = "multi-thread")]
#[test]
fn agents_run_on_all_threads_of_the_runtime() {
    let together = AtomicUsize::new(0);
    let together = Arc::new(together);
    let setup = || {
        let together = together.clone();
        agent_fn(move |text, _| {
            // Blocks until the other one blocks too.
            together.fetch_add(1, Ordering::SeqCst);
            let begun = Instant::now();
            while together.load(Ordering::SeqCst) < 2 && begun.elapsed() < Duration::from_secs(10) {
                std::thread::sleep(Duration::from_millis(1));
            }
            let met = together.load(Ordering::SeqCst) == 2;
            async move { if met { Ok(text) } else { Err::<String, BoxError>("alone".into()) } }
        })
    };
    let set = EvalSet::new("s").case(case("a", &[("hi", "hi")])).case(case("b", &[("hi", "hi")]));
    let report = on_two_threads(EvalRunner::new().run_set(&set, setup, 2)).unwrap();
    assert!(report.all_passed(), "{report}");
}

#[test]
fn the_tasks_of_a_run_that_is_dropped_end() {
    let alive = Arc::new(());
    let setup = || {
        let held = alive.clone();
        agent_fn(move |_, _| {
            let held = held.clone();
            async move {
                std::future::pending::<()>().await;
                drop(held);
                Ok::<_, BoxError>(String::new())
            }
        })
    };
    let (runner, case) = (EvalRunner::new(), case("c", &[("hi", "hi")]));
    run(async {
        let running = runner.run_case(&case, setup);
        assert!(tokio::time::timeout(Duration::from_millis(50), running).await.is_err());
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        assert_eq!(Arc::strong_count(&alive), 1);
    });
}

#[test]
fn an_agent_whose_drop_blocks_is_past_its_limit() {
    struct Slow;
    impl Agent for Slow {
        async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
            turn.recorder().text(turn.text());
            Ok(())
        }
    }
    impl Drop for Slow {
        fn drop(&mut self) {
            std::thread::sleep(BLOCKED);
        }
    }
    let runner = EvalRunner::new().timeout(LIMIT);
    let report = run(runner.run_case(&case("c", &[("hi", "hi")]), || Slow)).unwrap();
    let message = report.verdict.reason().unwrap();
    assert!(message.starts_with("agent error: dropping the agent: blocked its thread for"), "{message}");
}
