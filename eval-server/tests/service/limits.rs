//! Limits, and the end.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use eval_server::{Limits, ServerOptions};

use crate::support::{SET, Service};

#[test]
fn large_bodies_are_refused_whether_or_not_they_say_so() {
    let service = Service::start(ServerOptions::new().limits(Limits::default().body(10_000)));
    let large = "x".repeat(10_001);
    assert_eq!(service.post("/api/v1/validate/eval-set", &large).status, 413);
    let chunked = format!(
        "POST /api/v1/validate/eval-set HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         transfer-encoding: chunked\r\n\r\n{:x}\r\n{large}\r\n0\r\n\r\n",
        large.len()
    );
    assert_eq!(service.raw(chunked.as_bytes()).unwrap().status, 413);
    // It is refused before it is sent.
    let promised = "POST /api/convert HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 99999999999\r\n\r\n";
    assert_eq!(service.raw(promised.as_bytes()).unwrap().status, 413);
    assert_eq!(service.post("/api/v1/validate/eval-set", SET).status, 200);
}

#[test]
fn scoring_whose_time_is_over_leaves_its_thread_to_others() {
    let turns = |text: &str, count: usize| {
        let turn = format!(
            "{{\"user_content\": {{\"parts\": [{{\"text\": \"hi\"}}]}}, \
              \"final_response\": {{\"parts\": [{{\"text\": \"{}\"}}]}}}}",
            text.repeat(5000)
        );
        vec![turn; count].join(",")
    };
    let request = |count: usize| {
        format!(
            "{{\"actual\": [{}], \"expected\": [{}], \"criteria\": \
              {{\"response_similarity\": {{\"threshold\": 1, \"algorithm\": \"rouge_l\"}}}}}}",
            turns("a b c d e f g h ", count),
            turns("h g f e d c b a ", count)
        )
    };
    let begin = Instant::now();
    let service = Service::start(ServerOptions::new());
    assert_eq!(service.post("/api/v1/score", &request(1)).status, 200);
    let one = begin.elapsed();
    let limits = Limits::default().workers(1).waiting(0).time(Duration::from_secs(1));
    let service = Service::start(ServerOptions::new().limits(limits));
    let many = request(80);
    let begin = Instant::now();
    assert_eq!(service.post("/api/v1/score", &many).status, 503);
    let other = format!("{SET}{}", " ".repeat(20 << 10));
    while service.post("/api/v1/validate/eval-set", &other).status == 503 {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(begin.elapsed() < one * 40, "{:?}, and {one:?} for one turn", begin.elapsed());
}

/// A span that names its trace alone.
fn spans(count: usize) -> String {
    let span = |at: usize| format!("{{\"traceId\": \"{:032x}\", \"spanId\": \"{:016x}\"}}", at + 1, at + 1);
    let spans: Vec<String> = (0..count).map(span).collect();
    format!("{{\"resourceSpans\": [{{\"scopeSpans\": [{{\"spans\": [{}]}}]}}]}}", spans.join(","))
}

#[test]
fn evaluations_with_more_results_than_can_be_kept_are_refused() {
    let service = Service::start(ServerOptions::new());
    let ask = |traces: usize, evaluators: serde_json::Value| {
        let config = serde_json::json!({ "evaluators": evaluators });
        service
            .post("/api/evaluate/json", &format!("{{\"traces\": {}, \"config\": {config}}}", spans(traces)))
    };
    let metrics =
        |count: usize| (0..count).map(|at| serde_json::json!({ "name": format!("m{at}") })).collect();
    assert_eq!(ask(10, metrics(100)).status, 200);
    let refused = ask(1001, metrics(100));
    assert_eq!(refused.status, 413, "{}", refused.body);
    assert!(refused.body.contains("send fewer traces at a time"), "{}", refused.body);
    let long = serde_json::json!([{ "name": "x".repeat(1 << 20) }]);
    assert_eq!(ask(3, long.clone()).status, 200);
    assert_eq!(ask(65, long).status, 413);
}

#[test]
fn an_id_that_stands_in_each_error_is_cut() {
    let service = Service::start(ServerOptions::new());
    let span = r#"{"traceId": "00000000000000000000000000000001", "spanId": "0000000000000001", "attributes": {
        "gen_ai.operation.name": "chat", "gen_ai.input.messages": "[{\"role\": \"user\", \"content\": \"hi\"}]",
        "gen_ai.output.messages": "[{\"role\": \"assistant\", \"content\": \"ho\"}]"}}"#;
    let case = |id: &str| {
        format!(
            "{{\"eval_id\": \"{id}\", \"conversation\": [{{\"user_content\": {{\"parts\": [{{\"text\": \"hi\"}}]}}}}]}}"
        )
    };
    let cases: Vec<String> = (0..100).map(|at| case(&format!("c{at}"))).collect();
    let request = format!(
        "{{\"traces\": {{\"resourceSpans\": [{{\"scopeSpans\": [{{\"spans\": [{span}]}}]}}]}}, \
          \"config\": {{\"evaluators\": [{{\"name\": \"response_match_score\"}}]}}, \
          \"evalSet\": {{\"eval_set_id\": \"s\", \"eval_cases\": [{}, {}]}}}}",
        case(&"x".repeat(100_000)),
        cases.join(",")
    );
    let reply = service.post("/api/evaluate/json", &request);
    assert_eq!(reply.data()["errors"].as_array().map(Vec::len), Some(100), "{}", reply.body);
    assert!(reply.body.len() < 2 * request.len(), "{} bytes", reply.body.len());
}

