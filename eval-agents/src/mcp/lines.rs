//! Messages on standard input, one on each line, with their answers on standard output.

use std::io::{self, Write};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinSet};

/// The time for answers that are on their way when the input ends. A fault may keep one back for good.
pub(super) const ENDS_WITHIN: Duration = Duration::from_secs(5);

pub(super) type Lines = mpsc::UnboundedReceiver<io::Result<String>>;

/// The lines of standard input. A thread reads them: reading blocks, and the answers go on meanwhile.
pub(super) fn stdin_lines() -> Lines {
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

/// Begins an answer to each line, in the order of the lines, and writes each answer once it is there: one that waits holds up no
/// other. After the end of the input it waits for the rest, and says how many were not there in time.
pub(super) async fn answer<F, E>(
    mut lines: Lines,
    mut output: impl Write,
    mut begin: impl FnMut(String) -> F,
) -> Result<usize, E>
where
    F: Future<Output = Result<Option<String>, E>> + Send + 'static,
    E: From<io::Error> + Send + 'static,
{
    let mut write = |answered: Result<Result<Option<String>, E>, JoinError>| -> Result<(), E> {
        if let Some(answer) = answered.map_err(io::Error::from)?? {
            writeln!(output, "{answer}")?;
            output.flush()?;
        }
        Ok(())
    };
    let mut answering = JoinSet::new();
    loop {
        tokio::select! {
            line = lines.recv() => {
                let Some(line) = line else { break };
                let line = line?;
                if !line.trim().is_empty() {
                    answering.spawn(begin(line));
                }
            }
            Some(answered) = answering.join_next() => write(answered)?,
        }
    }
    let rest = async {
        while let Some(answered) = answering.join_next().await {
            write(answered)?;
        }
        Ok::<(), E>(())
    };
    tokio::time::timeout(ENDS_WITHIN, rest).await.unwrap_or(Ok(()))?;
    Ok(answering.len())
}
