//! Untrusted text among lines of ours, and whole texts that mix both.

use std::borrow::Cow;

/// The mark at the beginning of each line of an untrusted text. No line of ours begins with it.
pub const MARK: &str = "| ";

/// Foreign text as a part of one of our lines: a name, a path, an id, a sentence. Line breaks are spelt out.
///
/// ```
/// # use eval_support::untrusted::name;
/// assert_eq!(name("get_weather"), "get_weather");
/// assert_eq!(name("x\nrun again  curl | sh"), r"x\nrun again  curl | sh");
/// assert_eq!(name("::error::x"), r"\u{3a}:error::x");
/// ```
pub fn name(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// [`name`] as an owned text.
pub fn one_line(text: &str) -> String {
    name(text).into_owned()
}

/// A sentence of ours with untrusted text: its first line as a part of our line, the other lines below it,
/// each with the [`MARK`].
///
/// ```
/// # use eval_support::untrusted::lines_below;
/// assert_eq!(lines_below("it ended; it wrote:\n| one\ntwo", 2), "it ended; it wrote:\n  | one\n  | two");
/// ```
pub fn lines_below(text: &str, indent: usize) -> String {
    let (first, others) = text.split_once('\n').unwrap_or((text, ""));
    let mut shown = one_line(first);
    for line in others.lines() {
        let line = line.trim_start().strip_prefix(MARK).unwrap_or(line);
        shown.push_str(&format!("\n{:indent$}{MARK}{}", "", name(line)));
    }
    shown
}

/// Foreign text behind a word of ours. A single line stays as it is. If there are several, each has the
/// [`MARK`], and all but the first are indented by `indent` spaces.
///
/// ```
/// # use eval_support::untrusted::quoted;
/// assert_eq!(format!("says  {}", quoted("hello", 6)), "says  hello");
/// assert_eq!(format!("says  {}", quoted("a\nb", 6)), "says  | a\n      | b");
/// ```
pub fn quoted(text: &str, indent: usize) -> String {
    let mut lines = text.lines();
    match (lines.next(), lines.next()) {
        (None, _) => String::new(),
        (Some(only), None) => name(only).into_owned(),
        _ => marked(text, indent),
    }
}

/// [`quoted`] for text on lines of its own: a single line has the [`MARK`] too.
///
/// ```
/// # use eval_support::untrusted::marked;
/// assert_eq!(format!("  {}", marked("run again  x\n", 2)), "  | run again  x");
/// ```
pub fn marked(text: &str, indent: usize) -> String {
    let lines = text.lines().map(|line| format!("{MARK}{}", escaped(line, |c| c == '\t')));
    lines.collect::<Vec<_>>().join(&format!("\n{:indent$}", ""))
}

/// A finished text made safe to print: lines of ours, with foreign text in them. Line breaks and tabs stay.
/// No line of it steers a terminal, or is a command of a CI service.
///
/// ```
/// # use eval_support::untrusted::guard;
/// assert_eq!(guard("two\nlines"), "two\nlines");
/// assert_eq!(guard("a\x1b[2Jb\n  ::stop-commands::x"), "a\\u{1b}[2Jb\n  \\u{3a}:stop-commands::x");
/// ```
pub fn guard(text: &str) -> Cow<'_, str> {
    if !needs_a_look(text) {
        return Cow::Borrowed(text);
    }
    let text = text.replace("\r\n", "\n");
    let lines: Vec<Cow<'_, str>> = text.split('\n').map(|line| escaped(line, |c| c == '\t')).collect();
    Cow::Owned(lines.join("\n"))
}

/// Like [`guard`], for text with colours and weights of ours. Foreign text in it went through [`name`] or [`marked`]
/// before.
pub fn guard_styled(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            out.push('\n');
        }
        let mut plain = line;
        // A CI service would see the line behind the styles.
        while let Some(rest) = style(plain) {
            out.push_str(&plain[..plain.len() - rest.len()]);
            plain = rest;
        }
        let mut rest = line_start(plain, &mut out);
        while let Some(c) = rest.chars().next() {
            if let Some(behind) = style(rest) {
                out.push_str(&rest[..rest.len() - behind.len()]);
                rest = behind;
                continue;
            }
            rest = &rest[c.len_utf8()..];
            add(c, rest, |c| c == '\t', &mut out);
        }
    }
    out
}

/// The text behind a style (`\x1b[1;31m`); `None` if the text does not begin with one.
fn style(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("\u{1b}[")?;
    rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').strip_prefix('m')
}

/// Whether a text holds anything that may have to be escaped. Most texts do not.
fn needs_a_look(text: &str) -> bool {
    text.contains("##") || text.contains("::") || text.contains(|c: char| steers(c) && c != '\n' && c != '\t')
}

/// One line, with all characters escaped that steer and are not `kept`.
fn escaped(line: &str, kept: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !needs_a_look(line) && !line.contains(|c| steers(c) && !kept(c)) {
        return Cow::Borrowed(line);
    }
    let mut out = String::with_capacity(line.len() + 16);
    let mut rest = line_start(line, &mut out);
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        add(c, rest, &kept, &mut out);
    }
    Cow::Owned(out)
}

/// Adds the escaped beginning of a line that would be a command. Returns the rest of the line.
fn line_start<'t>(line: &'t str, out: &mut String) -> &'t str {
    let command = line.trim_start();
    if !command.starts_with("::") {
        return line;
    }
    for c in line[..line.len() - command.len()].chars() {
        if steers(c) && c != '\t' { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out.push_str(COLON);
    &command[1..]
}

fn add(c: char, after: &str, kept: impl Fn(char) -> bool, out: &mut String) {
    if c == '#' && begins_a_command(out, after) {
        out.push_str(NUMBER_SIGN);
    } else if steers(c) && !kept(c) {
        out.extend(c.escape_default());
    } else {
        out.push(c);
    }
}

// Commands that CI services take from the log of a job:
//
// - GitHub Actions: a line that begins with `::name::` or `::name key=value::`, spaces before it aside; `##[name]`
//   anywhere in a line.
// - Azure Pipelines: `##vso[..]` anywhere in a line, `##[name]`.
// - TeamCity: `##teamcity[..]`.
//
// GitLab, Travis and Buildkite need control characters, or a mark in the first column.

const NUMBER_SIGN: &str = "\\u{23}";
const COLON: &str = "\\u{3a}";

/// Whether a number sign would begin a command: the second of `##[`, `##vso[`, `##teamcity[`. `before` is the
/// printed text before it, and `after` the text behind it.
pub(super) fn begins_a_command(before: &str, after: &str) -> bool {
    before.ends_with('#')
        && after.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "-_.".contains(c)).starts_with('[')
}

/// Whether a character has no shape of its own: Unicode's `Default_Ignorable_Code_Point`, annotations, and the blank pattern of
/// Braille.
pub fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Whether a character steers a terminal, breaks a line, or changes the order or the look of its neighbours.
///
/// Line breaks and tabs are among them. The joiners of emoji and of scripts are not, so [`is_invisible`] has more.
pub(super) fn steers(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            // Marks, embeddings, overrides and isolates of the bidirectional algorithm.
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
                // Line and paragraph separators.
                | '\u{2028}' | '\u{2029}'
                // Invisible: zero-width space, invisible operators, the byte order mark, annotations, tags.
                | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{206a}'..='\u{206f}' | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        )
}
