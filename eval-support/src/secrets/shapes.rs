//! Words that look like keys.

use std::borrow::Cow;

/// The replacement of a key.
pub(super) const HIDDEN: &str = "(a key)";

/// The shape of a provider's keys: their beginning, and the least number of characters behind it.
struct Shape {
    begin: &'static str,
    least: usize,
    /// Whether a digit and a letter have to be among them. Words of prose have no digits.
    mixed: bool,
}

const fn shape(begin: &'static str, least: usize) -> Shape {
    Shape { begin, least, mixed: true }
}

/// Keys of letters, digits, `-`, `_` and `.` behind a known beginning.
const SHAPES: &[Shape] = &[
    // OpenAI, Anthropic, DeepSeek, OpenRouter; Stripe.
    shape("sk-", 16),
    shape("sk_", 16),
    shape("rk_", 16),
    shape("whsec_", 16),
    // Google.
    shape("AIza", 30),
    shape("ya29.", 20),
    shape("AQ.", 30),
    shape("GOCSPX-", 20),
    // GitHub, GitLab.
    shape("ghp_", 20),
    shape("gho_", 20),
    shape("ghu_", 20),
    shape("ghs_", 20),
    shape("ghr_", 20),
    shape("github_pat_", 20),
    shape("glpat-", 16),
    // Slack.
    shape("xoxb-", 12),
    shape("xoxp-", 12),
    shape("xoxa-", 12),
    shape("xoxr-", 12),
    shape("xoxs-", 12),
    shape("xapp-", 12),
    // AWS.
    Shape { begin: "AKIA", least: 16, mixed: false },
    Shape { begin: "ASIA", least: 16, mixed: false },
    // Hugging Face, Groq, xAI, Perplexity, Replicate, Tavily.
    shape("hf_", 20),
    shape("gsk_", 20),
    shape("xai-", 20),
    shape("pplx-", 20),
    shape("r8_", 20),
    shape("tvly-", 16),
    // Registries and services.
    shape("npm_", 20),
    shape("pypi-", 20),
    shape("dckr_pat_", 16),
    shape("SG.", 30),
    shape("shpat_", 20),
    shape("glsa_", 20),
    shape("dop_v1_", 30),
    shape("lin_api_", 20),
    shape("hvs.", 20),
    // JSON web tokens: two parts of JSON at least.
    shape("eyJ", 20),
];

/// Whether a word begins like a key, whatever follows: providers quote parts of keys.
pub fn begins_like_key(word: &str) -> bool {
    SHAPES.iter().any(|shape| word.starts_with(shape.begin))
}

/// The length of the shortest run that may be a key or a part of one.
const SHORTEST_RUN: usize = 16;

/// A text with words that look like keys, and the user and the password of addresses, masked.
///
/// Texts of journals pass through here in tests, which are built without optimisation. So the search skips
/// bytes. A key is in a long run of certain characters. The search reads a window of the shortest length of
/// such a run from its end. The last other character in the window ends every run that begins before it, so
/// the next window begins behind that character.
pub fn mask_shapes(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut hidden: Vec<(usize, usize)> = Vec::new();
    let mut may_be_private = false;
    // The first offset at which the next run can begin.
    let mut begin = 0;
    while begin + SHORTEST_RUN <= bytes.len() {
        let mut at = begin + SHORTEST_RUN;
        while at > begin && PARTS[bytes[at - 1] as usize] != 0 {
            at -= 1;
        }
        if at > begin {
            begin = at;
            continue;
        }
        let mut end = begin + SHORTEST_RUN;
        while end < bytes.len() && PARTS[bytes[end] as usize] != 0 {
            end += 1;
        }
        // Names and words of prose have no digits.
        if is_mixed(&bytes[begin..end]) {
            may_be_private = true;
            if let Some(found) = key(bytes, begin, end).or_else(|| credentials(bytes, begin, end)) {
                hidden.push(found);
                end = end.max(found.1);
            }
        }
        // The byte that ends this run is in no run.
        begin = end + 1;
    }
    if may_be_private && KIND.is_in(text) {
        hidden.extend(private_keys(text));
    }
    if bytes.contains(&b'@') {
        hidden.extend(text.match_indices('@').filter_map(|(at, _)| user_and_password(text, at)));
    }
    if hidden.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(without(text, hidden)) }
}

/// A text with these parts masked.
fn without(text: &str, mut hidden: Vec<(usize, usize)>) -> String {
    hidden.sort_unstable();
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (begin, end) in hidden {
        if begin >= from {
            out.push_str(&text[from..begin]);
            out.push_str(HIDDEN);
        }
        from = from.max(end);
    }
    out.push_str(&text[from..]);
    out
}

