//! Images and other parts of messages that are no text.

use std::cell::Cell;

use base64::Engine;
use base64::alphabet;
use base64::engine::general_purpose::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use eval_format::{Content, Map, Part, Value};
use eval_support::words::{count, grouped};
use serde::Serialize;

use super::line;

/// A part of a message that is no text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Media {
    /// `[image/png, 12 kB]`.
    pub label: String,
    /// A small image as a `data:` URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub src: Option<String>,
}

/// The bytes of images that a page still takes.
#[derive(Debug)]
pub struct Budget(Cell<usize>);

const MAX_IMAGE_BYTES: usize = 200_000;

const MAX_ALL_IMAGES_BYTES: usize = 4_000_000;

/// The largest side of an image in pixels: a small file can be a picture that fills the memory of a browser.
const MAX_SIDE_PIXELS: u32 = 5_000;

impl Default for Budget {
    fn default() -> Self {
        Self(Cell::new(MAX_ALL_IMAGES_BYTES))
    }
}

/// The parts of a message that are no text, calls and responses excepted.
pub fn media(content: &Content, budget: &Budget) -> Vec<Media> {
    content.parts().iter().flat_map(|part| of_part(part, budget)).collect()
}

/// The names of what a part holds beside text.
pub(crate) fn media_labels(part: &Part) -> Vec<String> {
    of_part(part, &Budget(Cell::new(0))).into_iter().map(|media| media.label).collect()
}

fn of_part(part: &Part, budget: &Budget) -> Vec<Media> {
    let of_key = |(key, value): (&str, &Value)| {
        let map = value.as_object()?;
        match key {
            "inline_data" => Some(blob(map, budget)),
            "file_data" => {
                let uri = map.get("file_uri").and_then(Value::as_str).unwrap_or_default();
                Some(Media { label: line(&format!("[{}, {uri}]", mime(map))), src: None })
            }
            "executable_code" => Some(Media { label: "[code]".to_owned(), src: None }),
            "code_execution_result" => Some(Media { label: "[result of code]".to_owned(), src: None }),
            _ => None,
        }
    };
    part.other.iter().filter_map(of_key).collect()
}

/// Whether two messages hold the same parts beside their texts.
pub(crate) fn same_media(one: &Content, other: &Content) -> bool {
    let parts = |content: &Content| {
        let keys = ["inline_data", "file_data", "executable_code", "code_execution_result"];
        let of_part = |part: &Part| {
            let of_key = keys.iter().filter_map(|key| Some((*key, identity(part.other.get(key)?))));
            of_key.collect::<Vec<_>>()
        };
        content.parts().iter().flat_map(of_part).collect::<Vec<_>>()
    };
    parts(one) == parts(other)
}

/// The part without the name under which it is shown, and with its bytes in one alphabet.
fn identity(value: &Value) -> Value {
    let Some(map) = value.as_object() else { return value.clone() };
    let fields =
        map.iter().filter(|(key, _)| *key != "display_name").map(|(key, value)| match value.as_str() {
            Some(data) if key == "data" => (key.to_owned(), Value::from(in_standard_alphabet(data))),
            _ => (key.to_owned(), value.clone()),
        });
    Value::Object(fields.collect::<Map>())
}

fn mime(map: &Map) -> &str {
    map.get("mime_type").and_then(Value::as_str).unwrap_or("unknown type")
}

fn blob(map: &Map, budget: &Budget) -> Media {
    of_data(mime(map), map.get("data").and_then(Value::as_str).unwrap_or_default(), budget)
}

/// Bytes of a type, in base64.
pub(super) fn of_data(mime: &str, data: &str, budget: &Budget) -> Media {
    let data = in_standard_alphabet(data);
    let bytes = data.len() / 4 * 3 + data.len() % 4 * 3 / 4;
    Media { label: line(&format!("[{mime}, {}]", size(bytes))), src: image(&data, bytes, budget) }
}

/// ADK writes bytes in the alphabet for URLs, other programs in the standard one.
fn in_standard_alphabet(data: &str) -> String {
    let sign = |c: char| match c {
        '-' => '+',
        '_' => '/',
        c => c,
    };
    data.trim_end_matches('=').chars().map(sign).collect()
}

fn size(bytes: usize) -> String {
    if bytes < 1_000 {
        return count(bytes, "byte");
    }
    format!("{} kB", grouped(i128::try_from(bytes.div_ceil(1_000)).unwrap_or(i128::MAX)))
}

