//! What a program cannot get a pass for: cases that ask nothing, and recorded runs of other conversations.

use eval_format::{ConversationScenario, Gate};

use super::*;

#[test]
fn a_case_that_asks_nothing_is_no_case() {
    let empty = EvalCase::new("c");
    let twice = [case("c", &[("hi", "hi")]), case("c", &[("bye", "bye")])];
    let mut both = case("c", &[("hi", "hi")]);
    both.conversation_scenario = Some(ConversationScenario::new("Hi!", "Says hello."));
    for (cases, message) in [
        (vec![case("", &[("hi", "hi")])], "a case has no id"),
        (twice.to_vec(), "two cases have the id `c`"),
        (vec![empty], "the case `c` has no turns, so the agent would not be asked anything"),
        (vec![both], "the case `c` has both a conversation and a scenario"),
    ] {
        let set = cases.into_iter().fold(EvalSet::new("s"), EvalSet::case);
        let runner = EvalRunner::new().criterion("response_match_score", Criterion::new(0.8));
        let error = run(runner.run_set(&set, || Replay::new([["hi"]]), 1)).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn a_recorded_run_of_another_conversation_is_an_error() {
    let recorded = |case: &EvalCase| {
        let report = run(EvalRunner::new().run_case(case, || Replay::new([["hi"], ["bye"]]))).unwrap();
        report.runs.into_iter().map(|run| run.transcript).collect::<Vec<_>>()
    };
    let one = case("c", &[("hi", "hi")]);
    let two = case("c", &[("hi", "hi"), ("bye", "bye")]);
    let edited = case("c", &[("hi", "hi"), ("good bye", "bye")]);
    for (played, now, message) in [
        (&one, &two, "harness error: the case has 2 turns, and the recorded run 1; run it again"),
        (&two, &one, "harness error: the case has 1 turn, and the recorded run 2; run it again"),
        (
            &two,
            &edited,
            "harness error in turn 2: the user says \"good bye\" in the case, and said \"bye\" in the recorded run",
        ),
    ] {
        for gate in [Gate::Mean, Gate::EveryTurn] {
            let report = run(EvalRunner::new().gate(gate).score_case(now, recorded(played))).unwrap();
            let Verdict::Error { role: Role::Harness, message: seen } = &report.verdict else {
                panic!("{report}")
            };
            assert!(seen.starts_with(message), "{seen}");
        }
    }
    let same = run(EvalRunner::new().score_case(&two, recorded(&two))).unwrap();
    assert_eq!(same.verdict, Verdict::Passed, "{same}");
}

#[cfg(feature = "judges")]
#[test]
fn a_recorded_run_of_another_scenario_is_an_error() {
    let scenario =
        |begins: &str| EvalCase::new("c").scenario(ConversationScenario::new(begins, "Wants to hear hello."));
    let runner =
        || EvalRunner::new().criterion("trajectory_single_tool_use", Criterion::new(1.0).with_tool_name("f"));
    let calls = || {
        agent_fn(|_, recorder: crate::agent::Recorder| async move {
            recorder.tool("f", json!({}), async { Ok::<_, BoxError>(1) }).await?;
            Ok::<_, BoxError>("Hello.")
        })
    };
    let judge = crate::judge::Scripted::new(["</finished>"]);
    let played = run(runner().judge(judge).run_case(&scenario("Hi!"), calls)).unwrap();
    assert_eq!(played.verdict, Verdict::Passed, "{played}");
    let recorded = || played.runs.iter().map(|run| run.transcript.clone()).collect::<Vec<_>>();
    assert_eq!(run(runner().score_case(&scenario("Hi!"), recorded())).unwrap().verdict, Verdict::Passed);
    for (now, message) in [
        (scenario("Bye!"), "harness error in turn 1: the user says \"Bye!\" in the case, and said \"Hi!\""),
        (
            case("c", &[("Bye!", "")]).final_state(Map::new()),
            "harness error in turn 1: the user says \"Bye!\"",
        ),
    ] {
        let report = run(runner().score_case(&now, recorded())).unwrap();
        assert!(report.verdict.reason().is_some_and(|seen| seen.starts_with(message)), "{report}");
    }
}