/// The bytes of which a key consists: letters, digits, `-` and `_`. 0 for all others.
static PARTS: [u8; 256] = {
    let mut parts = [0; 256];
    let mut at = 0_usize;
    while at < 256 {
        parts[at] = match at.to_le_bytes()[0] {
            b'A'..=b'Z' | b'a'..=b'z' => LETTER,
            b'0'..=b'9' => DIGIT,
            b'-' | b'_' => SIGN,
            _ => 0,
        };
        at += 1;
    }
    parts
};

const LETTER: u8 = 1;
const DIGIT: u8 = 2;
const SIGN: u8 = 4;
const MIXED: u8 = LETTER | DIGIT;

fn is_part(byte: u8) -> bool {
    PARTS[usize::from(byte)] != 0
}

/// Whether there are a digit and a letter.
fn is_mixed(mut text: &[u8]) -> bool {
    let mut kinds = 0;
    while let [byte, rest @ ..] = text {
        kinds |= PARTS[*byte as usize];
        if kinds & MIXED == MIXED {
            return true;
        }
        text = rest;
    }
    false
}

/// The longest beginning of a key with a dot in it: `ya29.`
const LONGEST_BEGINNING: usize = 5;
/// The number of offsets at the begin of a run at which a word may follow an escape: offset 2 in `%3Ask-`.
const OFFSETS_BEHIND_ESCAPE: usize = 3;
/// The length of the shortest key, with its beginning.
const SHORTEST_KEY: usize = {
    let (mut shortest, mut at) = (usize::MAX, 0);
    while at < SHAPES.len() {
        let length = SHAPES[at].begin.len() + SHAPES[at].least;
        if length < shortest {
            shortest = length;
        }
        at += 1;
    }
    shortest
};
/// The number of bytes of a word that are looked at to tell whether it is a key.
const LOOKED_AT: usize = 512;

/// The key that begins in a run, or right before it if its beginning has a dot.
fn key(bytes: &[u8], begin: usize, end: usize) -> Option<(usize, usize)> {
    let is_behind_dot = begin > 0 && bytes[begin - 1] == b'.';
    let mut at = if is_behind_dot { begin.saturating_sub(LONGEST_BEGINNING) } else { begin };
    // A word that begins later is too short to be a key, unless it continues behind a dot.
    let goes_on = bytes.get(end) == Some(&b'.');
    let end = if goes_on { end } else { (end + 1).saturating_sub(SHORTEST_KEY) };
    while at < end {
        // Within a run a word begins behind `-` and `_`, and near its begin behind an escape.
        let may_start = at < begin + OFFSETS_BEHIND_ESCAPE || matches!(bytes[at - 1], b'-' | b'_');
        if may_start
            && at + 1 < bytes.len()
            && BEGINS[bytes[at] as usize] >> (bytes[at + 1] & 0x7f) & 1 != 0
            && is_word_start(bytes, at)
        {
            let found = SHAPES.iter().any(|shape| {
                let start = at + shape.begin.len();
                bytes[at..].starts_with(shape.begin.as_bytes())
                    && start >= begin
                    && is_key(&bytes[start..end_of_word(bytes, start, LOOKED_AT)], shape)
            });
            if found {
                return Some((at, end_of_word(bytes, at, usize::MAX)));
            }
        }
        at += 1;
    }
    None
}

/// The first two bytes of keys: the entry of the first byte has a bit for the second one. Few words begin so,
/// and only these words are compared with all shapes.
static BEGINS: [u128; 256] = {
    let mut begins = [0; 256];
    let mut shape = 0;
    while shape < SHAPES.len() {
        let begin = SHAPES[shape].begin.as_bytes();
        begins[begin[0] as usize] |= 1 << begin[1];
        shape += 1;
    }
    begins
};

/// The end of a word of parts with dots between them, or the end of its first `most` bytes.
fn end_of_word(bytes: &[u8], from: usize, most: usize) -> usize {
    let mut end = from;
    while end < bytes.len()
        && end - from < most
        && (is_part(bytes[end]) || bytes[end] == b'.' && is_within(bytes, end))
    {
        end += 1;
    }
    end
}

/// Whether these characters after the beginning of a shape make a key.
fn is_key(body: &[u8], shape: &Shape) -> bool {
    let is_jwt = shape.begin != "eyJ" || body.contains(&b'.');
    let is_id = shape.mixed || body.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    body.len() >= shape.least && (is_mixed(body) || !shape.mixed) && is_jwt && is_id
}

/// Whether a dot separates two parts of a key, instead of ending a sentence.
fn is_within(bytes: &[u8], at: usize) -> bool {
    bytes.get(at + 1).is_some_and(|byte| is_part(*byte))
}

