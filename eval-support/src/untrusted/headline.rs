//! The one line of a text that says what went wrong.

use std::borrow::Cow;

use super::text::MARK;

const TRACEBACK: &str = "Traceback (most recent call last):";

/// The line of untrusted text that says what went wrong: the first line that is not blank. In a traceback it
/// is the line of the exception: Python writes it last, Node below the source.
///
/// A line that ends with a colon is joined with the headline of the text below it. The line is raw: the
/// caller escapes it before it is shown.
///
/// ```
/// # use eval_support::untrusted::headline;
/// assert_eq!(headline("\n connection refused \nretried 3 times"), "connection refused");
/// let raised = "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nValueError: no city";
/// assert_eq!(headline(raised), "ValueError: no city");
/// assert_eq!(headline(&format!("the agent failed:\n{raised}")), "the agent failed: ValueError: no city");
/// ```
pub fn headline(text: &str) -> Cow<'_, str> {
    let mut announced = String::new();
    let mut rest = text;
    // The limit keeps a text of colons alone from being read to its end.
    for _ in 0..MAX_JOINED_LINES {
        let (first, below) = first_line(rest);
        if let Some((before, _)) = first.split_once(TRACEBACK) {
            let before = before.trim_end_matches("Exception Group ").trim_start_matches("+ ");
            let raised = exception(rest).unwrap_or(TRACEBACK);
            return Cow::Owned(format!("{announced}{before}{raised}"));
        }
        let said = below_the_source(first, below).unwrap_or(first);
        if !said.ends_with(':') || below.trim().is_empty() {
            return if announced.is_empty() { Cow::Borrowed(said) } else { Cow::Owned(announced + said) };
        }
        announced = format!("{announced}{said} ");
        let below = quotation(below);
        if let Some(raised) = exception(below) {
            return Cow::Owned(announced + raised);
        }
        rest = below;
    }
    Cow::Owned(announced.trim_end().to_owned())
}

/// The lines with marks with which a text begins; a text that begins with another line, whole.
fn quotation(text: &str) -> &str {
    let is_marked = |text: &str| text.starts_with(MARK.trim_end());
    if !is_marked(text) {
        return text;
    }
    let end = text.match_indices('\n').map(|(at, _)| at).find(|at| !is_marked(&text[at + 1..]));
    &text[..end.unwrap_or(text.len())]
}

/// The text to show below its [`headline`]: the lines below the first one, or the whole text if the headline
/// is another line.
pub fn below_headline(text: &str) -> &str {
    let (first, below) = first_line(text);
    if headline(text) == first { below } else { text }
}

/// The largest number of joined lines that end with a colon.
const MAX_JOINED_LINES: usize = 3;

/// The first line that is not blank, without its marks and indentation, and the text below it.
fn first_line(text: &str) -> (&str, &str) {
    let mut rest = text;
    loop {
        let (line, below) = rest.split_once('\n').unwrap_or((rest, ""));
        let line = unmarked(line).trim();
        if !line.is_empty() || below.is_empty() {
            return (line, below);
        }
        rest = below;
    }
}

/// A line without the marks of quoted text. Python's exception groups have the same marks.
fn unmarked(line: &str) -> &str {
    let mut line = line;
    while let Some(rest) = line.trim_start().strip_prefix(MARK.trim_end()) {
        line = rest.strip_prefix(' ').unwrap_or(rest);
    }
    line
}

/// The exception of the last traceback of a text: in a chain of exceptions, the uncaught one.
fn exception(text: &str) -> Option<&str> {
    let Some(at) = text.rfind(TRACEBACK) else { return exception_of_an_end(text) };
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let marker = text[line..].lines().next()?;
    let below = text[line..].split_once('\n').map_or("", |(_, below)| below);
    raised(below, indentation(marker)).or(Some(TRACEBACK))
}

/// The exception of a log whose beginning is cut off, and with it the first line of its last traceback. Servers of Python have
/// dozens of frames above those of the agent.
fn exception_of_an_end(text: &str) -> Option<&str> {
    const FRAME: &str = "File \"";
    let (first, below) = first_line(text);
    let mut frames = below.lines().filter(|line| unmarked(line).trim_start().starts_with(FRAME));
    let frame = frames.next().filter(|_| first == CUT_OFF)?;
    let at = below.find(frame)?;
    raised(&below[at..], indentation(frame).saturating_sub(1))
}

/// The line in place of the beginning of a log.
const CUT_OFF: &str = "...";

/// The line below the frames of a traceback. Frames are indented further than the traceback's first line. Of
/// a truncated traceback it is the last line.
fn raised(below: &str, indent: usize) -> Option<&str> {
    let mut lines = below.lines().filter(|line| !unmarked(line).trim().is_empty());
    let found = lines.clone().find(|line| indentation(line) <= indent).or_else(|| lines.next_back());
    found.map(|line| unmarked(line).trim())
}

fn indentation(line: &str) -> usize {
    let line = unmarked(line);
    line.len() - line.trim_start().len()
}

