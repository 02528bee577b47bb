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