/// Whether a word begins at an offset. A letter before it may be the end of an escape such as `\n` or `%3A`.
fn is_word_start(bytes: &[u8], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).map(|at| bytes[at]);
    match before(1) {
        Some(b'n' | b't' | b'r') if before(2) == Some(b'\\') => true,
        Some(byte) if byte.is_ascii_hexdigit() && before(3) == Some(b'%') => true,
        Some(byte) => !byte.is_ascii_alphanumeric(),
        None => true,
    }
}

/// The user and the password of an address, before the `@` at an offset.
fn user_and_password(text: &str, at: usize) -> Option<(usize, usize)> {
    /// The longest user and password. The limit keeps the time linear in the number of `@`.
    const LONGEST: usize = 300;
    let bytes = text.as_bytes();
    let ends =
        |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'<' | b'>' | b'\\' | b'`');
    let mut begin = at;
    while begin > 0 && at - begin < LONGEST && bytes[begin - 1] != b'/' && !ends(bytes[begin - 1]) {
        begin -= 1;
    }
    let scheme = bytes[..begin].strip_suffix(b"://")?;
    let (user, password) = text.get(begin..at)?.split_once(':')?;
    let is_template = password.starts_with(['$', '{', '<', '*']) || (password.is_empty() && user.is_empty());
    (scheme.last().is_some_and(u8::is_ascii_alphanumeric) && !is_template).then_some((begin, at))
}

/// The credentials behind `Bearer` or `Basic` that contain this run.
fn credentials(bytes: &[u8], begin: usize, end: usize) -> Option<(usize, usize)> {
    let is_part = |byte: u8| is_part(byte) || matches!(byte, b'.' | b'~' | b'+' | b'/' | b'=');
    let (mut first, mut last) = (begin, end);
    while first > 0 && begin - first < LOOKED_AT && is_part(bytes[first - 1]) {
        first -= 1;
    }
    let before = bytes[..first].strip_suffix(b" ")?;
    let names: [&[u8]; 2] = [b"bearer", b"basic"];
    let named = |name: &[u8]| {
        before.len() >= name.len() && before[before.len() - name.len()..].eq_ignore_ascii_case(name)
    };
    if !names.into_iter().any(named) {
        return None;
    }
    while last < bytes.len() && is_part(bytes[last]) {
        last += 1;
    }
    Some((first, last))
}

/// The begin of the first line of a private key.
const BEGIN: &str = "-----BEGIN ";
/// The end of the first line.
static KIND: Needle<&str> = Needle::of("PRIVATE KEY-----");
/// The begin of the last line.
const END: &str = "-----END";

/// The search for a private key whose lines are separate texts, from its first line to its last.
#[derive(Debug, Default)]
pub struct PrivateKey {
    is_open: bool,
}

impl PrivateKey {
    /// Takes the next text. Returns it masked if it is a part of the key, and `None` otherwise.
    pub fn mask(&mut self, text: &str) -> Option<String> {
        let was_open = self.is_open;
        if !was_open && !KIND.is_in(text) {
            return None;
        }
        let end = text.find(END);
        let first_line = text.rfind(BEGIN).map(|at| &text[at..]).filter(|line| KIND.is_in(line));
        self.is_open = first_line.map_or(was_open && end.is_none(), |line| !line.contains(END));
        let part = &text[..end.unwrap_or(text.len())];
        // Shorter parts are words of other texts, unless the last line follows.
        let is_long = part.len() >= if end.is_some() { 1 } else { SHORTEST_RUN };
        let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/= \r\n".contains(&byte);
        (was_open && is_long && part.bytes().all(is_base64))
            .then(|| format!("{HIDDEN}{}", &text[part.len()..]))
    }
}

/// Private keys between their lines `BEGIN` and `END`. A truncated key reaches to the end of the text.
fn private_keys(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(BEGIN)) {
        let kind = from + at + BEGIN.len();
        from = kind;
        // At most a word precedes it: `RSA`, `OPENSSH`, `ENCRYPTED`.
        let line =
            text[kind..].char_indices().nth(KIND.text.len() + 16).map_or(text.len(), |(end, _)| kind + end);
        let Some(begin) = text[kind..line].find(KIND.text).map(|at| kind + at + KIND.text.len()) else {
            continue;
        };
        let end = text[begin..].find(END).map(|end| begin + end);
        found.push((begin, end.unwrap_or(text.len())));
        let Some(end) = end else { break };
        from = end;
    }
    found
}

