use std::time::Duration;

use eval_format::expect::{Expect, Matcher, Others, TurnExpect};
use eval_format::{Content, Criterion, EvalCase, FunctionCall, Invocation, Map, Part, Similarity};
use serde_json::json;

use super::*;
use crate::EvalRunner;
use crate::agent::{Agent, BoxError, Event, Recorder, Replay, Turn};
use crate::compiled::{CaseSource, ConfigSource, SetSource, Target};
#[cfg(feature = "judges")]
use crate::judge::ScriptedJudge;
use crate::metric::{MetricInput, Score, Scores};
use crate::options::Options;
use crate::{Metric, PassRule, TurnAggregation};

mod foreign;

fn run(runner: &EvalRunner, case: &EvalCase, setup: impl Fn() -> Replay + Sync) -> CaseReport {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut report = runtime.block_on(runner.run_case(case, setup)).unwrap();
    report.eval_set_id = Some("orders".to_owned());
    report
}

/// The description without what changes from run to run.
fn text(report: &CaseReport) -> String {
    let text = describe(report);
    assert!(text.lines().count() <= 38, "{text}");
    text.lines()
        .map(|line| line.split(", invocation_duration_v1").next().unwrap_or(line))
        .collect::<Vec<_>>()
        .join("\n")
}

fn calls(calls: &[(&str, serde_json::Value)]) -> Vec<Event> {
    calls
        .iter()
        .map(|(name, args)| {
            Event::new(
                "agent",
                Content::new("model", vec![Part::call(FunctionCall::new(*name, args.clone()))]),
            )
        })
        .collect()
}

fn answering(mut events: Vec<Event>, text: &str) -> Vec<Event> {
    events.push(Event::from(text));
    events
}

fn refund() -> EvalCase {
    EvalCase::new("refund declined")
        .turn(
            Invocation::user("Where is order 42?")
                .call(FunctionCall::new("lookup_order", json!({ "id": 42 })))
                .response("Order 42 ships on Monday."),
        )
        .turn(
            Invocation::user("Refund it, please.")
                .call(FunctionCall::new("lookup_order", json!({ "id": 42 })))
                .call(FunctionCall::new("convert", json!({ "to": "EUR", "amount": 40 })))
                .call(FunctionCall::new("decline_refund", json!({})))
                .response("I am sorry, this order cannot be refunded."),
        )
}

#[test]
fn a_wrong_turn_shows_calls_and_answers_side_by_side() {
    let agent = || {
        let wrong = [
            ("lookup_order", json!({ "id": 42 })),
            ("convert", json!({ "to": "USD", "amount": 40, "fast": true })),
            ("issue_refund", json!({})),
        ];
        Replay::new([
            answering(calls(&[("lookup_order", json!({ "id": 42 }))]), "Order 42 ships on Monday."),
            answering(calls(&wrong), "Done, your refund is on its way."),
        ])
    };
    insta::assert_snapshot!(text(&run(&EvalRunner::new(), &refund(), agent)));
}

/// A case whose calls may vary, and an agent that makes them in another way.
fn weather() -> (EvalCase, [Vec<Event>; 2]) {
    let turn = Invocation::user("The weather in Oslo?")
        .call(FunctionCall::new("get_weather", json!({ "city": "Oslo", "day": "2026-11-22" })))
        .call(FunctionCall::new("search", json!({ "q": "visa for Seattle" })))
        .call(FunctionCall::new("check_calendar", json!({})));
    let rules = TurnExpect::default()
        .arg("get_weather", "day", Matcher::Date)
        .arg("search", "q", Matcher::Contains(vec!["visa".to_owned(), "Seattle".to_owned()]))
        .optional("check_calendar")
        .others(Others::Tools(vec!["log".to_owned()]));
    let case = EvalCase::new("weather").turn(turn).with_expect(Expect::default().turn(1, rules));
    let made = |query: &str| {
        let weather = json!({ "city": "Oslo", "day": "2026-11-23" });
        let search = json!({ "q": query });
        answering(calls(&[("get_weather", weather), ("search", search), ("log", json!({}))]), "Grey.")
    };
    (case, [made("visa for Seattle"), made("weather in Seattle")])
}

#[test]
fn calls_that_only_match_by_a_rule_are_told_from_equal_ones() {
    let (case, [_, wrong]) = weather();
    let runner = EvalRunner::new().criterion("tool_trajectory_avg_score", Criterion::new(1.0));
    let report = run(&runner, &case, || Replay::new([wrong.clone()]));
    assert_eq!(report.verdict, Verdict::Failed);
    insta::assert_snapshot!(text(&report));
}

