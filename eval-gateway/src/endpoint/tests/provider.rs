//! A provider on loopback that answers each request with the bytes that a test gave it.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// It answers until the process ends.
pub(super) struct Provider {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    answers: Mutex<VecDeque<Vec<u8>>>,
    requests: Mutex<Vec<Asked>>,
}

/// A request that arrived.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// The method and the path, with the query.
    pub(super) line: String,
    pub(super) head: String,
    pub(super) body: String,
}

impl Provider {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared::default());
        let served = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let served = Arc::clone(&served);
                thread::spawn(move || served.serve(&stream));
            }
        });
        Self { address, shared }
    }

    /// The addresses of all providers: their names are the beginning of the paths.
    pub(super) fn upstreams(&self) -> BTreeMap<crate::provider::Provider, String> {
        let base = |provider: crate::provider::Provider| {
            format!("http://{}/{}", self.address, provider.name().to_lowercase())
        };
        crate::provider::Provider::ALL.map(|provider| (provider, base(provider))).into()
    }

    /// Adds an answer, whole with its head. The connection ends behind it.
    pub(super) fn answers(&self, bytes: impl Into<Vec<u8>>) {
        self.shared.answers.lock().unwrap().push_back(bytes.into());
    }

    /// Adds an answer of this type.
    pub(super) fn says(&self, kind: &str, body: impl AsRef<[u8]>) {
        self.answers(http(&format!("content-type: {kind}\r\n"), body.as_ref()));
    }

    pub(super) fn says_json(&self, body: &str) {
        self.says("application/json", body);
    }

    pub(super) fn requests(&self) -> Vec<Asked> {
        self.shared.requests.lock().unwrap().clone()
    }
}

/// An answer with its length.
pub(super) fn http(headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\n{headers}content-length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

impl Shared {
    fn serve(&self, stream: &TcpStream) {
        let Some(asked) = read(&mut BufReader::new(stream)) else { return };
        self.requests.lock().unwrap().push(asked);
        let answer = self.answers.lock().unwrap().pop_front();
        let answer = answer.unwrap_or_else(|| b"HTTP/1.1 500 X\r\ncontent-length: 0\r\n\r\n".to_vec());
        let mut stream = stream;
        // The client may have left.
        let _ = stream.write_all(&answer);
        let _ = stream.shutdown(Shutdown::Both);
    }
}

fn read(reader: &mut BufReader<&TcpStream>) -> Option<Asked> {
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let line = head.lines().next()?.rsplit_once(' ')?.0.to_owned();
    Some(Asked { line, head: head.to_ascii_lowercase(), body: String::from_utf8_lossy(&body).into_owned() })
}
