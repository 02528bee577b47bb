//! The terminal of a review: single keys, lines, and the user's editor.

use std::path::Path;
use std::process::Command;
use std::{env, io};

use eval_support::untrusted::one_line;

use crate::output::CommandError;

/// A key that was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Char(char),
    /// Ctrl-C, Ctrl-D, or the end of the input.
    End,
    /// Enter, Esc, an arrow, or a paste: they do nothing.
    Other,
}

/// The next key that is pressed from now on. What was typed before is dropped: it was typed before what is shown now.
pub(super) fn key() -> Result<Key, CommandError> {
    keys::key().map_err(|error| cannot_ask(&error))
}

/// A whole line; `None` at the end of the input.
pub(super) fn line() -> Result<Option<String>, CommandError> {
    keys::line().map_err(|error| cannot_ask(&error))
}

/// Opens a file in the user's editor, and waits until it is done.
pub(super) fn edit(path: &Path) -> Result<(), CommandError> {
    let set =
        ["VISUAL", "EDITOR"].iter().find_map(|name| env::var(name).ok().filter(|it| !it.trim().is_empty()));
    let words = set.as_deref().and_then(shlex::split).filter(|words| !words.is_empty());
    let Some([program, args @ ..]) = words.as_deref() else {
        return Err(CommandError::new("no editor is set", "name one: `EDITOR=nano cargo evalset review`"));
    };
    let failed =
        |what: String| CommandError::new(what, "set `EDITOR` to a program that waits until you are done");
    let name = one_line(program);
    match Command::new(program).args(args).arg(path).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(failed(format!("`{name}` ended with {status}"))),
        Err(error) => Err(failed(format!("cannot start `{name}`: {error}"))),
    }
}

fn cannot_ask(error: &io::Error) -> CommandError {
    CommandError::new(
        format!("cannot ask on this terminal: {error}"),
        "list the choices: `cargo evalset review --list`",
    )
}

#[cfg(unix)]
mod keys {
    use std::io;
    use std::os::fd::AsFd;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::{Errno, read};
    use rustix::termios::{OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr};

    use super::Key;

    /// Keys that come sooner after one another are a paste.
    const PASTE_MS: i64 = 20;

    /// The settings of a terminal, put back when dropped.
    struct Raw<F: AsFd>(F, Termios);

    impl<F: AsFd> Raw<F> {
        /// Gives keys one by one, and drops what was typed before.
        fn new(terminal: F) -> io::Result<Self> {
            let before = tcgetattr(&terminal)?;
            let mut raw = before.clone();
            raw.make_raw();
            tcsetattr(&terminal, OptionalActions::Flush, &raw)?;
            Ok(Self(terminal, before))
        }
    }

    impl<F: AsFd> Drop for Raw<F> {
        fn drop(&mut self) {
            // Without a terminal there is nothing to put back.
            let _ = tcsetattr(&self.0, OptionalActions::Now, &self.1);
        }
    }

    pub(super) fn key() -> io::Result<Key> {
        let input = io::stdin();
        let raw = Raw::new(&input)?;
        let (mut bytes, mut buffer) = (Vec::new(), [0; 256]);
        loop {
            match retried(|| read(&input, &mut buffer))? {
                0 => return Ok(Key::End),
                length => bytes.extend_from_slice(&buffer[..length]),
            }
            if !has_more(&input)? {
                break;
            }
        }
        drop(raw);
        Ok(of(&bytes))
    }

    /// The key of the bytes that came at once.
    pub(super) fn of(bytes: &[u8]) -> Key {
        let mut chars = std::str::from_utf8(bytes).unwrap_or_default().chars();
        match (chars.next(), chars.next()) {
            (Some('\u{3}' | '\u{4}'), None) => Key::End,
            (Some(c), None) if !c.is_control() => Key::Char(c),
            _ => Key::Other,
        }
    }

    fn has_more(input: &io::Stdin) -> io::Result<bool> {
        let soon = Timespec { tv_sec: 0, tv_nsec: PASTE_MS * 1_000_000 };
        let mut ends = [PollFd::new(input, PollFlags::IN)];
        Ok(retried(|| poll(&mut ends, Some(&soon)))? > 0)
    }

    fn retried<T>(mut call: impl FnMut() -> Result<T, Errno>) -> io::Result<T> {
        loop {
            match call() {
                Err(Errno::INTR) => {}
                done => return Ok(done?),
            }
        }
    }

    pub(super) fn line() -> io::Result<Option<String>> {
        let input = io::stdin();
        // What was typed before the question is no answer to it.
        tcflush(&input, QueueSelector::IFlush)?;
        let mut line = Vec::new();
        let mut buffer = [0; 256];
        loop {
            match retried(|| read(&input, &mut buffer))? {
                0 if line.is_empty() => return Ok(None),
                0 => break,
                length => line.extend_from_slice(&buffer[..length]),
            }
            if line.contains(&b'\n') {
                break;
            }
        }
        Ok(Some(String::from_utf8_lossy(&line).into_owned()))
    }
}

/// Elsewhere a key is a line with one letter.
#[cfg(not(unix))]
mod keys {
    use std::io;

    use super::Key;

    pub(super) fn key() -> io::Result<Key> {
        let Some(line) = line()? else { return Ok(Key::End) };
        let mut chars = line.trim().chars();
        Ok(match (chars.next(), chars.next()) {
            (Some(c), None) => Key::Char(c),
            _ => Key::Other,
        })
    }

    pub(super) fn line() -> io::Result<Option<String>> {
        let mut line = String::new();
        Ok((io::stdin().read_line(&mut line)? > 0).then_some(line))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::{Key, keys::of};

    #[test]
    fn one_letter_alone_is_a_key() {
        for (bytes, key) in [
            (&b"a"[..], Key::Char('a')),
            (b"A", Key::Char('A')),
            ("é".as_bytes(), Key::Char('é')),
            (b"\x03", Key::End),
            (b"\x04", Key::End),
            (b"\r", Key::Other),
            (b"\n", Key::Other),
            (b"\x1b", Key::Other),
            (b"\x1b[A", Key::Other),
            (b"aaaa", Key::Other),
            (b"y\r", Key::Other),
            (b"\xff", Key::Other),
            (b"", Key::Other),
        ] {
            assert_eq!(of(bytes), key, "{bytes:?}");
        }
    }
}
