//! Requests that are not for a conversation of this process.

use super::client::{host_and_path, send};
use super::*;

/// A question with these headers in place of its own `Host`.
fn with_headers(address: &str, headers: &str) -> Answered {
    let (host, base) = host_and_path(address);
    let body = question("hi");
    let head = format!(
        "POST {base}{CHAT} HTTP/1.1\r\n{headers}connection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    send(host, &[head.as_bytes(), body.as_bytes()].concat())
}

#[test]
fn another_host_or_origin_is_refused_and_is_no_miss() {
    let bench = Bench::new();
    bench.provider.says_json(&said("hello"));
    bench.recorded(CHAT, &question("hi"));
    let conversation = bench.replay();
    let address = address(&conversation);
    let (host, _) = host_and_path(&address);
    let port = host.rsplit_once(':').unwrap().1;
    for headers in [
        "host: evil.example\r\n".to_owned(),
        format!("host: evil.example:{port}\r\n"),
        "host: 127.0.0.1:1\r\n".to_owned(),
        format!("host: 127.0.0.1.evil.example:{port}\r\n"),
        format!("host: {host}\r\norigin: http://evil.example\r\n"),
        format!("host: {host}\r\norigin: null\r\n"),
        format!("host: {host}\r\norigin: https://{host}\r\n"),
    ] {
        let answered = with_headers(&address, &headers);
        assert_eq!(answered.status, 403, "{headers}: {answered:?}");
        assert!(!answered.body.contains("hello"), "{answered:?}");
    }
    assert!(conversation.misses().is_empty());
    for headers in
        [format!("host: LocalHost:{port}\r\n"), format!("host: {host}\r\norigin: http://{host}\r\n")]
    {
        let replay = bench.replay();
        let answered = with_headers(&super::address(&replay), &headers);
        assert!(answered.status == 200 && answered.body.contains("hello"), "{headers}: {answered:?}");
    }
}

#[test]
fn an_address_without_a_conversation_answers_nothing() {
    let bench = Bench::new();
    bench.provider.says_json(&said("hello"));
    bench.recorded(CHAT, &question("hi"));
    let conversation = bench.replay();
    let alive = address(&conversation);
    let (host, path) = host_and_path(&alive);
    let short = format!("http://{host}{}", &path[..path.len() - 1]);
    for wrong in [format!("http://{host}"), format!("http://{host}/c/"), short] {
        let answered = post(&wrong, CHAT, &[], question("hi").as_bytes());
        assert_eq!(answered.status, 404, "{wrong}: {answered:?}");
    }
    assert!(conversation.misses().is_empty());
    assert_eq!(post(&alive, CHAT, &[], question("hi").as_bytes()).status, 200);
    conversation.end(true);
    let dead = post(&alive, CHAT, &[], question("hi").as_bytes());
    assert_eq!(dead.status, 404, "{dead:?}");
    assert!(dead.body.contains("it is over"), "{dead:?}");
}
