//! Cases and runs that a program cannot get a pass for: cases that ask nothing, and recorded runs of other
//! conversations.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use eval_format::{ConversationScenario, FunctionCall, FunctionResponse, IntermediateData, TurnAggregation};
use serde_json::json;

use super::*;
use crate::transcript::{Transcript, TurnRecord};

#[test]
fn a_case_that_asks_nothing_is_no_case() {
    let empty = EvalCase::new("c");
    let twice = [case("c", &[("hi", "hi")]), case("c", &[("bye", "bye")])];
    let mut both = case("c", &[("hi", "hi")]);
    both.conversation_scenario = Some(ConversationScenario::new("Hi!", "Says hello."));
    for (cases, message) in [
        (vec![case("", &[("hi", "hi")])], "the id of the case is empty"),
        (twice.to_vec(), "two cases have the id `c`"),
        (vec![empty.clone()], "the case has no turns"),
        (vec![both], "the eval case has both a conversation and a scenario"),
        (
            vec![case("c", &[("hi", "hi")]).with_extra("eval_id", "d")],
            "the extra key `eval_id` is the name of a field",
        ),
    ] {
        let set = cases.into_iter().fold(EvalSet::new("s"), EvalSet::case);
        let runner = EvalRunner::new().criterion("response_match_score", Criterion::new(0.8));
        let setup = || -> Replay { panic!("nothing may run") };
        let error = run(runner.run_set(&set, setup, 1)).unwrap_err();
        assert!(matches!(error, RunnerError::Set(_)) && error.to_string().contains(message), "{error}");
        assert!(error.to_string().contains("--> <set>:"), "{error}");
        let RunnerError::Set(problems) = &error else { panic!("{error:?}") };
        assert!(problems.iter().any(|problem| problem.message.contains(message)), "{error}");
    }
    assert!(run(EvalRunner::new().run_case(&empty, || Replay::new([["hi"]]))).is_err());
    assert!(run(EvalRunner::new().score_case(&empty, Vec::new())).is_err());
}

#[test]
fn a_case_that_the_caller_has_checked_is_not_checked_again() {
    let unnamed = case("", &[("hi", "hi")]);
    let runner = EvalRunner::new().criterion("response_match_score", Criterion::new(0.8));
    assert!(run(runner.run_agent(&unnamed, Replay::new([["hi"]]))).is_err());
    let runner = runner.__take_checked_cases(true);
    assert!(run(runner.run_agent(&unnamed, Replay::new([["hi"]]))).unwrap().verdict.passed());
}

#[test]
fn what_nobody_waits_for_is_scored_no_further() {
    let said = case("c", &[("hi", "hi")]);
    let stopped = Arc::new(AtomicBool::new(true));
    let runner = EvalRunner::new().criterion("response_match_score", Criterion::new(0.8));
    let runner = runner.__stop_at(Arc::clone(&stopped));
    let report = || run(runner.run_agent(&said, Replay::new([["hi"]]))).unwrap();
    let scored = report();
    assert!(!scored.verdict.passed());
    let reason = scored.metrics[0].verdict.reason().unwrap_or_default();
    assert!(reason.contains("scoring was stopped"), "{reason}");
    stopped.store(false, Ordering::Relaxed);
    assert!(report().verdict.passed());
}

#[test]
fn a_draft_is_refused_wherever_it_would_be_run_or_scored() {
    let draft = case("new", &[("hi", "hi")]).with_draft(Map::from([("from", "a chat")]));
    let set = EvalSet::new("s").case(case("c", &[("hi", "hi")])).case(draft.clone());
    let setup = || -> Replay { panic!("nothing may run") };
    let runner = EvalRunner::new().criterion("response_match_score", Criterion::new(0.8));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.evalset.json");
    std::fs::write(&path, set.to_json()).unwrap();
    let of_folder = run(runner.run_dir(folder.path(), setup, 1)).unwrap_err();
    assert!(of_folder.to_string().contains("`cargo evalset accept "), "{of_folder}");
    for error in [
        run(runner.run_set(&set, setup, 1)).unwrap_err(),
        run(runner.run_case(&draft, setup)).unwrap_err(),
        run(runner.run_agent(&draft, setup_of_one())).unwrap_err(),
        run(runner.score_case(&draft, Vec::new())).unwrap_err(),
    ] {
        let RunnerError::Drafts { eval_ids, file: None, .. } = &error else { panic!("{error}") };
        assert_eq!(eval_ids, &["new"]);
        let says = "the case `new` is a draft that nobody has accepted; take `_draft` out of its extra keys";
        assert!(error.to_string().starts_with(says), "{error}");
    }
    {
        let select = |word: String| run(async { runner.select(&[word]).map(|plan| plan.len()) });
        assert!(select(format!("{}:c,new", path.display())).is_err());
        assert_eq!(select(format!("{}:c", path.display())).unwrap(), 1, "what is accepted runs");
    }
}

