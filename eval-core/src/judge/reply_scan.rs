//! The scanner for the keys of verdicts in a judge's reply, which tells a verdict from a quotation.
//!
//! Judges quote what they judge, and an agent can write anything, even verdicts. So a yes counts only in the
//! place of a judge's own verdict: at the beginning of a line or in a JSON object that begins a line, with no
//! words after it. A verdict within a line of prose is a mention: it can only invalidate a yes that it
//! contradicts.

use std::ops::Range;

use super::prompt::data_of;

/// An occurrence of `"key":` in a reply, outside of JSON strings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mention {
    pub(super) at: usize,
    pub(super) value: usize,
    pub(super) is_at_key: bool,
    /// The enclosing object that begins a line. The key may be at any depth of it.
    pub(super) object: Option<Range<usize>>,
    /// Whether the key and the colon are separated by blanks. ADK's regular expressions do not find such a
    /// key.
    pub(super) spaced: bool,
}

/// All places of a key in a reply. The time is linear in the length of the reply.
pub(super) fn mentions(reply: &str, key: &str) -> Vec<Mention> {
    let quoted = format!("\"{key}\"");
    let mut places = reply
        .match_indices(&quoted)
        .filter_map(|(at, _)| {
            let rest = &reply[at + quoted.len()..];
            let blanks = rest.len() - rest.trim_start().len();
            rest[blanks..].starts_with(':').then_some((at, at + quoted.len() + blanks + 1, blanks > 0))
        })
        .peekable();
    let mut scan = Scan::default();
    let mut found: Vec<Mention> = Vec::new();
    // The index of the first mention in the open object.
    let mut open = 0;
    let bytes = reply.as_bytes();
    for at in 0..bytes.len() {
        if let Some((_, value, spaced)) = places.next_if(|(place, ..)| *place == at) {
            let object = scan.begin.filter(|_| scan.depth > 0).map(|begin| begin..reply.len());
            found.push(Mention { at, value, is_at_key: scan.is_at_key(), object, spaced });
        }
        if scan.step(bytes, at) {
            // The object is whole: now its end is known.
            for object in found.iter_mut().skip(open).filter_map(|mention| mention.object.as_mut()) {
                object.end = at + 1;
            }
            open = found.len();
        }
        if scan.depth == 0 {
            open = found.len();
        }
    }
    found
}

/// The first word after a key, in lower case and without the punctuation around it.
pub(super) fn first_word(after: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let word = after.trim_start_matches(|c: char| !is_part(c) && !matches!(c, ',' | '{' | '}'));
    word.chars().take_while(|c| is_part(*c)).flat_map(char::to_lowercase).collect()
}

#[derive(Debug)]
struct Scan {
    depth: usize,
    /// In a string within an object: whether its next character is escaped.
    string: Option<bool>,
    /// Whether the line so far holds only blanks and the opening of a code fence.
    is_line_begin: bool,
    /// The offset of the outermost open object, if it begins its line.
    begin: Option<usize>,
    is_key_next: bool,
}

impl Default for Scan {
    fn default() -> Self {
        Self { depth: 0, string: None, is_line_begin: true, begin: None, is_key_next: false }
    }
}

impl Scan {
    /// Whether this is a place for a judge's verdict: the beginning of a line, or a key of an object that
    /// begins its line.
    fn is_at_key(&self) -> bool {
        match self.depth {
            0 => self.is_line_begin,
            1 => self.begin.is_some() && self.string.is_none() && (self.is_key_next || self.is_line_begin),
            _ => false,
        }
    }

    /// Reads a byte. Returns whether the outermost object ends with it.
    fn step(&mut self, bytes: &[u8], at: usize) -> bool {
        let byte = bytes[at];
        if let Some(escaped) = self.string {
            let is_open = escaped || byte != b'"';
            self.string = is_open.then_some(!escaped && byte == b'\\');
            return false;
        }
        let mut closed = false;
        match byte {
            b'{' => {
                if self.depth == 0 {
                    self.begin = self.is_line_begin.then_some(at);
                }
                self.depth += 1;
            }
            b'}' if self.depth > 0 => {
                self.depth -= 1;
                closed = self.depth == 0;
            }
            // Strings count only within objects: a lone quotation mark in prose opens nothing.
            b'"' if self.depth > 0 => self.string = Some(false),
            _ => {}
        }
        if !byte.is_ascii_whitespace() {
            self.is_key_next = matches!(byte, b'{' | b',');
        }
        self.is_line_begin = match byte {
            b'\n' => true,
            _ if byte.is_ascii_whitespace() => self.is_line_begin,
            _ => self.is_line_begin && self.depth == 0 && is_in_fence(bytes, at),
        };
        closed
    }
}

