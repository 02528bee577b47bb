//! The lines that a program writes.

use std::io::{BufRead, Read as _};

use super::error::{ENDED, OR_CLOSED, ProcessError, cut};

/// The most bytes of a line. Images and sounds travel in lines.
pub(super) const MAX_LINE_BYTES: usize = 32 << 20;

/// Reads the next line of at most `longest` bytes. Empty lines are skipped.
pub(super) fn next(output: &mut impl BufRead, longest: usize) -> Result<String, ProcessError> {
    let most = u64::try_from(longest).unwrap_or(u64::MAX).saturating_add(1);
    loop {
        let mut line = Vec::new();
        let is_broken = output.by_ref().take(most).read_until(b'\n', &mut line).is_err();
        if is_broken {
            line.clear();
        }
        if line.len() > longest {
            let most = longest >> 20;
            return Err(ProcessError::Protocol(format!("the program wrote a line of more than {most} MiB")));
        }
        let Ok(text) = str::from_utf8(&line) else {
            let shown = cut(&String::from_utf8_lossy(&line));
            return Err(ProcessError::Protocol(format!(
                "the program wrote a line that is not UTF-8: {shown}"
            )));
        };
        match (line.ends_with(b"\n"), text.trim()) {
            (true, "") => {}
            (true, text) => return Ok(text.to_owned()),
            (false, "") => {
                return Err(ProcessError::Ended(format!("{ENDED}{OR_CLOSED}")));
            }
            // A last line without a line break may be incomplete.
            (false, text) => {
                let shown = cut(text);
                return Err(ProcessError::Ended(format!(
                    "the program ended in the middle of a line: {shown}"
                )));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    fn told(output: &mut impl BufRead, longest: usize) -> String {
        next(output, longest).unwrap_or_else(|error| error.to_string())
    }

    const END: &str = "the program ended, or closed its standard output";

    #[test]
    fn lines_have_an_end_and_a_limit() {
        let mut output = &b"{}\r\n\n  \n\xff\nlonger than ten\n"[..];
        assert_eq!(told(&mut output, 10), "{}");
        assert_eq!(told(&mut output, 10), "the program wrote a line that is not UTF-8: \u{fffd}\\n");
        assert_eq!(told(&mut output, 10), "the program wrote a line of more than 0 MiB");
        let mut output = &b"whole\ncut"[..];
        assert_eq!(told(&mut output, 10), "whole");
        assert_eq!(told(&mut output, 10), "the program ended in the middle of a line: cut");
        assert_eq!(told(&mut output, 10), END);
        let mut output = &b"whole\n  "[..];
        assert_eq!(told(&mut output, 10), "whole");
        assert_eq!(told(&mut output, 10), END);
        let mut output = &b"ten bytes!\n"[..];
        assert_eq!(told(&mut output, 11), "ten bytes!", "the end of the line counts");
        let mut endless = io::BufReader::new(io::repeat(b'x'));
        assert_eq!(told(&mut endless, 1 << 20), "the program wrote a line of more than 1 MiB");
    }

    /// A pipe of which a read is interrupted by a signal, then breaks.
    struct Pipe(Vec<io::ErrorKind>);

    impl io::Read for Pipe {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.pop() {
                Some(kind) => Err(kind.into()),
                None => (&b"{}\n"[..]).read(buffer),
            }
        }
    }

    #[test]
    fn a_read_that_is_interrupted_is_repeated_and_a_pipe_that_breaks_is_an_end() {
        let of = |kind| told(&mut io::BufReader::new(Pipe(vec![kind])), 10);
        assert_eq!(of(io::ErrorKind::Interrupted), "{}");
        assert_eq!(of(io::ErrorKind::BrokenPipe), END);
    }
}
