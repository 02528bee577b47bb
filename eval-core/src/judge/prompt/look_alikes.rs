//! Letters that look like others.

use unicode_normalization::UnicodeNormalization;

/// A text in which what looks alike is the same, as far as the digits and letters of a fence's mark go: in lower case,
/// normalised (NFKC), without characters that nobody sees, and with the Latin letter for a Cyrillic or Greek one.
///
/// It serves comparing alone, as a digit may stand for a letter in it.
pub(super) fn plain(text: &str) -> String {
    // What is ASCII already is the usual case.
    if text.is_ascii() {
        return text.bytes().map(|byte| char::from(byte).to_ascii_lowercase()).map(twin).collect();
    }
    text.nfkd().filter(|c| !is_unseen(*c)).flat_map(char::to_lowercase).map(twin).collect()
}

/// Characters without a shape of their own: of zero width, marks on other characters, selectors of variants.
fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{300}'..='\u{36f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
    )
}

/// The letter or digit of a mark that a character looks like.
fn twin(c: char) -> char {
    match c {
        '\u{430}' | '\u{3b1}' | '\u{251}' | '\u{13aa}' => 'a',
        '\u{44c}' | '\u{432}' | '\u{3b2}' | '\u{184}' | '\u{13cf}' => 'b',
        '\u{441}' | '\u{3f2}' | '\u{1d04}' | '\u{2ca5}' => 'c',
        '\u{501}' | '\u{13e7}' | '\u{146f}' => 'd',
        '\u{435}' | '\u{454}' | '\u{3b5}' | '\u{4bd}' | '\u{212e}' => 'e',
        '\u{192}' | '\u{17f}' | '\u{584}' | '\u{3dd}' => 'f',
        'o' | '\u{43e}' | '\u{3bf}' | '\u{585}' | '\u{3c3}' => '0',
        'l' | 'i' | '|' | '\u{456}' | '\u{4cf}' | '\u{3b9}' | '\u{131}' | '\u{1c0}' => '1',
        '\u{1a8}' | '\u{3e9}' => '2',
        '\u{437}' | '\u{4e1}' | '\u{21d}' | '\u{292}' => '3',
        '\u{13ce}' => '4',
        '\u{1bd}' => '5',
        '\u{431}' => '6',
        '\u{223}' => '8',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_alike_is_the_same() {
        for (text, same) in [
            ("data-1", "d\u{430}ta-1"),
            ("face", "F\u{410}\u{421}\u{415}"),
            ("ab12", "a\u{200b}b\u{feff}1\u{ad}2"),
            ("ab12", "\u{ff41}\u{ff42}\u{ff11}\u{ff12}"),
            ("ab12", "\u{1d41a}\u{1d41b}\u{1d7cf}\u{1d7d0}"),
            ("a", "a\u{301}"),
            ("10", "lO"),
        ] {
            assert_eq!(plain(text), plain(same), "{text}");
        }
        assert_ne!(plain("ab"), plain("ba"));
    }
}
