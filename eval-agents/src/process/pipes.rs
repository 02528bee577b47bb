//! The pipes of a program, and a check that they are empty: the program has read all its input, and all its
//! output was handled. The bytes of two pipes have no common order, so a premature answer looks like a true
//! one. So the end of a line to the program is held back until both pipes are empty: all output before it was
//! written without being asked for.

use std::io::{self, Read};
use std::process::{ChildStdin, ChildStdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Debug)]
pub(super) struct Output {
    pipe: ChildStdout,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Whether the reader is idle: it has handled all bytes that it took out of the pipe.
    waits: AtomicBool,
    /// Whether the last byte that was read was not the end of a line.
    is_in_a_line: AtomicBool,
}

/// Both pipes, for the writer to the program. The input stays open as long as this exists.
#[derive(Debug)]
pub(super) struct Pipes {
    #[cfg(unix)]
    input: std::os::fd::OwnedFd,
    #[cfg(unix)]
    output: std::os::fd::OwnedFd,
    state: Arc<State>,
}

impl Pipes {
    #[cfg(unix)]
    pub(super) fn new(input: &ChildStdin, output: ChildStdout) -> io::Result<(Self, Output)> {
        use std::os::fd::AsFd as _;

        let state = Arc::default();
        let pipes = Self {
            input: input.as_fd().try_clone_to_owned()?,
            output: output.as_fd().try_clone_to_owned()?,
            state: Arc::clone(&state),
        };
        Ok((pipes, Output { pipe: output, state }))
    }

    #[cfg(not(unix))]
    pub(super) fn new(_: &ChildStdin, output: ChildStdout) -> io::Result<(Self, Output)> {
        let state = Arc::default();
        Ok((Self { state: Arc::clone(&state) }, Output { pipe: output, state }))
    }

    /// Whether the program has read all its input, and all its output was handled. Systems other than Unix do
    /// not tell about the pipes: only the reader's state counts there.
    pub(super) fn are_empty(&self) -> bool {
        // The input pipe is checked first: output that was written before the input was read is in the output
        // pipe by then. The reader clears `waits` before it takes anything out of that pipe.
        #[cfg(unix)]
        let are_read = [&self.input, &self.output]
            .into_iter()
            .all(|pipe| rustix::io::ioctl_fionread(pipe).is_ok_and(|unread| unread == 0));
        #[cfg(not(unix))]
        let are_read = true;
        are_read && self.state.waits.load(Ordering::SeqCst)
    }

    pub(super) fn is_in_a_line(&self) -> bool {
        self.state.is_in_a_line.load(Ordering::SeqCst)
    }
}

impl Read for Output {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.state.waits.store(true, Ordering::SeqCst);
        #[cfg(unix)]
        self.wait()?;
        self.state.waits.store(false, Ordering::SeqCst);
        let count = self.pipe.read(buffer)?;
        if let Some(last) = buffer[..count].last() {
            self.state.is_in_a_line.store(*last != b'\n', Ordering::SeqCst);
        }
        Ok(count)
    }
}

#[cfg(unix)]
impl Output {
    /// Waits until there is something to read, without taking it out of the pipe.
    fn wait(&self) -> io::Result<()> {
        use rustix::event::{PollFd, PollFlags, poll};

        loop {
            match poll(&mut [PollFd::new(&self.pipe, PollFlags::IN)], None) {
                Err(rustix::io::Errno::INTR) => {}
                waited => return Ok(waited.map(drop)?),
            }
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Write as _;
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    use super::*;

    /// A program in shell with its pipes. Each test ends it.
    fn program(script: &str) -> (Child, ChildStdin, Pipes, Output) {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (pipes, output) = Pipes::new(&stdin, stdout).unwrap();
        (child, stdin, pipes, output)
    }

    /// Waits until it is so, for at most a minute.
    fn until(what: &str, is_so: impl Fn() -> bool) {
        let begun = Instant::now();
        while !is_so() {
            assert!(begun.elapsed() < Duration::from_mins(1), "{what}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn pipes_are_not_empty_while_the_program_has_not_read() {
        let (mut child, mut stdin, pipes, _output) = program("exec sleep 600");
        pipes.state.waits.store(true, Ordering::SeqCst);
        assert!(pipes.are_empty());
        stdin.write_all(b"x").unwrap();
        assert!(!pipes.are_empty());
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn pipes_are_not_empty_until_all_output_was_taken_and_handled() {
        let (mut child, stdin, pipes, mut output) = program("printf 'a\\nb'; exec cat");
        // As the reader says before it is woken up.
        pipes.state.waits.store(true, Ordering::SeqCst);
        until("the program wrote nothing", || !pipes.are_empty());
        let mut bytes = [0; 8];
        assert_eq!(output.read(&mut bytes).unwrap(), 3);
        assert!(!pipes.are_empty() && pipes.is_in_a_line(), "what was read is being handled");
        let reader = std::thread::spawn(move || output.read(&mut [0; 8]).unwrap());
        until("the reader does not wait", || pipes.are_empty());
        drop((stdin, pipes));
        assert_eq!(reader.join().unwrap(), 0, "the output ends with the program");
        child.wait().unwrap();
    }
}