/// Whether a byte belongs to a code fence that opens its line: ```` ```json ````.
fn is_in_fence(bytes: &[u8], at: usize) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric();
    let before = bytes[..at].iter().rev().take_while(|byte| is_word(byte)).take(MAX_LANGUAGE_CHARS).count();
    match bytes[at] {
        b'`' => {
            let after = bytes[at..].iter().take_while(|byte| **byte == b'`').take(3).count();
            let before = bytes[..at].iter().rev().take_while(|byte| **byte == b'`').take(3).count();
            before + after >= 3
        }
        byte if is_word(&byte) => bytes[..at - before].ends_with(b"```"),
        _ => false,
    }
}

const MAX_LANGUAGE_CHARS: usize = 16;

fn is_filler(text: &str) -> bool {
    text.lines().map(str::trim).all(|line| {
        let language = line.strip_prefix("```");
        line.is_empty() || language.is_some_and(|language| language.chars().all(char::is_alphanumeric))
    })
}

/// Checks that a part of a reply is the judge's own verdict. The error says why it is not.
/// Words before the verdict are allowed; words after it are not, as they may take it back. A part that occurs
/// in the data of the prompt, apart from blanks, is a copy.
pub(super) fn is_own(reply: &str, prompt: &str, part: Range<usize>) -> Result<(), String> {
    if !is_filler(reply.get(part.end..).unwrap_or_default()) {
        return Err(WORDS_AFTER.to_owned());
    }
    if is_copy(reply.get(part).unwrap_or_default(), prompt) {
        return Err("its verdict is a copy of what is judged".to_owned());
    }
    Ok(())
}

pub(crate) const WORDS_AFTER: &str = "words follow its verdict, which may take it back; end with the verdict";

/// Whether the data of a prompt contains a text, as it is or in a JSON string. Blanks are ignored.
pub(crate) fn is_copy(text: &str, prompt: &str) -> bool {
    !prompt.is_empty() && dense(&data_of(prompt)).contains(&dense(text))
}

/// A text without blanks and backslashes, so that it is the same in a JSON string.
fn dense(text: &str) -> String {
    let mut dense = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\\' {
            // An escaped blank, such as `\n`.
            chars.next_if(|c| matches!(c, 'n' | 'r' | 't'));
        } else if !c.is_whitespace() {
            dense.push(c);
        }
    }
    dense
}

pub(crate) const CONTRADICTION: &str = "its verdicts contradict each other";

#[cfg(test)]
mod tests {
    use super::*;

    /// For each mention: whether it is at a place for a verdict, and the object that it is a key of.
    fn found(reply: &str) -> Vec<(bool, Option<&str>)> {
        mentions(reply, "k")
            .into_iter()
            .map(|found| (found.is_at_key, found.object.map(|part| &reply[part])))
            .collect()
    }

