//! The receiver of traces, byte by byte.

use std::io::Write;
use std::time::{Duration, Instant};

use eval_server::{Limits, ServerOptions};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

use crate::support::{Reply, Service, trace};

pub(crate) fn options() -> ServerOptions {
    limited(Limits::default())
}

pub(crate) fn limited(limits: Limits) -> ServerOptions {
    ServerOptions::new().otlp_port(0).limits(limits.quiet(Duration::ZERO))
}

pub(crate) fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// An export, as it is sent.
pub(crate) fn request(path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

pub(crate) const JSON: &str = "content-type: application/json\r\n";
const PROTOBUF: &str = "content-type: application/x-protobuf\r\n";

pub(crate) fn export(service: &Service, headers: &str, body: &[u8]) -> Reply {
    service.raw_export(&request("/v1/traces", headers, body)).unwrap()
}

/// The live sessions.
pub(crate) fn sessions(service: &Service) -> serde_json::Value {
    service.get(&format!("/api/v1/sessions?token={}", service.token)).data()
}

/// A field of protobuf with a message or a text.
pub(crate) fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut message = vec![number << 3 | 2];
    let mut length = bytes.len();
    while length >= 0x80 {
        message.push(u8::try_from(length & 0x7f).unwrap() | 0x80);
        length >>= 7;
    }
    message.push(u8::try_from(length).unwrap());
    [&message, bytes].concat()
}

/// A turn of an agent in protobuf.
pub(crate) fn protobuf(trace: u8) -> Vec<u8> {
    let text = |key: &str, value: &str| {
        field(9, &[field(1, key.as_bytes()), field(2, &field(1, value.as_bytes()))].concat())
    };
    let message = |role: &str, text: &str| {
        json!([{ "role": role, "parts": [{ "type": "text", "content": text }] }]).to_string()
    };
    let span = |id: u8, parent: &[u8], attributes: &[Vec<u8>]| {
        let time = |number: u8, nanos: u64| [&[number << 3 | 1][..], &nanos.to_le_bytes()].concat();
        let own = [field(1, &[trace; 16]), field(2, &[id; 8]), field(4, parent), field(5, b"s")].concat();
        let times =
            [time(7, 1_760_000_000_000_000_000 + u64::from(id)), time(8, 1_760_000_000_500_000_000)].concat();
        [own, times, attributes.concat()].concat()
    };
    let root =
        span(1, b"", &[text("gen_ai.operation.name", "invoke_agent"), text("gen_ai.agent.name", "weather")]);
    let chat = span(
        2,
        &[1; 8],
        &[
            text("gen_ai.operation.name", "chat"),
            text("gen_ai.request.model", "m"),
            text("gen_ai.input.messages", &message("user", "Paris?")),
            text("gen_ai.output.messages", &message("assistant", "It is sunny.")),
        ],
    );
    field(1, &field(2, &[field(2, &root), field(2, &chat)].concat()))
}

#[test]
fn exports_are_taken_in_all_encodings_and_answered_in_their_own() {
    let service = Service::start(options());
    let text = trace(1, "Paris?", "Paris", "It is sunny.");
    let plain = export(&service, JSON, text.as_bytes());
    assert_eq!((plain.status, plain.json()), (200, json!({})));
    let other = trace(2, "Paris?", "Paris", "It is sunny.");
    let zipped = export(&service, &format!("{JSON}content-encoding: gzip\r\n"), &packed(other.as_bytes()));
    assert_eq!((zipped.status, zipped.json()), (200, json!({})));
    for (trace, gzip) in [(3, false), (4, true)] {
        let body = if gzip { packed(&protobuf(trace)) } else { protobuf(trace) };
        let headers =
            if gzip { format!("{PROTOBUF}content-encoding: gzip\r\n") } else { PROTOBUF.to_owned() };
        let reply = export(&service, &headers, &body);
        assert_eq!((reply.status, reply.body.as_str()), (200, ""));
        assert!(reply.headers.contains("content-type: application/x-protobuf"), "{}", reply.headers);
    }
    let list = sessions(&service);
    let all = list["sessions"].as_array().unwrap();
    assert_eq!(all.len(), 4);
    for session in all {
        assert_eq!(session["state"], "complete");
        assert_eq!((&session["turns"], &session["userInputPreview"]), (&json!(1), &json!("Paris?")));
        assert_eq!((&session["finalOutputPreview"], &session["lost"]), (&json!("It is sunny."), &json!([])));
    }
    assert_eq!(list["otlpPort"], service.otlp.unwrap().port());
    assert_eq!(service.get("/api/config").data()["otlp"]["httpPort"], service.otlp.unwrap().port());
}

