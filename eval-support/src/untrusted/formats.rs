//! Foreign text in formats that other programs read: Markdown, XML, JSON, annotations of GitHub.

use std::fmt::Write;

use super::text::{begins_a_command, guard, name, steers};

/// Foreign text as a part of a line of Markdown, without markup, links and mentions.
///
/// ```
/// # use eval_support::untrusted::markdown;
/// assert_eq!(markdown("a|b\n</td> @all [x](y)"), r"a\|b\\n&lt;/td&gt; &#64;all \[x\](y)");
/// ```
pub fn markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let text = name(text);
    for (at, c) in text.char_indices() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            // A mention would notify a person, and an address would be a link.
            '@' => escaped.push_str("&#64;"),
            ':' if text[at..].starts_with("://") => escaped.push_str("&#58;"),
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '#' | '~' | '!' | '$' => {
                escaped.push('\\');
                escaped.push(c);
            }
            _ => escaped.push(c),
        }
    }
    escaped
}

/// A finished text of several lines as a block of code in Markdown. The fence is longer than any in the text.
///
/// ```
/// # use eval_support::untrusted::fenced;
/// assert_eq!(fenced("a ``` b"), "````text\na ``` b\n````");
/// ```
pub fn fenced(text: &str) -> String {
    let text = guard(text);
    let fence = "`".repeat(longest_run(&text, '`').max(2) + 1);
    format!("{fence}text\n{text}\n{fence}")
}

fn longest_run(text: &str, of: char) -> usize {
    let mut runs = (0, 0);
    for c in text.chars() {
        runs.1 = if c == of { runs.1 + 1 } else { 0 };
        runs.0 = runs.0.max(runs.1);
    }
    runs.0
}

/// A finished text with only characters that XML allows. The writer of the XML escapes the markup.
///
/// ```
/// # use eval_support::untrusted::xml;
/// assert_eq!(xml("a\u{ffff}\u{8}\n::error::x"), "a\\u{ffff}\\u{8}\n\\u{3a}:error::x");
/// ```
pub fn xml(text: &str) -> String {
    guard(text).replace('\u{fffe}', "\\u{fffe}").replace('\u{ffff}', "\\u{ffff}")
}

/// A JSON document with the same content, escaped so that no character of a string steers a terminal and no
/// string is a command.
///
/// ```
/// # use eval_support::untrusted::json;
/// assert_eq!(json("[\"\u{9b}2J ##[error]x\"]"), r##"["\u009b2J #\u0023[error]x"]"##);
/// ```
pub fn json(document: &str) -> String {
    let mut out = String::with_capacity(document.len());
    let mut rest = document;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        let spelt = c != '\n' && c != '\t' && steers(c) || c == '#' && begins_a_command(&out, rest);
        if spelt {
            // In JSON these characters occur only inside strings, and no escape contains one.
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a `String` never fails.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// A command of GitHub Actions that shows a message beside a line of a file: one line, with its line break.
///
/// ```
/// # use eval_support::untrusted::annotation;
/// assert_eq!(
///     annotation("error", &[("file", "a,b.json"), ("line", "3")], "50%\n::error::x"),
///     "::error file=a%2Cb.json,line=3::50%25%0A\\u{3a}:error::x\n"
/// );
/// ```
pub fn annotation(level: &str, properties: &[(&str, &str)], message: &str) -> String {
    let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |(key, value): &(&str, &str)| {
        format!("{key}={}", data(&name(value)).replace(':', "%3A").replace(',', "%2C"))
    };
    let properties: Vec<String> = properties.iter().map(property).collect();
    let space = if properties.is_empty() { "" } else { " " };
    format!("::{level}{space}{}::{}\n", properties.join(","), data(&guard(message)))
}
