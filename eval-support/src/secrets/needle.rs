//! Looking for a text in another one.

/// A text that is looked for in others.
///
/// A search for a text takes long in builds without optimisation, and a search for a single byte does not: the standard
/// library has it compiled. So the byte of the text that is the rarest in other texts is looked for.
pub(super) struct Needle<T> {
    pub(super) text: T,
    /// Where that byte stands.
    rarest: usize,
}

impl Needle<&'static str> {
    pub(super) const fn of(text: &'static str) -> Self {
        Self { text, rarest: rarest(text.as_bytes()) }
    }
}

impl Needle<String> {
    pub(super) fn new(text: String) -> Self {
        Self { rarest: rarest(text.as_bytes()), text }
    }
}

impl<T: AsRef<str>> Needle<T> {
    /// Whether a text holds this one.
    pub(super) fn is_in(&self, text: &str) -> bool {
        let (value, at) = (self.text.as_ref().as_bytes(), self.rarest);
        if value.is_empty() || value.len() > text.len() {
            return false;
        }
        let byte = value[at];
        if !byte.is_ascii() {
            return text.contains(self.text.as_ref());
        }
        let mut from = 0;
        while let Some(found) = text[from..].find(char::from(byte)) {
            let place = from + found;
            if place >= at && text.as_bytes()[place - at..].starts_with(value) {
                return true;
            }
            from = place + 1;
        }
        false
    }
}

/// Where the byte stands that is the rarest in other texts.
const fn rarest(value: &[u8]) -> usize {
    let (mut found, mut at) = (0, 0);
    while at < value.len() {
        if rarity(value[at]) > rarity(value[found]) {
            found = at;
        }
        at += 1;
    }
    found
}

const fn rarity(byte: u8) -> u8 {
    match byte {
        b'"' | b'\\' | b',' | b'.' | b':' | b'/' | b'_' | b'-' | b'{' | b'}' | b'[' | b']' => 0,
        b'a'..=b'z' => 1,
        b'0'..=b'9' => 2,
        b'A'..=b'Z' => 3,
        b'!'..=b'~' => 4,
        _ => 0,
    }
}
