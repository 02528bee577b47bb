//! Live sessions: shown, golden, scored, and saved as drafts.

use std::io::{Read, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use eval_agents::draft::Draft;
use eval_server::{DraftRefused, DraftStore, Limits, SavedDraft};
use serde_json::{Value, json};

use crate::receiver::{JSON, export, limited, options, packed, protobuf, request, sessions};
use crate::support::{Reply, Service, trace};

/// A draft, and the set that was named for it.
type Saved = (Option<String>, Draft);

/// Keeps drafts in memory.
#[derive(Clone, Debug, Default)]
struct Kept(Arc<Mutex<Vec<Saved>>>);

impl DraftStore for Kept {
    fn save(&self, set: Option<&str>, draft: Draft) -> Result<SavedDraft, DraftRefused> {
        if let Some(set @ "no") = set {
            return Err(DraftRefused::set(set, "there is no place for it"));
        }
        self.0.lock().unwrap().push((set.map(str::to_owned), draft));
        Ok(SavedDraft::new("kept", Some("paris".to_owned())))
    }
}

fn send(service: &Service, trace: &str) {
    assert_eq!(export(service, JSON, trace.as_bytes()).status, 200);
}

fn ask(service: &Service, line: &str, body: &str) -> Reply {
    let headers = format!("authorization: Bearer {}\r\ncontent-type: application/json\r\n", service.token);
    service.request(line, &headers, body.as_bytes())
}

const METRICS: &str = r#"{"evaluators": [{"name": "tool_trajectory_avg_score", "threshold": 1.0}, {"name": "response_match_score", "threshold": 0.8}]}"#;

/// The verdicts of all sessions against the golden one, by their keys.
fn verdicts(service: &Service) -> Vec<(u64, String)> {
    let scored = ask(service, "POST /api/v1/sessions/score", METRICS).data();
    let all = scored["sessions"].as_array().unwrap().iter();
    let mut all: Vec<(u64, String)> = all
        .map(|it| {
            let (id, verdict) = (it["id"].as_str().unwrap(), it["verdict"].as_str().unwrap());
            assert_eq!(it["passed"], verdict == "passed");
            (id.parse().unwrap(), verdict.to_owned())
        })
        .collect();
    all.sort();
    assert_eq!(scored["passed"], all.iter().all(|(_, verdict)| verdict == "passed") && !all.is_empty());
    all
}

#[test]
fn sessions_are_scored_against_the_golden_one() {
    let service = Service::start(options());
    send(&service, &trace(1, "Paris?", "Paris", "It is sunny."));
    send(&service, &trace(2, "paris?", "Paris", "It is sunny."));
    send(&service, &trace(3, "Paris?", "Rome", "It is sunny."));
    send(&service, &trace(4, "Rome?", "Paris", "It is sunny."));
    // Content that was not captured, a root that is missing, and a trace of no agent.
    send(&service, &trace(5, "Paris?", "Paris", "It is sunny.").replace("gen_ai.tool.call.arguments", "x"));
    let without_root = trace(6, "Paris?", "Paris", "It is sunny.")
        .replace("\"spanId\":\"0000000000000001\"", "\"spanId\":\"000000000000000f\"");
    send(&service, &without_root);
    send(&service, &trace(7, "", "", "").replace("gen_ai.", "x."));
    let none = ask(&service, "POST /api/v1/sessions/score", METRICS);
    assert!(none.status == 409 && none.body.contains("no session is golden"), "{}", none.body);
    let refused = ask(&service, "PUT /api/v1/sessions/6/golden", "");
    assert!(refused.status == 409 && refused.body.contains("parents have not arrived"), "{}", refused.body);
    assert_eq!(ask(&service, "PUT /api/v1/sessions/5/golden", "").status, 409);
    assert_eq!(ask(&service, "PUT /api/v1/sessions/99/golden", "").status, 404);
    assert_eq!(ask(&service, "PUT /api/v1/sessions/1/golden", "").data()["golden"], "1");
    let expected = [(2, "passed"), (3, "failed"), (4, "not_evaluated"), (5, "error"), (6, "error")];
    assert_eq!(verdicts(&service), expected.map(|(id, verdict)| (id, verdict.to_owned())));
    let one =
        ask(&service, "POST /api/v1/sessions/score", &METRICS.replacen('{', "{\"sessions\": [\"3\"],", 1))
            .data();
    let comparison = &one["sessions"][0]["metricResults"][0]["details"]["comparisons"][0];
    assert_eq!(comparison["expected"][0]["args"], json!({ "city": "Paris" }));
    assert_eq!(
        (&comparison["actual"][0]["args"], &comparison["matched"]),
        (&json!({ "city": "Rome" }), &json!(false))
    );
    // Later spans are read, and a session that lost spans never passes.
    let more = trace(2, "", "", "").replace("gen_ai.", "x.").replace("000000000000000", "00000000000000a");
    send(
        &service,
        &more
            .replacen("[{\"attributes\"", "[{}, {\"attributes\"", 1)
            .replace("00000000000000a00000000000000a02", &format!("{:032x}", 2)),
    );
    let lost = ask(&service, "GET /api/v1/sessions/2", "").data();
    assert!(lost["doubts"][0].as_str().unwrap().contains("rejected"), "{lost}");
    // The span that was rejected may have been of a trace of which nothing else was in that export.
    for id in [1, 3] {
        let other = ask(&service, &format!("GET /api/v1/sessions/{id}"), "").data();
        assert!(other["doubts"][0].as_str().unwrap().contains("may have been in it"), "{other}");
    }
    let scored = ask(&service, "POST /api/v1/sessions/score", METRICS);
    assert!(scored.status == 409 && scored.body.contains("were rejected"), "{}", scored.body);
    assert_eq!(ask(&service, "DELETE /api/v1/sessions/1/golden", "").data()["golden"], Value::Null);
    let unknown =
        ask(&service, "POST /api/v1/sessions/score", "{\"evaluators\": [{\"name\": \"x\"}], \"y\": 1}");
    assert_eq!(unknown.status, 422);
}

#[test]
fn a_refused_export_leaves_a_doubt_on_the_sessions_that_ran() {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let recent = |id: u32| {
        let text = trace(id, "Paris?", "Paris", "It is sunny.");
        text.replace("17600000", &format!("{}", now.as_secs() / 100)[..8])
    };
    let service = Service::start(options());
    send(&service, &recent(1));
    assert_eq!(ask(&service, "PUT /api/v1/sessions/1/golden", "").status, 200);
    send(&service, &recent(2));
    assert_eq!(verdicts(&service), [(2, "passed".to_owned())]);
    assert_eq!(export(&service, JSON, b"{").status, 400);
    let scored = ask(&service, "POST /api/v1/sessions/score", METRICS);
    assert!(scored.status == 409 && scored.body.contains("was refused while it ran"), "{}", scored.body);
}

#[test]
fn the_page_shows_a_session_beside_the_golden_one_with_its_scores() {
    let service = Service::start(options());
    send(&service, &trace(1, "Paris?", "Paris", "It is sunny."));
    send(&service, &trace(2, "Paris?", "Rome", "It is rainy."));
    let case = |id: u32, body: &str| ask(&service, &format!("POST /sessions/{id}/case"), body).data();
    let alone = case(2, "");
    let turn = &alone["case"]["runs"][0]["turns"][0];
    assert_eq!([&turn["calls"][0]["is"], &turn["expected"]], [&json!("made"), &Value::Null], "{alone}");
    assert_eq!(alone["session"]["id"], "2");
    assert_eq!(ask(&service, "PUT /api/v1/sessions/1/golden", "").status, 200);
    let beside = case(2, "");
    let turn = &beside["case"]["runs"][0]["turns"][0];
    let call = &turn["calls"][0];
    let said =
        [&call["is"], &call["expected"], &call["actual"], &turn["expected"]["t"], &turn["actual"]["t"]];
    let expected = [
        "changed",
        r#"get_weather(city: "Paris")"#,
        r#"get_weather(city: "Rome")"#,
        "It is sunny.",
        "It is rainy.",
    ];
    assert_eq!(said, expected.map(Value::from).each_ref());
    assert_eq!([&beside["case"]["metrics"], &turn["scores"]], [&json!([]), &json!([])]);
    // What is compared with itself says nothing.
    assert_eq!(case(1, METRICS)["case"]["runs"][0]["turns"][0]["expected"], Value::Null);

    let scored = case(2, METRICS)["case"].clone();
    let metric = &scored["metrics"][0];
    let said = [&metric["name"], &metric["state"], &metric["score"], &metric["threshold"], &metric["scored"]];
    let expected = ["tool_trajectory_avg_score", "failed", "0.0", "≥ 1", "1 of 1 turn"];
    assert_eq!(said, expected.map(Value::from).each_ref());
    let turn = &scored["runs"][0]["turns"][0];
    assert_eq!([&turn["scores"][0]["state"], &turn["scores"][0]["score"]], [&json!("failed"), &json!("0.0")]);
    assert_eq!(turn["compared"], "which must be the same, in the same order");
    // The open case says where it failed, and what differs.
    assert_eq!([&turn["bad"], &turn["differs"]], [true, true]);
    assert_eq!(
        scored["differs"],
        "turn 1: get_weather `city` expected Paris → actual Rome; answer differs: “sunny” → “rainy”"
    );
    let turn = &beside["case"]["runs"][0]["turns"][0];
    assert_eq!([&turn["bad"], &turn["differs"]], [false, true], "nothing is scored yet");
    let informing = METRICS.replace("1.0", "0");
    let scored = case(2, &informing)["case"].clone();
    assert_eq!(
        [&scored["metrics"][0]["state"], &scored["metrics"][0]["threshold"]],
        [&json!("informational"), &Value::Null]
    );

    send(&service, &trace(3, "Paris?", "Paris", "It is sunny."));
    let passed = case(3, METRICS)["case"].clone();
    let turn = &passed["runs"][0]["turns"][0];
    assert_eq!(
        [&turn["bad"], &turn["differs"], &passed["differs"]],
        [&json!(false), &json!(false), &Value::Null]
    );

    assert_eq!(ask(&service, "POST /sessions/9/case", "").status, 404);
    assert_eq!(ask(&service, "POST /sessions/2/case", "{").status, 422);
}

#[test]
fn the_page_scores_with_no_golden_session_that_the_service_refuses() {
    let service = Service::start(options());
    send(&service, &trace(1, "Paris?", "Paris", "It is sunny."));
    send(&service, &trace(2, "Paris?", "Paris", "It is sunny."));
    assert_eq!(ask(&service, "PUT /api/v1/sessions/1/golden", "").status, 200);
    // After it was marked, a span of an export of it is rejected.
    let again = trace(1, "Paris?", "Paris", "It is sunny.");
    send(&service, &again.replacen("[{\"attributes\"", "[{}, {\"attributes\"", 1));
    let scored = ask(&service, "POST /api/v1/sessions/score", METRICS);
    let of_page = ask(&service, "POST /sessions/2/case", METRICS);
    assert!(of_page.status == 409 && of_page.body.contains("cannot be golden"), "{}", of_page.body);
    assert_eq!((of_page.status, of_page.body), (scored.status, scored.body));
    // Without scores it is shown.
    assert_eq!(ask(&service, "POST /sessions/2/case", "").status, 200);
}

#[test]
fn a_session_is_shown_and_saved_as_a_draft() {
    let kept = Kept::default();
    let service = Service::start(options().drafts(kept.clone()));
    send(&service, &trace(1, "Paris?", "Paris", "It is sunny."));
    let shown = ask(&service, "GET /api/v1/sessions/1", "").data();
    assert_eq!(shown["doubts"], json!([]));
    let turn = &shown["conversation"]["invocations"][0];
    assert_eq!(turn["userContent"]["parts"][0]["text"], "Paris?");
    assert_eq!(turn["intermediateData"]["toolUses"][0]["args"]["city"], "Paris");
    let saved = ask(&service, "POST /api/v1/sessions/1/draft", "{\"set\": \"a.evalset.json\"}").data();
    assert_eq!(
        (&saved["set"], &saved["evalId"], &saved["gaps"]),
        (&json!("kept"), &json!("paris"), &json!([]))
    );
    let (set, draft) = kept.0.lock().unwrap().pop().unwrap();
    assert_eq!(set.as_deref(), Some("a.evalset.json"));
    assert_eq!(draft.case.conversation[0].user_text(), "Paris?");
    assert_eq!(ask(&service, "POST /api/v1/sessions/1/draft", "").status, 200);
    let refused = ask(&service, "POST /api/v1/sessions/1/draft", "{\"set\": \"no\"}");
    assert!(refused.status == 409 && refused.body.contains("no place"), "{}", refused.body);
    assert_eq!(ask(&service, "POST /api/v1/sessions/1/draft", "{\"sets\": 1}").status, 422);
    assert_eq!(ask(&service, "POST /api/v1/sessions/x/draft", "").status, 404);
    // A draft of what is not whole says so.
    let root = trace(2, "Rome?", "Rome", "x")
        .replace("\"spanId\":\"0000000000000001\"", "\"spanId\":\"000000000000000f\"");
    send(&service, &root);
    let saved = ask(&service, "POST /api/v1/sessions/2/draft", "").data();
    assert!(saved["gaps"].to_string().contains("parents have not arrived"), "{saved}");
    let without = Service::start(options());
    send(&without, &trace(1, "Paris?", "Paris", "It is sunny."));
    assert_eq!(ask(&without, "POST /api/v1/sessions/1/draft", "").status, 409);
}

#[test]
fn what_agents_wrote_is_shown_without_secrets_and_steering_and_not_too_long_and_saved_whole() {
    let kept = Kept::default();
    let service = Service::start(options().drafts(kept.clone()));
    let secret = format!("sk-ant-{}", "abcde01234".repeat(6));
    let foreign = format!("a\u{202e}b\u{1b}[2J {secret}");
    let named = |text: String, key: &str| {
        let mut document: Value = serde_json::from_str(&text).unwrap();
        let root = &mut document["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
        // Names with control characters are refused.
        root["attributes"]["gen_ai.conversation.id"] = json!(key.replace('\u{1b}', ""));
        document.to_string()
    };
    let long = format!("{foreign} {}", "y".repeat(1 << 20));
    send(&service, &named(trace(1, &foreign, &long, &long), &foreign));
    send(&service, &named(trace(2, &foreign, "Rome", "x"), &format!("{foreign} 2")));
    send(
        &service,
        &named(
            trace(3, &foreign, &foreign, "x").replace("gen_ai.tool.call.arguments", "x"),
            &format!("{foreign} 3"),
        ),
    );
    let mut answers = vec![ask(&service, "GET /api/v1/sessions/1", "")];
    let marked = ask(&service, "PUT /api/v1/sessions/1/golden", "");
    assert_eq!(marked.status, 200, "{}", marked.body);
    assert_eq!(ask(&service, "PUT /api/v1/sessions/3/golden", "").status, 409);
    answers.push(ask(&service, "PUT /api/v1/sessions/3/golden", ""));
    answers.push(ask(&service, "GET /api/v1/sessions", ""));
    for body in ["", METRICS] {
        for id in 1..=3 {
            let shown = ask(&service, &format!("POST /sessions/{id}/case"), body);
            assert_eq!(shown.status, 200, "{}", shown.body);
            answers.push(shown);
        }
    }
    answers.push(ask(&service, "POST /api/v1/sessions/score", METRICS));
    let draft = ask(&service, "POST /api/v1/sessions/1/draft", "");
    assert_eq!(draft.status, 200, "{}", draft.body);
    answers.push(draft);
    let mut stream = service.connect();
    let line =
        format!("GET /api/v1/sessions/events?token={} HTTP/1.1\r\nhost: localhost\r\n\r\n", service.token);
    stream.write_all(line.as_bytes()).unwrap();
    let mut told = String::new();
    while told.matches("event: session").count() < 3 || !told.ends_with("\n\n\r\n") {
        let mut bytes = [0; 4096];
        let read = stream.read(&mut bytes).unwrap();
        assert!(read > 0, "{told}");
        told.push_str(&String::from_utf8_lossy(&bytes[..read]));
    }
    for text in answers.iter().map(|answer| answer.body.as_str()).chain([told.as_str()]) {
        // In JSON, control characters are spelt out by themselves. In the JSON of a JSON text, they are characters of a text.
        let text = text.replace("\\\\u001b", "");
        let steers = ["\u{202e}", "\u{1b}", "\\u001b", "abcde01234"].into_iter().find(|it| text.contains(it));
        assert_eq!(steers, None, "{}", text.chars().take(3000).collect::<String>());
        assert!(text.len() < 400_000, "{}", text.len());
    }
    let turn = &answers[0].data()["conversation"]["invocations"][0];
    for shown in
        [&turn["finalResponse"]["parts"][0]["text"], &turn["intermediateData"]["toolUses"][0]["args"]["city"]]
    {
        let shown = shown.as_str().unwrap();
        assert!(shown.starts_with("a\\u{202e}b\\u{1b}[2J "), "{}", &shown[..50]);
        assert!(shown.ends_with(" more characters)") && shown.len() < 21_000);
    }
    let list = answers[2].data();
    let key = list["sessions"][2]["key"].as_str().unwrap();
    assert!(key.starts_with("a\\u{202e}b"), "{key}");
    // The draft has all but the secrets.
    let saved = kept.0.lock().unwrap();
    let said = saved[0].1.case.conversation[0].final_response.clone().unwrap();
    let said = said.parts.unwrap()[0].text.clone().unwrap();
    assert!(said.starts_with("a\u{202e}b\u{1b}[2J ") && said.ends_with(&"y".repeat(1 << 20)));
    assert!(!said.contains("abcde01234"));
}

#[test]
fn sessions_need_the_token_and_the_page_has_no_data() {
    let service = Service::start(options());
    for (line, body) in [
        ("GET /api/v1/sessions", ""),
        ("GET /api/v1/sessions/1", ""),
        ("GET /api/v1/sessions/events", ""),
        ("POST /api/v1/sessions/score", METRICS),
        ("PUT /api/v1/sessions/1/golden", ""),
        ("DELETE /api/v1/sessions/1/golden", ""),
        ("POST /api/v1/sessions/1/draft", ""),
        ("POST /sessions/1/case", ""),
    ] {
        assert_eq!(service.request(line, "", body.as_bytes()).status, 401, "{line}");
    }
    let page = service.get("/sessions");
    assert!(page.status == 200 && page.headers.contains("script-src 'self'"), "{}", page.headers);
    assert!(!page.headers.contains("unsafe") && page.headers.contains("trusted-types 'none'"));
    assert!(service.get("/sessions.js").headers.contains("text/javascript"));
    assert!(service.get("/sessions.css").headers.contains("text/css"));
}

#[test]
fn events_tell_of_sessions_as_they_come_and_end_with_the_server() {
    let mut service = Service::start(options());
    let mut stream = service.connect();
    let line =
        format!("GET /api/v1/sessions/events?token={} HTTP/1.1\r\nhost: localhost\r\n\r\n", service.token);
    stream.write_all(line.as_bytes()).unwrap();
    let mut told = String::new();
    let mut until = |what: &str| {
        while !told.contains(what) {
            let mut bytes = [0; 4096];
            let read = stream.read(&mut bytes).unwrap();
            assert!(read > 0, "it ended before {what}: {told}");
            told.push_str(&String::from_utf8_lossy(&bytes[..read]));
        }
    };
    until("event: about\ndata: {\"otlpPort\":");
    send(&service, &trace(1, "Paris?", "Paris", "It is sunny."));
    until("event: session\ndata: {\"id\":\"1\"");
    assert_eq!(ask(&service, "PUT /api/v1/sessions/1/golden", "").status, 200);
    until("\"golden\":true");
    let began = std::time::Instant::now();
    service.stop().join().unwrap();
    assert!(began.elapsed() < Duration::from_secs(5), "it waited for a reader of events");
}

/// xorshift: the same requests in each run.
fn next(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    usize::try_from(*state >> 16).unwrap()
}

#[test]
fn mutated_exports_are_answered_and_spoil_nothing() {
    let service = Service::start(limited(Limits::default().body(1 << 20).sessions(50)));
    let json = trace(1, "Paris?", "Paris", "It is sunny.").into_bytes();
    let bodies = [json.clone(), packed(&json), protobuf(9), packed(&protobuf(9))];
    let kinds = ["application/json", "application/x-protobuf", "text/plain", ""];
    let mut state = 0x5eed;
    let mut answered = [0; 3];
    for _ in 0..1000 {
        let at = next(&mut state) % bodies.len();
        let mut body = bodies[at].clone();
        for _ in 0..next(&mut state) % 4 {
            let place = next(&mut state) % body.len();
            match next(&mut state) % 4 {
                0 => body[place] = u8::try_from(next(&mut state) % 256).unwrap(),
                1 => body.truncate(place.max(1)),
                2 => drop(body.splice(place..place, [b"null"[..].to_vec(), vec![0xff; 9]].concat())),
                _ => {
                    let end = (place + next(&mut state) % 60).min(body.len());
                    let piece = body[place..end].to_vec();
                    drop(body.splice(place..place, piece));
                }
            }
        }
        // Most say what they are.
        let kind =
            if next(&mut state).is_multiple_of(10) { kinds[next(&mut state) % 4] } else { kinds[at / 2] };
        let gzip = if at % 2 == 1 { "content-encoding: gzip\r\n" } else { "" };
        let path =
            ["/v1/traces", "/v1/traces", "/v1/traces", "/v1/logs", "/v1/metrics"][next(&mut state) % 5];
        let sent = request(path, &format!("content-type: {kind}\r\n{gzip}"), &body);
        let reply = service.raw_export(&sent).unwrap();
        let kind = [200, 400, 415].iter().position(|status| *status == reply.status);
        answered[kind.unwrap_or_else(|| panic!("{} {}", reply.status, reply.body))] += 1;
        drop(sessions(&service)["sessions"][0].to_string());
    }
    assert!(answered.iter().all(|count| *count > 20), "{answered:?}");
    let shown = sessions(&service);
    assert!(shown["refusedExports"].as_u64().unwrap() > 100, "{shown}");
    send(&service, &trace(0x77, "Paris?", "Paris", "It is sunny."));
    let key = format!("{:032x}", 0x77);
    let list = sessions(&service);
    let session = list["sessions"].as_array().unwrap().iter().find(|it| it["key"] == key.as_str()).unwrap();
    assert_eq!((&session["turns"], &session["state"]), (&json!(1), &json!("complete")));
}
