//! Agents that export sessions, and a reader of these sessions, beside the other requests.

use std::net::SocketAddr;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Failure;
use crate::client::{Answer, Client};

/// The most sessions that the service keeps. They are all there after some seconds, so that each new one removes an old one.
pub(crate) const SESSIONS: usize = 50;

/// The length of an agent's text in a session. Memory grows visibly if many sessions stay that should have gone.
const TEXT_BYTES: usize = 20_000;

/// The number of exports after which the sessions are read.
const READ_EVERY: u64 = 10;

/// Agents that export over one connection.
pub(crate) struct Agents {
    address: SocketAddr,
    otlp: SocketAddr,
    token: String,
    /// The number of exported sessions.
    pub(crate) exported: u64,
}

impl Agents {
    pub(crate) fn new(address: SocketAddr, otlp: SocketAddr, token: &str) -> Self {
        Self { address, otlp, token: token.to_owned(), exported: 0 }
    }

    /// Exports sessions at a pace, in JSON and in protobuf, and reads them. Each answer must be right.
    pub(crate) fn run(&mut self, is_over: &dyn Fn() -> bool, rate: u64) -> Result<(), Failure> {
        let (mut receiver, mut reader) = (Client::connect(self.otlp)?, Client::connect(self.address)?);
        let (begin, mut number) = (Instant::now(), 0);
        while !is_over() {
            let at = Duration::from_micros(number * 1_000_000 / rate);
            // Short naps: it ends with the others.
            while begin.elapsed() < at && !is_over() {
                sleep(at.saturating_sub(begin.elapsed()).min(Duration::from_millis(50)));
            }
            number += 1;
            self.exported += 1;
            let is_json = self.exported.is_multiple_of(2);
            let id = u128::from(self.exported);
            let (kind, body) =
                if is_json { ("json", trace(id).into_bytes()) } else { ("x-protobuf", protobuf(id)) };
            let answer = receiver.ask(&request(
                "POST /v1/traces",
                &format!("content-type: application/{kind}\r\n"),
                &body,
            ))?;
            let wanted = if is_json { &b"{}"[..] } else { b"" };
            if answer.status != 200 || answer.body != wanted {
                return Err(wrong("an export", &answer));
            }
            if number.is_multiple_of(READ_EVERY) {
                self.read(&mut reader)?;
            }
        }
        Ok(())
    }

    /// Reads the list, and the latest session.
    fn read(&self, reader: &mut Client) -> Result<(), Failure> {
        let list = self.get(reader, "/api/v1/sessions")?;
        let sessions = list["sessions"].as_array().ok_or("there is no list of sessions")?;
        let (held, removed) = (u64::try_from(sessions.len())?, list["removed"].as_u64().unwrap_or_default());
        let latest = &sessions[0];
        let is_right = held <= u64::try_from(SESSIONS)?
            && held + removed == self.exported
            && list["refusedExports"] == 0
            && latest["key"] == format!("{:032x}", self.exported)
            && latest["turns"] == 1
            && latest["lost"] == json!([]);
        if !is_right {
            return Err(format!(
                "wrong sessions after {} exports: {held} are there, {removed} were removed, the latest is {latest}",
                self.exported
            )
            .into());
        }
        let id = latest["id"].as_str().ok_or("a session has no id")?;
        let session = self.get(reader, &format!("/api/v1/sessions/{id}"))?;
        let said = &session["conversation"]["invocations"][0]["userContent"]["parts"][0]["text"];
        if *said == "Paris?" && session["doubts"] == json!([]) {
            return Ok(());
        }
        Err(format!("a wrong session: {said}, {}", session["doubts"]).into())
    }

    fn get(&self, reader: &mut Client, path: &str) -> Result<Value, Failure> {
        let token = format!("authorization: Bearer {}\r\n", self.token);
        let answer = reader.ask(&request(&format!("GET {path}"), &token, b""))?;
        if answer.status != 200 {
            return Err(wrong(path, &answer));
        }
        Ok(serde_json::from_slice::<Value>(&answer.body)?["data"].take())
    }
}

fn wrong(what: &str, answer: &Answer) -> Failure {
    format!("a wrong answer to {what}: {} {}", answer.status, String::from_utf8_lossy(&answer.body)).into()
}

fn request(line: &str, head: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!("{line} HTTP/1.1\r\nhost: localhost\r\n{head}content-length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

/// A span: its number, its parent's number, and its attributes.
type Span = (u8, u8, Vec<(&'static str, String)>);

/// The spans of a turn.
fn spans() -> [Span; 2] {
    let message = |role: &str, text: &str| {
        json!([{ "role": role, "parts": [{ "type": "text", "content": text }] }]).to_string()
    };
    let agent = vec![
        ("gen_ai.operation.name", "invoke_agent".to_owned()),
        ("gen_ai.agent.name", "weather".to_owned()),
    ];
    let chat = vec![
        ("gen_ai.operation.name", "chat".to_owned()),
        ("gen_ai.request.model", "m".to_owned()),
        ("gen_ai.input.messages", message("user", "Paris?")),
        ("gen_ai.output.messages", message("assistant", &"sunny ".repeat(TEXT_BYTES / 6))),
    ];
    [(1, 0, agent), (2, 1, chat)]
}

const STARTED: u64 = 1_760_000_000_000_000_000;

fn trace(id: u128) -> String {
    let spans = spans().map(|(number, parent, attributes)| {
        let attributes: serde_json::Map<String, Value> =
            attributes.into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect();
        let parent = if parent == 0 { String::new() } else { format!("{parent:016x}") };
        json!({
            "traceId": format!("{id:032x}"), "spanId": format!("{number:016x}"), "parentSpanId": parent, "name": "s",
            "startTimeUnixNano": (STARTED + u64::from(number)).to_string(),
            "endTimeUnixNano": (STARTED + 500_000_000).to_string(), "attributes": attributes,
        })
    });
    json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": spans }] }] }).to_string()
}

fn protobuf(id: u128) -> Vec<u8> {
    let spans = spans().map(|(number, parent, attributes)| {
        let of = |number: u8| u64::from(number).to_be_bytes();
        let parent = if parent == 0 { Vec::new() } else { of(parent).to_vec() };
        let time = |key: u8, nanos: u64| [&[key << 3 | 1][..], &nanos.to_le_bytes()].concat();
        let attributes = attributes.into_iter().map(|(key, value)| {
            field(9, &[field(1, key.as_bytes()), field(2, &field(1, value.as_bytes()))].concat())
        });
        let span = [
            field(1, &id.to_be_bytes()),
            field(2, &of(number)),
            field(4, &parent),
            field(5, b"s"),
            time(7, STARTED + u64::from(number)),
            time(8, STARTED + 500_000_000),
            attributes.collect::<Vec<_>>().concat(),
        ];
        field(2, &span.concat())
    });
    field(1, &field(2, &spans.concat()))
}

/// A field of protobuf with a message, a text or bytes.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut message = vec![number << 3 | 2];
    let mut length = bytes.len();
    while length >= 0x80 {
        message.push(u8::try_from(length & 0x7f).unwrap_or_default() | 0x80);
        length >>= 7;
    }
    message.push(u8::try_from(length).unwrap_or_default());
    message.extend_from_slice(bytes);
    message
}