/// A text to search for in other texts.
///
/// In builds without optimisation a search for a text is slow. A search for a single byte is fast: the
/// standard library has it compiled. So the search looks for the byte of the text that is the rarest in other
/// texts.
pub(super) struct Needle<T> {
    pub(super) text: T,
    /// The index of its rarest byte.
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

/// The index of the byte that is the rarest in other texts.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_known_shapes_are_masked() {
        for key in [
            "sk-abcdefghijklmnop1234",
            "sk-proj-Ab12_Cd34-Ef56Gh78Ij90",
            "sk-ant-api03-abcdefghij0123456789",
            "sk_live_abcdefghij0123456789",
            "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY",
            "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
            "github_pat_11ABCDEFG0abcdefghij_klmnop",
            "glpat-abcdefghij0123456789",
            "xoxb-123456789012-abcdefghij",
            "AKIAIOSFODNN7EXAMPLE",
            "hf_abcdefghijklmnopqrst0123",
            "gsk_abcdefghijklmnopqrst0123",
            "npm_abcdefghijklmnopqrst0123456789",
            "ya29.a0AfH6SMBabcdefghij0123",
            "SG.abcdefghij0123456789.abcdefghij0123456789",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijklm",
        ] {
            for (before, after) in [
                ("", ""),
                ("key=", " and"),
                ("\"", "\""),
                ("so:\\n", "\\n"),
                ("a%3A", "%0A"),
                ("It is ", "."),
            ] {
                let text = format!("{before}{key}{after}");
                assert_eq!(mask_shapes(&text), format!("{before}(a key){after}"), "{text}");
            }
        }
    }

    #[test]
    fn passwords_in_addresses_headers_and_private_keys_are_masked() {
        for (text, expected) in [
            ("postgres://me:hunter2@db.test:5432/x", "postgres://(a key)@db.test:5432/x"),
            ("see redis://:p@ss@h/0, or not", "see redis://(a key)@h/0, or not"),
            ("\"url\":\"https://u:p@h.test\"", "\"url\":\"https://(a key)@h.test\""),
            ("Authorization: Bearer abcdef1234567890", "Authorization: Bearer (a key)"),
            ("authorization: Basic dXNlcjpwYXNzd29yZDE=", "authorization: Basic (a key)"),
            (
                "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA1234567890abcdef\n-----END RSA PRIVATE KEY-----\nend",
                "-----BEGIN RSA PRIVATE KEY-----(a key)-----END RSA PRIVATE KEY-----\nend",
            ),
            (
                "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIHp+Fx+OeP7UfZA/1qA8dnHAox8bF3DDVQlM/O0K\n-----END",
                "-----BEGIN PRIVATE KEY-----(a key)-----END",
            ),
            (
                "-----BEGIN PRIVATE KEY-----\\nMIIEpAIBAAKCAQEA1234567890abcdef",
                "-----BEGIN PRIVATE KEY-----(a key)",
            ),
        ] {
            assert_eq!(mask_shapes(text), expected, "{text}");
        }
    }

    #[test]
    fn a_private_key_in_several_texts_is_masked_from_its_first_line_to_its_last() {
        let mut key = PrivateKey::default();
        for (text, expected) in [
            ("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", None),
            ("a text: -----BEGIN PRIVATE KEY-----", None),
            ("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", Some("(a key)")),
            ("lookup_order_of_customer", None),
            ("model", None),
            ("MC4C==\n-----END PRIVATE KEY-----", Some("(a key)-----END PRIVATE KEY-----")),
            ("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", None),
            ("-----BEGIN EC PRIVATE KEY-----\nabc\n-----END EC PRIVATE KEY-----", None),
            ("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", None),
        ] {
            assert_eq!(key.mask(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_key_stays() {
        for text in [
            "",
            "It is sunny in Paris: 21 degrees.",
            "use sk-learn-compatible-estimators-of-any-kind",
            "task-1234567890abcdefghij",
            "https://example.test/a:b@c",
            "http://localhost:8000/v1",
            "mail me@example.test",
            "eyJ is how tokens begin",
            "Bearer of good news 2024",
            "rubric_based_final_response_quality_v1 and 2026-11-22T02-31-07-1a2b3c4d",
            "sk-short1",
            "postgres://${USER}:${PASSWORD}@h",
            "gemini-2.5-flash-preview-09-2025",
        ] {
            assert!(matches!(mask_shapes(text), Cow::Borrowed(_)), "{text}: {}", mask_shapes(text));
        }
    }

    #[test]
    fn long_texts_cost_no_more_than_their_length() {
        for piece in
            ["sk-", "a://", "://a:", "Bearer ", "PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----", "eyJ."]
        {
            let _ = mask_shapes(&piece.repeat(100_000));
        }
    }
}
