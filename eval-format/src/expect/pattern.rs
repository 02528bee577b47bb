//! Regular expressions of matchers and demands.

use regex_lite::{Regex, RegexBuilder};

/// A longer expression is hardly read by a person.
const MAX_PATTERN_BYTES: usize = 1024;

/// The largest compiled expression, in bytes. The time of a search grows with it.
const MAX_COMPILED_BYTES: usize = 1 << 18;

/// A regular expression of the crate `regex-lite`: linear time, classes and case of ASCII alone, no `\p`.
///
/// ```
/// use eval_format::expect::Pattern;
///
/// let found = Pattern::new("found [0-9]+ results")?;
/// assert!(found.finds("I found 42 results.") && !found.is_whole("I found 42 results."));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug)]
pub struct Pattern {
    part: Regex,
    whole: Regex,
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Pattern {
    /// Compiles an expression. The error says in words what is wrong with it.
    pub fn new(text: &str) -> Result<Self, String> {
        if text.len() > MAX_PATTERN_BYTES {
            return Err(format!("it has {} bytes, and the most is {MAX_PATTERN_BYTES}", text.len()));
        }
        if has_unicode_class(text) {
            return Err(
                r"it has `\p`, which regex-lite does not know; write the letters as a class: `[a-zäöü]`"
                    .to_owned(),
            );
        }
        let compile = |text: &str| {
            RegexBuilder::new(text).size_limit(MAX_COMPILED_BYTES).build().map_err(|error| error.to_string())
        };
        let part = compile(text)?;
        // A comment of the flag `x` would swallow the bracket behind it.
        let whole = compile(&format!(r"\A(?:{text})\z")).map_err(|_| "a comment at its end".to_owned())?;
        Ok(Self { part, whole })
    }

    /// The expression as it was written.
    pub fn as_str(&self) -> &str {
        self.part.as_str()
    }

    /// Whether it matches a part of the text.
    pub fn finds(&self, text: &str) -> bool {
        self.part.is_match(text)
    }

    /// Whether it matches the whole text.
    pub fn is_whole(&self, text: &str) -> bool {
        self.whole.is_match(text)
    }
}

/// Whether the expression has `\p` or `\P`. A backslash before it would be escaped.
fn has_unicode_class(text: &str) -> bool {
    let mut escaped = false;
    text.chars().any(|c| {
        let is_class = escaped && matches!(c, 'p' | 'P');
        escaped = c == '\\' && !escaped;
        is_class
    })
}
