//! Words that look like keys.

use std::borrow::Cow;

/// What stands in place of a key.
const HIDDEN: &str = "(a key)";

/// How the keys of a provider look: how they begin, and how many characters follow at least.
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
    shape("xoxb-", 10),
    shape("xoxp-", 10),
    shape("xoxa-", 10),
    shape("xoxr-", 10),
    shape("xoxs-", 10),
    shape("xapp-", 10),
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

/// A text without words that look like keys, and without the user and the password of addresses.
pub(crate) fn mask_shapes(text: &str) -> Cow<'_, str> {
    let mut hidden: Vec<(usize, usize)> = Vec::new();
    for shape in SHAPES {
        // The search is the standard library's, which is compiled with optimisation in any build.
        if text.contains(shape.begin) {
            keys(text, shape, &mut hidden);
        }
    }
    if text.contains("://") {
        hidden.extend(text.match_indices("://").filter_map(|(at, _)| user_and_password(text, at)));
    }
    for word in ["Bearer ", "bearer ", "Basic "] {
        if text.contains(word) {
            hidden.extend(text.match_indices(word).filter_map(|(at, _)| credentials(text, at + word.len())));
        }
    }
    if text.contains("PRIVATE KEY-----") {
        hidden.extend(private_keys(text));
    }
    if hidden.is_empty() {
        return Cow::Borrowed(text);
    }
    hidden.sort_unstable();
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (begin, end) in hidden {
        if begin >= from {
            out.push_str(&text[from..begin]);
            out.push_str(HIDDEN);
            from = end;
        } else if end > from {
            from = end;
        }
    }
    out.push_str(&text[from..]);
    Cow::Owned(out)
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// Adds the keys of a shape.
fn keys(text: &str, shape: &Shape, found: &mut Vec<(usize, usize)>) {
    let bytes = text.as_bytes();
    let mut from = 0;
    for (at, _) in text.match_indices(shape.begin) {
        // Within a word that is no key, there is no shorter one.
        if at < from || !is_word_start(bytes, at) {
            continue;
        }
        let start = at + shape.begin.len();
        from = start;
        while from < bytes.len() && (is_part(bytes[from]) || bytes[from] == b'.' && is_within(bytes, from)) {
            from += 1;
        }
        if is_key(&bytes[start..from], shape) {
            found.push((at, from));
        }
    }
}

/// Whether these characters after the beginning of a shape make a key.
fn is_key(body: &[u8], shape: &Shape) -> bool {
    let has = |is: fn(&u8) -> bool| body.iter().any(is);
    let is_mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    let is_jwt = shape.begin != "eyJ" || body.contains(&b'.');
    let is_id = shape.mixed || body.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    body.len() >= shape.least && (is_mixed || !shape.mixed) && is_jwt && is_id
}

/// Whether a dot stands between two parts of a key, and not at the end of a sentence.
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

/// The user and the password of an address whose `://` stands at an offset.
fn user_and_password(text: &str, at: usize) -> Option<(usize, usize)> {
    let begin = at + "://".len();
    let scheme = text[..at].bytes().next_back().is_some_and(|byte| byte.is_ascii_alphanumeric());
    let rest = &text[begin..];
    // A password may hold an `@`; the last one before the path counts.
    let authority =
        rest.find(|c: char| c.is_whitespace() || matches!(c, '/' | '"' | '\'' | '<' | '>' | '\\' | '`'));
    let authority = &rest[..authority.unwrap_or(rest.len())];
    let end = authority.rfind('@')?;
    let (user, password) = authority[..end].split_once(':')?;
    let is_template = password.starts_with(['$', '{', '<', '*']) || password.is_empty() && user.is_empty();
    (scheme && !is_template).then_some((begin, begin + end))
}

/// What follows `Bearer` or `Basic`, if it looks like a key.
fn credentials(text: &str, at: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let is_part = |byte: &u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~' | b'+' | b'/' | b'=')
    };
    let length = bytes[at..].iter().take_while(|byte| is_part(byte)).count();
    let word = &bytes[at..at + length];
    let is_key =
        length >= 12 && word.iter().any(u8::is_ascii_digit) && word.iter().any(u8::is_ascii_alphabetic);
    is_key.then_some((at, at + length))
}

/// Private keys between their lines `BEGIN` and `END`. One that is cut off reaches to the end of the text.
fn private_keys(text: &str) -> Vec<(usize, usize)> {
    const BEGIN: &str = "-----BEGIN ";
    const KIND: &str = "PRIVATE KEY-----";
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(BEGIN)) {
        let kind = from + at + BEGIN.len();
        from = kind;
        // Few words stand before: `RSA`, `OPENSSH`, `ENCRYPTED`.
        let line = text[kind..].char_indices().nth(KIND.len() + 16).map_or(text.len(), |(end, _)| kind + end);
        let Some(begin) = text[kind..line].find(KIND).map(|at| kind + at + KIND.len()) else { continue };
        let end = text[begin..].find("-----END").map(|end| begin + end);
        found.push((begin, end.unwrap_or(text.len())));
        let Some(end) = end else { break };
        from = end;
    }
    found
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
            ("Authorization: Bearer abcdef123456789", "Authorization: Bearer (a key)"),
            ("authorization: Basic dXNlcjpwYXNzd29yZDE=", "authorization: Basic (a key)"),
            (
                "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nend",
                "-----BEGIN RSA PRIVATE KEY-----(a key)-----END RSA PRIVATE KEY-----\nend",
            ),
            ("-----BEGIN PRIVATE KEY-----\\nMIIE", "-----BEGIN PRIVATE KEY-----(a key)"),
        ] {
            assert_eq!(mask_shapes(text), expected, "{text}");
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
