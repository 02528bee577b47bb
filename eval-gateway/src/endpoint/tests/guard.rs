//! Requests that are not for a conversation of this process.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::Duration;

use super::client::{host_and_path, send, send_damaged};
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
fn another_host_or_origin_is_refused_and_a_miss_of_the_conversation_that_is_named() {
    let _alone = STRAY_CALLS.lock();
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
    let misses = conversation.misses();
    assert_eq!(misses.len(), 7);
    let expected = "a call of a model (POST /v1/chat/completions) named another host than the gateway's (`Host` or `Origin`), ";
    assert!(misses.iter().all(|miss| miss.message.starts_with(expected)), "{misses:?}");
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
    let _alone = STRAY_CALLS.lock();
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

/// A conversation that hears of calls which name none, in a turn with this message.
fn told(bench: &Bench, text: &str) -> Conversation {
    let conversation = bench.replay();
    conversation.begin_turn(text);
    let address = address(&conversation);
    crate::endpoint::handlers::tell(address.rsplit_once('/').unwrap().1);
    conversation
}

#[test]
fn a_call_that_names_no_conversation_is_a_miss_of_those_that_may_have_sent_it() {
    let _alone = STRAY_CALLS.lock();
    let bench = Bench::new();
    bench.provider.says_json(&said("hello"));
    bench.recorded(CHAT, &question("hi"));
    let (one, two) = (told(&bench, "only one says this"), told(&bench, "only two says this"));
    let own = address(&one);
    let (host, _) = host_and_path(&own);
    let host = format!("http://{host}");
    // Requests of port scans, of browsers, and of ended conversations belong to no conversation.
    let over = address(&told(&bench, "over"));
    let left = told(&bench, "only one says this");
    let left_address = address(&left);
    left.end(false);
    for (method, path, headers, body) in [
        ("GET", "/", &[][..], ""),
        ("GET", "/v1/models", &[], ""),
        ("POST", "/", &[], "a=b"),
        ("POST", "/login", &[], r#"{"user":"me","password":"x"}"#),
        ("POST", CHAT, &[("origin", "http://page.example")], &question("only one says this")),
    ] {
        let status = ask(method, &host, path, headers, body.as_bytes()).status;
        assert!(matches!(status, 403 | 404), "{method} {path}: {status}");
    }
    send_damaged(host.trim_start_matches("http://"), b"\x00\x01garbage\r\n\r\n");
    let late = post(&left_address, CHAT, &[], question("only one says this").as_bytes());
    assert_eq!(late.status, 404, "{late:?}");
    assert_eq!((one.misses(), two.misses()), (Vec::new(), Vec::new()));

    for wrong in [host.clone(), format!("{host}/c/abcdef")] {
        let answered = post(&wrong, CHAT, &[], question("only one says this").as_bytes());
        assert_eq!(answered.status, 404, "{answered:?}");
    }
    let misses = one.misses();
    assert_eq!((misses.len(), two.misses().len()), (2, 0));
    let expected = "a call of a model (POST /v1/chat/completions) came to the gateway without the address of its conversation";
    assert!(misses.iter().all(|miss| miss.message.starts_with(expected)), "{misses:?}");
    // No conversation says this, so it is of any of them. Another path with the body of a call is one, too.
    post(&host, "/api/chat", &[], question("nobody says this").as_bytes());
    assert_eq!((one.misses().len(), two.misses().len()), (3, 1));
    assert!(!over.is_empty());
}

/// The address of the gateway, and the header that names a conversation to its proxy.
fn proxy_of(conversation: &Conversation) -> (String, String) {
    use base64::Engine as _;

    let address = address(conversation);
    let (host, path) = host_and_path(&address);
    let user = format!("evalset:{}", path.rsplit_once('/').unwrap().1);
    let user = base64::engine::general_purpose::STANDARD.encode(user);
    (host.to_owned(), format!("proxy-authorization: Basic {user}\r\n"))
}

/// Asks a host over the proxy of a conversation, without TLS.
fn proxied(conversation: &Conversation, url: &str) -> Answered {
    let (host, user) = proxy_of(conversation);
    let (of_url, _) = host_and_path(url);
    let head = format!(
        "GET {url} HTTP/1.1\r\nhost: {of_url}\r\n{user}proxy-connection: close\r\nconnection: close\r\n\r\n"
    );
    send(&host, head.as_bytes())
}

/// A connection on which a tunnel to this host was asked for, and the head of the reply.
fn tunnel(conversation: &Conversation, to: &str) -> (TcpStream, String) {
    let (host, user) = proxy_of(conversation);
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    write!(stream, "CONNECT {to} HTTP/1.1\r\nhost: {to}\r\n{user}\r\n").unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.extend_from_slice(&byte);
    }
    (stream, String::from_utf8(head).unwrap())
}

/// The address of a server that sends back what one connection sends.
fn echo() -> String {
    let server = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let to = server.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let (mut stream, _) = server.accept().unwrap();
        let mut reader = stream.try_clone().unwrap();
        std::io::copy(&mut reader, &mut stream).unwrap();
    });
    to
}