/// The error that Node writes below the place (`/app/agent.js:3`), the source and a blank line.
fn below_the_source<'t>(first: &'t str, below: &'t str) -> Option<&'t str> {
    let (place, line) = first.rsplit_once(':')?;
    let is_place = !place.contains(char::is_whitespace) && line.bytes().all(|byte| byte.is_ascii_digit());
    let has_frames = || below.lines().any(|line| unmarked(line).trim_start().starts_with("at "));
    if line.is_empty() || !is_place || !has_frames() {
        return None;
    }
    let lines = below.lines().map(|line| unmarked(line).trim());
    lines.skip_while(|line| !line.is_empty()).find(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_headline_says_what_went_wrong() {
        for (text, expected) in [
            ("", ""),
            (" \n\t\n", ""),
            ("boom", "boom"),
            ("boom\nmore", "boom"),
            ("\n \r\n boom\r\nmore", "boom"),
            ("| boom\n| more", "boom"),
            // A prefix of ours, and nothing said on its line.
            ("turn 1: the agent failed: \n\nboom", "turn 1: the agent failed: boom"),
            ("the agent failed:\n| \n| boom\n| more", "the agent failed: boom"),
            ("the agent failed:", "the agent failed:"),
            ("the agent failed:\n\n", "the agent failed:"),
            ("a:\nb:\nc:\nd:\ne", "a: b: c:"),
            // Python.
            ("Traceback (most recent call last):", "Traceback (most recent call last):"),
            (
                "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    f()\n    ~^^\nKeyError: 'city'\n",
                "KeyError: 'city'",
            ),
            (
                "turn 2: Traceback (most recent call last):\n  File \"a.py\", line 3\nKeyError: 'city'",
                "turn 2: KeyError: 'city'",
            ),
            (
                "Traceback (most recent call last):\n  File \"a.py\", line 3\nValidationError: 1 error for City\nname\n  missing",
                "ValidationError: 1 error for City",
            ),
            (
                "Traceback (most recent call last):\n  File \"a.py\"\nKeyError: 'a'\n\nDuring handling of the above exception, \
                 another exception occurred:\n\nTraceback (most recent call last):\n  File \"b.py\"\nAgentError: no city",
                "AgentError: no city",
            ),
            (
                "the program ended; it wrote:\n| INFO ready\n| Traceback (most recent call last):\n|   File \"a.py\"\n| OSError: gone",
                "the program ended; it wrote: OSError: gone",
            ),
            (
                "  Traceback (most recent call last):\n    File \"a.py\"\n  OSError: gone\nbye",
                "OSError: gone",
            ),
            (
                "  + Exception Group Traceback (most recent call last):\n  |   File \"a.py\"\n  | ExceptionGroup: unhandled errors\n  \
                 +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n    |   File \"b.py\"\n    | \
                 ValueError: no city\n    +------------------------------------\n",
                "ValueError: no city",
            ),
            ("Traceback (most recent call last):\n  File \"a.py\", line 3\n    cut he", "cut he"),
            ("the status is 500\nTraceback (most recent call last):\nKeyError", "the status is 500"),
            // Of a long log, only the end is kept.
            (
                "POST /run_sse answered 500; the server wrote last:\n| ...\n|     raise error\n|   File \"a.py\", line 3\n|     import missing\n| ModuleNotFoundError: No module named 'missing'\n| INFO: done",
                "POST /run_sse answered 500; the server wrote last: ModuleNotFoundError: No module named 'missing'",
            ),
            ("it wrote:\n| ...\n| INFO: ready", "it wrote: ..."),
            // Node.
            (
                "/app/agent.js:3\n  throw new Error(\"boom\");\n  ^\n\nError: boom\n    at main (/app/agent.js:3:9)\n\nNode.js v22",
                "Error: boom",
            ),
            (
                "TypeError: x is not a function\n    at main (/app/agent.js:3:9)",
                "TypeError: x is not a function",
            ),
            ("http://localhost:8000\nis not there", "http://localhost:8000"),
            // A log below what the agent said.
            (
                "the agent failed:\n| 1 error for City\n| name\nit wrote to its standard error:\n| Traceback (most recent call last):\n|   File \"a.py\"\n| SystemExit: bye",
                "the agent failed: 1 error for City",
            ),
            // Rust, Go, Java.
            (
                "\nthread 'main' (7) panicked at src/main.rs:2:5:\nno city\nnote: run with `RUST_BACKTRACE=1`",
                "thread 'main' (7) panicked at src/main.rs:2:5: no city",
            ),
            ("panic: no city\n\ngoroutine 1 [running]:\nmain.main()", "panic: no city"),
            (
                "Exception in thread \"main\" java.lang.IllegalStateException: no city\n\tat Main.main(Main.java:3)",
                "Exception in thread \"main\" java.lang.IllegalStateException: no city",
            ),
        ] {
            assert_eq!(headline(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_below_a_headline_is_everything_else() {
        for (text, below) in [
            ("boom", ""),
            ("boom\nmore\nlines", "more\nlines"),
            ("\nboom\nmore", "more"),
            ("it wrote:\nboom", "it wrote:\nboom"),
            (
                "Traceback (most recent call last):\n  f\nE: x",
                "Traceback (most recent call last):\n  f\nE: x",
            ),
        ] {
            assert_eq!(below_headline(text), below, "{text}");
        }
    }

    #[test]
    fn a_long_text_is_read_in_linear_time() {
        for part in ["a:\n", "|", "\n", "Traceback (most recent call last):\n", "  x\n", "x:1\n at \n"] {
            let text = part.repeat(300_000);
            assert!(headline(&text).len() <= text.len(), "{part}");
        }
    }
}
