//! A program's output in a turn replaced by any bytes, for tests and fuzzing.

use std::io::BufReader;
use std::sync::Arc;
use std::thread::JoinHandle;

use eval_core::format::{EvalCase, Invocation};
use eval_core::{Agent, BoxError, Criterion, EvalRunner, Session, Turn};
use tokio::sync::mpsc::Receiver;
use tokio::sync::watch;

use super::child::route;
use super::error::{OR_CLOSED, ProcessError};
use super::routes::{Delivery, Routes};
use super::{HELLO, record};

struct Written {
    bytes: Vec<u8>,
    routes: Arc<Routes>,
    reading: Option<(Receiver<Delivery>, JoinHandle<ProcessError>)>,
}

impl Agent for Written {
    async fn start(&mut self, _: &Session) -> Result<(), BoxError> {
        let inbox = self.routes.open("s");
        self.routes.awaits("s");
        let (routes, bytes) = (Arc::clone(&self.routes), [HELLO.as_bytes(), b"\n", &self.bytes].concat());
        let reader = std::thread::spawn(move || {
            let error = route(BufReader::new(&*bytes), &routes, &watch::channel(false).0);
            routes.break_off(&error);
            error
        });
        self.reading = Some((inbox, reader));
        Ok(())
    }

    async fn turn(&mut self, turn: &Turn<'_>) -> Result<(), BoxError> {
        let (inbox, _) = self.reading.as_mut().ok_or("not started")?;
        while let Some(delivery) = inbox.recv().await {
            if record(turn, delivery?)?.is_break() {
                return Ok(());
            }
        }
        Err("the stream ended".into())
    }

    async fn end(&mut self) -> Result<(), BoxError> {
        let Some((inbox, reader)) = self.reading.take() else { return Ok(()) };
        drop(inbox);
        match reader.join().map_err(|_| "the reader panicked")? {
            ProcessError::Ended(why) if why.ends_with(OR_CLOSED) => Ok(()),
            error => Err(error.into()),
        }
    }
}

/// A case that passed.
#[derive(Debug)]
pub struct Passed {
    /// The events of its turn, without the question.
    pub events: usize,
    /// Its report has notes.
    pub has_notes: bool,
}

/// Plays a case that expects no call and the answer `hello`. The bytes follow the `hello` message of the
/// program. `None` if the case does not pass.
///
/// Fails if the case cannot be played, which no bytes may cause.
pub async fn play(bytes: Vec<u8>) -> Result<Option<Passed>, BoxError> {
    let runner = EvalRunner::new()
        .criterion("tool_trajectory_avg_score", Criterion::new(1.0))
        .criterion("response_match_score", Criterion::new(0.8));
    let case = EvalCase::new("c").turn(Invocation::user("hi").response("hello"));
    let agent = Written { bytes, routes: Arc::default(), reading: None };
    let report = runner.run_agent(&case, agent).await?;
    Ok(report.verdict.passed().then(|| Passed {
        events: report.runs[0].transcript.turns[0].events.len(),
        has_notes: !report.notes.is_empty(),
    }))
}

#[cfg(test)]
mod tests {
    use eval_support::test_support::Dice;

    use super::*;

    /// Pieces of output that a program may write, whole or in parts. Only calls and results name the tool `rm`.
    const PIECES: [&str; 26] = [
        r#"{"type": "text", "text": "hello"}"#,
        r#"{"type": "turn_end"}"#,
        r#"{"type": "turn_end", "state": {"k": 1}}"#,
        r#"{"type": "tool_call", "name": "rm", "args": {}}"#,
        r#"{"type": "tool_call", "name": "rm", "args": {}, "session_id": "s"}"#,
        r#"{"type": "tool_call", "name": "rm", "args": {}, "session_id": "x"}"#,
        r#"{"type": "event", "event": {"content": {"parts": [{"functionCall": {"name": "rm"}}]}}}"#,
        r#"{"type": "event", "event": {"partial": true, "content": {"parts": [{"function_call": {"name": "rm"}}]}}}"#,
        r#"{"type": "event", "event": {"author": "user", "content": {"parts": [{"function_call": {"name": "rm"}}]}}}"#,
        r#"{"type": "event", "event": {"content": {"parts": [{"functionCall": {"name": "rm"}, "function_call": null}]}}}"#,
        r#"{"type": "event", "event": {"content": {"parts": [{"functionResponse": {"name": "rm", "response": {}}}]}}}"#,
        r#"{"type": "event", "event": {"content": {"parts": [{"toolCall": {"name": "rm"}}]}}}"#,
        r#"{"type": "event", "event": {"content": {"parts": [{"text": "hm", "thought": true}]}}}"#,
        r#"{"type": "event", "event": {"colour": 1}}"#,
        r#"{"type": "text", "text": " "}"#,
        r#"{"type": "text", "text": "bye", "text": "hello"}"#,
        r#"{"type": "text", "text": "hello", "session_id": ""}"#,
        r#"{"type": "error", "message": "down"}"#,
        r#"{"type": "started"}"#,
        r#"{"type": "hello", "protocol": 1}"#,
        "\n",
        "\n",
        "\n",
        "\r\n",
        "Loading model...",
        "\u{0}",
    ];

    /// The number of streams, unless `MUTATIONS` gives another.
    const STREAMS: u64 = 2_000;

    fn stream(dice: &mut Dice) -> Vec<u8> {
        let mut bytes = Vec::new();
        for _ in 0..dice.roll(4) {
            bytes.extend_from_slice(PIECES[dice.roll(PIECES.len())].as_bytes());
            bytes.push(b'\n');
        }
        // Most streams end as a turn that passes does.
        if dice.roll(8) > 0 {
            bytes.extend_from_slice(format!("{}\n{}\n", PIECES[0], PIECES[1]).as_bytes());
        }
        for _ in 0..dice.roll(3).saturating_sub(1) {
            if !bytes.is_empty() {
                let at = dice.roll(bytes.len());
                match dice.roll(3) {
                    0 => bytes.truncate(at),
                    1 => bytes[at] = u8::try_from(dice.roll(256)).unwrap(),
                    _ => drop(bytes.remove(at)),
                }
            }
        }
        bytes
    }

    #[tokio::test]
    async fn no_random_stream_with_a_forbidden_call_passes_and_nothing_is_dropped_without_a_word() {
        let streams = std::env::var("MUTATIONS").map_or(STREAMS, |count| count.parse().unwrap());
        let mut passed = 0;
        for seed in 1..=streams {
            let bytes = stream(&mut Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
            let Some(Passed { events, has_notes }) = play(bytes.clone()).await.unwrap() else { continue };
            passed += 1;
            let text = String::from_utf8(bytes).expect("what passes is text");
            assert!(has_notes || !text.contains(r#""rm""#), "seed {seed} passed: {text}");
            let lines = text.lines().filter(|line| !line.trim().is_empty()).count();
            assert!(has_notes || events + 1 >= lines, "seed {seed}: {events} events of {text}");
        }
        assert!(passed > streams / 50, "{passed} passed");
    }
}
