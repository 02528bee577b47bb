//! Thousands of hostile requests: the service answers or hangs up, and answers the next one rightly.

use std::process::Command;
use std::time::Duration;

use eval_format::reader::{SetFormat, check_set};
use eval_server::{DraftRefused, DraftStore, Limits, SavedDraft, ServerOptions};

use crate::receiver::{JSON, export};
use crate::support::{Reply, SET, Service, evaluation, form, trace};

/// xorshift: the same requests in each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end.max(1)).unwrap()).unwrap()
    }

    fn of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }
}

/// Pieces that are put where they do not belong.
const PIECES: [&str; 20] = [
    "null",
    "true",
    "[]",
    "{}",
    "1e999",
    "-0",
    "\"\\ud800\"",
    "\"\\u0000\"",
    "99999999999999999999",
    "\"<script>\"",
    "[[[[",
    "}}",
    "\"\"",
    ",",
    ":",
    "\u{feff}",
    "NaN",
    "\"eval_id\"",
    "\"conversation\"",
    "{\"text\": 1}",
];

fn mutated(random: &mut Random, body: &[u8]) -> Vec<u8> {
    let mut body = body.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(body.len() + 1);
        match random.below(5) {
            0 => body.truncate(at),
            1 => drop(body.splice(at..at, random.of(&PIECES).bytes())),
            2 => {
                let end = (at + random.below(40)).min(body.len());
                drop(body.splice(at..end, random.of(&PIECES).bytes()));
            }
            3 => {
                let end = (at + random.below(200)).min(body.len());
                let piece = body[at..end].to_vec();
                drop(body.splice(at..at, piece));
            }
            _ => {
                let byte = u8::try_from(random.below(256)).unwrap();
                if let Some(place) = body.get_mut(at) {
                    *place = byte;
                }
            }
        }
    }
    body
}

fn request(random: &mut Random, path: &str, kind: &str, body: &[u8]) -> Vec<u8> {
    let method = random.of(&["POST", "POST", "POST", "POST", "GET", "PUT", "OPTIONS", "x"]);
    let more = random.of(&[
        "",
        "",
        "",
        "",
        "origin: null\r\n",
        "expect: 100-continue\r\n",
        "accept-encoding: gzip\r\n",
        "authorization: Bearer \r\n",
        "transfer-encoding: chunked\r\n",
        "content-length: 5\r\n",
        "x: \u{80}\r\n",
        "content-encoding: gzip\r\n",
        "upgrade: h2c\r\n",
    ]);
    let length = match random.below(12) {
        0 => body.len() + random.below(1000),
        1 => body.len() / 2,
        2 => usize::MAX,
        _ => body.len(),
    };
    let mut all = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: {kind}\r\n{more}content-length: {length}\r\n\r\n"
    )
    .into_bytes();
    all.extend_from_slice(body);
    if random.below(20) == 0 {
        all = mutated(random, &all);
    }
    all
}

/// Deep, wide and long bodies.
fn extreme(random: &mut Random) -> Vec<u8> {
    let many = 1000 + random.below(100_000);
    match random.below(5) {
        0 => "[".repeat(many).into_bytes(),
        1 => "{\"a\":".repeat(many).into_bytes(),
        2 => format!("{{\"eval_cases\": [{}]}}", vec!["{}"; many / 10].join(",")).into_bytes(),
        3 => {
            format!("{{\"actual\": [{}], \"criteria\": {{}}}}", vec!["[]"; many / 10].join(",")).into_bytes()
        }
        _ => format!("{{\"{}\": 1}}", "k".repeat(many)).into_bytes(),
    }
}

/// Set in a process that runs one test alone. The memory of the whole process is measured.
const ALONE: &str = "HOSTILE_ALONE";

