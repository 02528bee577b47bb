//! Traces and bodies that are packed with gzip.

use std::io::Write;

use eval_server::{Limits, ServerOptions};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::support::{Reply, SET, Service, evaluation, form, trace};

const CONFIG: &[u8] = br#"{"evaluators": [{"name": "tool_trajectory_avg_score"}]}"#;
const MULTIPART: &str = "content-type: multipart/form-data; boundary=b0undary\r\n";

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Much that is packed into little, made without having it whole: other tests of this process watch its memory.
fn bomb() -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    for _ in 0..4096 {
        encoder.write_all(&[b' '; 16 << 10]).unwrap();
    }
    encoder.finish().unwrap()
}

fn sunny() -> String {
    trace(1, "Paris?", "Paris", "It is sunny.")
}

fn evaluate(service: &Service, files: &[&[u8]]) -> Reply {
    let mut fields: Vec<(&str, &str, &[u8])> =
        files.iter().map(|file| ("trace_files", "t.json.gz", *file)).collect();
    fields.extend([("eval_set_file", "s.json", SET.as_bytes()), ("config", "", CONFIG)]);
    service.form("/api/evaluate", &fields)
}

#[test]
fn packed_files_of_traces_are_scored_and_converted_like_plain_ones() {
    let service = Service::start(ServerOptions::new());
    let (plain, gzip) = (sunny(), packed(sunny().as_bytes()));
    let scored = evaluate(&service, &[&gzip]).data();
    assert_eq!(scored["passed"], true, "{scored}");
    assert_eq!(scored, evaluate(&service, &[plain.as_bytes()]).data());
    let convert = |file: &[u8]| service.form("/api/convert", &[("trace_files", "t", file)]).data();
    assert_eq!(convert(&gzip), convert(plain.as_bytes()));
    // A packed file beside one that is not.
    let other = trace(2, "Rome?", "Rome", "It is rainy.");
    let both = evaluate(&service, &[&gzip, other.as_bytes()]).data();
    assert_eq!(both["traceResults"].as_array().map(Vec::len), Some(2), "{both}");
}

#[test]
fn packed_bodies_are_read_like_plain_ones() {
    let service = Service::start(ServerOptions::new());
    let send = |path: &str, head: &str, encoding: &str, body: &[u8]| {
        service.request(&format!("POST {path}"), &format!("{head}content-encoding: {encoding}\r\n"), body)
    };
    let body = evaluation(&sunny(), SET);
    let plain = service.post("/api/evaluate/json", &body);
    for encoding in ["gzip", "x-gzip", "GZip"] {
        let reply = send("/api/evaluate/json", "", encoding, &packed(body.as_bytes()));
        assert_eq!((reply.status, &reply.body), (200, &plain.body), "{encoding}");
    }
    assert_eq!(send("/api/evaluate/json", "", "identity", body.as_bytes()).body, plain.body);
    let streamed = send("/api/evaluate/json/stream", "", "gzip", &packed(body.as_bytes()));
    assert!(streamed.body.contains("\"done\":true"), "{}", streamed.body);
    let set = send("/api/v1/validate/eval-set", "", "gzip", &packed(SET.as_bytes()));
    assert_eq!(set.data()["valid"], true);
    // A form that is packed, with a file in it that is.
    let gzip = packed(sunny().as_bytes());
    let converted = send("/api/convert", MULTIPART, "gzip", &packed(&form(&[("trace_files", "t", &gzip)])));
    assert_eq!(converted.data()["traces"].as_array().map(Vec::len), Some(1));
}

#[test]
fn what_is_too_large_broken_or_packed_in_another_way_is_refused() {
    let service = Service::start(ServerOptions::new().limits(Limits::default().body(1 << 20)));
    let detail = |reply: &Reply| reply.json()["detail"].as_str().unwrap_or_default().to_owned();
    let bomb = bomb();
    assert!(bomb.len() < 100_000);
    let packed_body = |body: &[u8], encoding: &str| {
        let head = format!("content-encoding: {encoding}\r\n");
        service.request("POST /api/evaluate/json", &head, body)
    };
    let in_file = evaluate(&service, &[&bomb]);
    assert_eq!(in_file.status, 413);
    assert!(
        detail(&in_file)
            .contains("`t.json.gz` in `trace_files` has more than 1048576 bytes when it is unpacked")
    );
    assert_eq!(packed_body(&bomb, "gzip").status, 413);
    // Each is within the limit, and all of them are not.
    let half = packed(&vec![b' '; 600 << 10]);
    assert_eq!(evaluate(&service, &[&half, &half]).status, 413);
    // Nothing is unpacked twice.
    let twice = evaluate(&service, &[&packed(&bomb)]);
    assert_eq!(twice.status, 400, "{}", twice.body);
    let broken = evaluate(&service, &[&packed(sunny().as_bytes())[..50]]);
    assert_eq!(broken.status, 400);
    assert!(detail(&broken).contains("cannot be unpacked"), "{}", broken.body);
    assert_eq!(packed_body(b"{}", "gzip").status, 400);
    for unknown in ["br", "gzip, gzip", "deflate\r\ncontent-encoding: gzip"] {
        assert_eq!(packed_body(&packed(b"{}"), unknown).status, 415, "{unknown}");
    }
    assert_eq!(
        service.post("/api/evaluate/json", &evaluation(&sunny(), SET)).data()["passed"],
        Value::Bool(true)
    );
}