#[test]
fn a_tunnel_leads_to_a_host_that_is_reached_and_is_refused_otherwise() {
    let to = echo();
    let bench = Bench::new();
    let replay = bench.replay();
    let (mut stream, head) = tunnel(&replay, &to);
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    stream.write_all(b"bytes of a tool").unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut echoed = String::new();
    stream.read_to_string(&mut echoed).unwrap();
    assert_eq!(echoed, "bytes of a tool");
    // The client learns that there is no host, and nothing of it is a miss.
    let (_, head) = tunnel(&replay, "127.0.0.1:1");
    assert!(head.starts_with("HTTP/1.1 502 "), "{head}");
    assert!(replay.misses().is_empty());
    let (_, head) = tunnel(&replay, "api.openai.com:443");
    assert!(head.starts_with("HTTP/1.1 403 "), "{head}");
    let message = &replay.misses()[0].message;
    assert!(message.starts_with("a client asked `api.openai.com` itself"), "{message}");
}

#[test]
fn hosts_without_tls_are_handed_on_or_refused_as_those_with_it() {
    let bench = Bench::new();
    let tool = |bench: &Bench| {
        let address = bench.provider.upstreams().into_values().next().unwrap();
        format!("http://{}/tool?x=1", host_and_path(&address).0)
    };
    for is_offline in [false, true] {
        let settings = Settings { is_offline, ..Settings::default() };
        let replay = bench.open(ModelMode::Replay, &settings, "{}");
        bench.provider.says_json("{\"a\":1}");
        // Tools on this machine are reached in any case.
        let answered = proxied(&replay, &tool(&bench));
        assert_eq!((answered.status, &*answered.body), (200, "{\"a\":1}"), "{answered:?}");
        let asked = bench.provider.requests().pop().unwrap();
        assert_eq!(asked.line, "GET /tool?x=1");
        assert!(!asked.head.contains("proxy-"), "{asked:?}");
        assert!(replay.misses().is_empty());

        let refused = proxied(&replay, "http://eu.api.openai.com/v1/models");
        assert_eq!(refused.status, 403, "{refused:?}");
        let message = &replay.misses()[0].message;
        assert!(message.starts_with("a client asked `eu.api.openai.com` itself"), "{message}");
    }
    let settings = Settings { is_offline: true, ..Settings::default() };
    let replay = bench.open(ModelMode::Replay, &settings, "{}");
    assert_eq!(proxied(&replay, "http://example.invalid:8080/").status, 403);
    let message = &replay.misses()[0].message;
    assert_eq!(
        message,
        "the agent asked `example.invalid`, and `EVALSET_MODELS_OFFLINE=1` lets it reach no other host"
    );
    let replay = bench.replay();
    assert_eq!(proxied(&replay, "http://127.0.0.1:1/").status, 502);
    assert!(replay.misses().is_empty());
}