/// Runs a test in a process of its own. `false` if this is that process.
fn runs_alone(test: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return false;
    }
    let mut command = Command::new(std::env::current_exe().expect("the program of the tests"));
    let ran = command.args(["--exact", test]).env(ALONE, "1").output().expect("it starts");
    let said = [ran.stdout, ran.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(ran.status.success() && said.contains("1 passed"), "{said}");
    true
}

/// The memory of this process, in bytes; 0 where it is not known.
fn memory() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or_default() * 4096
}

#[test]
fn hostile_requests_are_answered_rightly_or_refused() {
    if runs_alone("hostile::hostile_requests_are_answered_rightly_or_refused") {
        return;
    }
    let service = Service::start(ServerOptions::new().limits(Limits::default().body(1 << 20)));
    let mut random = Random(0x5eed);
    let trace = trace(1, "Paris?", "Paris", "It is sunny.");
    let evaluation = evaluation(&trace, SET);
    let score = r#"{"actual": [{"user_content": {"parts": [{"text": "a"}]}}], "expected": [{"user_content": {"parts": [{"text": "a"}]}}], "criteria": {"response_match_score": 0.5}}"#;
    let upload =
        form(&[("eval_set_file", "s.json", SET.as_bytes()), ("trace_files", "t.json", trace.as_bytes())]);
    let (json, files) = ("application/json", "multipart/form-data; boundary=b0undary");
    let targets: [(&str, &str, &[u8]); 9] = [
        ("/api/v1/score", json, score.as_bytes()),
        (
            "/api/v1/validate/config",
            json,
            br#"{"criteria": {"tool_trajectory_avg_score": {"threshold": 1.0}}}"#,
        ),
        ("/api/v1/validate/eval-set", json, SET.as_bytes()),
        ("/api/evaluate/json", json, evaluation.as_bytes()),
        ("/api/evaluate/json/stream", json, evaluation.as_bytes()),
        ("/api/validate/eval-set", files, &upload),
        ("/api/convert", files, &upload),
        ("/api/evaluate", files, &upload),
        ("/api/v1/runs/%ff?token=%00", json, b""),
    ];
    let mut before = 0;
    let mut answered = 0;
    for number in 0..2_000 {
        let (path, kind, body) = targets[random.below(targets.len())];
        let body = if random.below(10) == 0 { extreme(&mut random) } else { mutated(&mut random, body) };
        let sent = request(&mut random, path, kind, &body);
        if let Some(reply) = service.raw(&sent) {
            answered += 1;
            let known = [100, 200, 400, 401, 403, 404, 405, 408, 411, 413, 414, 415, 421, 422, 431, 501, 505];
            assert!(
                known.contains(&reply.status),
                "request {number}, {path}: {} {}",
                reply.status,
                reply.body
            );
        }
        // Each tenth is sent as it should be, and has the answer of the reader.
        if number % 10 == 0 {
            let body = mutated(&mut random, SET.as_bytes());
            let checked = check_set("s", &body, None);
            let valid = checked.set.is_some() && checked.form == SetFormat::EvalSet;
            let head = "content-type: application/json\r\n";
            let reply = service.request("POST /api/v1/validate/eval-set", head, &body).data();
            assert_eq!(reply["valid"], valid, "request {number}");
        }
        if number == 500 {
            before = memory();
        }
    }
    assert!(answered > 1_500, "{answered}");
    let grown = memory().saturating_sub(before);
    assert!(grown < 64 << 20, "the process has grown by {grown} bytes");
    assert_eq!(service.post("/api/evaluate/json", &evaluation).data()["passed"], true);
}

/// Saves nothing.
#[derive(Debug)]
struct Nowhere;

impl DraftStore for Nowhere {
    fn save(&self, set: Option<&str>, _draft: eval_agents::draft::Draft) -> Result<SavedDraft, DraftRefused> {
        Ok(SavedDraft::new(set.unwrap_or("nowhere"), None))
    }
}

