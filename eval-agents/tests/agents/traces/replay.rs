//! Conversations as cases, and cases against conversations.

use std::time::Duration;

use eval_agents::TraceAgent;
use eval_agents::traces::Traces;
use eval_core::format::{EvalCase, Invocation};
use eval_core::{CaseReport, Criterion, EvalRunner};
use serde_json::json;

use super::support::{read, says, tool, weather, with, without};
use super::vectors::{fixtures, say_skipped};

/// The report of a case that is played against traces.
fn played(traces: &Traces, case: &EvalCase) -> CaseReport {
    let agent = TraceAgent::from(traces.clone());
    let runner = EvalRunner::new()
        .criterion("tool_trajectory_avg_score", Criterion::new(1.0))
        .criterion("response_match_score", Criterion::new(1.0));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(runner.run_case(case, || agent.clone())).unwrap()
}

fn error(report: &CaseReport) -> String {
    report.runs[0].transcript.error.as_ref().map(ToString::to_string).unwrap_or_default()
}

fn oslo() -> EvalCase {
    read(&weather()).conversations()[0].to_case("oslo")
}

#[test]
fn a_conversation_passes_as_its_own_case() {
    let traces = read(&weather());
    let report = played(&traces, &oslo());
    assert!(report.verdict.passed(), "{report}");
    let score =
        |name: &str| report.metrics.iter().find(|metric| metric.name == name).and_then(|metric| metric.score);
    assert_eq!((score("tool_trajectory_avg_score"), score("response_match_score")), (Some(1.0), Some(1.0)));
    // A number that the trace lacks is not 0.
    assert_eq!((score("inference_call_count_v1"), score("token_usage_v1")), (Some(2.0), None));
    let invocation = &report.runs[0].transcript.turns[0].invocation;
    assert_eq!(invocation.duration, Some(3.5), "the time that the turn took when it took place");
}

#[test]
fn calls_of_models_and_tools_have_the_times_of_their_spans() {
    let traces = read(&weather());
    let turn = &traces.conversations()[0].turns[0];
    let half = Some(Duration::from_millis(500));
    assert!(turn.model_calls.iter().all(|call| call.duration == half), "{turn:?}");
    assert!(!turn.calls.is_empty() && turn.calls.iter().all(|call| call.duration == half), "{turn:?}");
    // Without the end of its span it is not known.
    let mut spans = weather();
    for span in &mut spans {
        span["endTimeUnixNano"] = json!(null);
    }
    let traces = read(&spans);
    let turn = &traces.conversations()[0].turns[0];
    assert!(turn.calls.iter().all(|call| call.duration.is_none()), "{turn:?}");
}

#[test]
fn every_fixture_with_content_passes_as_its_own_case() {
    let fixtures = fixtures();
    if fixtures.is_empty() {
        return say_skipped("round trips of traces");
    }
    let mut passed = 0;
    for (path, _) in fixtures {
        let traces = Traces::read(&path).unwrap();
        for conversation in traces.conversations().iter().filter(|it| !it.turns.is_empty()) {
            let is_whole =
                conversation.turns.iter().all(|turn| turn.error.is_none() && turn.answer.is_some());
            let report = played(&traces, &conversation.to_case("again"));
            assert_eq!(report.verdict.passed(), is_whole, "{}: {report}", path.display());
            passed += usize::from(is_whole);
        }
    }
    assert!(passed >= 14, "{passed}");
}

#[test]
fn a_case_fails_where_the_trace_does_something_else() {
    let mut spans = weather();
    spans[2] = tool(3, 1, "get_weather", json!({ "city": "Bergen" }), json!({ "sky": "grey" }));
    assert!(!played(&read(&spans), &oslo()).verdict.passed());
}

