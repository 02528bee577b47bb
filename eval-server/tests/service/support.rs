//! A service on a free port, and a client that sends any bytes.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use eval_server::{Server, ServerOptions};
use serde_json::Value;
use tokio::sync::oneshot;

/// A running service, which ends when it is dropped.
pub(crate) struct Service {
    pub(crate) address: SocketAddr,
    /// The address that receives traces, if there is one.
    pub(crate) otlp: Option<SocketAddr>,
    pub(crate) token: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Service {
    pub(crate) fn start(options: ServerOptions) -> Self {
        let (stop, stopped) = oneshot::channel::<()>();
        let (tell, told) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
            runtime.block_on(async {
                let server = Server::bind("127.0.0.1:0".parse().unwrap(), options).await.unwrap();
                tell.send((server.address(), server.otlp_address(), server.token().to_owned())).unwrap();
                server.run(async { drop(stopped.await) }).await;
            });
            runtime.shutdown_background();
        });
        let (address, otlp, token) = told.recv().unwrap();
        Self { address, otlp, token, stop: Some(stop), thread: Some(thread) }
    }

    /// Asks it to end; the thread that it runs on.
    pub(crate) fn stop(&mut self) -> JoinHandle<()> {
        drop(self.stop.take());
        self.thread.take().unwrap()
    }

    pub(crate) fn connect(&self) -> TcpStream {
        Self::connect_to(self.address)
    }

    fn connect_to(address: SocketAddr) -> TcpStream {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        stream
    }

    /// The answer to some bytes; `None` if it is no answer.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Option<Reply> {
        Self::raw_to(self.address, bytes)
    }

    /// The answer of the receiver of traces to some bytes.
    pub(crate) fn raw_export(&self, bytes: &[u8]) -> Option<Reply> {
        Self::raw_to(self.otlp.unwrap(), bytes)
    }

    fn raw_to(address: SocketAddr, bytes: &[u8]) -> Option<Reply> {
        let mut stream = Self::connect_to(address);
        // The service may have answered and closed before all is sent.
        drop(stream.write_all(bytes));
        drop(stream.shutdown(Shutdown::Write));
        let mut all = Vec::new();
        drop(stream.read_to_end(&mut all));
        Reply::read(&all)
    }

    /// A request with headers in lines of their own.
    pub(crate) fn request(&self, line: &str, headers: &str, body: &[u8]) -> Reply {
        let mut bytes = format!(
            "{line} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n",
            body.len()
        )
        .into_bytes();
        bytes.extend_from_slice(body);
        self.raw(&bytes).unwrap_or_else(|| panic!("no answer to {line}"))
    }

    /// An answer, of which events are not awaited: they have no end.
    pub(crate) fn beginning(&self, line: &str, headers: &str) -> Reply {
        let mut stream = self.connect();
        let head = format!(
            "{line} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}content-length: 0\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        let (mut all, mut bytes) = (Vec::new(), [0; 4096]);
        loop {
            let read = stream.read(&mut bytes).unwrap();
            all.extend_from_slice(&bytes[..read]);
            let reply = Reply::read(&all);
            if let Some(reply) = reply.filter(|it| read == 0 || it.headers.contains("text/event-stream")) {
                return reply;
            }
            assert!(read > 0, "no answer to {line}");
        }
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.request(&format!("GET {path}"), "", b"")
    }

    pub(crate) fn post(&self, path: &str, body: &str) -> Reply {
        self.request(&format!("POST {path}"), "content-type: application/json\r\n", body.as_bytes())
    }

    /// A form with files, each with its field and its name; a field that is no file has an empty one.
    pub(crate) fn form(&self, path: &str, fields: &[(&str, &str, &[u8])]) -> Reply {
        let body = form(fields);
        self.request(
            &format!("POST {path}"),
            "content-type: multipart/form-data; boundary=b0undary\r\n",
            &body,
        )
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if self.thread.is_some() {
            let thread = self.stop();
            drop(thread.join());
        }
    }
}