    #[test]
    fn verdicts_stand_at_the_beginning_of_a_line_or_in_an_object_that_does() {
        for (reply, expected) in [
            (r#"{"k": 1}"#, vec![(true, Some(r#"{"k": 1}"#))]),
            ("```json\n{\"k\": 1}\n```", vec![(true, Some("{\"k\": 1}"))]),
            ("```json {\"k\": 1}```", vec![(true, Some("{\"k\": 1}"))]),
            ("{\n  \"a\": \"}\",\n  \"k\": 1\n}", vec![(true, Some("{\n  \"a\": \"}\",\n  \"k\": 1\n}"))]),
            ("{\"a\": 1\n\"k\": 1}", vec![(true, Some("{\"a\": 1\n\"k\": 1}"))]),
            ("\"k\": 1\n", vec![(true, None)]),
            ("so\n \"k\" : 1\n", vec![(true, None)]),
            // Quotations.
            (r#"It says "k": 1, so"#, vec![(false, None)]),
            (r#"It says {"k": 1}."#, vec![(false, None)]),
            (r#"> {"k": 1}"#, vec![(false, None)]),
            (r#"`{"k": 1}`"#, vec![(false, None)]),
            (r#"{"a": {"k": 1}}"#, vec![(false, Some(r#"{"a": {"k": 1}}"#))]),
            (r#"{"a": "b "k": 1"}"#, vec![(false, Some(r#"{"a": "b "k": 1"}"#))]),
            (r#"So ```{"k": 1}```"#, vec![(false, None)]),
            (r#"``{"k": 1}``"#, vec![(false, None)]),
            // Signs in prose and in strings open and close nothing.
            ("It is 5\" long }\n{\"k\": 1}", vec![(true, Some("{\"k\": 1}"))]),
            (r#"{"a": "\\", "k": 1}"#, vec![(true, Some(r#"{"a": "\\", "k": 1}"#))]),
            (r#"{"a": "\"", "k": 1}"#, vec![(true, Some(r#"{"a": "\"", "k": 1}"#))]),
            ("{\"a\": 1}\n\"k\": 1\n", vec![(true, None)]),
            // Within a string.
            (r#"{"a": "\"k\": 1"}"#, vec![]),
            (r#""k" is not there"#, vec![]),
        ] {
            assert_eq!(found(reply), expected, "{reply}");
        }
        let two = "{\"k\": 1}\n{\"a\": 1, \"k\": 2";
        assert_eq!(found(two), [(true, Some("{\"k\": 1}")), (true, Some("{\"a\": 1, \"k\": 2"))]);
    }

    #[test]
    fn words_may_stand_before_a_verdict_alone() {
        let check = |reply: &str, prompt: &str| {
            let at = reply.find('{').unwrap();
            is_own(reply, prompt, at..reply.find('}').unwrap() + 1).is_ok()
        };
        for (reply, own) in [
            ("{}", true),
            ("```json\n{}\n```", true),
            ("Sure!\n{}", true),
            ("Sure!\n```\n{}\n```\n", true),
            ("{}\nThat is all.", false),
            ("Sure!\n```\n{}\n```\nThat is all.", false),
        ] {
            assert_eq!(check(reply, ""), own, "{reply}");
        }
        for prompt in ["It says {\"a\": 1}, doesn't it?", r#"{"said": "so: {\n\"a\": 1}"}"#] {
            assert!(!check("{ \"a\":1 }", prompt), "{prompt}");
        }
    }

    #[test]
    fn hostile_replies_take_linear_time() {
        for piece in ["\"k\":", "{\"k\":", "\"k\" \n:", "```", "{\"", "\\\"", "```json", "{}\n", "`{", "a`"] {
            let _ = mentions(&piece.repeat(100_000), "k");
        }
        assert_eq!(mentions(&" \"k\"".repeat(100_000), "k").len(), 0);
        let blanks = format!("\"k\"{}", " ".repeat(1_000)).repeat(1_000);
        assert_eq!(mentions(&blanks, "k").len(), 0);
    }

    #[test]
    fn a_value_begins_behind_the_colon() {
        for (reply, at, value, spaced) in [
            (r#"{"k":1}"#, 1, "1}", false),
            (r#"{"k": 1}"#, 1, " 1}", false),
            (r#"{ "k" :1}"#, 2, "1}", true),
            ("so \"k\"\n : no", 3, " no", true),
            (r#"{"k", "k": 1}"#, 6, " 1}", false),
        ] {
            let found = mentions(reply, "k");
            let [mention] = &found[..] else { panic!("{reply}: {found:?}") };
            assert_eq!((mention.at, &reply[mention.value..], mention.spaced), (at, value, spaced), "{reply}");
        }
    }

    #[test]
    fn the_first_word_is_found_among_signs() {
        for (after, word) in [
            (" \"Yes\",", "yes"),
            (" **No**!", "no"),
            ("[Partially_Valid]", "partially_valid"),
            (" , yes", ""),
            ("{\"a\": \"yes\"}", ""),
            (" }\nyes", ""),
            ("", ""),
        ] {
            assert_eq!(first_word(after), word, "{after}");
        }
    }
}
