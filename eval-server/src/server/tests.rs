//! Servers that do not start, and requests that are cut off: the memory that they held is free again.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::*;
use crate::limits::Limits;

const SET: &str = r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": [{"user_content": {"parts": [{"text": "a"}]}}]}]}"#;

const TRACE: &str = r#"{"resourceSpans": [{"scopeSpans": [{"spans": [{
    "traceId": "00000000000000000000000000000001", "spanId": "0000000000000001", "name": "chat",
    "startTimeUnixNano": "1760000000000000000", "endTimeUnixNano": "1760000001000000000",
    "attributes": {"gen_ai.operation.name": "chat",
        "gen_ai.input.messages": "[{\"role\": \"user\", \"parts\": [{\"type\": \"text\", \"content\": \"a\"}]}]",
        "gen_ai.output.messages": "[{\"role\": \"assistant\", \"parts\": [{\"type\": \"text\", \"content\": \"b\"}]}]"}
}]}]}]}"#;

fn request(path: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n{body}").into_bytes()
}

/// Sends a request, and leaves before it is over: in another way each time.
fn cut_off(address: SocketAddr, way: usize, small: &[u8], large: &[u8], streamed: &[u8]) -> io::Result<()> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let mut some = [0; 64];
    match way % 8 {
        // In the middle of a head, and of a body.
        0 => stream.write_all(&small[..20])?,
        1 => stream.write_all(&small[..small.len() - 5])?,
        2 => stream.write_all(&large[..large.len() / 2])?,
        // When all is sent, and before the answer.
        3 => stream.write_all(large)?,
        4 => stream.write_all(streamed)?,
        // At the beginning of the answer in events.
        5 => {
            stream.write_all(streamed)?;
            stream.read_exact(&mut some)?;
        }
        // Several requests one after the other; the first answer is read.
        6 => {
            stream.write_all(&[small, large, streamed, &small[..40]].concat())?;
            stream.read_exact(&mut some)?;
        }
        // With all that it sends sent, in the middle of a body.
        _ => {
            stream.write_all(&large[..large.len() - 1])?;
            stream.shutdown(Shutdown::Write)?;
            drop(stream.read(&mut some));
        }
    }
    Ok(())
}

#[test]
fn what_keeps_a_server_from_starting_is_told_apart() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let bind = |address: &str, options| runtime.block_on(Server::bind(address.parse().unwrap(), options));
    let error = bind("127.0.0.1:0", ServerOptions::new().token("short")).unwrap_err();
    assert!(matches!(error, BindError::Token(TokenError::Short { length: 5 })), "{error:?}");
    assert!(error.to_string().contains("5 characters"), "{error}");
    let first = bind("127.0.0.1:0", ServerOptions::new()).unwrap();
    let error = bind(&first.address().to_string(), ServerOptions::new()).unwrap_err();
    let BindError::Address { source, .. } = &error else { panic!("{error:?}") };
    assert_eq!(source.kind(), io::ErrorKind::AddrInUse);
}

#[test]
fn a_thousand_requests_that_are_cut_off_leave_nothing_behind() {
    const CONNECTIONS: usize = 16;
    let limits = Limits::default().connections(CONNECTIONS).body(1 << 20);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let options = ServerOptions::new().limits(limits);
    let server = runtime.block_on(Server::bind("127.0.0.1:0".parse().unwrap(), options)).unwrap();
    let (address, app) = (server.address(), Arc::clone(&server.app));
    let (stop, stopped) = oneshot::channel::<()>();
    let running = runtime.spawn(server.run(async { drop(stopped.await) }));

    let small = request("/api/v1/validate/eval-set", SET);
    // Larger than what is computed at once.
    let large = request("/api/v1/validate/eval-set", &format!("{SET}{}", " ".repeat(100 << 10)));
    let body = format!(
        "{{\"traces\": {TRACE}, \"evalSet\": {SET}, \"config\": {{\"evaluators\": [{{\"name\": \"response_match_score\"}}]}}}}"
    );
    let streamed = request("/api/evaluate/json/stream", &body);
    for way in 0..1000 {
        cut_off(address, way, &small, &large, &streamed).unwrap_or_else(|error| panic!("{way}: {error}"));
    }

    let begin = Instant::now();
    while !app.is_idle() {
        assert!(begin.elapsed() < Duration::from_secs(20), "something is held: {app:?}");
        sleep(Duration::from_millis(5));
    }
    // All places for connections are free: as many are open at a time, and each is answered.
    let mut open: Vec<TcpStream> = (0..CONNECTIONS).map(|_| TcpStream::connect(address).unwrap()).collect();
    for stream in &mut open {
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.write_all(&small).unwrap();
        let mut begin = [0; 12];
        stream.read_exact(&mut begin).unwrap();
        assert_eq!(&begin, b"HTTP/1.1 200");
    }
    drop((stop, open));
    runtime.block_on(running).unwrap();
    assert!(app.is_idle());
}
