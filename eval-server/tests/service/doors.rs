//! Content of traces, turns and live exports: the table of `docs/agents.md`.

use serde_json::{Value, json};

use crate::doors_table::{Door, TRACE, answered, traces};
use crate::receiver::{JSON, export, options};
use crate::support::{Reply, Service};

const SET: &str = r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": [
    {"user_content": {"parts": [{"text": "hi"}]}, "final_response": {"parts": [{"text": "hello"}]}}]}]}"#;

const METRICS: &str = r#"{"evaluators": [{"name": "tool_trajectory_avg_score", "threshold": 1.0}, {"name": "response_match_score", "threshold": 0.8}]}"#;

fn refused(reply: &Reply) -> Vec<String> {
    vec![format!("refused: {} {}", reply.status, reply.body)]
}

/// The outcome of an evaluation.
fn evaluated(reply: &Reply) -> Vec<String> {
    if reply.status != 200 {
        return refused(reply);
    }
    let data = reply.data();
    let results = data["traceResults"].as_array().unwrap().iter();
    let of_case = results
        .clone()
        .filter(|it| it["evalCaseId"] == "c" || data["traceResults"].as_array().unwrap().len() == 1);
    let metrics: Vec<&Value> = of_case.flat_map(|it| it["metricResults"].as_array().unwrap()).collect();
    let error = metrics.iter().find_map(|metric| metric["error"].as_str());
    let error = error.or_else(|| data["errors"][0].as_str());
    match error {
        Some(error) => vec![format!("ERROR: {error}")],
        None if !metrics.is_empty() && metrics.iter().all(|metric| metric["evalStatus"] == "PASSED") => {
            let warnings = results.clone().flat_map(|it| it["conversionWarnings"].as_array().unwrap());
            let notes = warnings.map(|it| format!("note: {}", it.as_str().unwrap()));
            std::iter::once("passes".to_owned()).chain(notes).collect()
        }
        None => vec!["fails".to_owned()],
    }
}

