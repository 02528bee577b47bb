//! A server on loopback that gives prepared answers and keeps the requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

/// The treatment of a request by the server.
pub(crate) enum Answer {
    /// It answers with a status, more header lines, and a body.
    Send(u16, &'static str, String),
    /// It closes the connection before the end of the body.
    BreakOff(String),
    /// It sends a body without an end.
    Endless,
    /// It never answers.
    Hang,
}

/// A request, as it was received.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// The first line, without the version: `POST /v1/messages`.
    pub(crate) line: String,
    /// The headers, with names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: serde_json::Value,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(of, _)| of == name).map(|(_, value)| value.as_str())
    }
}

pub(crate) struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    /// Dropping it with the server ends the connections that hang.
    _alive: Sender<()>,
}

impl Server {
    /// A server that gives these answers, one to each connection.
    pub(crate) fn start(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let requests: Arc<Mutex<Vec<Request>>> = Arc::default();
        let kept = Arc::clone(&requests);
        let (alive, gone) = channel();
        thread::spawn(move || {
            for answer in answers {
                let Ok((stream, _)) = listener.accept() else { return };
                // In some of the tests the client closes the connection.
                let _ = serve(stream, answer, &kept, &gone);
            }
        });
        Self { address, requests, _alive: alive }
    }

    /// Its address, with a path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The requests so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

fn serve(
    mut stream: TcpStream,
    answer: Answer,
    requests: &Mutex<Vec<Request>>,
    gone: &Receiver<()>,
) -> std::io::Result<()> {
    let request = read(&stream)?;
    requests.lock().unwrap().push(request);
    match answer {
        Answer::Send(status, headers, body) => {
            let length = body.len();
            write!(
                stream,
                "HTTP/1.1 {status} Status\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
            )
        }
        Answer::BreakOff(body) => {
            let length = body.len() + 1;
            write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{body}")
        }
        Answer::Endless => {
            write!(stream, "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n\"")?;
            loop {
                stream.write_all(&[b'a'; 1 << 12])?;
            }
        }
        Answer::Hang => {
            let _ = gone.recv();
            Ok(())
        }
    }
}

fn read(stream: &TcpStream) -> std::io::Result<Request> {
    let mut lines = BufReader::new(stream);
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        lines.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        head.push(line.trim().to_owned());
    }
    let headers: Vec<(String, String)> = head[1..]
        .iter()
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, length)| length.parse().unwrap())];
    lines.read_exact(&mut body)?;
    Ok(Request {
        line: head[0].trim_end_matches(" HTTP/1.1").to_owned(),
        headers,
        body: serde_json::from_slice(&body).unwrap(),
    })
}