#[test]
fn missing_turns_turns_too_many_failed_turns_and_gaps_are_errors_that_say_so() {
    let longer = oslo().turn(Invocation::user("And Rome?").response("Sunny."));
    let missing = error(&played(&read(&weather()), &longer));
    assert!(
        missing.contains("turn 2 is missing: the conversation") && missing.contains("import TRACE"),
        "{missing}"
    );

    let mut two = weather();
    for (number, mut span) in (11..).zip(weather()) {
        span["spanId"] = json!(format!("{number:016x}"));
        if number > 11 {
            span["parentSpanId"] = json!(format!("{:016x}", 11));
        }
        two.push(span);
    }
    let two = read(&two);
    assert!(
        error(&played(&two, &oslo()))
            .contains("has 2 turns and the case 1 turn; give the trace of a run of this case"),
        "{}",
        played(&two, &oslo())
    );

    let mut failed = weather();
    failed[0]["status"] = json!({ "code": 2 });
    assert!(error(&played(&read(&failed), &oslo())).contains("failed: _OTHER"));

    let mut redacted = weather();
    redacted[3] = with(redacted[3].clone(), "gen_ai.output.messages", json!("<REDACTED>"));
    assert!(error(&played(&read(&redacted), &oslo())).contains("answer_not_captured"));

    let mut no_args = weather();
    no_args[1] = without(no_args[1].clone(), "gen_ai.output.messages");
    no_args[2] = without(no_args[2].clone(), "gen_ai.tool.call.arguments");
    assert!(error(&played(&read(&no_args), &oslo())).contains("arguments_not_captured"));

    let mut malformed = weather();
    malformed.push(json!("no span"));
    assert!(error(&played(&read(&malformed), &oslo())).contains("not whole: malformed"));
}

#[test]
fn conversations_of_nobody_and_of_several_are_errors_that_say_so() {
    let other = EvalCase::new("rome").turn(Invocation::user("How is Rome?").response("Sunny."));
    let told = error(&played(&read(&weather()), &other));
    assert!(told.contains("no conversation belongs to this case") && told.contains("How is Oslo?"), "{told}");

    let mut twice = weather();
    for mut span in weather() {
        span["traceId"] = json!(format!("{:032x}", 0xdef));
        twice.push(span);
    }
    let told = error(&played(&read(&twice), &oslo()));
    assert!(told.contains("several conversations belong to this case by the user's words"), "{told}");
}

#[test]
fn a_later_turn_with_other_words_is_of_another_conversation() {
    let question = |text| json!([says("user", text)]);
    let spans = [
        super::support::chat(1, 0, question("Hi"), json!([says("assistant", "Hello")])),
        super::support::chat(2, 0, question("How is Rome?"), json!([says("assistant", "Sunny")])),
    ];
    let case = EvalCase::new("x")
        .turn(Invocation::user("hi").response("Hello"))
        .turn(Invocation::user("How is Oslo?").response("Sunny"));
    let told = error(&played(&read(&spans), &case));
    assert!(told.contains("turn 2 of the conversation") && told.contains("How is Rome?"), "{told}");
}

#[test]
fn a_file_that_is_not_there_is_an_error_of_each_case() {
    let runner = EvalRunner::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let report = runtime.block_on(runner.run_case(&oslo(), || TraceAgent::read("no/such.json"))).unwrap();
    assert!(error(&report).contains("no/such.json: cannot be read"), "{report}");
}

#[test]
fn a_tool_that_no_agent_called_may_belong_to_any_case_which_is_an_error() {
    let mut lone = tool(9, 0, "delete_all", json!({}), json!(1));
    lone["traceId"] = json!(format!("{:032x}", 0xdef));
    let spans: Vec<_> = weather().into_iter().chain([lone]).collect();
    let told = error(&played(&read(&spans), &oslo()));
    assert!(told.contains("not whole: calls_not_captured"), "{told}");
}

#[test]
fn a_case_without_tools_does_not_pass_where_the_trace_begins_with_a_result() {
    let asks = super::support::calls("c1", "get_weather", json!({ "city": "Oslo" }));
    let sent =
        json!([says("user", "How is Oslo?"), asks, super::support::result("c1", json!({ "sky": "grey" }))]);
    let second = super::support::chat(2, 0, sent, json!([says("assistant", "Oslo is grey.")]));
    let case = EvalCase::new("oslo").turn(Invocation::user("How is Oslo?").response("Oslo is grey."));
    let told = error(&played(&read(&[second]), &case));
    assert!(told.contains("is not known: calls_not_captured"), "{told}");
}
