//! A server with ADK's routes that answers at once, to measure the overhead of `cargo evalset run`.
//!
//! `stub [BYTES]` prints its port and serves until it is killed. BYTES is the size of the result of its tool. It answers the questions
//! of `cases.py` with the call that they expect and with the number of the order.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

static SESSIONS: AtomicU64 = AtomicU64::new(0);

fn main() {
    let padding = std::env::args().nth(1).map_or(0, |bytes| bytes.parse().expect("a number of bytes"));
    let padding: &'static str = "x".repeat(padding).leak();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    println!("{}", listener.local_addr().expect("it is bound").port());
    for stream in listener.incoming().flatten() {
        thread::spawn(move || {
            // A client may be gone.
            let _ = serve(&stream, padding);
        });
    }
}

/// Answers the requests of one connection.
fn serve(mut stream: &TcpStream, padding: &str) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    loop {
        let mut first = String::new();
        if reader.read_line(&mut first)? == 0 {
            return Ok(());
        }
        let mut length = 0;
        loop {
            let mut header = String::new();
            reader.read_line(&mut header)?;
            if header.trim().is_empty() {
                break;
            }
            if let Some((name, value)) = header.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let body = String::from_utf8_lossy(&body);
        let mut words = first.split(' ');
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let (status, answer) = match (method, path) {
            ("GET", "/list-apps") => ("200 OK", r#"["shop"]"#.to_owned()),
            ("POST", "/run_sse") => ("200 OK", turn(&body, padding)),
            ("POST" | "GET", path) if path.contains("/sessions") => {
                let number = SESSIONS.fetch_add(1, Ordering::Relaxed);
                ("200 OK", format!(r#"{{"id":"s-{number}","state":{{}}}}"#))
            }
            ("DELETE", _) => ("200 OK", "null".to_owned()),
            _ => ("404 Not Found", r#"{"detail":"Not Found"}"#.to_owned()),
        };
        let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n", answer.len());
        stream.write_all((head + &answer).as_bytes())?;
    }
}

fn turn(body: &str, padding: &str) -> String {
    let order = body.split("Where is order ").nth(1).unwrap_or_default();
    let order: String = order.chars().take_while(char::is_ascii_digit).collect();
    let call =
        format!(r#"{{"functionCall":{{"id":"c","name":"lookup_order","args":{{"order_id":{order}}}}}}}"#);
    let result = format!(
        r#"{{"functionResponse":{{"id":"c","name":"lookup_order","response":{{"found":true,"log":"{padding}"}}}}}}"#
    );
    let text = format!(r#"{{"text":"Order {order}"}}"#);
    [call, result, text]
        .map(|part| {
            format!(
                "data: {{\"author\":\"shop\",\"content\":{{\"role\":\"model\",\"parts\":[{part}]}},\
                 \"usageMetadata\":{{\"promptTokenCount\":20,\"candidatesTokenCount\":5}}}}\n\n"
            )
        })
        .concat()
}