#[test]
fn mistakes_in_thousands_of_turns_have_their_places() {
    let service = Service::start(ServerOptions::new());
    let turns = "{\"user_content\": 1},".repeat(20_000);
    let request = format!("{{\"actual\": [\n{}], \"criteria\": {{}}}}", turns.trim_end_matches(','));
    let reply = service.post("/api/v1/score", &request);
    assert_eq!(reply.status, 422);
    let detail = reply.json()["detail"].clone();
    let place = |at: usize| detail[at]["msg"].as_str().unwrap().split(": ").next().unwrap().to_owned();
    assert_eq!((place(0), place(19_999)), ("2:18".to_owned(), format!("2:{}", 19_999 * 20 + 18)));
    assert_eq!(detail[19_999]["loc"][2], 19_999);
}

#[test]
fn slow_headers_bodies_and_idle_connections_end() {
    let limits = Limits::default().headers(Duration::from_millis(200)).time(Duration::from_millis(300));
    let service = Service::start(ServerOptions::new().limits(limits));
    let begin = Instant::now();
    for beginning in
        ["", "GET / HTTP/1.1\r\nhost: loc", "GET /api/health HTTP/1.1\r\nhost: localhost\r\n\r\n"]
    {
        let mut stream = service.connect();
        stream.write_all(beginning.as_bytes()).unwrap();
        stream.read_to_end(&mut Vec::new()).expect("the connection is closed");
    }
    let mut stream = service.connect();
    stream
        .write_all(b"POST /api/convert HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 10\r\n\r\nab")
        .unwrap();
    let mut all = String::new();
    stream.read_to_string(&mut all).unwrap();
    assert!(all.starts_with("HTTP/1.1 408"), "{all}");
    assert!(begin.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_client_that_does_not_read_loses_its_place() {
    let limits = Limits::default().connections(1).time(Duration::from_millis(300));
    let service = Service::start(ServerOptions::new().limits(limits));
    let mut deaf = service.connect();
    deaf.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
    let asked = "GET /openapi.json HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(1000);
    // Until both sides have no room left.
    while deaf.write_all(asked.as_bytes()).is_ok() {}
    let mut other = service.connect();
    other.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    other.write_all(b"GET /api/health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    other.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[test]
fn it_stops_when_asked_and_answers_what_is_in_work() {
    let mut service = Service::start(ServerOptions::new());
    let mut idle = service.connect();
    let mut stream = service.connect();
    let head = format!(
        "POST /api/v1/validate/eval-set HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n",
        SET.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    // The head must have arrived: a connection without a request is closed.
    std::thread::sleep(Duration::from_millis(200));
    let thread = service.stop();
    let mut none = Vec::new();
    idle.read_to_end(&mut none).expect("the idle connection is closed, and not left to its time limit");
    assert_eq!(none, b"");
    stream.write_all(SET.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("\"valid\":true"), "{answer}");
    thread.join().unwrap();
    assert!(std::net::TcpStream::connect(service.address).is_err());
}

#[test]
fn who_does_not_end_is_cut_off_after_the_time_of_grace() {
    let limits = Limits::default().grace(Duration::from_millis(200));
    let mut service = Service::start(ServerOptions::new().limits(limits));
    let mut stream = service.connect();
    stream
        .write_all(b"POST /api/convert HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\nab")
        .unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let begin = Instant::now();
    service.stop().join().unwrap();
    assert!(begin.elapsed() < Duration::from_secs(8), "{:?}", begin.elapsed());
}

#[test]
fn bodies_that_are_promised_and_do_not_come_keep_nobody_waiting() {
    let service = Service::start(ServerOptions::new().limits(Limits::default().body(1 << 20)));
    let promises = "POST /api/convert HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000\r\n\r\nx";
    // Six times as much as all bodies may have.
    let mut slow: Vec<_> = (0..100).map(|_| service.connect()).collect();
    for stream in &mut slow {
        stream.write_all(promises.as_bytes()).unwrap();
    }
    std::thread::sleep(Duration::from_millis(300));
    let begin = Instant::now();
    assert_eq!(service.post("/api/v1/validate/eval-set", SET).data()["valid"], true);
    let chunked = format!(
        "POST /api/v1/validate/eval-set HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         transfer-encoding: chunked\r\n\r\n{:x}\r\n{SET}\r\n0\r\n\r\n",
        SET.len()
    );
    assert_eq!(service.raw(chunked.as_bytes()).unwrap().data()["valid"], true);
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
}

#[test]
fn who_finds_no_memory_is_told_to_come_again() {
    let service = Service::start(ServerOptions::new().limits(Limits::default().body(1 << 20)));
    let head = "POST /api/convert HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1040000\r\n\r\n";
    let mut full: Vec<_> = (0..16).map(|_| service.connect()).collect();
    for stream in &mut full {
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&vec![b'x'; 1_039_999]).unwrap();
    }
    std::thread::sleep(Duration::from_millis(500));
    let refused = service.post("/api/v1/validate/eval-set", &" ".repeat(200 << 10));
    assert_eq!(refused.status, 503, "{}", refused.body);
    assert!(refused.headers.contains("retry-after: 1"), "{}", refused.headers);
    drop(full);
    let begin = Instant::now();
    while service.post("/api/v1/validate/eval-set", SET).status != 200 {
        assert!(begin.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(10));
    }
}