#[test]
fn a_case_that_passes_by_rules_shows_them_if_asked_and_literally_fails() {
    let (case, [right, _]) = weather();
    let runner = EvalRunner::new().criterion("tool_trajectory_avg_score", Criterion::new(1.0));
    let report = run(&runner, &case, || Replay::new([right.clone()]));
    assert_eq!(report.verdict, Verdict::Passed);
    let mut all = String::new();
    body(&mut all, &report, Print::All, None);
    let all: Vec<&str> =
        all.lines().map(|line| line.split(", invocation_duration_v1").next().unwrap_or(line)).collect();
    insta::assert_snapshot!(all.join("\n"));
    assert!(!text(&report).contains('≈'), "nothing but the table is shown unasked");

    let literal = EvalRunner::new().criterion("tool_trajectory_avg_score", Criterion::new(1.0)).literal(true);
    let report = run(&literal, &case, || Replay::new([right.clone()]));
    assert_eq!(report.verdict, Verdict::Failed);
    assert!(!text(&report).contains('≈') && report.metrics[0].loosened.is_none());
}

#[test]
fn metrics_that_look_at_the_same_share_a_block() {
    let agent = || {
        let calls = calls(&[("convert", json!({ "to": "EUR" })), ("lookup_order", json!({ "id": 42 }))]);
        Replay::new([answering(calls, "It cannot be refunded.")])
    };
    let case = EvalCase::new("refund").turn(
        Invocation::user("Refund it, please.")
            .call(FunctionCall::new("lookup_order", json!({ "id": 42 })))
            .call(FunctionCall::new("decline_refund", json!({})))
            .response("I am sorry, this order cannot be refunded."),
    );
    let similarity = Criterion::new(0.9).with_algorithm(Similarity::Levenshtein);
    let runner = EvalRunner::new()
        .criterion("trajectory_recall", Criterion::new(1.0))
        .criterion("response_similarity", similarity)
        .criterion("trajectory_exact_match", Criterion::new(1.0))
        .criterion("final_response_match_v1", Criterion::new(1.0))
        .criterion("trajectory_single_tool_use", Criterion::new(1.0).with_tool_name("decline_refund"));
    insta::assert_snapshot!(text(&run(&runner, &case, agent)));
}

#[test]
fn calls_are_put_side_by_side_as_their_metric_compares_them() {
    let agent =
        || Replay::new([answering(calls(&[("b", json!({})), ("a", json!({})), ("x", json!({}))]), "Gone")]);
    let case = EvalCase::new("order").turn(
        Invocation::user("Go")
            .call(FunctionCall::new("a", json!({})))
            .call(FunctionCall::new("b", json!({})))
            .call(FunctionCall::new("c", json!({}))),
    );
    for (metric, same) in [
        ("trajectory_precision", 2),
        ("trajectory_any_order_match", 2),
        ("trajectory_in_order_match", 1),
        ("trajectory_match_ratio", 1),
    ] {
        let runner = EvalRunner::new().criterion(metric, Criterion::new(1.0));
        let text = text(&run(&runner, &case, agent));
        assert_eq!(text.matches("\n    = ").count(), same, "{metric}: {text}");
    }
}

#[test]
fn an_agent_that_breaks_shows_what_it_did_until_then() {
    let agent = || {
        Replay::new([
            answering(calls(&[("lookup_order", json!({ "id": 42 }))]), "Order 42 ships on Monday."),
            vec![
                calls(&[("lookup_order", json!({ "id": 42 }))]).remove(0),
                Event::error("planner", "503", "the model is overloaded"),
            ],
        ])
    };
    let text = text(&run(&EvalRunner::new().runs(2), &refund(), agent));
    let text: Vec<String> = text
        .lines()
        .map(
            |line| {
                if line.contains(" s  ") { format!("   0.000 s{}", &line[12..]) } else { line.to_owned() }
            },
        )
        .collect();
    insta::assert_snapshot!(text.join("\n"));
}

