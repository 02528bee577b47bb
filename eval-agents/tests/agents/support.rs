//! A server on this machine that answers as a test says, faults included.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A file beside the tests.
pub(crate) fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// A request of a client.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// Method and path: `GET /list-apps`.
    pub(crate) line: String,
    /// In small letters.
    pub(crate) headers: String,
    pub(crate) body: String,
}

/// The answer to it.
pub(crate) enum Answer {
    /// Status, type, body.
    Whole(u16, &'static str, String),
    /// These bytes, and the end of the connection.
    Raw(Vec<u8>),
    /// The first bytes, then the second over and over.
    Endless(Vec<u8>, Vec<u8>),
    /// These bytes, and then nothing while the client waits.
    Hang(Vec<u8>),
}

impl Answer {
    pub(crate) fn json(body: &str) -> Self {
        Self::Whole(200, "application/json", body.to_owned())
    }

    pub(crate) fn events(events: &[&str]) -> Self {
        let body: Vec<String> = events.iter().map(|event| format!("data: {event}\n\n")).collect();
        Self::Whole(200, "text/event-stream", body.concat())
    }

    pub(crate) fn not_found() -> Self {
        Self::Whole(404, "application/json", r#"{"detail": "Not Found"}"#.to_owned())
    }
}

/// The server. It lives as long as its process.
pub(crate) struct Stub {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Stub {
    pub(crate) fn new(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests: Arc<Mutex<Vec<Request>>> = Arc::default();
        let (seen, answer) = (Arc::clone(&requests), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                thread::spawn(move || {
                    let mut stream = stream;
                    let Some(request) = read(&stream) else { return };
                    seen.lock().unwrap().push(request.clone());
                    // A client that had enough is gone.
                    let _ = write(&mut stream, answer(&request));
                    let _ = stream.shutdown(Shutdown::Both);
                });
            }
        });
        Self { url, requests }
    }

    /// The requests so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let line = line.trim().strip_suffix(" HTTP/1.1")?.to_owned();
    let (mut headers, mut length) = (String::new(), 0);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let header = header.trim().to_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        headers.push_str(&header);
        headers.push('\n');
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { line, headers, body: String::from_utf8(body).ok()? })
}

fn write(stream: &mut TcpStream, answer: Answer) -> std::io::Result<()> {
    match answer {
        Answer::Whole(status, kind, body) => {
            let head = format!(
                "HTTP/1.1 {status} Status\r\ncontent-type: {kind}\r\nlocation: http://elsewhere.test/\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            stream.write_all(head.as_bytes())?;
            stream.write_all(body.as_bytes())
        }
        Answer::Raw(bytes) => stream.write_all(&bytes),
        Answer::Endless(first, then) => {
            stream.write_all(&first)?;
            loop {
                stream.write_all(&then)?;
            }
        }
        Answer::Hang(bytes) => {
            stream.write_all(&bytes)?;
            thread::sleep(Duration::from_mins(1));
            Ok(())
        }
    }
}

/// The beginning of an answer whose body ends with the connection.
pub(crate) const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

/// The beginning of an answer whose body is sent in pieces.
pub(crate) const CHUNKED: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
