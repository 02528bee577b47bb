//! Numbers in the text of an answer.

use crate::value::Number;

/// The numbers in a text: `16,449.40`, `-7`, `−7`, `10%`.
///
/// Parts of dates, times, versions and words are no numbers, and neither is `1.234,56` or `1e5`. A number that is missed fails
/// a demand; an invented one would pass it.
pub(super) fn numbers(text: &str) -> Vec<Number> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(offset) = text[at..].find(|c: char| c.is_ascii_digit()) {
        let start = at + offset;
        let (digits, end) = literal(text, start);
        if is_end(&text[end..])
            && let Some(is_negative) = sign(&text[..start])
        {
            let sign = if is_negative { "-" } else { "" };
            let plain = digits.trim_start_matches('0');
            let zero = if plain.is_empty() || plain.starts_with('.') { "0" } else { "" };
            found.extend(Number::parse(&format!("{sign}{zero}{plain}")));
        }
        at = end;
    }
    found
}

/// The digits of a number that begins here, without commas, and its end. The longest number is the only one that can end
/// in front of something else than a digit.
fn literal(text: &str, start: usize) -> (String, usize) {
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let mut end = start + digits(start);
    let mut literal = text[start..end].to_owned();
    if end - start <= 3 {
        while text[end..].starts_with(',') && digits(end + 1) >= 3 {
            literal.push_str(&text[end + 1..end + 4]);
            end += 4;
        }
    }
    if text[end..].starts_with('.') && digits(end + 1) > 0 {
        let fraction_end = end + 1 + digits(end + 1);
        literal.push_str(&text[end..fraction_end]);
        end = fraction_end;
    }
    (literal, end)
}

/// Whether a number can end before this text.
fn is_end(rest: &str) -> bool {
    let mut chars = rest.chars();
    match chars.next() {
        Some(c) if is_word(c) => false,
        Some('.' | ',' | ':' | '/' | '–' | '−' | '-') => !chars.next().is_some_and(char::is_numeric),
        Some(c) if is_between_groups(c) => !chars.next().is_some_and(char::is_numeric),
        _ => true,
    }
}

/// Whether a character separates digits of one number: `1'000`, `1 000` with a blank that does not break.
fn is_between_groups(c: char) -> bool {
    matches!(c, '\'' | '’' | '\u{a0}' | '\u{202f}' | '\u{2009}')
}

/// Whether the number behind this text is negative; `None` if no number can begin there.
fn sign(before: &str) -> Option<bool> {
    let ends_in_group = |before: &str| {
        let mut back = before.chars().rev();
        back.next().is_some_and(is_between_groups) && back.next().is_some_and(char::is_numeric)
    };
    let begins = |before: &str| {
        !before.ends_with(|c| is_word(c) || matches!(c, '.' | ',' | ':' | '/')) && !ends_in_group(before)
    };
    match before.chars().next_back() {
        Some(sign @ ('+' | '-' | '−' | '–')) => {
            let before = &before[..before.len() - sign.len_utf8()];
            begins(before).then_some(matches!(sign, '-' | '−'))
        }
        _ => begins(before).then_some(false),
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
