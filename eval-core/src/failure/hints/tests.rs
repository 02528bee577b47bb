//! Failures with the hints that they give, and those that give none.

use std::time::Duration;

use eval_format::{ArgsMatch, Content, Criterion, EvalCase, Invocation, Part};
use serde_json::{Value, json};

use super::*;
use crate::EvalRunner;
use crate::agent::{Event, Replay};
use crate::verdict::Role;

const TRAJECTORY: &str = "tool_trajectory_avg_score";

fn call(name: &str, args: &Value) -> FunctionCall {
    FunctionCall::new(name, args.clone())
}

fn case(calls: &[(&str, Value)]) -> EvalCase {
    let turn = calls.iter().fold(Invocation::user("Hi"), |turn, (name, args)| turn.call(call(name, args)));
    EvalCase::new("a").turn(turn.response("Done."))
}

/// Events of a turn by an author: calls, and an answer.
fn events(author: &str, calls: &[(&str, Value)], answer: &str) -> Vec<Event> {
    let event = |part| Event::new(author, Content::new("model", vec![part]));
    let mut events: Vec<Event> =
        calls.iter().map(|(name, args)| event(Part::call(call(name, args)))).collect();
    events.push(event(Part::text(answer)));
    events
}

fn report(runner: &EvalRunner, case: &EvalCase, events: &[Event]) -> CaseReport {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(runner.run_case(case, || Replay::new([events.to_vec()]))).unwrap()
}

fn trajectory(criterion: Criterion) -> EvalRunner {
    EvalRunner::new().criterion(TRAJECTORY, criterion)
}

#[test]
fn calls_that_a_looser_setting_accepts_name_it() {
    let f = |args: Value| ("f", args);
    let g = || ("g", json!({}));
    let exact = || Criterion::new(1.0);
    let in_order = || exact().with_match_type(MatchType::InOrder);
    for (criterion, expected, actual, hint) in [
        (
            exact(),
            vec![f(json!({})), g()],
            vec![g(), f(json!({}))],
            "the same calls were made in another order; if that is right, `\"match_type\": \"ANY_ORDER\"` in the criterion",
        ),
        (
            in_order(),
            vec![f(json!({})), g()],
            vec![g(), g(), f(json!({}))],
            "the expected calls were made in another order, and others besides; if that is right, `\"match_type\": \"ANY_ORDER\"`",
        ),
        (
            exact(),
            vec![f(json!({}))],
            vec![f(json!({})), g()],
            "the expected calls were made in this order, and others besides; if that is right, `\"match_type\": \"IN_ORDER\"`",
        ),
        (
            exact(),
            vec![f(json!({ "x": 1 }))],
            vec![f(json!({ "x": 1, "y": 2 }))],
            "the calls had further arguments, which the case does not expect; if that is right, `\"args_match\": \"subset\"`",
        ),
        // A turn that expects no call would accept any.
        (exact(), vec![], vec![g()], ""),
        // Nothing that can be set accepts these.
        (exact(), vec![f(json!({ "x": 1 }))], vec![f(json!({ "x": 2 }))], ""),
        (exact(), vec![f(json!({})), g()], vec![g()], ""),
        (exact().with("forbidden_tools", json!(["g"])), vec![f(json!({}))], vec![f(json!({})), g()], ""),
        (exact().with_args_match(ArgsMatch::Subset), vec![f(json!({ "x": 1 }))], vec![f(json!({}))], ""),
    ] {
        let report = report(&trajectory(criterion), &case(&expected), &events("agent", &actual, "Done."));
        let hints = of(&report, None);
        match hint {
            "" => assert!(hints.is_empty(), "{hints:?}"),
            hint => {
                assert!(hints.len() == 1 && hints[0].starts_with(hint), "{hints:?} is not {hint}");
                assert!(hints[0].ends_with(&format!("criterion of `{TRAJECTORY}` accepts it")), "{hints:?}");
            }
        }
    }
}

