//! The search for secrets in a recording, before it is written.

use std::collections::BTreeSet;

use eval_format::__private::parse_value;
use eval_format::Value;
use eval_support::mutex::Mutex;
use eval_support::secrets::hide;

use crate::deltas::joined;
use crate::recording::{Body, CaseRecording, Shared};
use crate::sse::Data;
use crate::wire::Parts;

/// The shortest key that is looked for. What clients send where no key is needed is shorter.
const MIN_KEY_BYTES: usize = 16;

/// The keys that requests carried, with the names of their headers. A provider may repeat one in its answer.
static SENT_KEYS: Mutex<BTreeSet<(String, String)>> = Mutex::new(BTreeSet::new());

/// The names of headers, and the keys that they carried so far.
pub(super) fn sent_keys() -> Vec<(String, String)> {
    SENT_KEYS.lock().iter().cloned().collect()
}

/// Masks the key of a request in all output from now on, and keeps it out of recordings.
pub(crate) fn hide_key(name: &str, value: &str) {
    let key = value.rsplit(' ').next().unwrap_or_default();
    let has = |is: fn(&u8) -> bool| key.bytes().any(|byte| is(&byte));
    if key.len() >= MIN_KEY_BYTES && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic) {
        hide(key);
        SENT_KEYS.lock().insert((name.to_owned(), key.to_owned()));
    }
}

/// Fails if a recording holds a secret: the value of a variable or of a header. It is found as it is, in base64, and as in an address.
pub(super) fn refuse(
    recording: &CaseRecording,
    secrets: impl Iterator<Item = (String, String)>,
) -> Result<(), String> {
    let texts = texts(recording);
    for (name, value) in secrets {
        let forms = forms(&value);
        if forms.iter().any(|form| texts.iter().any(|text| text.contains(&**form))) {
            return Err(format!(
                "the calls of case `{}` hold the value of `{name}`, which must not be in a recording, so nothing was \
                 recorded; keep it out of what the agent sends and gets",
                recording.eval_id
            ));
        }
    }
    Ok(())
}

/// All texts of a recording: the texts of its files, and each text in it as it is. In a file a text of several lines is an
/// array, and JSON within JSON is escaped twice.
fn texts(recording: &CaseRecording) -> Vec<String> {
    let mut shared = Shared::default();
    let mut texts = vec![recording.to_json(&mut shared), shared.to_json()];
    for exchange in &recording.exchanges {
        let Parts { options, system, tools, messages } = &exchange.parts;
        texts.extend(options.iter().map(|(key, _)| key.to_owned()));
        let values = options.iter().map(|(_, value)| value).chain(system).chain(tools).chain(messages);
        values.for_each(|value| collect(value, &mut texts));
        for answer in &exchange.answers {
            match &answer.body {
                Body::Json(value) => collect(value, &mut texts),
                Body::Text { text, .. } => collect_text(text, &mut texts),
                Body::Events(events) => {
                    // A secret may be in several events.
                    texts.extend(joined(events));
                    for event in events {
                        match &event.data {
                            Data::Json(value) => collect(value, &mut texts),
                            Data::Text(text) => collect_text(text, &mut texts),
                        }
                    }
                }
            }
        }
    }
    texts
}

fn collect(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => collect_text(text, texts),
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(map) => {
            for (key, item) in map {
                texts.push(key.to_owned());
                collect(item, texts);
            }
        }
        _ => {}
    }
}

/// Adds a text, and the texts in it if it is JSON.
fn collect_text(text: &str, texts: &mut Vec<String>) {
    texts.push(text.to_owned());
    if text.trim_start().starts_with(['{', '[', '"'])
        && let Ok(inner) = parse_value(text)
    {
        collect(&inner, texts);
    }
}

/// The forms in which a value may be written.
fn forms(value: &str) -> Vec<String> {
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

    let in_json = Value::from(value).to_string();
    let in_json = in_json.trim_matches('"').to_owned();
    let mut forms = vec![value.trim().to_owned(), in_json.replace('/', "\\/"), in_json];
    for spared in ["", "/"] {
        let in_address = in_address(value, spared);
        forms.extend([in_address.to_ascii_lowercase(), in_address]);
    }
    // A text before it, such as the name of a user, moves its bits.
    for before in 0..3 {
        let bytes = [&[0; 2][..before], value.as_bytes()].concat();
        let shared = (before * 8).div_ceil(6);
        for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
            let whole = engine.encode(&bytes);
            let own = &whole[shared..whole.len() - usize::from(bytes.len() % 3 > 0)];
            forms.push(own.to_owned());
        }
    }
    forms
}

fn in_address(text: &str, spared: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        let letter = char::from(byte);
        if byte.is_ascii_alphanumeric()
            || matches!(byte, b'-' | b'_' | b'.' | b'~')
            || spared.contains(letter)
        {
            out.push(letter);
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