/// Without the remarks, the lines of `expected` and `actual` would be the same.
#[test]
fn what_looks_the_same_is_told_apart() {
    let called = |args: serde_json::Value| FunctionCall::new("find", args);
    let turn = Invocation::user("Where?").response("In New\u{a0}York.");
    let turn = turn.call(called(json!({ "city": "Montr\u{e9}al" }))).call(called(json!({ "size": null })));
    let mut nan = called(json!({}));
    nan.args = Some(Map::from([("size", f64::NAN)]));
    let part = |call| Event::new("agent", Content::new("model", vec![Part::call(call)]));
    let agent = || {
        let events = [part(called(json!({ "city": "Montre\u{301}al" }))), part(nan.clone())];
        Replay::new([answering(events.to_vec(), "In New York.")])
    };
    let exact = Criterion::new(1.0).with_algorithm(Similarity::Exact);
    let runner = EvalRunner::new()
        .criterion("tool_trajectory_avg_score", Criterion::new(1.0))
        .criterion("response_similarity", exact.with_normalize(false));
    let text = text(&run(&runner, &EvalCase::new("where").turn(turn), agent));
    for remark in [
        "(`city` differs from character 6 on: expected U+00E9, actual U+0065 U+0301)",
        "(`size` differs: expected null, actual NaN)",
        "differs   from character 7 on: expected U+00A0, actual U+0020",
    ] {
        assert!(text.contains(remark), "{remark}\n{text}");
    }
}

#[test]
fn runs_that_are_counted_show_how_many_passed() {
    let case = EvalCase::new("greeting").turn(Invocation::user("Hi").response("Hello there!"));
    let played = std::sync::atomic::AtomicUsize::new(0);
    let agent = || match played.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
        1 => Replay::new([["Hello there!"]]),
        _ => Replay::new([["Go away."]]),
    };
    let runner = EvalRunner::new().runs(3).pass(PassRule::AtLeast(2));
    insta::assert_snapshot!(text(&run(&runner, &case, agent)));
    let never = text(&run(&runner, &case, || Replay::new([["Go away."]])));
    assert!(never.contains("response_match_score reached 0.8 in none of 3 runs"), "{never}");
}

#[test]
fn a_turn_below_the_threshold_of_every_turn_is_named() {
    let case = EvalCase::new("two turns")
        .turn(Invocation::user("one").response("alpha beta"))
        .turn(Invocation::user("two").response("gamma delta"));
    let runner = EvalRunner::new()
        .gate(TurnAggregation::EveryTurn)
        .criterion("response_match_score", Criterion::new(0.4));
    insta::assert_snapshot!(text(&run(&runner, &case, || Replay::new([
        ["alpha beta"],
        ["gamma ray burst seen"]
    ]))));
}

#[test]
fn surprises_of_adks_arithmetic_are_explained() {
    let case = EvalCase::new("surprises")
        .turn(Invocation::user("ship?").response("Your order number 42 ships next Monday morning"))
        .final_state(Map::from([("order", 42_i64)]));
    let agent = || Replay::new([["Order number 42 ships Monday morning okay"]]);
    insta::assert_snapshot!(text(&run(&EvalRunner::new(), &case, agent)));
    let emoji = EvalCase::new("emoji").turn(Invocation::user("ok?").response("👍"));
    insta::assert_snapshot!(text(&run(&EvalRunner::new(), &emoji, || Replay::new([["👍"]]))));
}

#[test]
fn long_texts_many_calls_and_many_turns_stay_within_forty_lines() {
    let long = "word ".repeat(2_000);
    let many: Vec<(&str, serde_json::Value)> =
        (0..200).map(|n| ("tool", json!({ "n": n, "text": long }))).collect();
    let mut case = EvalCase::new("long");
    for _ in 0..30 {
        let mut turn = Invocation::user(long.as_str()).response(long.as_str());
        for (name, args) in &many {
            turn = turn.call(FunctionCall::new(*name, args.clone()));
        }
        case = case.turn(turn);
    }
    let other: Vec<(&str, serde_json::Value)> = (0..200).map(|n| ("other", json!({ "n": n }))).collect();
    let report = run(&EvalRunner::new().timeout(Duration::from_mins(1)), &case, || {
        Replay::new(std::iter::repeat_n(answering(calls(&other), &"else ".repeat(2_000)), 30))
    });
    let text = text(&report);
    assert!(text.len() < 8_000, "{}", text.len());
    // The commands that a test prints behind take three.
    assert!(text.lines().count() <= 37, "{text}");
    assert!(text.contains("... and 29 more turns that miss a threshold"), "{text}");
}

