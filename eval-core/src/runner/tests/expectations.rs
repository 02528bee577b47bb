//! Expectations beside calls and answers, and the criteria that decide a case.

use super::*;
use eval_format::TurnAggregation;

/// A case that expects a price of 42 from a tool, asked for in its second turn.
fn price() -> EvalCase {
    EvalCase::parse(
        r#"{"eval_id": "price", "conversation": [
            {"user_content": {"parts": [{"text": "Hi"}]}, "final_response": {"parts": [{"text": "Hello!"}]}},
            {"user_content": {"parts": [{"text": "The price?"}]}, "final_response": {"parts": [{"text": "It is 42."}]},
                "intermediate_data": {"tool_uses": [{"name": "price", "args": {}}],
                    "tool_responses": [{"name": "price", "response": {"result": 42}}],
                    "intermediate_responses": [["agent", [{"text": "Let me see."}]]]}}]}"#,
    )
    .unwrap()
}

/// An agent that answers what is expected, whatever its tool returns.
struct Shop {
    says: &'static str,
    price: serde_json::Value,
}

impl Agent for Shop {
    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        let recorder = turn.recorder();
        if turn.text() == "Hi" {
            recorder.text("Hello!");
            return Ok(());
        }
        recorder.text(self.says);
        let price = self.price.clone();
        recorder.tool("price", json!({}), async { Ok::<_, BoxError>(price) }).await?;
        recorder.text("It is 42.");
        Ok(())
    }
}

fn report(runner: &EvalRunner, says: &'static str, price: &serde_json::Value) -> CaseReport {
    run(runner.run_case(&self::price(), || Shop { says, price: price.clone() })).unwrap()
}

#[test]
fn a_tool_that_returned_something_else_fails_the_case() {
    let runner = EvalRunner::new().criterion("tool_response_match", Criterion::new(1.0));
    assert_eq!(report(&runner, "", &json!(42)).verdict, Verdict::Passed);
    let failed = report(&runner, "", &json!("DB is down"));
    assert_eq!(failed.verdict, Verdict::Failed);
    let metric = failed.metric("tool_response_match").unwrap();
    // The first turn expects no response, and is not counted as right.
    assert_eq!((metric.score, metric.scored, metric.total), (Some(0.0), 1, 1));
    let text = failed.to_string();
    let note = r#"`price()`: expected {"result":42}, returned {"result":"DB is down"}"#;
    assert!(text.contains(note) && text.contains("tool responses: tool_response_match 0.0"), "{text}");
    assert!(text.contains("turn 2 of 2") && !text.contains("turn 1 of 2"), "{text}");
    // ADK's default criteria read none of it.
    let default = report(&EvalRunner::new(), "", &json!("DB is down"));
    assert_eq!(default.verdict, Verdict::Passed);
    let text = default.to_string();
    assert!(text.contains("\n  not compared: 1 tool response, 1 intermediate response"), "{text}");
}

#[test]
fn a_text_before_the_answer_fails_the_case() {
    let runner = EvalRunner::new().criterion("intermediate_response_match", Criterion::new(1.0));
    assert_eq!(report(&runner, "Let me see.", &json!(42)).verdict, Verdict::Passed);
    let failed = report(&runner, "Whatever.", &json!(42));
    assert_eq!(failed.verdict, Verdict::Failed);
    let text = failed.to_string();
    let note = r#"text 1 before the answer: expected "Let me see.", said "Whatever.""#;
    assert!(text.contains(note), "{text}");
}

#[test]
fn turns_that_expect_nothing_stay_out_of_every_gate() {
    for gate in [TurnAggregation::Mean, TurnAggregation::EveryTurn] {
        let runner =
            EvalRunner::new().criterion("tool_response_match", Criterion::new(1.0)).gate(gate).runs(2);
        let passed = report(&runner, "", &json!(42));
        assert_eq!(passed.verdict, Verdict::Passed, "{passed}");
        assert_eq!(passed.metric("tool_response_match").map(|metric| metric.total), Some(2));
    }
}

