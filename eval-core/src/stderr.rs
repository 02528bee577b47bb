//! Output of programs that is no answer. The end of it is kept for messages.

use std::collections::VecDeque;
use std::fmt;
use std::io::Read;
use std::sync::{Arc, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use eval_support::mutex::Mutex;
use tokio::sync::watch;

const MAX_KEPT_BYTES: usize = 4096;

/// The longest wait for the end of an output once the program is gone.
const LAST_OUTPUT_WAIT: Duration = Duration::from_millis(500);

const POLL_PAUSE: Duration = Duration::from_millis(2);

/// The silence after which a running program counts as done, and the longest wait for this silence.
const QUIET_WAIT: Duration = Duration::from_millis(200);
const MAX_QUIET_WAIT: Duration = Duration::from_secs(2);

/// The end of one or more outputs. A thread reads each, so that the program never blocks on a full pipe.
#[derive(Clone, Default)]
pub struct Tail(Arc<Outputs>);

#[derive(Default)]
struct Outputs {
    state: Mutex<State>,
    open: watch::Sender<usize>,
}

#[derive(Default)]
struct State {
    bytes: VecDeque<u8>,
    written: usize,
}

impl Tail {
    /// Reads an output until its end.
    pub fn follow(&self, mut output: impl Read + Send + 'static) {
        self.0.open.send_modify(|open| *open += 1);
        let tail = self.clone();
        let read = thread::Builder::new().name("eval-core output".to_owned()).spawn(move || {
            let mut buffer = [0; 1024];
            while let Ok(count @ 1..) = output.read(&mut buffer) {
                tail.state().add(&buffer[..count]);
            }
            tail.ended();
        });
        // Without a thread the output is not read, and there is no end to wait for.
        if read.is_err() {
            self.ended();
        }
    }

    fn ended(&self) {
        self.0.open.send_modify(|open| *open -= 1);
    }

    /// The end of the output so far.
    pub fn text(&self) -> String {
        self.state().text()
    }

    /// The last output of a program that still runs. It may answer first, and write the reason a moment later.
    pub async fn settled(&self) -> String {
        let settle = async {
            let mut written = self.state().written;
            loop {
                tokio::time::sleep(QUIET_WAIT).await;
                let before = std::mem::replace(&mut written, self.state().written);
                if written == before {
                    return;
                }
            }
        };
        let _ = tokio::time::timeout(MAX_QUIET_WAIT, settle).await;
        self.text()
    }

    /// The last output of a program that is gone. The threads may still read it.
    pub async fn final_output(&self) -> String {
        let mut open = self.0.open.subscribe();
        // Another process may hold the outputs open for ever. The output so far is returned.
        let _ = tokio::time::timeout(LAST_OUTPUT_WAIT, open.wait_for(|open| *open == 0)).await;
        self.text()
    }

    /// The last output of a program that is gone, for a thread that runs no async tasks.
    pub fn await_final_output(&self) -> String {
        let until = Instant::now() + LAST_OUTPUT_WAIT;
        while *self.0.open.borrow() > 0 && Instant::now() < until {
            thread::sleep(POLL_PAUSE);
        }
        self.text()
    }

    /// The end of the output since the last call. What is written meanwhile is in the next one.
    pub fn take(&self) -> String {
        std::mem::take(&mut *self.state()).text()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock()
    }
}

impl State {
    fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
        self.written += bytes.len();
        self.bytes.drain(..self.bytes.len().saturating_sub(MAX_KEPT_BYTES));
    }

    fn text(&self) -> String {
        let (first, second) = self.bytes.as_slices();
        let text = String::from_utf8_lossy(&[first, second].concat()).into_owned();
        match text.split_once('\n') {
            Some((_, whole_lines)) if self.written > self.bytes.len() => {
                format!("...\n{}", whole_lines.trim_end())
            }
            _ => text.trim_end().to_owned(),
        }
    }
}

impl fmt::Debug for Tail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tail(..)")
    }
}

/// A sentence with what a program wrote; empty if it wrote nothing.
pub fn quoted(what: &str, text: &str) -> String {
    if text.trim().is_empty() {
        String::new()
    } else {
        format!("; {what}:\n{}", eval_support::untrusted::marked(text, 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_end_of_an_output_is_kept_from_the_beginning_of_a_line() {
        let tail = Tail::default();
        tail.follow(std::io::Cursor::new("first\n".repeat(2000) + "last\n"));
        let text = tail.final_output().await;
        assert!(text.starts_with("...\nfirst\n") && text.ends_with("\nlast"), "{text}");
        assert!(text.len() <= MAX_KEPT_BYTES + 4);

        let tail = Tail::default();
        tail.follow(&b"one\ntwo\n\n"[..]);
        assert_eq!(tail.final_output().await, "one\ntwo");
    }

    #[test]
    fn what_is_written_while_it_is_taken_is_taken_next() {
        for _ in 0..50 {
            let tail = Tail::default();
            // As many bytes as are kept, so that none is dropped for its age.
            let writer = thread::spawn({
                let tail = tail.clone();
                move || (0..MAX_KEPT_BYTES).for_each(|_| tail.state().add(b"x"))
            });
            let mut taken = 0;
            while !writer.is_finished() {
                taken += tail.take().len();
            }
            writer.join().unwrap();
            assert_eq!(taken + tail.take().len(), MAX_KEPT_BYTES);
        }
    }

    #[tokio::test]
    async fn what_is_written_a_moment_later_is_waited_for() {
        let (output, mut writer) = std::io::pipe().unwrap();
        let tail = Tail::default();
        tail.follow(output);
        let writes = tokio::task::spawn_blocking(move || {
            use std::io::Write as _;
            for line in ["Traceback\n", "ImportError: x\n"] {
                thread::sleep(QUIET_WAIT / 4);
                writer.write_all(line.as_bytes()).unwrap();
            }
            writer
        });
        assert_eq!(tail.settled().await, "Traceback\nImportError: x");
        drop(writes.await.unwrap());
    }

    #[tokio::test(start_paused = true)]
    async fn an_output_that_stays_open_is_not_waited_for_by_other_tasks() {
        let (output, _held_open) = std::io::pipe().unwrap();
        let tail = Tail::default();
        tail.follow(output);
        let order = Mutex::new(Vec::new());
        let first = async {
            tail.final_output().await;
            order.lock().push("last words");
        };
        let second = async {
            tokio::time::sleep(LAST_OUTPUT_WAIT / 2).await;
            order.lock().push("the time of another task");
        };
        tokio::join!(first, second);
        assert_eq!(*order.lock(), ["the time of another task", "last words"]);
    }
}