#[test]
fn blank_lines_at_the_end_of_an_answer_are_no_lines_more() {
    let case = EvalCase::new("greeting").turn(Invocation::user("Hi").response("Hello there!"));
    for answer in ["Go.\n\n\n\n", "Go.\n\n\n\n\n  \n", "1\n2\n3\n4\n\n"] {
        let text = text(&run(&EvalRunner::new(), &case, || Replay::new([[answer]])));
        assert!(text.contains("actual    ") && !text.contains("more line"), "{text}");
    }
    let text = text(&run(&EvalRunner::new(), &case, || Replay::new([["1\n2\n3\n4\n5\n"]])));
    assert!(text.contains("... (1 more line)"), "{text}");
}

#[test]
fn a_metric_that_breaks_is_named_and_its_siblings_keep_their_scores() {
    struct Judge;
    impl Metric for Judge {
        async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
            Ok(input
                .actual
                .iter()
                .map(|_| Score::not_evaluated("the judge was not sure").note("asked twice"))
                .collect())
        }
    }
    let case = EvalCase::new("unscored").turn(Invocation::user("Hi").response("Hello"));
    let runner = EvalRunner::new().metric("tone", Judge);
    insta::assert_snapshot!(text(&run(&runner, &case, || Replay::new([["Hello"]]))));
}

#[test]
fn metrics_whose_errors_begin_alike_are_both_named() {
    struct Broken(&'static str);
    impl Metric for Broken {
        async fn score(&self, _: MetricInput<'_>) -> Result<Scores, BoxError> {
            Err(self.0.into())
        }
    }
    let case = EvalCase::new("broken").turn(Invocation::user("Hi").response("Hello"));
    let runner = EvalRunner::new()
        .metric("loud tone", Broken("no answer\nin 3 s"))
        .metric("tone", Broken("no answer\nin 5 s"));
    let text = text(&run(&runner, &case, || Replay::new([["Hello"]])));
    assert_eq!(text.matches("loud tone: no answer").count(), 1, "the headline names the first: {text}");
    let below = text.split_once("in 3 s").map(|(_, below)| below).unwrap_or_default();
    let named = "\n  | tone: no answer\n  | in 5 s";
    assert!(below.contains(named), "{text}");
}

/// An agent that does nothing at all.
struct Silent;

impl Agent for Silent {
    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        let _: &Recorder = turn.recorder();
        Ok(())
    }
}

#[test]
fn silence_is_an_error() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let case = EvalCase::new("silence").turn(Invocation::user("Hi"));
    let report = runtime.block_on(EvalRunner::new().run_case(&case, || Silent)).unwrap();
    insta::assert_snapshot!(text(&report));
}

#[test]
fn an_error_of_many_lines_has_a_headline_of_one() {
    struct Verbose;
    impl Agent for Verbose {
        async fn turn(&mut self, _: &Turn<'_>) -> Result<(), BoxError> {
            Err((0..30).map(|n| format!("line {n}")).collect::<Vec<_>>().join("\n").into())
        }
    }
    struct Long;
    impl Agent for Long {
        async fn turn(&mut self, _: &Turn<'_>) -> Result<(), BoxError> {
            Err(format!("no object {}: write `a:b`", "x".repeat(1500)).into())
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let case = EvalCase::new("verbose").turn(Invocation::user("Hi"));
    let report = runtime.block_on(EvalRunner::new().run_case(&case, || Verbose)).unwrap();
    let text = text(&report);
    assert!(text.starts_with("Error: verbose: agent error in turn 1: line 0\n"), "{text}");
    // A traceback has its reason in the last line.
    assert!(text.contains("    | line 9\n    ... (10 lines)\n    | line 20\n"), "{text}");
    assert!(text.ends_with("    | line 29"), "{text}");

    let report = runtime.block_on(EvalRunner::new().run_case(&case, || Long)).unwrap();
    let text = describe(&report);
    assert!(text.lines().next().is_some_and(|line| line.ends_with("more characters)")), "{text}");
    assert!(text.ends_with("xx: write `a:b`"), "the remedy is below the headline: {text}");
}

/// A set of one line whose second case says something that ADK does not read.
const TEXT: &str = r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "a"}, {"eval_id": "b", "conversation": [{"user_content": {"parts": []}}], "finalSessionState": {}, "final_session_state": {}}]}"#;

