//! A provider of models on loopback: it answers Chat Completions, each time with another id.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

/// It answers until it is dropped.
pub(super) struct Provider {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    ids: AtomicUsize,
    /// Whether ids are the same each time.
    is_steady: AtomicBool,
    is_over: AtomicBool,
    requests: Mutex<Vec<Value>>,
    /// Statuses of the next answers, which say no more.
    failures: Mutex<Vec<u16>>,
}

impl Provider {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let shared = Arc::new(Shared::default());
        let served = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if served.is_over.load(Ordering::Relaxed) {
                    break;
                }
                let served = Arc::clone(&served);
                thread::spawn(move || served.serve(&stream));
            }
        });
        Self { port, shared }
    }

    pub(super) fn steady(self) -> Self {
        self.shared.is_steady.store(true, Ordering::Relaxed);
        self
    }

    /// Lets the next answers be failures.
    pub(super) fn fails(&self, statuses: &[u16]) {
        *self.shared.failures.lock().expect("no panic") = statuses.to_vec();
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// The bodies that were sent.
    pub(super) fn requests(&self) -> Vec<Value> {
        self.shared.requests.lock().expect("no panic").clone()
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        // The listener waits for one more connection.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
    }
}

impl Shared {
    fn serve(&self, stream: &TcpStream) {
        let mut reader = BufReader::new(stream);
        while let Some(body) = read(&mut reader) {
            self.requests.lock().expect("no panic").push(body.clone());
            let failure = self.failures.lock().expect("no panic").pop();
            let (status, answer) = match failure {
                Some(status) => (status, json!({"error": {"message": "not now"}})),
                None => (200, self.answer(&body)),
            };
            let text = answer.to_string();
            let head = format!(
                "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\nset-cookie: secret=cookie-of-the-provider\r\n\
                 openai-organization: org-of-mine\r\ncontent-length: {}\r\n\r\n",
                text.len()
            );
            let mut out = stream;
            if out.write_all((head + &text).as_bytes()).is_err() {
                return;
            }
        }
    }

    /// It repeats the last word of the user, with the number of the answer where ids are not steady.
    fn answer(&self, body: &Value) -> Value {
        let number = self.ids.fetch_add(1, Ordering::Relaxed);
        let id = if self.is_steady.load(Ordering::Relaxed) {
            "same".to_owned()
        } else {
            format!("random{number}")
        };
        let messages = body["messages"].as_array().cloned().unwrap_or_default();
        let said = messages.last().and_then(|last| last["content"].as_str()).unwrap_or_default().to_owned();
        let said = match said.strip_prefix("count ") {
            Some(what) => format!("{what}-{number}"),
            None if body["model"] == "gpt-5-judge" => {
                r#"{"is_the_agent_response_valid": "valid"}"#.to_owned()
            }
            None if said.contains("key") => {
                concat!("Use sk-", "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH").to_owned()
            }
            None if said.contains("secret") => "It is purple-elephant-77.".to_owned(),
            None => "It is sunny.".to_owned(),
        };
        json!({
            "id": format!("chatcmpl-{id}"), "object": "chat.completion", "created": 1_760_000_000, "model": body["model"],
            "choices": [{"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
        })
    }
}

/// The body of the next request; `None` at the end of the connection.
fn read(reader: &mut BufReader<&TcpStream>) -> Option<Value> {
    let (mut length, mut line) = (0, String::new());
    loop {
        line.clear();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
