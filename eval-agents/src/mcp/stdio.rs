//! The mock over standard input and output: one message on each line.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use eval_core::format::Value;
use eval_core::tools::GoldenTools;
use eval_support::mutex::Mutex;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::messages::Mock;
use super::messages::{self, Reply};

/// The time for answers that are on their way when the input ends. A fault may keep one back for good.
const ENDS_WITHIN: Duration = Duration::from_secs(5);

/// Answers a client on standard input and output with these golden tools, until the input ends.
///
/// Calls are answered side by side, so one that a fault keeps waiting holds up no other. `told` gets the message of each call
/// that no golden answers, as it comes: a client may end this program at any time.
pub async fn serve_stdio(tools: GoldenTools, told: impl Fn(&str) + Send + Sync + 'static) -> io::Result<()> {
    serve(Mock::new(tools), stdin_lines(), io::stdout(), told).await
}

/// The lines of standard input. A thread reads them: reading blocks, and the answers go on meanwhile.
pub(super) fn stdin_lines() -> mpsc::UnboundedReceiver<io::Result<String>> {
    let (sender, receiver) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in io::stdin().lines() {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}

async fn serve(
    mock: Mock,
    mut lines: mpsc::UnboundedReceiver<io::Result<String>>,
    output: impl Write + Send + 'static,
    told: impl Fn(&str) + Send + Sync + 'static,
) -> io::Result<()> {
    let output = Arc::new(Mutex::new((output, 0)));
    let told = Arc::new(told);
    let mut answering: JoinSet<io::Result<()>> = JoinSet::new();
    while let Some(line) = lines.recv().await {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let (mock, output, told) = (mock.clone(), Arc::clone(&output), Arc::clone(&told));
        answering.spawn(async move {
            let reply = messages::reply(&mock, line.as_bytes()).await;
            let mut output = output.lock();
            let (output, known) = &mut *output;
            for miss in mock.tools.misses().iter().skip(*known) {
                told(&miss.message);
                *known += 1;
            }
            match reply {
                Reply::Answer(answer) | Reply::Refused(answer) => {
                    writeln!(output, "{}", Value::Object(answer))?;
                    output.flush()
                }
                Reply::Accepted => Ok(()),
            }
        });
    }
    let rest = async {
        while let Some(answered) = answering.join_next().await {
            answered??;
        }
        Ok(())
    };
    tokio::time::timeout(ENDS_WITHIN, rest).await.unwrap_or(Ok(()))
}

#[cfg(test)]
mod tests {
    use eval_core::format::{EvalCase, Invocation};

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
        serve(Mock::new(tools), lines, output.clone(), |_| {}).await.unwrap();
        let written = String::from_utf8(output.0.lock().clone()).unwrap();
        let lines: Vec<&str> = written.lines().collect();
        assert_eq!(lines.len(), 2, "{written}");
        assert!(lines[0].starts_with(r#"{"jsonrpc":"2.0","id":2,"result":{"content""#), "{written}");
        assert!(lines[1].contains("without a batch"), "{written}");
    }
}