/// The URL of a small image, if its bytes are an image. Its type is the type of the bytes.
fn image(data: &str, bytes: usize, budget: &Budget) -> Option<String> {
    let left = budget.0.get().checked_sub(bytes).filter(|_| bytes <= MAX_IMAGE_BYTES)?;
    let lenient = GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let decoded = GeneralPurpose::new(&alphabet::STANDARD, lenient).decode(data).ok()?;
    let (kind, sides) = kind(&decoded)?;
    if sides.is_some_and(|(width, height)| width.max(height) > MAX_SIDE_PIXELS) {
        return None;
    }
    budget.0.set(left);
    Some(format!("data:image/{kind};base64,{}", STANDARD.encode(&decoded)))
}

/// The type of an image by its first bytes, with its width and height if they are among them.
fn kind(bytes: &[u8]) -> Option<(&'static str, Option<(u32, u32)>)> {
    let big = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let little = |at: usize| Some(u32::from(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?)));
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Some(("png", big(16).zip(big(20))));
    }
    if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
        return Some(("gif", little(6).zip(little(8))));
    }
    if bytes.starts_with(b"\xff\xd8\xff") {
        return Some(("jpeg", None));
    }
    (bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP")).then_some(("webp", None))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn png(width: u32) -> Vec<u8> {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
        bytes.extend(width.to_be_bytes());
        bytes.extend(1_u32.to_be_bytes());
        bytes
    }

    fn of(key: &str, value: serde_json::Value) -> Content {
        Content::new("model", vec![Part::text("Here."), Part::default().with_other(key, value)])
    }

    fn inline(mime: &str, bytes: &[u8]) -> Content {
        of("inline_data", json!({"mime_type": mime, "data": STANDARD.encode(bytes)}))
    }

    #[test]
    fn an_image_is_shown_if_its_bytes_are_one_and_named_otherwise() {
        for (content, label, src) in [
            (inline("image/png", &png(9)), "[image/png, 24 bytes]", Some("data:image/png;base64,iVBOR")),
            // The bytes decide the type, and not the declared type.
            (
                inline("text/html", b"GIF89a\x01\0\x01\0"),
                "[text/html, 10 bytes]",
                Some("data:image/gif;base64,"),
            ),
            (
                inline("image/jpeg", b"\xff\xd8\xff\xe0"),
                "[image/jpeg, 4 bytes]",
                Some("data:image/jpeg;base64,"),
            ),
            (
                inline("image/webp", b"RIFF\0\0\0\0WEBPVP8 "),
                "[image/webp, 16 bytes]",
                Some("data:image/webp;base64,"),
            ),
            (inline("image/svg+xml", b"<svg onload=alert(1)>"), "[image/svg+xml, 21 bytes]", None),
            (inline("image/png", &png(MAX_SIDE_PIXELS + 1)), "[image/png, 24 bytes]", None),
            (inline("image/png", &[png(9), vec![0; 250_000]].concat()), "[image/png, 251 kB]", None),
            (inline("image/png\" onerror=x", b"x"), "[image/png\" onerror=x, 1 byte]", None),
            (of("inline_data", json!({"data": "%%%"})), "[unknown type, 2 bytes]", None),
            (
                of("file_data", json!({"file_uri": "gs://b/x.png", "mime_type": "image/png"})),
                "[image/png, gs://b/x.png]",
                None,
            ),
            (of("executable_code", json!({"code": "1"})), "[code]", None),
        ] {
            let found = media(&content, &Budget::default());
            assert_eq!(found.len(), 1, "{label}");
            assert_eq!(found[0].label, label);
            assert_eq!(found[0].src.is_some(), src.is_some(), "{label}");
            assert!(
                found[0].src.as_deref().unwrap_or_default().starts_with(src.unwrap_or_default()),
                "{label}"
            );
        }
        assert_eq!(media(&Content::model("text"), &Budget::default()), []);
    }

    #[test]
    fn bytes_in_the_alphabet_for_urls_are_the_same_image() {
        let bytes = [png(0xfbff), vec![0xfb, 0xff, 0xfe]].concat();
        let of_url = STANDARD.encode(&bytes).replace('+', "-").replace('/', "_");
        let mut other = json!({"mime_type": "image/png", "data": of_url, "display_name": "x"});
        assert!(same_media(&inline("image/png", &bytes), &of("inline_data", other.clone())));
        other["mime_type"] = "image/jpeg".into();
        assert!(!same_media(&inline("image/png", &bytes), &of("inline_data", other)));
        assert!(!same_media(&inline("image/png", &bytes), &Content::model("Here.")));
        assert!(same_media(&Content::model("a"), &Content::model("b")), "texts are compared elsewhere");
    }

    #[test]
    fn a_page_takes_so_many_bytes_of_images() {
        let budget = Budget(Cell::new(30));
        let shown = [(); 3].map(|()| media(&inline("image/png", &png(9)), &budget)[0].src.is_some());
        assert_eq!(shown, [true, false, false]);
    }
}