/// Any JSON, with names that requests have.
fn value(random: &mut Random, depth: usize) -> String {
    const NAMES: [&str; 22] = [
        "actual",
        "expected",
        "criteria",
        "gate",
        "traces",
        "config",
        "evalSet",
        "evaluators",
        "name",
        "threshold",
        "rubrics",
        "golden",
        "sessions",
        "set",
        "user_content",
        "parts",
        "text",
        "resourceSpans",
        "scopeSpans",
        "spans",
        "response_match_score",
        "",
    ];
    const LEAVES: [&str; 16] = [
        "null",
        "true",
        "0",
        "-1",
        "0.5",
        "1e308",
        "-1e-308",
        "123456789012345678901234567890",
        "\"\"",
        "\"1\"",
        "\"latest\"",
        "\"response_match_score\"",
        "\"\\u202e\\u0000\"",
        "\"../../etc/passwd\"",
        "[]",
        "{}",
    ];
    match random.below(if depth == 0 { 1 } else { 4 }) {
        0 => random.of(&LEAVES).to_owned(),
        1 => {
            let items: Vec<String> = (0..random.below(4)).map(|_| value(random, depth - 1)).collect();
            format!("[{}]", items.join(","))
        }
        _ => {
            let entry =
                |random: &mut Random| format!("\"{}\":{}", random.of(&NAMES), value(random, depth - 1));
            let entries: Vec<String> = (0..random.below(6)).map(|_| entry(random)).collect();
            format!("{{{}}}", entries.join(","))
        }
    }
}

/// A body of another kind each time. `right` is one that is as it should be.
fn hostile(random: &mut Random, kind: usize, right: &[u8]) -> Vec<u8> {
    match kind % 8 {
        0 => value(random, 6).into_bytes(),
        1 => mutated(random, right),
        2 => right[..random.below(right.len())].to_vec(),
        3 => extreme(random),
        // One value of another type.
        4 => {
            let text = String::from_utf8_lossy(right).into_owned();
            let places: Vec<usize> = text.match_indices(": ").map(|(at, _)| at + 2).collect();
            let Some(at) = places.get(random.below(places.len())) else { return Vec::new() };
            let end = text[*at..].find([',', '}', ']']).map_or(text.len(), |end| at + end);
            format!("{}{}{}", &text[..*at], value(random, 1), &text[end..]).into_bytes()
        }
        // Numbers out of every range, in place of numbers or texts.
        5 => {
            let digits = "9".repeat(1 + random.below(5000));
            let number = random.of(&["1e999999999", "-1e400", "0.000000000000000000000000001", &digits]);
            String::from_utf8_lossy(right).replacen('1', number, 1 + random.below(3)).into_bytes()
        }
        // No UTF-8.
        6 => {
            let at = random.below(right.len());
            [&right[..at], random.of(&[&b"\xff"[..], b"\xc3\x28", b"\xed\xa0\x80"]), &right[at..]].concat()
        }
        _ => random.of(&[&b""[..], b" ", b"null", b"0", b"\"\"", b"[]", b"{}", b"\xef\xbb\xbf{}"]).to_vec(),
    }
}

/// Checks the rules that each answer must keep, whatever was sent.
fn check(reply: &Reply, what: &str) {
    let Reply { status, headers, body } = reply;
    assert!(*status < 500 || *status == 503, "{what}: {status} {body}");
    if headers.contains("text/event-stream") {
        assert_eq!(*status, 200, "{what}");
        return;
    }
    assert!(headers.contains("content-type: application/json"), "{what}: {status} {headers}");
    let answer = reply.json();
    if *status == 200 {
        assert!(answer.get("data").is_some(), "{what}: {body}");
        return;
    }
    let detail = &answer["detail"];
    let says = |text: &serde_json::Value| text.as_str().is_some_and(|text| !text.is_empty());
    let is_said = match detail.as_array() {
        Some(fields) => !fields.is_empty() && fields.iter().all(|field| says(&field["msg"])),
        None => says(detail),
    };
    assert!(is_said, "{what}: {status} {body}");
}

