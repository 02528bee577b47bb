//! Looking for a text in another one.

/// Whether a text holds a value.
///
/// A search for a text takes long in builds without optimisation, and a search for a single byte does not: the standard
/// library has it compiled. So the byte of the value that is the rarest in other texts is looked for.
pub(super) fn holds(text: &str, value: &str) -> bool {
    let bytes = value.as_bytes();
    let rarity = |byte: u8| match byte {
        b'A'..=b'Z' => 3,
        b'0'..=b'9' => 2,
        b'a'..=b'z' => 1,
        b'!'..=b'~' if !b"\"\\,.:/_-{}[]".contains(&byte) => 4,
        _ => 0,
    };
    let Some((at, byte)) = bytes.iter().copied().enumerate().max_by_key(|(_, byte)| rarity(*byte)) else {
        return false;
    };
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
