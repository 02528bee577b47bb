//! The mock over standard input and output: one message on each line.

use std::io::{self, Write};
use std::sync::Arc;

use eval_core::format::Value;
use eval_core::tools::GoldenTools;
use eval_support::mutex::Mutex;
use eval_support::words::count;

use super::lines::{self, ENDS_WITHIN, Lines, stdin_lines};
use super::messages::{self, Mock, Reply};

/// Answers a client on standard input and output with these golden tools, until the input ends.
///
/// Calls are answered side by side, so one that a fault keeps waiting holds up no other. `told` gets the message of each call
/// that no golden answers, as it comes: a client may end this program at any time.
pub async fn serve_stdio(tools: GoldenTools, told: impl Fn(&str) + Send + Sync + 'static) -> io::Result<()> {
    serve(Mock::new(tools), stdin_lines(), io::stdout(), told).await
}

async fn serve(
    mock: Mock,
    lines: Lines,
    output: impl Write,
    told: impl Fn(&str) + Send + Sync + 'static,
) -> io::Result<()> {
    let told = Arc::new((told, Mutex::new(0)));
    let begin = |line: String| {
        let reply = messages::reply(&mock, line.as_bytes());
        let (tools, told) = (mock.tools.clone(), Arc::clone(&told));
        async move {
            let reply = reply.await;
            let (told, known) = &*told;
            let mut known = known.lock();
            for miss in tools.misses().iter().skip(*known) {
                told(&miss.message);
                *known += 1;
            }
            Ok(match reply {
                Reply::Answer(answer) | Reply::Refused(answer) => Some(Value::Object(answer).to_string()),
                Reply::Accepted => None,
            })
        }
    };
    let unanswered = lines::answer::<_, io::Error>(lines, output, begin).await?;
    if unanswered > 0 {
        let (messages, limit) = (count(unanswered, "message"), ENDS_WITHIN.as_secs());
        (told.0)(&format!("{messages} had no answer {limit} seconds after the input ended"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use eval_core::format::{EvalCase, Invocation};
    use tokio::sync::mpsc;

    use super::*;

    /// An output that a test reads.
    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn each_line_is_a_message_and_a_call_without_an_answer_holds_up_no_other() {
        let turn = Invocation::parse(
            r#"{"user_content": {}, "intermediate_data": {"tool_uses": [{"name": "f", "args": {}}],
                "tool_responses": [{"name": "f", "response": {"n": 1}}]}}"#,
        );
        let faults = Value::parse(r#"{"1": {"f#1": "never"}}"#).unwrap();
        let tools = GoldenTools::new(&EvalCase::new("c").turn(turn.unwrap()).with_extra("_tools", faults));
        tools.begin_turn();
        let (sender, lines) = mpsc::unbounded_channel();
        let call = |id: u8| {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"f"}}}}"#)
        };
        for line in [
            call(1),
            " ".to_owned(),
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(),
            call(2),
            "[]".to_owned(),
        ] {
            sender.send(Ok(line)).unwrap();
        }
        drop(sender);
        let output = Shared::default();
        let told = Arc::new(Mutex::new(String::new()));
        let tell = {
            let told = Arc::clone(&told);
            move |message: &str| told.lock().push_str(message)
        };
        serve(Mock::new(tools), lines, output.clone(), tell).await.unwrap();
        assert_eq!(*told.lock(), "1 message had no answer 5 seconds after the input ended");
        let written = String::from_utf8(output.0.lock().clone()).unwrap();
        let lines: Vec<&str> = written.lines().collect();
        assert_eq!(lines.len(), 2, "{written}");
        assert!(lines[0].starts_with(r#"{"jsonrpc":"2.0","id":2,"result":{"content""#), "{written}");
        assert!(lines[1].contains("without a batch"), "{written}");
    }
}
