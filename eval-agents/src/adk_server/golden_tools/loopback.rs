//! The listener on loopback that the plugins of all servers of this process ask: one line of JSON, one answer.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Weak;
use std::time::Duration;

use eval_core::format::{Map, Value};
use eval_core::tools::{Answered, GoldenError, GoldenTools};
use eval_support::mutex::Mutex;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use eval_gateway::loopback::Listener;

/// The server behind a token.
pub(super) trait Caller: Send + Sync {
    /// Notes that a plugin was loaded.
    fn loaded(&self);

    /// The golden tools of a session: the id of its user, and its own.
    fn tools_of(&self, session: &Value) -> Result<GoldenTools, String>;
}

static CALLERS: Mutex<BTreeMap<String, Weak<dyn Caller>>> = Mutex::new(BTreeMap::new());

const MAX_CALL_BYTES: u64 = 64 << 20;

/// The time for a question to arrive.
const ASKED_WITHIN: Duration = Duration::from_secs(30);

/// Has a caller ask with this token. The address is the same for all.
pub(super) fn listen(token: &str, caller: Weak<dyn Caller>) -> Result<SocketAddr, io::Error> {
    static LISTENER: Listener = Listener::new("golden-tools");
    let address = LISTENER.address(serve)?;
    CALLERS.lock().insert(token.to_owned(), caller);
    Ok(address)
}

pub(super) fn forget(token: &str) {
    CALLERS.lock().remove(token);
}

/// Answers one question. A connection that breaks off is a plugin that gave up.
async fn serve(stream: TcpStream) {
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read.take(MAX_CALL_BYTES));
    let mut line = Vec::new();
    match tokio::time::timeout(ASKED_WITHIN, read.read_until(b'\n', &mut line)).await {
        Ok(Ok(_)) if line.ends_with(b"\n") => {}
        _ => return,
    }
    let answer = tokio::select! {
        answer = answer(&line) => answer,
        // The end of the questions: the turn was given up, and nothing waits for the answer.
        _ = read.read_u8() => return,
    };
    let text = format!("{}\n", Value::Object(answer));
    // Without an answer the plugin fails.
    if write.write_all(text.as_bytes()).await.is_ok() {
        drop(write.shutdown().await);
    }
}

async fn answer(line: &[u8]) -> Map {
    let refused = |why: &str| Map::from([("error", why)]);
    let question = std::str::from_utf8(line).ok().and_then(|text| Value::parse(text.trim()).ok());
    let Some(question) = question else { return refused("the question is no JSON") };
    let caller = question["token"].as_str().and_then(|token| CALLERS.lock().get(token)?.upgrade());
    let Some(caller) = caller else { return refused("the token is not known") };
    if !question["hello"].is_null() {
        caller.loaded();
        return Map::from([("ok", true)]);
    }
    let tools = match caller.tools_of(&question["session"]) {
        Ok(tools) => tools,
        Err(why) => return refused(&why),
    };
    drop(caller);
    if let Some(why) = question["refused"].as_str() {
        tools.miss(why);
        return refused(why);
    }
    if let Some(name) = question["own"].as_str() {
        tools.own_call(name);
        return Map::from([("ok", true)]);
    }
    let name = question["name"].as_str().unwrap_or_default();
    let args = question["args"].as_object().cloned().unwrap_or_default();
    match tools.answer(name, &args).await {
        Ok(Answered { response, state, .. }) => {
            let mut answer = Map::from([("response", response)]);
            answer.insert("state", state);
            answer
        }
        Err(GoldenError { message, state, is_miss, .. }) => {
            let mut answer = Map::new();
            answer.insert(if is_miss { "error" } else { "raises" }, message);
            answer.insert("state", state);
            answer
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::sync::Arc;

    use eval_core::format::{EvalCase, Invocation};

    use super::*;

    struct OneSession(GoldenTools);

    impl Caller for OneSession {
        fn loaded(&self) {}

        fn tools_of(&self, session: &Value) -> Result<GoldenTools, String> {
            if session[1].as_str() == Some("s") {
                Ok(self.0.clone())
            } else {
                Err("no case has it".to_owned())
            }
        }
    }

    fn ask(address: SocketAddr, question: &str) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(format!("{question}\n").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.trim().to_owned()
    }

    #[test]
    fn a_question_is_answered_only_with_the_token_of_a_server() {
        let turn = Invocation::parse(
            r#"{"user_content": {}, "intermediate_data": {"tool_uses": [{"name": "f", "args": {}}],
                "tool_responses": [{"name": "f", "response": {"n": 1}}]}}"#,
        );
        let faults = Value::parse(r#"{"1": {"f#1": {"raises": "reset", "state": {"k": 1}}}}"#).unwrap();
        let tools = GoldenTools::new(&EvalCase::new("c").turn(turn.unwrap()).with_extra("_tools", faults));
        tools.begin_turn();
        let caller: Arc<dyn Caller> = Arc::new(OneSession(tools.clone()));
        let address = listen("sesame", Arc::downgrade(&caller)).unwrap();
        assert!(address.ip().is_loopback());
        for (question, answer) in [
            ("what?", r#"{"error":"the question is no JSON"}"#),
            (r#"{"hello": 1}"#, r#"{"error":"the token is not known"}"#),
            (r#"{"token": "guess", "hello": 1}"#, r#"{"error":"the token is not known"}"#),
            (r#"{"token": "sesame", "hello": 1}"#, r#"{"ok":true}"#),
            (
                r#"{"token": "sesame", "session": ["u", "t"], "name": "f", "args": {}}"#,
                r#"{"error":"no case has it"}"#,
            ),
            (
                r#"{"token": "sesame", "session": ["u", "s"], "name": "f", "args": {}}"#,
                r#"{"raises":"reset","state":{"k":1}}"#,
            ),
            (
                r#"{"token": "sesame", "session": ["u", "s"], "name": "f", "args": {}}"#,
                r#"{"response":{"n":1},"state":{}}"#,
            ),
            (
                r#"{"token": "sesame", "session": ["u", "s"], "name": "f", "args": {"x": 1}}"#,
                r#"{"error":"no golden answers f(x: 1) in turn 1; used up: f()","state":{}}"#,
            ),
            (
                r#"{"token": "sesame", "session": ["u", "s"], "refused": "it would run"}"#,
                r#"{"error":"it would run"}"#,
            ),
            (r#"{"token": "sesame", "session": ["u", "s"], "own": "helper"}"#, r#"{"ok":true}"#),
        ] {
            assert_eq!(ask(address, question), answer, "{question}");
        }
        let misses: Vec<String> = tools.misses().into_iter().map(|miss| miss.message).collect();
        assert_eq!(misses, ["no golden answers f(x: 1) in turn 1; used up: f()", "it would run"]);
        drop(caller);
        let gone = ask(address, r#"{"token": "sesame", "hello": 1}"#);
        assert_eq!(gone, r#"{"error":"the token is not known"}"#);
        forget("sesame");
    }
}