#[test]
fn logs_with_contents_belong_to_their_spans_and_metrics_are_answered() {
    let service = Service::start(options());
    let spans = trace(1, "Paris?", "Paris", "x").replace("gen_ai.input.messages", "other");
    export(&service, JSON, spans.as_bytes());
    assert_eq!(sessions(&service)["sessions"][0]["userInputPreview"], json!(null));
    let record = json!({
        "traceId": format!("{:032x}", 1), "spanId": format!("{:016x}", 3), "eventName": "gen_ai.user.message",
        "timeUnixNano": "1760000000000000003", "body": { "kvlistValue": { "values": [
            { "key": "content", "value": { "stringValue": "Rome?" } }
        ] } },
    });
    let logs = json!({ "resourceLogs": [{ "scopeLogs": [{ "logRecords": [record, { "body": { "stringValue": "hi" } }] }] }] });
    let reply = service.raw_export(&request("/v1/logs", JSON, logs.to_string().as_bytes())).unwrap();
    assert_eq!((reply.status, reply.json()), (200, json!({})));
    let first = sessions(&service)["sessions"][0].clone();
    assert_eq!((&first["userInputPreview"], &first["spans"]), (&json!("Rome?"), &json!(4)));
    // The answer was lost, so it is sent again.
    let reply = service.raw_export(&request("/v1/logs", JSON, logs.to_string().as_bytes())).unwrap();
    assert_eq!((reply.status, reply.json()), (200, json!({})));
    let again = sessions(&service)["sessions"][0].clone();
    assert_eq!((&again["spans"], &again["bytes"]), (&first["spans"], &first["bytes"]));
    let shown = service.get(&format!("/api/v1/sessions/1?token={}", service.token)).data();
    let said = &shown["conversation"]["invocations"][0]["userContent"]["parts"][0]["text"];
    assert_eq!(said, "Rome?");
    // Another record of the same span is kept.
    let other = logs.to_string().replace("Rome?", "Oslo?");
    assert_eq!(service.raw_export(&request("/v1/logs", JSON, other.as_bytes())).unwrap().status, 200);
    assert_eq!(sessions(&service)["sessions"][0]["spans"], 5);
    for (headers, body) in [(JSON, &b"{\"resourceMetrics\": []}"[..]), (PROTOBUF, b"\x0a\x00")] {
        let reply = service.raw_export(&request("/v1/metrics", headers, body)).unwrap();
        assert_eq!(reply.status, 200);
    }
    assert_eq!(sessions(&service)["refusedExports"], 0);
}

