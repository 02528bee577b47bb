//! ADK's tokenizer: NFKC, lower case, words by Unicode category, Porter stems of ASCII words.
//!
//! Source: `_UnicodeAwareTokenizer` in `final_response_match_v1.py` of google-adk 2.13.0.
//!
//! Categories come from the module `category`, normalisation from the crate `unicode-normalization`, case
//! from std. google-adk uses its Python's tables (Unicode 14 with Python 3.11). The results differ for
//! characters that one side does not know yet, and for a capital sigma beside U+0295, U+02E4 or U+1171E,
//! whose class Unicode has changed since.

use std::borrow::Cow;

use eval_support::category::{Category, category};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use super::porter;

/// The length up to which words are not stemmed, in bytes.
const UNSTEMMED: usize = 3;

const KEY: usize = 8;

/// The tokens of a text, in one buffer without separators.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tokens {
    /// The last token is padded with `KEY` bytes, so that each key is read at once.
    bytes: Vec<u8>,
    /// The end of each token in the buffer.
    ends: Vec<usize>,
}

pub(crate) fn tokens(text: &str) -> Tokens {
    Tokens::of_ascii(text).unwrap_or_else(|| Tokens::of_unicode(text))
}

pub(crate) fn has_words(text: &str) -> bool {
    // An ASCII letter or digit is part of a token, whatever is beside it.
    text.bytes().any(|byte| byte.is_ascii_alphanumeric()) || tokens(text).len() > 0
}

impl Tokens {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The tokens in order, each the UTF-8 bytes of a text that is not empty.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|at| self.get(at))
    }

    pub(crate) fn get(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.bytes[start..self.ends[at]]
    }

    /// The first eight bytes of the token at an index as a number, filled up with zeros.
    ///
    /// Tokens hold no zero bytes, so two tokens of less than eight bytes with equal keys are equal.
    pub(crate) fn key(&self, at: usize) -> u64 {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        let len = self.ends[at] - start;
        let Some(letters) = self.bytes[start..].first_chunk() else { return 0 };
        let key = u64::from_be_bytes(*letters);
        // A token is not empty, so the shift is less than the width.
        if len < KEY { key >> (8 * (KEY - len)) << (8 * (KEY - len)) } else { key }
    }

    /// The tokens that `of_unicode` makes of a text of ASCII, which needs no normalisation; `None` for any other text.
    ///
    /// Splitting words is most of the cost of scoring a case.
    fn of_ascii(text: &str) -> Option<Self> {
        if !text.is_ascii() {
            return None;
        }
        let mut tokens =
            Self { bytes: Vec::with_capacity(text.len() + KEY), ends: Vec::with_capacity(text.len() / 4) };
        for word in text.as_bytes().split(|byte| !byte.is_ascii_alphanumeric()) {
            tokens.bytes.extend(word.iter().map(u8::to_ascii_lowercase));
            tokens.end_token();
        }
        tokens.bytes.extend_from_slice(&[0; KEY]);
        Some(tokens)
    }

    fn of_unicode(text: &str) -> Self {
        let mut tokens =
            Self { bytes: Vec::with_capacity(text.len()), ends: Vec::with_capacity(text.len() / 4) };
        for c in nfkc(text).to_lowercase().chars() {
            let class = class(c);
            if class != Class::Word {
                tokens.end_token();
            }
            if class != Class::Space {
                tokens.bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
            if class == Class::Ideograph {
                tokens.end_token();
            }
        }
        tokens.end_token();
        tokens.bytes.extend_from_slice(&[0; KEY]);
        tokens
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

/// The effect of a character on the current token.
#[derive(PartialEq)]
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
    fn a_text_with_tokens_is_known() {
        for text in
            ["", " .!", "👍", "e\u{301}", "-5", "東京", "\u{20e3}", "1\u{20e3}", "K", "µ", "a\u{338}", "…"]
        {
            assert_eq!(has_words(text), tokens(text).len() > 0, "{text:?}");
        }
        for letter in (b'0'..=b'z').map(char::from).filter(char::is_ascii_alphanumeric) {
            for mark in ('\u{300}'..='\u{36f}').chain('\u{20d0}'..='\u{20f0}') {
                assert!(tokens(&format!("{letter}{mark}")).len() > 0, "{letter}{mark}");
            }
        }
    }

    #[test]
    fn only_ascii_words_are_stemmed() {
        assert_eq!(words("runs running cafés ran"), ["run", "run", "cafés", "ran"]);
        assert_eq!(words("was bees"), ["was", "bee"]);
    }

    /// Python 3.11 has Unicode 14, for which U+0295 and U+02E4 are letters with case and U+10EC2 is no character: it
    /// makes `aσʕ` of the first word, and two words of the last.
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
