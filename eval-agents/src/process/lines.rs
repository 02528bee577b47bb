//! The lines that a program writes.

use std::io::{BufRead, Read as _};

/// The most bytes of a line. Images and sounds travel in lines.
pub(super) const MAX_LINE_BYTES: usize = 32 << 20;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Text(String),
    TooLong,
    NotText(String),
    Cut(String),
    End,
}

/// Reads the next line of at most `longest` bytes. Empty lines are skipped.
pub(super) fn next(output: &mut impl BufRead, longest: usize) -> Line {
    loop {
        let mut line = Vec::new();
        let most = u64::try_from(longest).unwrap_or(u64::MAX).saturating_add(1);
        // A broken pipe has ended.
        if output.by_ref().take(most).read_until(b'\n', &mut line).is_err() {
            return Line::End;
        }
        if line.len() > longest {
            return Line::TooLong;
        }
        let is_whole = line.last() == Some(&b'\n');
        let text = match String::from_utf8(line) {
            Ok(text) => text,
            Err(error) => return Line::NotText(String::from_utf8_lossy(error.as_bytes()).into_owned()),
        };
        let text = text.trim();
        if !is_whole {
            // A last line without a line break may be incomplete. An empty one is the end of the output.
            return if text.is_empty() { Line::End } else { Line::Cut(text.to_owned()) };
        }
        if !text.is_empty() {
            return Line::Text(text.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn lines_have_an_end_and_a_limit() {
        let mut output = &b"{}\r\n\n  \n\xff\nlonger than ten\n"[..];
        assert_eq!(next(&mut output, 10), Line::Text("{}".to_owned()));
        assert_eq!(next(&mut output, 10), Line::NotText("\u{fffd}\n".to_owned()));
        assert_eq!(next(&mut output, 10), Line::TooLong);
        let mut output = &b"whole\ncut"[..];
        assert_eq!(next(&mut output, 10), Line::Text("whole".to_owned()));
        assert_eq!(next(&mut output, 10), Line::Cut("cut".to_owned()));
        assert_eq!(next(&mut output, 10), Line::End);
        let mut output = &b"whole\n  "[..];
        assert_eq!(next(&mut output, 10), Line::Text("whole".to_owned()));
        assert_eq!(next(&mut output, 10), Line::End);
        let mut output = &b"ten bytes!\n"[..];
        assert_eq!(next(&mut output, 11), Line::Text("ten bytes!".to_owned()), "the end of the line counts");
        let mut endless = io::BufReader::new(io::repeat(b'x'));
        assert_eq!(next(&mut endless, 1 << 16), Line::TooLong);
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
        let of = |kind| next(&mut io::BufReader::new(Pipe(vec![kind])), 10);
        assert_eq!(of(io::ErrorKind::Interrupted), Line::Text("{}".to_owned()));
        assert_eq!(of(io::ErrorKind::BrokenPipe), Line::End);
    }
}
