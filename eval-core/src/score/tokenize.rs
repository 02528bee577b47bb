//! ADK's tokenizer: NFKC, lower case, words by Unicode category, Porter stems of ASCII words.
//!
//! Source: `_UnicodeAwareTokenizer` in `final_response_match_v1.py` of google-adk 2.13.0.
//!
//! Categories are those of the module `category`, normalisation that of the crate `unicode-normalization`, case that
//! of std. google-adk has those of its Python (Unicode 14 with Python 3.11). The results differ for characters that
//! one side does not know yet, and for a capital sigma beside U+0295, U+02E4 or U+1171E, whose class Unicode has
//! changed since.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use super::porter;
use crate::category::{Category, category};

/// The length up to which words are not stemmed, in bytes.
const UNSTEMMED: usize = 3;

/// The tokens of a text, in one buffer without separators.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tokens {
    bytes: Vec<u8>,
    /// The end of each token in the buffer.
    ends: Vec<usize>,
}

/// Splits a text into tokens as ADK does.
pub(crate) fn tokens(text: &str) -> Tokens {
    if text.is_ascii() { Tokens::of_ascii(text) } else { Tokens::of_unicode(text) }
}

impl Tokens {
    /// The number of tokens.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The tokens in order, each the UTF-8 bytes of a text that is not empty.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|at| self.get(at))
    }

    /// The token at an index.
    pub(crate) fn get(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.bytes[start..self.ends[at]]
    }

    /// The same as `of_unicode`, for a text of ASCII, which needs no normalisation. The tokens are made within one copy of
    /// the text, as a token is never longer than its word.
    fn of_ascii(text: &str) -> Self {
        let mut bytes = text.to_lowercase().into_bytes();
        let mut ends = Vec::with_capacity(bytes.len() / 4);
        // Without optimisation, as tests are built, an index into a slice costs far less than one into a vector.
        let letters = bytes.as_mut_slice();
        let (mut at, mut kept) = (0, 0);
        while at < letters.len() {
            let start = at;
            while at < letters.len() && matches!(letters[at], b'a'..=b'z' | b'0'..=b'9') {
                at += 1;
            }
            if at > start {
                letters.copy_within(start..at, kept);
                kept += stemmed(&mut letters[kept..kept + at - start]);
                ends.push(kept);
            }
            at += 1;
        }
        bytes.truncate(kept);
        Self { bytes, ends }
    }

    fn of_unicode(text: &str) -> Self {
        let mut tokens =
            Self { bytes: Vec::with_capacity(text.len()), ends: Vec::with_capacity(text.len() / 4) };
        for c in nfkc(text).to_lowercase().chars() {
            match class(c) {
                Class::Word => tokens.push(c),
                Class::Space => tokens.end_token(),
                Class::Cluster => {
                    tokens.end_token();
                    tokens.push(c);
                }
                Class::Ideograph => {
                    tokens.end_token();
                    tokens.push(c);
                    tokens.end_token();
                }
            }
        }
        tokens.end_token();
        tokens
    }

    fn push(&mut self, c: char) {
        self.bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }

    /// Ends the current token, if anything was pushed since the last one.
    fn end_token(&mut self) {
        let start = self.ends.last().copied().unwrap_or_default();
        let token = &mut self.bytes[start..];
        if token.is_empty() {
            return;
        }
        if token.is_ascii() {
            let len = stemmed(token);
            self.bytes.truncate(start + len);
        }
        self.ends.push(self.bytes.len());
    }
}

/// Stems a word of ASCII in place, unless it is short, and gives its length.
fn stemmed(word: &mut [u8]) -> usize {
    if word.len() > UNSTEMMED { porter::stem(word) } else { word.len() }
}

fn nfkc(text: &str) -> Cow<'_, str> {
    match is_nfkc_quick(text.chars()) {
        IsNormalized::Yes => Cow::Borrowed(text),
        IsNormalized::No | IsNormalized::Maybe => Cow::Owned(text.nfkc().collect()),
    }
}

/// What a character does to the current token.
enum Class {
    /// Continues it.
    Word,
    /// Ends it.
    Space,
    /// Ends it and begins another one: a cluster of a script that is written without spaces.
    Cluster,
    /// Ends it and is a token of its own.
    Ideograph,
}

fn class(c: char) -> Class {
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' => Class::Word,
        '\0'..='\x7f' => Class::Space,
        // CJK ideographs, hiragana, katakana, hangul syllables: the whole blocks with unassigned characters, as in ADK.
        '\u{4e00}'..='\u{9fff}' | '\u{3040}'..='\u{30ff}' | '\u{ac00}'..='\u{d7af}' => Class::Ideograph,
        // Thai, Lao, Khmer, Myanmar: a mark continues the cluster before it.
        '\u{0e00}'..='\u{0eff}' | '\u{1780}'..='\u{17ff}' | '\u{1000}'..='\u{109f}' => {
            if category(c) == Category::Mark { Class::Word } else { Class::Cluster }
        }
        // Not `char::is_alphanumeric`: that includes enclosed letters such as U+1F170, and no marks.
        _ => match category(c) {
            Category::Letter | Category::Mark => Class::Word,
            Category::Sign | Category::Hidden => Class::Space,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        tokens(text).iter().map(|token| String::from_utf8(token.to_vec()).unwrap()).collect()
    }

    #[test]
    fn both_paths_agree_on_ascii() {
        let every_byte: String = (0..128_u8).map(char::from).collect();
        for text in ["", "The cats' naps, 42 RUNNING-shoes", every_byte.as_str(), "snake_case  x"] {
            let slow = Tokens::of_unicode(text);
            assert_eq!(tokens(text).iter().collect::<Vec<_>>(), slow.iter().collect::<Vec<_>>(), "{text}");
        }
    }

    #[test]
    fn only_ascii_words_are_stemmed() {
        assert_eq!(words("runs running cafés ran"), ["run", "run", "cafés", "ran"]);
        assert_eq!(words("was bees"), ["was", "bee"]);
    }

    /// Python 3.11 has Unicode 14, for which U+0295 and U+02E4 are letters with case and U+10EC2 is no character: it makes
    /// `aσʕ` of the first word, and two words of the last.
    #[test]
    fn tables_are_newer_than_pythons() {
        assert_eq!(words("aΣ\u{295}"), ["aς\u{295}"]);
        assert_eq!(words("aΣ\u{2e4}"), ["aςʕ"]);
        assert_eq!(words("a\u{10ec2}b").len(), 1);
    }

    #[test]
    fn case_follows_context() {
        assert_eq!(words("ΟΔΥΣΣΕΥΣ İ Σ"), ["οδυσσευς", "i\u{307}", "σ"]);
    }
}