#[test]
fn tags_select_cases_beside_selectors_and_ids() {
    use eval_format::tags::TagSelection;

    let tagged = |id: &str, tags: &[&str]| case(id, &[("hi", "hi")]).with_tags(tags.iter().copied());
    let draft = tagged("new", &["draft"]).with_draft(true);
    let one =
        EvalSet::new("one").case(tagged("a", &["smoke"])).case(tagged("b", &["smoke", "slow"])).case(draft);
    let two = EvalSet::new("two").case(tagged("a", &["slow"])).case(case("c", &[("hi", "hi")]));
    let folder = tempfile::tempdir().unwrap();
    for set in [&one, &two] {
        std::fs::write(folder.path().join(format!("{}.evalset.json", set.eval_set_id)), set.to_json())
            .unwrap();
    }
    let runner = EvalRunner::new().criterion("response_match_score", Criterion::new(0.8));
    let texts = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
    let planned = |cases: &str, ids: &[&str], any: &[&str], none: &[&str]| {
        let word = format!("{}{cases}", folder.path().display());
        let tags = TagSelection { any: texts(any), none: texts(none) };
        let plan = run(async { runner.__select_cases(&[word], &texts(ids), &tags) });
        plan.map(|plan| {
            plan.cases().map(|(_, set, case)| format!("{set}/{}", case.eval_id)).collect::<Vec<_>>()
        })
    };
    for (cases, ids, any, none, expected) in [
        ("", &[][..], &["smoke"][..], &[][..], &["one/a", "one/b"][..]),
        ("", &[], &["smoke"], &["slow"], &["one/a"]),
        ("", &[], &[], &["slow", "draft"], &["one/a", "two/c"]),
        ("", &["a"], &["slow", "smoke"], &[], &["one/a", "two/a"]),
        (":a,c", &[], &["smoke"], &[], &["one/a"]),
    ] {
        assert_eq!(planned(cases, ids, any, none).unwrap(), expected, "{cases} {ids:?} {any:?} {none:?}");
    }
    for (cases, any, none, says) in [
        (
            "",
            &["smok"][..],
            &[][..],
            "no case has the tag `smok`; did you mean `smoke`? The tags are `draft`, `slow` and",
        ),
        ("", &[], &["paris"], "no case has the tag `paris`; the tags are `draft`, `slow` and `smoke`"),
        (":c", &["slow"], &[], "none of the selected cases is left by the tags"),
        ("", &["smoke"], &["smoke"], "none of the selected cases is left by the tags"),
        ("", &["draft"], &[], "is a draft that nobody has accepted"),
    ] {
        let error = planned(cases, &[], any, none).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

fn setup_of_one() -> impl Agent {
    agent_fn(async |_: String, _: crate::agent::Recorder| -> Result<String, BoxError> {
        panic!("nothing may run")
    })
}

/// The JSON of a report has a metric once, and a criterion holds for one metric.
#[test]
fn a_metric_that_is_given_twice_is_refused() {
    struct Constant(f64);
    impl Metric for Constant {
        async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
            Ok(input.actual.iter().map(|_| Score::from(self.0)).collect())
        }
    }
    let runner = EvalRunner::new().metric("m", Constant(0.0)).metric("m", Constant(1.0));
    let runner = runner.criterion("m", Criterion::new(0.5));
    let error = run(runner.run_case(&case("c", &[("hi", "hi")]), || Replay::new([["hi"]]))).unwrap_err();
    assert!(error.to_string().contains("two custom metrics have the name `m`"), "{error}");
}

#[test]
fn a_criterion_gates_at_the_threshold_that_it_shows() {
    let criterion = Criterion::new(0.9).with("threshold", 0.1);
    let shown = criterion.threshold;
    let runner = EvalRunner::new().criterion("response_match_score", criterion);
    let report =
        run(runner.run_case(&case("c", &[("hi", "hi you there")]), || Replay::new([["hi"]]))).unwrap();
    let metric = report.metric("response_match_score").unwrap();
    let gated = metric.criterion.as_ref().unwrap().threshold;
    assert_eq!((shown, gated, report.verdict.passed()), (0.1, 0.1, true), "{report}");
    let mut two = Criterion::new(0.9);
    two.options.insert("threshold", 0.1);
    let runner = EvalRunner::new().criterion("response_match_score", two);
    let error = run(runner.run_case(&case("c", &[("hi", "hi")]), || Replay::new([["hi"]]))).unwrap_err();
    assert!(matches!(error, RunnerError::Criteria(_)), "{error}");
}

#[test]
fn what_a_config_says_beside_its_criteria_is_checked_where_custom_metrics_decide_alone() {
    struct Full;
    impl Metric for Full {
        async fn score(&self, _: MetricInput<'_>) -> Result<Scores, BoxError> {
            Ok([Score::from(1.0)].into_iter().collect())
        }
    }
    let config = |most| {
        let simulator = eval_format::config::UserSimulatorConfig::default().max_allowed_invocations(most);
        EvalConfig::default().with_user_simulator(simulator)
    };
    let played = |most| {
        let runner = EvalRunner::new().config(config(most)).metric("own", Full);
        run(runner.run_case(&case("c", &[("hi", "hi")]), || Replay::new([["hi"]]))).map(drop)
    };
    assert!(played(20).is_ok());
    let error = played(1).unwrap_err().to_string();
    assert!(error.contains("no simulated user can end the conversation"), "{error}");
}

#[test]
fn a_turn_that_is_given_keeps_the_rules_of_one_that_is_played() {
    let calls = EvalRunner::new().criterion("tool_trajectory_avg_score", Criterion::new(0.1));
    let scored = |turns: Vec<Invocation>| {
        let record = |invocation| TurnRecord { invocation, ..TurnRecord::default() };
        let given =
            Transcript { turns: turns.iter().cloned().map(record).collect(), ..Transcript::default() };
        let case = turns.iter().fold(EvalCase::new("c"), |case, turn| case.turn(turn.clone()));
        run(calls.score_case(&case, vec![given])).unwrap().verdict
    };
    let turn = || Invocation::user("hi").response("hello");
    let result = || IntermediateData::Tools {
        tool_uses: Vec::new(),
        tool_responses: vec![FunctionResponse::new("f", json!({}))],
        intermediate_responses: Vec::new(),
    };
    assert_eq!(scored(vec![turn()]), Verdict::Passed);
    let called = turn().call(FunctionCall::new("f", json!({})));
    assert_eq!(
        scored(vec![called, turn().with_intermediate_data(result())]),
        Verdict::Passed,
        "of an earlier turn"
    );
    for (turn, why) in [
        (turn().with_intermediate_data(result()), "the result of `f`, {} was recorded without its call"),
        (Invocation::user("hi").response(" "), "the agent answered nothing that a user would see"),
        (Invocation::user("hi"), "the agent answered nothing (0 events"),
    ] {
        let Verdict::Error { role: Role::Agent, message } = scored(vec![turn]) else { panic!("{why}") };
        assert!(message.contains(why), "{message}");
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
        for gate in [TurnAggregation::Mean, TurnAggregation::EveryTurn] {
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
    let judge = crate::judge::ScriptedJudge::new(["</finished>"]);
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

#[test]
fn recorded_runs_are_numbered_and_carry_the_label() {
    let asked = case("c", &[("hi", "hi")]);
    let played = |answer: &'static str| {
        let report = run(EvalRunner::new().run_case(&asked, || Replay::new([[answer]]))).unwrap();
        report.runs.into_iter().map(|run| run.transcript).collect::<Vec<_>>()
    };
    let recorded = [played("hi"), played("hi"), played("bye")].concat();
    let runner = EvalRunner::new().label("again").runs(3).pass(PassRule::AtLeast(2));
    let report = run(runner.score_case(&asked, recorded)).unwrap();
    assert_eq!(report.runs.iter().map(|run| run.number).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!((report.label.as_deref(), report.passed_runs), (Some("again"), Some(2)));
    assert_eq!(report.verdict, Verdict::Passed, "{report}");
    assert!(run(EvalRunner::new().score_case(&asked, Vec::new())).is_err());
}

#[cfg(feature = "judges")]
#[test]
fn a_recorded_run_without_a_turn_fits_no_scenario() {
    let scenario = EvalCase::new("c").scenario(ConversationScenario::new("Hi!", "Wants to hear hello."));
    let runner =
        EvalRunner::new().criterion("trajectory_single_tool_use", Criterion::new(1.0).with_tool_name("f"));
    let report = run(runner.score_case(&scenario, vec![Transcript::default()])).unwrap();
    let said = "harness error: the recorded run has no turn; run it again";
    assert_eq!(report.verdict, Verdict::error(Role::Harness, said), "{report}");
}