pub(crate) fn form(fields: &[(&str, &str, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, file, bytes) in fields {
        let file = if file.is_empty() { String::new() } else { format!("; filename=\"{file}\"") };
        let head = format!("--b0undary\r\ncontent-disposition: form-data; name=\"{name}\"{file}\r\n\r\n");
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(bytes);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"--b0undary--\r\n");
    body
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: String,
    pub(crate) body: String,
}

impl Reply {
    fn read(bytes: &[u8]) -> Option<Self> {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
        let headers = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let status = headers.strip_prefix("http/1.")?.get(2..5)?.parse().ok()?;
        let body = &bytes[end + 4..];
        let body =
            if headers.contains("transfer-encoding: chunked") { unchunked(body) } else { body.to_vec() };
        Some(Self { status, headers, body: String::from_utf8_lossy(&body).into_owned() })
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// The result. Fails if the request was refused.
    pub(crate) fn data(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.body);
        let mut answer = self.json();
        assert_eq!(answer["error"], Value::Null);
        answer["data"].take()
    }
}

fn unchunked(mut body: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    while let Some(end) = body.windows(2).position(|window| window == b"\r\n") {
        let Ok(size) = usize::from_str_radix(&String::from_utf8_lossy(&body[..end]), 16) else { break };
        let Some(chunk) = body.get(end + 2..end + 2 + size) else { break };
        all.extend_from_slice(chunk);
        body = body.get(end + 4 + size..).unwrap_or_default();
    }
    all
}

/// A set with one case, about the weather in Paris.
pub(crate) const SET: &str = r#"{"eval_set_id": "weather", "eval_cases": [{"eval_id": "paris", "conversation": [{
    "user_content": {"role": "user", "parts": [{"text": "Paris?"}]},
    "final_response": {"role": "model", "parts": [{"text": "It is sunny."}]},
    "intermediate_data": {"tool_uses": [{"name": "get_weather", "args": {"city": "Paris"}}]}
}]}]}"#;

/// A trace in which an agent is asked something, calls a tool, and answers.
pub(crate) fn trace(id: u32, asked: &str, city: &str, answer: &str) -> String {
    let span = |span: u32, parent: &str, attributes: Value| {
        serde_json::json!({
            "traceId": format!("{id:032x}"), "spanId": format!("{span:016x}"), "parentSpanId": parent, "name": "s",
            "startTimeUnixNano": format!("{}", 1_760_000_000_000_000_000_u64 + u64::from(span)),
            "endTimeUnixNano": "1760000000500000000", "attributes": attributes,
        })
    };
    let message = |role: &str, text: &str| {
        serde_json::json!([{ "role": role, "parts": [{ "type": "text", "content": text }] }]).to_string()
    };
    let root = format!("{:016x}", 1);
    let spans = [
        span(
            1,
            "",
            serde_json::json!({ "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "weather" }),
        ),
        span(
            2,
            &root,
            serde_json::json!({
                "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_weather",
                "gen_ai.tool.call.arguments": serde_json::json!({ "city": city }).to_string(),
                "gen_ai.tool.call.result": "{\"sky\": \"clear\"}",
            }),
        ),
        span(
            3,
            &root,
            serde_json::json!({
                "gen_ai.operation.name": "chat", "gen_ai.request.model": "m",
                "gen_ai.input.messages": message("user", asked), "gen_ai.output.messages": message("assistant", answer),
                "gen_ai.usage.input_tokens": 30, "gen_ai.usage.output_tokens": 9,
            }),
        ),
    ];
    serde_json::json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": spans }] }] }).to_string()
}

/// The request of an evaluation with the metrics that compare calls and answers.
pub(crate) fn evaluation(trace: &str, set: &str) -> String {
    format!(
        "{{\"traces\": {trace}, \"evalSet\": {set}, \"config\": {{\"evaluators\": [{{\"name\": \"tool_trajectory_avg_score\"}}, \
         {{\"name\": \"response_match_score\", \"type\": \"builtin\", \"threshold\": 0.8}}]}}}}"
    )
}
