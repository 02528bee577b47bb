//! Looking for a text in another one.

/// Whether a text holds a value.
///
/// A search for a text takes long in builds without optimisation, and a search for a single byte does not: the standard
/// library has it compiled. So the byte of the value that is the rarest in other texts is looked for.
pub(super) fn holds(text: &str, value: &str) -> bool {
    let bytes = value.as_bytes();
    if bytes.is_empty() {
        return false;
    }
    let at = rarest(bytes);
    let byte = bytes[at];
    if !byte.is_ascii() {
        return text.contains(value);
    }
    let mut from = 0;
    while let Some(found) = text[from..].find(char::from(byte)) {
        let place = from + found;
        if place >= at && text.as_bytes()[place - at..].starts_with(bytes) {
            return true;
        }
        from = place + 1;
    }
    false
}

/// Where the byte stands that is the rarest in other texts.
fn rarest(value: &[u8]) -> usize {
    let (mut found, mut at) = (0, 0);
    while at < value.len() {
        if rarity(value[at]) > rarity(value[found]) {
            found = at;
        }
        at += 1;
    }
    found
}

fn rarity(byte: u8) -> u8 {
    match byte {
        b'"' | b'\\' | b',' | b'.' | b':' | b'/' | b'_' | b'-' | b'{' | b'}' | b'[' | b']' => 0,
        b'a'..=b'z' => 1,
        b'0'..=b'9' => 2,
        b'A'..=b'Z' => 3,
        b'!'..=b'~' => 4,
        _ => 0,
    }
}