#[test]
fn a_client_that_asks_by_tls_or_http2_is_a_miss_of_all_conversations() {
    let _alone = STRAY_CALLS.lock();
    let bench = Bench::new();
    let (one, two) = (told(&bench, "one"), told(&bench, "two"));
    let address = address(&one);
    let (host, _) = host_and_path(&address);
    for (at, (bytes, protocol)) in (1..).zip([
        (&b"\x16\x03\x01\x00\xa5a handshake"[..], "https or wss"),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/2"),
    ]) {
        assert_eq!(send_damaged(host, bytes), Answered::default());
        for conversation in [&one, &two] {
            let misses = conversation.misses();
            assert_eq!(misses.len(), at, "{misses:?}");
            let message = &misses[at - 1].message;
            assert!(
                message.starts_with(&format!("a client asked the gateway by {protocol}, so")),
                "{message}"
            );
            assert!(message.ends_with("its address begins with `http://`"), "{message}");
        }
    }
}

#[test]
fn a_look_at_the_server_is_no_call_of_a_model() {
    let bench = Bench::new();
    let replay = bench.replay();
    for path in ["/", "/v1", CHAT] {
        let answered = ask("HEAD", &address(&replay), path, &[], b"");
        assert_eq!((answered.status, &*answered.body), (200, ""), "{answered:?}");
    }
    assert!(replay.misses().is_empty());
}

/// A request for a host, as it is sent to a server.
fn to_host(host: &str, method: &str, path: &str, headers: &str, body: &str) -> String {
    format!(
        "{method} {path} HTTP/1.1\r\nhost: {host}\r\n{headers}connection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[test]
fn a_call_of_a_model_without_tls_is_a_miss_at_any_host_by_proxy_and_by_tunnel() {
    let bench = Bench::new();
    let server = bench.provider.upstreams().into_values().next().unwrap();
    let server = host_and_path(&server).0.to_owned();
    let json = "content-type: application/json\r\n";
    let chat = question("hi");
    for (path, headers, body, is_call) in [
        (CHAT, json, &*chat, true),
        // Ollama's own path.
        ("/api/chat", json, &*chat, true),
        ("/v1/messages", json, &*chat, true),
        // Tools of the agent.
        ("/channels/7/messages", json, r#"{"content":"hi"}"#, false),
        ("/tool?x=1", json, r#"{"city":"Paris"}"#, false),
        (CHAT, "content-type: image/png\r\n", "bytes", false),
    ] {
        for by_tunnel in [false, true] {
            let replay = bench.replay();
            bench.provider.says_json("{\"a\":1}");
            let before = bench.provider.requests().len();
            let (status, answer) = if by_tunnel {
                let (mut stream, head) = tunnel(&replay, &server);
                assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
                stream.write_all(to_host(&server, "POST", path, headers, body).as_bytes()).unwrap();
                let mut answer = String::new();
                stream.read_to_string(&mut answer).unwrap();
                (answer.split(' ').nth(1).unwrap().parse().unwrap(), answer)
            } else {
                let (gateway, user) = proxy_of(&replay);
                let headers = format!("{headers}{user}");
                let url = format!("http://{server}{path}");
                let answered = send(&gateway, to_host(&server, "POST", &url, &headers, body).as_bytes());
                (answered.status, answered.body)
            };
            let requests = bench.provider.requests();
            let misses = replay.misses();
            if is_call {
                assert_eq!(
                    (status, requests.len(), misses.len()),
                    (403, before, 1),
                    "{path} {by_tunnel}: {answer}"
                );
                let told = &misses[0].message;
                assert!(told.starts_with(&format!("a client asked `{server}` itself, so")), "{told}");
            } else {
                assert_eq!((status, misses.len()), (200, 0), "{path} {by_tunnel}: {answer}");
                assert!(answer.ends_with("{\"a\":1}"), "{answer}");
                assert_eq!(requests.len(), before + 1);
                assert_eq!(requests.last().unwrap().line, format!("POST {path}"));
            }
        }
    }
}

#[test]
fn a_websocket_in_a_tunnel_is_carried_as_it_is() {
    let to = echo();
    let bench = Bench::new();
    let replay = bench.replay();
    let (mut stream, _) = tunnel(&replay, &to);
    let sent = format!(
        "GET /socket HTTP/1.1\r\nhost: {to}\r\nUpgrade: websocket\r\nconnection: upgrade\r\n\r\nframes"
    );
    stream.write_all(sent.as_bytes()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut echoed = String::new();
    stream.read_to_string(&mut echoed).unwrap();
    assert_eq!(echoed, sent);
}