#[test]
fn each_route_answers_hostile_bodies_with_what_is_wrong() {
    let limits = Limits::default().body(1 << 20).quiet(Duration::ZERO);
    let service = Service::start(ServerOptions::new().limits(limits).otlp_port(0).drafts(Nowhere));
    let trace = trace(1, "Paris?", "Paris", "It is sunny.");
    for id in 1..=3 {
        let text = trace.replace(&format!("{:032x}", 1), &format!("{id:032x}"));
        assert_eq!(export(&service, JSON, text.as_bytes()).status, 200);
    }
    let evaluation = evaluation(&trace, SET);
    let score = r#"{"actual": [{"user_content": {"parts": [{"text": "a"}]}}], "expected": [{"user_content": {"parts": [{"text": "a"}]}}], "criteria": {"response_match_score": 0.1}}"#;
    let sessions = r#"{"golden": "1", "sessions": ["2", "3"], "evaluators": [{"name": "response_match_score", "threshold": 0.1}]}"#;
    let config =
        r#"{"criteria": {"tool_trajectory_avg_score": {"threshold": 1.0, "match_type": "IN_ORDER"}}}"#;
    let evaluators = br#"{"evaluators": [{"name": "response_match_score", "threshold": 0.1}]}"#;
    let files = form(&[
        ("trace_files", "t.json", trace.as_bytes()),
        ("eval_set_file", "s.json", SET.as_bytes()),
        ("config", "", evaluators),
        ("group_by", "", b"conversation"),
    ]);
    let (json, form) = ("application/json", "multipart/form-data; boundary=b0undary");
    let targets: [(&str, &str, &[u8]); 15] = [
        ("POST /api/v1/sessions/score", json, sessions.as_bytes()),
        ("POST /api/v1/sessions/1/draft", json, br#"{"set": "evals/live1.evalset.json"}"#),
        ("POST /api/v1/sessions/9/draft", json, br#"{"set": "evals/live1.evalset.json"}"#),
        ("PUT /api/v1/sessions/1/golden", json, b"{\"a\": 1}"),
        ("PUT /api/v1/sessions/99999999999999999999/golden", json, b"{\"a\": 1}"),
        ("DELETE /api/v1/sessions/%ff/golden", json, b"{\"a\": 1}"),
        ("POST /api/v1/score", json, score.as_bytes()),
        ("POST /api/v1/validate/config", json, config.as_bytes()),
        ("POST /api/v1/validate/eval-set", json, SET.as_bytes()),
        ("POST /api/evaluate/json", json, evaluation.as_bytes()),
        ("POST /api/evaluate/json/stream", json, evaluation.as_bytes()),
        ("POST /api/convert", form, &files),
        ("POST /api/evaluate", form, &files),
        ("POST /api/evaluate/stream", form, &files),
        ("POST /api/validate/eval-set", form, &files),
    ];
    let mut random = Random(0xbad);
    for (line, kind, right) in targets {
        let headers = format!("authorization: Bearer {}\r\ncontent-type: {kind}\r\n", service.token);
        let mut refused = 0;
        for number in 0..96 {
            let body = hostile(&mut random, number, right);
            let reply = service.request(line, &headers, &body);
            check(&reply, &format!("{line}, body {number}"));
            // An error in a form is the only event of its stream.
            refused += usize::from(reply.status != 200 || reply.body.starts_with("data: {\"error\":"));
        }
        // Files are checked whatever they are, and marks have no body.
        let has_verdict = line.contains("/v1/validate/") || line.contains("golden");
        assert!(has_verdict || refused > 20, "{line}: {refused} were refused");
        // The next one that is as it should be is answered.
        let reply = service.request(line, &headers, right);
        let is_there = !line.contains("/9") && !line.contains("%ff");
        assert_eq!(reply.status == 200, is_there, "{line}: {} {}", reply.status, reply.body);
    }
}
