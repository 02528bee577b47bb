//! A client that writes bytes, and reads an answer to its end.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

/// An answer as it arrived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Answered {
    /// 0 if the connection ended before an answer.
    pub(super) status: u16,
    /// The head in small letters, without the time.
    pub(super) head: String,
    pub(super) body: String,
    /// Whether the body came to its end.
    pub(super) is_whole: bool,
}

impl Answered {
    /// The value of a header.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let prefix = format!("{name}: ");
        self.head.lines().find_map(|line| line.strip_prefix(&*prefix))
    }
}

/// The host and the path of an address.
pub(super) fn host_and_path(address: &str) -> (&str, &str) {
    let rest = address.strip_prefix("http://").unwrap();
    rest.split_at(rest.find('/').unwrap_or(rest.len()))
}

/// Posts a body to a path below the address of a conversation.
pub(super) fn post(address: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answered {
    ask("POST", address, path, headers, body)
}

pub(super) fn ask(
    method: &str,
    address: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Answered {
    let (host, _) = host_and_path(address);
    send(host, &request(method, address, path, headers, body))
}

/// The bytes of a request.
pub(super) fn request(
    method: &str,
    address: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Vec<u8> {
    let (host, base) = host_and_path(address);
    let mut head = format!("{method} {base}{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n");
    head.extend(headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")));
    head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
    [head.as_bytes(), body].concat()
}

/// Sends bytes, and reads what comes back until the connection ends.
pub(super) fn send(host: &str, bytes: &[u8]) -> Answered {
    let mut stream = TcpStream::connect(host).unwrap();
    // The endpoint may refuse a body before it was sent.
    let _ = stream.write_all(bytes);
    rest(&mut stream, Vec::new())
}

/// Sends bytes that may be no whole request. If nothing comes back, they are all that there is.
pub(super) fn send_damaged(host: &str, bytes: &[u8]) -> Answered {
    let mut stream = TcpStream::connect(host).unwrap();
    let _ = stream.write_all(bytes);
    stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let mut first = vec![0; 4096];
    let read = stream.read(&mut first);
    first.truncate(*read.as_ref().unwrap_or(&0));
    let _ = stream.shutdown(Shutdown::Write);
    rest(&mut stream, first)
}

fn rest(stream: &mut TcpStream, mut read: Vec<u8>) -> Answered {
    stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    if let Err(error) = stream.read_to_end(&mut read) {
        assert!(
            !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
            "no answer in a minute"
        );
    }
    answered(&read)
}

fn answered(read: &[u8]) -> Answered {
    let text = String::from_utf8_lossy(read).into_owned();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return Answered::default() };
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let lines = head.lines().map(str::to_ascii_lowercase).filter(|line| !line.starts_with("date: "));
    let head = lines.collect::<Vec<_>>().join("\n");
    let mut answered = Answered { status, head, ..Answered::default() };
    (answered.body, answered.is_whole) = match answered.header("content-length") {
        Some(length) => (body.to_owned(), length.trim().parse() == Ok(body.len())),
        None => dechunked(body),
    };
    answered
}

/// The body of chunks, and whether the last one came.
fn dechunked(mut rest: &str) -> (String, bool) {
    let mut body = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let Ok(size) = usize::from_str_radix(size, 16) else { break };
        if size == 0 {
            return (body, true);
        }
        let Some(chunk) = after.get(..size) else {
            body.push_str(after);
            break;
        };
        body.push_str(chunk);
        rest = after.get(size + 2..).unwrap_or_default();
    }
    (body, false)
}