#[test]
fn a_case_that_no_agent_can_fail_is_refused() {
    let set = EvalSet::new("s").case(case("c", &[("hi", "Hello!")]));
    let refused = |name: &str, criterion: Criterion| {
        let runner = EvalRunner::new().criterion(name, criterion);
        run(runner.run_set(&set, || Replay::new([["garbage!"]]), 1))
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    let in_order = || Criterion::new(1.0).with_match_type(MatchType::InOrder);
    let error = refused("tool_trajectory_avg_score", in_order()).unwrap_err();
    assert!(error.contains("case `c`: no metric decides it, so it would pass unchecked"), "{error}");
    assert!(error.contains("no turn expects a tool call, and other calls are allowed"), "{error}");
    assert!(refused("trajectory_any_order_match", Criterion::new(1.0)).is_err());
    assert!(refused("tool_trajectory_avg_score", in_order().with_forbidden_tools(["rm_rf"])).is_ok());
    assert!(refused("tool_response_match", Criterion::new(1.0)).is_err());
}

#[test]
fn a_threshold_that_no_score_reaches_fails_the_case_as_in_adk() {
    let set = EvalSet::new("s").case(case("c", &[("hi", "Hello!")]));
    let runner = EvalRunner::new().criterion("response_match_score", Criterion::new(7.0));
    let report = run(runner.run_set(&set, || Replay::new([["Hello!"]]), 1)).unwrap();
    assert_eq!(report.cases[0].verdict, Verdict::Failed);
    assert!(report.cases[0].to_string().contains("response_match_score is 1.0, below 7.0"));
}

/// In ADK a session without an app name fails the case, and an empty user id stays empty.
#[test]
fn names_that_a_session_leaves_empty_are_those_of_the_runner() {
    for (input, id) in [
        (r#"{"app_name": "", "user_id": ""}"#, None),
        (r#"{"app_name": "", "user_id": "", "session_id": " "}"#, None),
        (r#"{"app_name": "", "user_id": "", "session_id": "s1"}"#, Some("s1")),
    ] {
        let text = format!(
            r#"{{"eval_id": "c", "session_input": {input}, "conversation": [{{"user_content": {{"parts": [{{"text": "hi"}}]}},
                "final_response": {{"parts": [{{"text": "hi"}}]}}}}]}}"#
        );
        let case = EvalCase::parse(&text).unwrap();
        let report = run(EvalRunner::new().run_case(&case, || Replay::new([["hi"]]))).unwrap();
        let session = &report.runs[0].transcript.session;
        assert_eq!(
            (session.app_name.as_str(), session.user_id.as_str()),
            ("EvaluationGenerator", "test_user_id")
        );
        assert_eq!(id.unwrap_or(&session.session_id), session.session_id);
        assert!(!session.session_id.trim().is_empty());
    }
}

/// An agent that answers whether an earlier run left something in its session, and leaves something.
struct Forgetful;

impl Agent for Forgetful {
    async fn start(&mut self, session: &crate::agent::Session) -> Result<(), BoxError> {
        for key in ["seen", "user:seen", "app:seen"] {
            if session.state.contains_key(key) {
                return Err(format!("`{key}` is left of an earlier run").into());
            }
        }
        Ok(())
    }

    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        for key in ["seen", "user:seen", "app:seen"] {
            turn.recorder().state(key, json!(true));
        }
        turn.recorder().text("hi");
        Ok(())
    }
}

/// In ADK the state of a pinned session goes from run to run, and the state of its user and app always does.
#[test]
fn each_run_begins_with_the_state_of_its_case() {
    let text = r#"{"eval_id": "c", "session_input": {"app_name": "a", "user_id": "u", "session_id": "pinned"},
        "conversation": [{"user_content": {"parts": [{"text": "hi"}]}, "final_response": {"parts": [{"text": "hi"}]}}]}"#;
    let case = EvalCase::parse(text).unwrap();
    let report = run(EvalRunner::new().runs(3).run_case(&case, || Forgetful)).unwrap();
    assert_eq!(report.verdict, Verdict::Passed, "{report}");
    assert!(report.runs.iter().all(|run| run.transcript.session.session_id == "pinned"));
}