#[test]
fn what_cannot_be_read_is_refused_in_the_words_of_the_protocol() {
    let service = Service::start(limited(Limits::default().body(1 << 16)));
    let gzip = format!("{JSON}content-encoding: gzip\r\n");
    let zipped = packed(trace(1, "a", "b", "c").as_bytes());
    let bomb = packed(&vec![b' '; 1 << 20]);
    let large = vec![b' '; (1 << 16) + 1];
    let table: [(&str, &[u8], u16, &str); 9] = [
        (JSON, b"{", 400, "no export as JSON"),
        (JSON, b"[]", 400, "no object"),
        (JSON, b"{\"resourceSpans\": \xff}", 400, "UTF-8"),
        (&gzip, b"{}", 400, "unpacked"),
        (&gzip, &zipped[..zipped.len() / 2], 400, "unpacked"),
        (&gzip, &bomb, 413, "when it is unpacked"),
        (JSON, &large, 413, "bytes"),
        ("content-type: text/plain\r\n", b"{}", 415, "application/x-protobuf"),
        ("content-type: application/json\r\ncontent-encoding: zstd\r\n", b"{}", 415, "zstd"),
    ];
    for (headers, body, status, why) in table {
        let reply = export(&service, headers, body);
        assert_eq!(reply.status, status, "{why}: {}", reply.body);
        let answer = reply.json();
        assert!(answer["code"] == 3 && answer["message"].as_str().unwrap().contains(why), "{answer}");
    }
    // google.rpc.Status in protobuf.
    let reply = export(&service, PROTOBUF, b"{}");
    assert!(reply.status == 400 && reply.body.starts_with("\u{8}\u{3}\u{12}"), "{:?}", reply.body);
    assert_eq!(sessions(&service)["refusedExports"], 10);
    // A part of it.
    let part = trace(1, "a", "b", "c").replacen("[{\"attributes\"", "[{}, {\"attributes\"", 1);
    let reply = export(&service, JSON, part.as_bytes());
    assert_eq!((reply.status, &reply.json()["partialSuccess"]["rejectedSpans"]), (200, &json!("1")));
    assert!(reply.json()["partialSuccess"]["errorMessage"].as_str().unwrap().contains("traceId"));
    assert!(sessions(&service)["sessions"][0]["lost"][0].as_str().unwrap().contains("rejected"));
    let other = service.raw_export(&request("/v1/trace", JSON, b"{}")).unwrap();
    assert!(other.status == 404 && other.body.contains("OTEL_EXPORTER_OTLP_ENDPOINT"), "{}", other.body);
    let get = service
        .raw_export(b"GET /v1/traces HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        .unwrap();
    assert_eq!(get.status, 405);
}

#[test]
fn agents_on_this_machine_export_without_a_token_and_pages_and_strangers_do_not() {
    let service = Service::start(options().allow_host("evals.example.com"));
    let text = trace(1, "Paris?", "Paris", "It is sunny.");
    let send = |more: &str, host: &str| {
        let sent = request("/v1/traces", &format!("{JSON}{more}"), text.as_bytes());
        let sent = String::from_utf8(sent).unwrap().replacen("host: localhost", &format!("host: {host}"), 1);
        service.raw_export(sent.as_bytes()).unwrap().status
    };
    assert_eq!(send("origin: http://example.com\r\n", "localhost"), 403);
    assert_eq!(send("origin: null\r\n", "localhost"), 403);
    assert_eq!(send("sec-fetch-site: cross-site\r\n", "localhost"), 403);
    assert_eq!(send("", "rebound.example.com"), 421);
    assert_eq!(send("", "evals.example.com"), 401);
    assert_eq!(send("authorization: Bearer wrong-wrong-wrong\r\n", "localhost"), 401);
    let list = sessions(&service);
    assert_eq!((&list["sessions"], &list["refusedExports"]), (&json!([]), &json!(0)));
    assert_eq!(send(&format!("authorization: Bearer {}\r\n", service.token), "evals.example.com"), 200);
    assert_eq!(send("", "localhost"), 200);
    assert_eq!(sessions(&service)["sessions"].as_array().unwrap().len(), 1);
}

#[test]
fn what_cannot_be_kept_now_can_be_sent_again_later() {
    let limits = Limits::default().sessions(1).quiet(Duration::from_mins(1));
    let service = Service::start(ServerOptions::new().otlp_port(0).limits(limits));
    assert_eq!(export(&service, JSON, trace(1, "a", "b", "c").as_bytes()).status, 200);
    let reply = export(&service, JSON, trace(2, "a", "b", "c").as_bytes());
    assert!(reply.status == 503 && reply.headers.contains("retry-after: 1"), "{}", reply.headers);
    assert_eq!(reply.json()["code"], 14);
}

#[test]
fn an_export_that_is_sent_again_and_taken_leaves_no_doubt() {
    let limits = Limits::default().sessions(2).quiet(Duration::from_millis(1500));
    let service = Service::start(ServerOptions::new().otlp_port(0).limits(limits));
    let send = |id: u32| export(&service, JSON, trace(id, "a", "b", "c").as_bytes()).status;
    assert_eq!([send(1), send(2), send(3), send(3)], [200, 200, 503, 503]);
    let lost = || -> Vec<String> {
        let list = sessions(&service);
        assert_eq!(list["sessions"].as_array().unwrap().len(), 2);
        list["sessions"].as_array().unwrap().iter().map(|session| session["lost"].to_string()).collect()
    };
    let until_complete = || {
        let begin = Instant::now();
        while sessions(&service)["sessions"].as_array().unwrap().iter().any(|it| it["state"] != "complete") {
            assert!(begin.elapsed() < Duration::from_secs(30));
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    assert!(lost().iter().all(|lost| lost.contains("was refused while it ran")), "{:?}", lost());
    until_complete();
    // Another export does not take its place.
    assert_eq!(send(4), 200);
    assert!(lost().iter().all(|lost| lost.contains("was refused while it ran")), "{:?}", lost());
    until_complete();
    assert_eq!(send(3), 200);
    assert_eq!(lost(), ["[]", "[]"]);
    assert_eq!(sessions(&service)["refusedExports"], 2);
    // An export that did not come as a whole is not recognized.
    let cut = request("/v1/traces", JSON, b"{}");
    let cut = String::from_utf8(cut).unwrap().replacen("content-length: 2", "content-length: 9", 1);
    assert_eq!(service.raw_export(cut.as_bytes()).unwrap().status, 400);
    assert_eq!(export(&service, JSON, b"{}").status, 200);
    assert!(lost().iter().all(|lost| lost.contains("was refused while it ran")), "{:?}", lost());
}
