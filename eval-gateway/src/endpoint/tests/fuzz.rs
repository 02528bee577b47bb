//! Requests with random damage: no panic, no answer of another case, and the next good request is served.
//!
//! `MUTATIONS=10000` tries 10,000 instead of 500, `SEED` another order.

use std::panic;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::client::{host_and_path, request, send_damaged};
use super::*;

pub(super) static PANICS: AtomicUsize = AtomicUsize::new(0);

/// Counts the panics of the endpoint from now on.
pub(super) fn count_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if thread::current().name() == Some("eval-gateway") {
                PANICS.fetch_add(1, Ordering::Relaxed);
            }
            before(info);
        }));
    });
}

/// Numbers that are the same for a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % most.max(1)
    }

    fn damage(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len());
            match self.below(8) {
                0 => bytes[at] = u8::try_from(self.below(256)).unwrap_or(0),
                1 => bytes[at] ^= 1 << self.below(8),
                2 => bytes.truncate(at.max(1)),
                3 => drop(bytes.drain(at..(at + self.below(20)).min(bytes.len()))),
                4 => {
                    let piece = bytes[at..(at + self.below(40)).min(bytes.len())].to_vec();
                    let to = self.below(bytes.len());
                    drop(bytes.splice(to..to, piece));
                }
                5 => {
                    const WORDS: [&[u8]; 12] = [
                        b"\r\n\r\n",
                        b"transfer-encoding: chunked\r\n",
                        b"content-encoding: gzip\r\n",
                        b"\0",
                        b"\xff\xfe",
                        b"[[[[[[",
                        b"{\"a\":",
                        b"content-length: 99999999999999999999\r\n",
                        b"%00%2e%2e/",
                        b"null",
                        b"\"stream\":true,",
                        b"\\ud800",
                    ];
                    let word = WORDS[self.below(WORDS.len())];
                    drop(bytes.splice(at..at, word.iter().copied()));
                }
                6 => bytes.extend(std::iter::repeat_n(b'[', self.below(5_000))),
                _ => {
                    let piece = vec![bytes[at]; self.below(10_000)];
                    drop(bytes.splice(at..at, piece));
                }
            }
            if bytes.is_empty() {
                bytes.push(b'G');
            }
        }
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn damaged_requests_panic_nothing_and_get_no_answer_of_another_case() {
    let _alone = STRAY_CALLS.lock();
    count_panics();
    let bench = Bench::new();
    let calls: [(&str, &str, String); 5] = [
        ("POST", CHAT, question("hi")),
        ("POST", "/v1/responses", r#"{"model":"m","input":"hi","previous_response_id":"r"}"#.to_owned()),
        ("POST", "/v1/messages", r#"{"model":"m","messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}]}"#.to_owned()),
        ("POST", "/v1beta/models/g:streamGenerateContent?alt=sse", r#"{"contents":[{"parts":[{"functionResponse":{"id":"1","response":{"a":1}}}]}]}"#.to_owned()),
        ("GET", "/v1beta/models?pageSize=3", String::new()),
    ];
    for (case, answer) in [("alpha", "alpha of mine"), ("beta", "beta of others")] {
        let conversation = bench.open_case(case, ModelMode::Record, &Settings::default(), "{}");
        for (method, path, body) in &calls {
            bench.provider.says_json(&said(answer));
            assert_eq!(ask(method, &address(&conversation), path, &[], body.as_bytes()).status, 200);
        }
        assert_eq!(conversation.end(true).error, None);
    }
    let other = bench.open_case("beta", ModelMode::Replay, &Settings::default(), "{}");
    let others = address(&other);
    let seed = number("SEED", 20_261_127);
    let mut random = Random(seed);
    let (mut served, mut refused) = (0, 0);
    for at in 0..number("MUTATIONS", 500) {
        let mine = bench.open_case("alpha", ModelMode::Replay, &Settings::default(), "{}");
        let address = address(&mine);
        let (method, path, body) = &calls[random.below(calls.len())];
        let mut bytes = request(method, &address, path, &[], body.as_bytes());
        random.damage(&mut bytes);
        let (host, _) = host_and_path(&address);
        let answered = send_damaged(host, &bytes);
        let told =
            || format!("mutation {at} of seed {seed}: {:?} {answered:?}", String::from_utf8_lossy(&bytes));
        assert!(!answered.body.contains("beta of others"), "{}", told());
        if answered.body.contains("alpha of mine") {
            served += 1;
        } else {
            refused += 1;
        }
        let good = ask("POST", &address, "/v1/embeddings", &[], b"{\"model\":\"none\"}");
        assert_eq!(good.status, 400, "{}", told());
        let fresh = bench.open_case("alpha", ModelMode::Replay, &Settings::default(), "{}");
        let good = ask(method, &super::address(&fresh), path, &[], body.as_bytes());
        assert!(good.status == 200 && good.body.contains("alpha of mine"), "{} {good:?}", told());
        mine.end(false);
        fresh.end(false);
    }
    assert_eq!(PANICS.load(Ordering::Relaxed), 0);
    assert!(other.misses().is_empty(), "no damage reaches another case: {:?}", other.misses());
    let good = post(&others, CHAT, &[], question("hi").as_bytes());
    assert!(good.body.contains("beta of others"), "{good:?}");
    assert!(served > 0 && refused > 0, "{served} served, {refused} refused");
}