#[test]
fn a_case_without_a_recorded_call_says_how_calls_are_recorded() {
    let expected = case(&[("f", json!({}))]);
    let of = |author: &str, case: &EvalCase, made: &[(&str, Value)], answer: &str| {
        let runner = trajectory(Criterion::new(1.0)).criterion("response_match_score", Criterion::new(0.8));
        of(&report(&runner, case, &events(author, made, answer)), None)
    };
    let said = of(DEFAULT_AUTHOR, &expected, &[], "Done.");
    assert!(said.len() == 1 && said[0].starts_with("no tool call was recorded in this case"), "{said:?}");
    assert!(said[0].contains("in Python `@evalset.tool`"), "{said:?}");
    assert!(of("weather_agent", &expected, &[], "Done.").is_empty(), "a server tells its calls");
    assert!(of(DEFAULT_AUTHOR, &expected, &[("g", json!({}))], "Done.").is_empty(), "a call was recorded");
    assert!(of(DEFAULT_AUTHOR, &case(&[]), &[], "No.").is_empty(), "none was expected");
    assert!(of(DEFAULT_AUTHOR, &expected, &[("f", json!({}))], "No.").is_empty(), "the answer differs");
}

#[test]
fn a_time_limit_names_its_setting_and_where_the_value_comes_from() {
    let mut report = report(&EvalRunner::new(), &case(&[]), &events("agent", &[], "Done."));
    let timed_out = crate::guard::Fault::TimedOut(Duration::from_secs(1)).to_string();
    report.verdict = Verdict::error(Role::Agent, format!("agent error in turn 1: {timed_out}"));
    let second = Duration::from_secs(1);
    for (timeout, expected) in [
        (None, "`--timeout` sets this limit, and `EvalRunner::timeout` does in Rust"),
        (Some(second), "`timeout = ..` in the attribute sets this limit of 1s"),
        (
            Some(eval_format::DEFAULT_TIMEOUT),
            "120s is the default of `timeout`; `timeout = \"..\"` in the attribute sets another limit",
        ),
    ] {
        assert_eq!(of(&report, timeout), [expected]);
    }
    report.verdict = Verdict::error(Role::Agent, "agent error in turn 1: connection refused");
    assert!(of(&report, Some(second)).is_empty());
}

#[test]
fn a_golden_may_be_out_of_date_if_a_metric_that_reads_it_failed_and_all_runs_did_the_same() {
    let golden = case(&[("f", json!({}))]);
    let made = |answer: &str| events("agent", &[("f", json!({})), ("g", json!({}))], answer);
    let is_old =
        |runner: &EvalRunner, answer: &str| may_be_out_of_date(&report(runner, &golden, &made(answer)));
    assert!(is_old(&trajectory(Criterion::new(1.0)), "Done."));
    assert!(is_old(&EvalRunner::new().runs(2), "Red."));
    let loose = Criterion::new(1.0).with_match_type(MatchType::InOrder);
    assert!(!is_old(&trajectory(loose.clone()), "Done."), "it passed");
    let forbidden = loose.with("forbidden_tools", json!(["g"]));
    assert!(!is_old(&trajectory(forbidden), "Done."), "a forbidden call is not to be accepted");
    let tokens = Criterion::new(0.0).with("direction", "at_most");
    let counted = EvalRunner::new().criterion("tool_call_count_v1", tokens);
    assert!(!is_old(&counted, "Done."), "no expectation is read");

    // A metric of a user may read the expectations, and fail for another reason.
    let own = EvalRunner::new()
        .criterion("of_users_own", Criterion::new(1.0))
        .metric("of_users_own", |_: &Invocation, _: Option<&Invocation>, _: &Criterion| 0.0);
    assert!(is_old(&own, "Done."), "the agent did something else");
    let as_expected = report(&own, &golden, &events("agent", &[("f", json!({}))], "Done."));
    assert!(as_expected.verdict == Verdict::Failed && as_expected.is_as_expected());
    assert!(!may_be_out_of_date(&as_expected), "another golden would not help");

    let mut differ = report(&EvalRunner::new().runs(2), &golden, &made("Red."));
    differ.runs[1].transcript.turns[0].invocation.final_response = Some(Content::model("Blue."));
    assert!(!may_be_out_of_date(&differ), "the runs differ");
    let error = Verdict::error(Role::Agent, "no");
    assert!(
        !reads_the_golden(&error, &differ.metrics) && reads_the_golden(&Verdict::Failed, &differ.metrics)
    );
}
