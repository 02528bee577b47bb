//! Results of tools: the JSON as a line, and the images that it holds.

use eval_format::{FunctionResponse, Map, Value};

use super::line;
use super::media::{Budget, Media, of_data};

/// The result of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ToolResult {
    /// The JSON, with a name such as `[image/png, 12 kB]` in the place of the bytes of an image, a sound or a film.
    pub(crate) shown: String,
    /// The images, sounds and films.
    pub(crate) media: Vec<Media>,
}

/// The most images of a result that are shown.
const MAX_MEDIA: usize = 20;

/// The shortest text that is taken for the bytes of an image.
const MIN_DATA_CHARS: usize = 8;

pub(crate) fn tool_result(response: &FunctionResponse, budget: &Budget) -> ToolResult {
    let mut media = Vec::new();
    let shown = response.response.as_ref().map(|map| object(map, &mut media, budget).to_string());
    // The images that ADK keeps beside the JSON.
    if let Some(parts) = response.other.get("parts") {
        without_bytes(parts, &mut media, budget);
    }
    media.truncate(MAX_MEDIA);
    ToolResult { shown: line(&shown.unwrap_or_default()), media }
}

fn without_bytes(value: &Value, media: &mut Vec<Media>, budget: &Budget) -> Value {
    match value {
        Value::Object(map) => object(map, media, budget),
        Value::Array(items) => items.iter().map(|item| without_bytes(item, media, budget)).collect(),
        Value::String(text) => of_url(text, media, budget).map_or_else(|| value.clone(), Value::from),
        _ => value.clone(),
    }
}

/// The entries of an object. ADK, MCP and providers name the type of bytes in an entry beside them.
fn object(map: &Map, media: &mut Vec<Media>, budget: &Budget) -> Value {
    let names = ["mime_type", "mimeType", "media_type"];
    let mime = names.iter().find_map(|name| map.get(name)?.as_str()).filter(|mime| is_media(mime));
    let entries = map.iter().map(|(key, value)| {
        let data = value.as_str().filter(|data| key == "data" && is_base64(data));
        let shown = match mime.zip(data) {
            Some((mime, data)) => Value::from(taken(of_data(mime, data, budget), media)),
            None => without_bytes(value, media, budget),
        };
        (key.to_owned(), shown)
    });
    Value::Object(entries.collect())
}

/// A text such as `data:image/png;base64,iVBO`.
fn of_url(text: &str, media: &mut Vec<Media>, budget: &Budget) -> Option<String> {
    let (mime, data) = text.strip_prefix("data:")?.split_once(";base64,")?;
    (is_media(mime) && is_base64(data)).then(|| taken(of_data(mime, data, budget), media))
}

fn taken(found: Media, media: &mut Vec<Media>) -> String {
    let label = found.label.clone();
    media.push(found);
    label
}

fn is_media(mime: &str) -> bool {
    ["image/", "audio/", "video/"].iter().any(|begin| mime.starts_with(begin))
}

fn is_base64(data: &str) -> bool {
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || b"+/-_=".contains(&byte);
    data.len() >= MIN_DATA_CHARS && data.bytes().all(is_sign)
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use serde_json::json;

    use super::*;

    #[test]
    fn images_in_a_result_are_beside_its_json() {
        let image = STANDARD.encode(b"GIF89a\x01\0\x01\0");
        let label = "[image/gif, 10 bytes]";
        let url = format!("data:image/gif;base64,{image}");
        for (result, shown, images) in [
            (
                json!({ "data": image, "mime_type": "image/gif" }),
                json!({ "data": label, "mime_type": "image/gif" }),
                1,
            ),
            (
                json!({ "content": [{ "type": "image", "data": image, "mimeType": "image/gif" }, { "type": "text", "text": "x" }] }),
                json!({ "content": [{ "type": "image", "data": label, "mimeType": "image/gif" }, { "type": "text", "text": "x" }] }),
                1,
            ),
            (json!({ "a": [url, { "url": url }] }), json!({ "a": [label, { "url": label }] }), 2),
            // Texts stay, whatever is beside them.
            (
                json!({ "data": "a text", "mime_type": "image/gif" }),
                json!({ "data": "a text", "mime_type": "image/gif" }),
                0,
            ),
            (
                json!({ "data": image, "mime_type": "text/plain" }),
                json!({ "data": image, "mime_type": "text/plain" }),
                0,
            ),
            (json!({ "data": image }), json!({ "data": image }), 0),
            (json!({ "n": 1 }), json!({ "n": 1 }), 0),
        ] {
            let response = FunctionResponse::new("f", result.clone());
            let found = tool_result(&response, &Budget::default());
            assert_eq!(serde_json::from_str::<serde_json::Value>(&found.shown).unwrap(), shown, "{result}");
            assert_eq!(found.media.iter().filter(|it| it.src.is_some()).count(), images, "{result}");
        }
        // Bytes that are no image have a name alone.
        let sound = json!({ "data": STANDARD.encode([1; 3000]), "mime_type": "audio/wav" });
        let found = tool_result(&FunctionResponse::new("f", sound), &Budget::default());
        assert_eq!(found.media, [Media { label: "[audio/wav, 3 kB]".to_owned(), src: None }]);
    }

    #[test]
    fn images_beside_the_json_are_shown_and_not_too_many() {
        let image = STANDARD.encode(b"GIF89a\x01\0\x01\0");
        let part = json!({ "inline_data": { "mime_type": "image/gif", "data": image } });
        let mut response = FunctionResponse::new("f", json!({ "ok": true }));
        response.other.insert("parts", Value::from(json!([part.clone()])));
        let found = tool_result(&response, &Budget::default());
        assert_eq!((found.shown.as_str(), found.media.len()), (r#"{"ok":true}"#, 1));
        response.other.insert("parts", Value::from(json!(vec![part; 30])));
        assert_eq!(tool_result(&response, &Budget::default()).media.len(), MAX_MEDIA);
    }
}