#[test]
fn what_stands_in_traces_becomes_what_the_table_says() {
    let expected = [
        "passes",
        "passes",
        "answer_not_captured",
        "fails",
        "ERROR: ",
        "failed: _OTHER",
        "passes",
        "unknown_part",
        "refused: 400",
        "the attribute `gen_ai.operation.name` is there twice, with different values",
        "which are one key in two spellings",
        "passes",
        "ERROR: ",
        "fails",
        "passes; note: repeated: ",
        "passes",
        "refused: 422",
        "dropped",
    ];
    let service = Service::start(options());
    let mut door = Door::new("the service: traces");
    let traces = traces();
    assert_eq!(traces.len(), expected.len());
    for ((arrives, document), expected) in traces.into_iter().zip(expected) {
        let body = format!(r#"{{"traces": {document}, "evalSet": {SET}, "config": {METRICS}}}"#);
        door.found(arrives, &evaluated(&service.post("/api/evaluate/json", &body)), expected);
    }
    door.end();
}

/// The parameters of a request keep the rules of files, too.
#[test]
fn a_parameter_that_stands_twice_is_refused() {
    let service = Service::start(options());
    let trace = answered("hello");
    let twice = r#"{"evaluators": [{"name": "response_match_score", "threshold": 1.0, "threshold": 0.0}]}"#;
    let body = format!(r#"{{"traces": {trace}, "evalSet": {SET}, "config": {twice}}}"#);
    let by_json = service.post("/api/evaluate/json", &body);
    let of_form = |config: &str, more: &[(&str, &str, &[u8])]| {
        let files: [(&str, &str, &[u8]); 3] = [
            ("trace_files", "t.json", trace.as_bytes()),
            ("eval_set_file", "s.json", SET.as_bytes()),
            ("config", "", config.as_bytes()),
        ];
        service.form("/api/evaluate", &[&files[..], more].concat())
    };
    let path = format!("/api/v1/sessions/score?token={}", service.token);
    let replies = [
        (by_json, "is repeated"),
        (of_form(twice, &[]), "is repeated"),
        (of_form(METRICS, &[("config", "", b"{}")]), "the field `config` is there twice"),
        (
            of_form(METRICS, &[("eval_set_file", "t.json", SET.as_bytes())]),
            "the field `eval_set_file` is there twice",
        ),
        (service.post(&path, r#"{"golden": "1", "golden": "2", "evaluators": []}"#), "is repeated"),
    ];
    for (reply, why) in replies {
        assert!((400..500).contains(&reply.status) && reply.body.contains(why), "{why}: {reply:?}");
    }
    assert_eq!(of_form(METRICS, &[]).data()["passed"], true);
}

/// `evaluate` has no word for a limit, as agentevals has none: it is refused, and counts decide nothing. `score` has it.
#[test]
fn a_limit_is_refused_where_it_has_no_word_and_fails_where_it_has_one() {
    let service = Service::start(options());
    let trace = answered("hello");
    let evaluate = |evaluator: &str| {
        let config = format!(r#"{{"evaluators": [{evaluator}, {{"name": "response_match_score"}}]}}"#);
        let body = format!(r#"{{"traces": {trace}, "evalSet": {SET}, "config": {config}}}"#);
        service.post("/api/evaluate/json", &body)
    };
    let limit = r#"{"name": "inference_call_count_v1", "threshold": 0.5, "direction": "at_most"}"#;
    let refused = evaluate(limit);
    assert_eq!(refused.status, 422, "{}", refused.body);
    assert_eq!(refused.json()["detail"][0]["loc"], json!(["body", "config", "evaluators", 0, "direction"]));
    let counted = evaluate(r#"{"name": "inference_call_count_v1", "threshold": 0.5}"#).data();
    let status = &counted["traceResults"][0]["metricResults"][0]["evalStatus"];
    assert_eq!(status, "NOT_EVALUATED", "{counted}");

    let turn = r#"{"user_content": {"parts": [{"text": "hi"}]}, "final_response": {"parts": [{"text": "hello"}]},
        "intermediate_data": {"tool_uses": [{"name": "f", "args": {}}, {"name": "f", "args": {}}]}}"#;
    for (most, verdict) in [(2, "passed"), (1, "failed")] {
        let criteria =
            format!(r#"{{"tool_call_count_v1": {{"threshold": {most}, "direction": "at_most"}}}}"#);
        let body = format!(r#"{{"actual": [{turn}], "criteria": {criteria}}}"#);
        let scored = service.post("/api/v1/score", &body).data();
        assert_eq!(
            (&scored["verdict"], &scored["metrics"][0]["verdict"]),
            (&json!(verdict), &json!(verdict))
        );
        assert_eq!(scored["metrics"][0]["direction"], "at_most");
    }
}

/// Turns that took place, by what arrives with them.
const TURNS: [(&str, &str, &str); 13] = [
    ("the answer as text", "USER, SAYS", "passes"),
    (
        "the answer twice",
        r#"USER, SAYS, EVENTS{"author": "a", "content": {"parts": [{"text": "hello"}]}}]}"#,
        "passes",
    ),
    (
        "blank text",
        r#"USER, "final_response": {"parts": [{"text": " "}]}"#,
        "the agent answered nothing that a user would see",
    ),
    ("a call that the case does not expect", "USER, SAYS, EVENTSCALL]}", "fails"),
    (
        "a result without its call",
        "USER, SAYS, EVENTSRESULT]}",
        "the result of `rm`, {} was recorded without its call",
    ),
    (
        "a result without its call",
        r#"USER, SAYS, "intermediate_data": {"tool_responses": [{"name": "rm", "response": {}}]}"#,
        "the result of `rm`, {} was recorded without its call",
    ),
    ("an unknown key of an event", r#"USER, SAYS, EVENTS{"author": "a", "colour": 1}]}"#, "passes"),
    ("an unknown key of a message", r#"USER, SAYS, "colour": 1"#, "refused: 422"),
    (
        "a key that stands twice",
        r#"USER, SAYS, "final_response": {"parts": [{"text": "bye"}]}"#,
        "refused: 422",
    ),
    (
        "a key in two spellings",
        r#"USER, SAYS, "finalResponse": {"parts": [{"text": "bye"}]}"#,
        "refused: 422",
    ),
    (
        "something of another conversation",
        r#""user_content": {"parts": [{"text": "bye"}]}, SAYS"#,
        "run it again",
    ),
    (
        "something out of order",
        "USER, SAYS, EVENTSRESULT, CALL]}",
        "the result of `rm`, {} was recorded without its call",
    ),
    ("a truncated message", r#"USER, "final_response": {"parts": [{"te"#, "refused: 422"),
];

#[test]
fn what_stands_in_turns_becomes_what_the_table_says() {
    let service = Service::start(options());
    let mut door = Door::new("the service: turns");
    for (arrives, turn, expected) in TURNS {
        let turn = turn
            .replace("USER", r#""user_content": {"parts": [{"text": "hi"}]}"#)
            .replace("SAYS", r#""final_response": {"parts": [{"text": "hello"}]}"#)
            .replace("EVENTS", r#""intermediate_data": {"invocation_events": ["#)
            .replace("CALL", r#"{"author": "a", "content": {"parts": [{"function_call": {"name": "rm", "args": {}}}]}}"#)
            .replace("RESULT", r#"{"author": "a", "content": {"parts": [{"function_response": {"name": "rm", "response": {}}}]}}"#);
        // The answer is no matter of the only metric, so that a turn without one is told by its error alone.
        let expected_turn = r#"{"user_content": {"parts": [{"text": "hi"}]}, "final_response": {"parts": [{"text": "hello"}]}}"#;
        let body = format!(
            r#"{{"criteria": {{"tool_trajectory_avg_score": 1.0}}, "expected": [{expected_turn}], "actual": [{{{turn}}}]}}"#
        );
        let reply = service.post("/api/v1/score", &body);
        let found = match reply.status {
            200 => match reply.data() {
                scored if scored["passed"] == true => vec!["passes".to_owned()],
                scored if scored["verdict"] == "failed" => vec!["fails".to_owned()],
                scored => vec![format!("ERROR: {}", scored["reason"].as_str().unwrap_or_default())],
            },
            _ => refused(&reply),
        };
        door.found(arrives, &found, expected);
    }
    door.end();
}

/// The outcome of a session whose spans are sent in an export, against a golden one that answers as it should.
fn live(document: &str) -> Vec<String> {
    let service = Service::start(options());
    let ask = |line: &str, body: &str| {
        let headers =
            format!("authorization: Bearer {}\r\ncontent-type: application/json\r\n", service.token);
        service.request(line, &headers, body.as_bytes())
    };
    let golden = answered("hello").replace(TRACE, "000000000000000000000000000000ff");
    assert_eq!(export(&service, JSON, golden.as_bytes()).status, 200);
    assert_eq!(ask("PUT /api/v1/sessions/1/golden", "").status, 200);
    let sent = export(&service, JSON, document.as_bytes());
    // Sessions are numbered as they come.
    let session = ask("GET /api/v1/sessions/2", "");
    if session.status == 404 {
        return refused(&sent);
    }
    let session = session.data();
    let doubts = session["doubts"].as_array().unwrap().iter();
    let doubts = doubts.map(|it| format!("doubt: {}", it.as_str().unwrap()));
    let body = METRICS.replacen('{', r#"{"sessions": ["2"], "#, 1);
    let scored = ask("POST /api/v1/sessions/score", &body);
    if scored.status != 200 {
        return refused(&scored);
    }
    let scored = scored.data()["sessions"][0].take();
    let outcome = match scored["verdict"].as_str() {
        Some("passed") => "passes".to_owned(),
        Some("failed") => "fails".to_owned(),
        _ => format!("ERROR: {}", scored["reason"].as_str().unwrap_or_default()),
    };
    std::iter::once(outcome).chain(doubts).collect()
}

#[test]
fn what_is_exported_becomes_what_the_table_says() {
    let expected = [
        "passes",
        "passes",
        "ERROR: ",
        "fails",
        "doubt: ",
        "doubt: ",
        "passes",
        "unknown_part",
        "refused: ",
        "is there twice",
        "which are one key in two spellings",
        "passes",
        "passes",
        "fails",
        "passes",
        "passes",
        "refused: 400",
        "dropped",
    ];
    let mut door = Door::new("a live session");
    let traces = traces();
    assert_eq!(traces.len(), expected.len());
    for ((arrives, document), expected) in traces.into_iter().zip(expected) {
        door.found(arrives, &live(&document), expected);
    }
    door.end();
}