#[test]
fn warnings_are_those_of_the_case_at_their_place_in_the_file() {
    let start = TEXT.find(r#"{"eval_id": "b""#).unwrap();
    let options = Options::default();
    let at = u32::try_from(start).unwrap();
    let case = CaseSource { eval_id: "b", test: "s::b", start, end: TEXT.len() - 2, line: 1, column: at + 1 };
    let set: &'static SetSource = Box::leak(Box::new(SetSource {
        manifest_dir: "",
        package: "p",
        target: Target::Lib,
        file: "s.evalset.json",
        shown: "s.evalset.json",
        text: TEXT,
        form: eval_format::reader::SetFormat::EvalSet,
        eval_set_id: "s",
        cases: Box::leak(Box::new([case])),
        config: ConfigSource::Default,
        session: None,
        faults: None,
        model_faults: None,
        tool_list: None,
        absent: &[],
        options,
        listing: "",
        recording: None,
        models: None,
    }));
    let mut out = String::new();
    warnings(&mut out, &Test { set, source: &set.cases[0], module: "m", variant: None });
    let column = TEXT.rfind(r#""final_session_state""#).unwrap() + 1;
    assert!(out.starts_with("warning: ") && out.ends_with(&format!("(s.evalset.json:1:{column})")), "{out}");
}

#[cfg(feature = "judges")]
#[test]
fn a_judge_that_is_missing_is_said_once() {
    struct Asks;
    impl Metric for Asks {
        async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
            input.judging().ask(&input.judging().request("asks/1", "Is it polite?", 0)).await?;
            Ok(Scores::whole_run(true))
        }
    }
    let runner = EvalRunner::new().metric("polite", Asks).metric("brief", Asks);
    let runner = runner.criterion("response_match_score", Criterion::new(0.5));
    let case = EvalCase::new("refund").turn(Invocation::user("Refund it").response("It is done."));
    insta::assert_snapshot!(text(&run(&runner, &case, || Replay::new([["It is done."]]))));
}

#[cfg(feature = "judges")]
#[test]
fn what_a_judge_finds_stands_below_its_turn() {
    let replies = [
        "<sentence>Order 42 ships on Monday.</sentence><sentence>It weighs 3 kg.</sentence>",
        "sentence: Order 42 ships on Monday.\nlabel: supported\nrationale: The tool said so.\n\
         supporting_excerpt: Monday\ncontradicting_excerpt: null\n\
         sentence: It weighs 3 kg.\nlabel: unsupported\nrationale: No tool returned a weight.\n\
         supporting_excerpt: null\ncontradicting_excerpt: null",
        r#"{"reasoning": "The weight has nothing to do with the question.", "rating": 3}"#,
        r#"{"reasoning": "It hands out a secret.", "is_safe": false}"#,
        r#"{"checks": [{"check": "The user learns when order 42 ships.", "reasoning": "On Monday.", "passes": true},
            {"check": "The agent says no more than that.", "reasoning": "It adds a weight.", "passes": false}]}"#,
        "I cannot tell.",
        "I still cannot tell.",
    ];
    let judged = [
        ("hallucinations_v1", 0.9),
        ("response_evaluation_score", 4.0),
        ("safety_v1", 1.0),
        ("multi_turn_task_success_v1", 0.9),
        ("multi_turn_tool_use_quality_v1", 0.9),
    ];
    let runner = judged.into_iter().fold(EvalRunner::new(), |runner, (name, threshold)| {
        runner.criterion(name, Criterion::new(threshold).with_num_samples(1))
    });
    let answer = "Order 42 ships on Monday. It weighs 3 kg.";
    let case = EvalCase::new("order").turn(Invocation::user("Where is order 42?").response(answer));
    let runner = runner.judge(ScriptedJudge::new(replies));
    insta::assert_snapshot!(text(&run(&runner, &case, || Replay::new([[answer]]))));
}

#[cfg(feature = "judges")]
#[test]
fn what_agents_and_judges_say_cannot_steer_a_terminal_or_pose_as_lines_of_ours() {
    let forged = "\u{1b}[2J\u{202e}\r\nrun again     rm -rf ~";
    let runner = EvalRunner::new().criterion("safety_v1", Criterion::new(1.0).with_num_samples(1));
    let runner = runner.criterion("response_match_score", Criterion::new(1.0));
    let runner = runner.judge(ScriptedJudge::new([format!("{forged}\n{{\"is_safe\": false}}")]));
    let case = EvalCase::new("order").turn(Invocation::user("Where is order 42?").response("On its way."));
    let text = text(&run(&runner, &case, || Replay::new([[forged]])));
    assert_eq!(text.matches("\\u{1b}[2J\\u{202e}\n").count(), 2, "{text}");
    assert!(text.lines().all(|line| !line.trim_start().starts_with("run again")), "{text}");
    eval_support::test_support::assert_inert(&text);
}
