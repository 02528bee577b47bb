//! Two thousand hostile requests: the service answers or hangs up, and answers the next one rightly.

use eval_format::reader::{Form, check_set};
use eval_server::{Limits, ServerOptions};

use crate::support::{SET, Service, evaluation, form, trace};

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

/// The memory of this process, in bytes; 0 where it is not known.
fn memory() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).unwrap_or_default() * 4096
}

#[test]
fn hostile_requests_are_answered_rightly_or_refused() {
    let service = Service::start(ServerOptions::new().limits(Limits::default().body(1 << 20)));
    let mut random = Random(0x5eed);
    let trace = trace(1, "Paris?", "Paris", "It is sunny.");
    let evaluation = evaluation(&trace, SET);
    let score = r#"{"actual": [{"user_content": {"parts": [{"text": "a"}]}}], "criteria": {"response_match_score": 0.5}}"#;
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
            let valid = checked.set.is_some() && checked.form == Form::EvalSet;
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
