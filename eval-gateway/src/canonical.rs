//! The canonical form of a request: what may differ between two runs of one agent is renamed, masked or left out, and
//! nothing else.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use eval_format::{Map, Number, Value};
use eval_support::secrets::{is_secret_entry, is_secret_under, mask_shapes};
use regex_lite::Regex;
use sha2::{Digest, Sha256};

/// Fields that hold the id of a call or of an answer.
const ID_KEYS: [&str; 6] =
    ["call_id", "tool_call_id", "tool_use_id", "item_id", "approval_request_id", "container_id"];

/// Objects whose `id` was made for this conversation: by their own type, or by the key that they are below.
const TYPES_WITH_IDS: [&str; 13] = [
    "tool_use",
    "server_tool_use",
    "mcp_tool_use",
    "function",
    "function_call",
    "custom_tool_call",
    "function_call_output",
    "message",
    "reasoning",
    "item_reference",
    "web_search_call",
    "code_interpreter_call",
    "image_generation_call",
];
const KEYS_ABOVE_IDS: [&str; 6] =
    ["functionCall", "functionResponse", "function_call", "function_response", "input", "tool_calls"];

/// Values that a provider signs or encrypts.
const OPAQUE: [&str; 5] = [
    "thoughtSignature",
    "thought_signature",
    "signature",
    "encrypted_content",
    "reasoning_content_signature",
];

/// Values that belong to the user: arguments, results, schemas. Nothing in them is taken for an id.
const DATA: [&str; 14] = [
    "args",
    "arguments",
    "response",
    "parameters",
    "parametersJsonSchema",
    "parameters_json_schema",
    "input_schema",
    "responseSchema",
    "response_schema",
    "responseJsonSchema",
    "response_json_schema",
    "schema",
    "json_schema",
    "format",
];

/// Fields of a request that cannot change its answer.
const TELEMETRY: [&str; 8] = [
    "user",
    "metadata",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
    "store",
    "stream_options",
    "labels",
];

/// The note in place of a credential in a body, such as a tool server's.
const CREDENTIAL: &str = "(a secret)";

/// Keys that say that the text beside them is bytes.
const KINDS_OF_BYTES: [&str; 4] = ["mimeType", "mime_type", "media_type", "format"];

/// The shortest text that is taken for bytes.
const SHORTEST_BYTES: usize = 64;

/// Rules of the user: words that change with each run, such as dates.
#[derive(Clone, Debug, Default)]
pub struct Masks(Arc<Vec<Regex>>);

impl Masks {
    /// The rules of these patterns, or the first malformed pattern, with the reason.
    pub fn new<S: AsRef<str>>(patterns: &[S]) -> Result<Self, String> {
        let compile = |pattern: &S| {
            let pattern = pattern.as_ref();
            Regex::new(pattern).map_err(|error| format!("`{pattern}` is no regular expression: {error}"))
        };
        patterns.iter().map(compile).collect::<Result<Vec<_>, _>>().map(|rules| Self(Arc::new(rules)))
    }

    /// The patterns.
    pub fn patterns(&self) -> Vec<String> {
        self.0.iter().map(ToString::to_string).collect()
    }

    fn text(&self, text: &str) -> String {
        let masked = mask_shapes(text);
        self.0.iter().fold(masked.into_owned(), |text, rule| rule.replace_all(&text, "(masked)").into_owned())
    }
}

impl PartialEq for Masks {
    fn eq(&self, other: &Self) -> bool {
        self.patterns() == other.patterns()
    }
}

/// The canonical forms of the parts of one request. Ids are numbered in the order in which they first appear.
pub(crate) struct Canonical<'a> {
    masks: &'a Masks,
    names: HashMap<String, String>,
    /// The ids and the signed values as they were sent.
    pub(crate) seen: Vec<String>,
}

impl<'a> Canonical<'a> {
    pub(crate) fn new(masks: &'a Masks) -> Self {
        Self { masks, names: HashMap::new(), seen: Vec::new() }
    }

    /// The canonical form of what a request has under a key. Keys are sorted.
    pub(crate) fn part(&mut self, key: &str, value: &Value) -> Value {
        self.below(key, value)
    }

    /// The remaining fields of a request, without telemetry.
    pub(crate) fn options<'v>(&mut self, fields: impl Iterator<Item = (&'v str, &'v Value)>) -> Map {
        let mut fields: Vec<_> = fields.filter(|(key, _)| !TELEMETRY.contains(key)).collect();
        fields.sort_by_key(|(key, _)| *key);
        fields.into_iter().map(|(key, value)| (key, self.field("", None, key, value))).collect()
    }

    pub(crate) fn id(&mut self, id: &str) -> Value {
        self.seen.push(id.to_owned());
        let next = format!("#{}", self.names.len() + 1);
        Value::String(self.names.entry(id.to_owned()).or_insert(next).clone())
    }

    fn below(&mut self, parent: &str, value: &Value) -> Value {
        match value {
            Value::Array(items) => items.iter().map(|item| self.below(parent, item)).collect(),
            Value::Object(map) => {
                let mut fields: Vec<_> = map.iter().filter(|(key, _)| *key != "cache_control").collect();
                fields.sort_by_key(|(key, _)| *key);
                let walked =
                    fields.into_iter().map(|(key, item)| (key, self.field(parent, Some(map), key, item)));
                Value::Object(walked.collect())
            }
            scalar => self.scalar(scalar),
        }
    }

    fn field(&mut self, parent: &str, of: Option<&Map>, key: &str, value: &Value) -> Value {
        let kind = of.and_then(|of| of.get("type")).and_then(Value::as_str).unwrap_or_default();
        // A server of tools may take its key in a header of any name.
        if let ("headers", Value::Object(headers)) = (key, value) {
            return Value::Object(headers.iter().map(|(name, _)| (name, Value::from(CREDENTIAL))).collect());
        }
        if let Value::String(text) = value {
            // Or in its address.
            if let (true, Some((address, _))) =
                (key == "server_url" || (key == "url" && parent == "mcp_servers"), text.split_once('?'))
            {
                return Value::String(format!("{}?{CREDENTIAL}", self.masks.text(address)));
            }
            if OPAQUE.contains(&key) || (kind == "redacted_thinking" && key == "data") {
                self.seen.push(text.clone());
                return Value::from("(opaque)");
            }
            let is_id = ID_KEYS.contains(&key)
                || (key == "id" && (KEYS_ABOVE_IDS.contains(&parent) || TYPES_WITH_IDS.contains(&kind)));
            if is_id {
                return self.id(text);
            }
            if is_secret_entry(key) || is_secret_under(key, text) {
                return Value::from(CREDENTIAL);
            }
            // A document of plain text has a type of its content, too.
            let says_bytes =
                |of: &Map| kind != "text" && KINDS_OF_BYTES.iter().any(|known| of.contains_key(known));
            let is_bytes = match key {
                "data" | "file_data" => of.is_some_and(says_bytes),
                "result" => kind == "image_generation_call",
                // Vertex.
                "bytesBase64Encoded" => true,
                _ => false,
            };
            if is_bytes && text.len() >= SHORTEST_BYTES {
                return bytes("", text);
            }
            return self.scalar(value);
        }
        let is_data = DATA.contains(&key)
            || (key == "input" && matches!(kind, "tool_use" | "server_tool_use" | "mcp_tool_use"));
        if is_data { self.data(value) } else { self.below(key, value) }
    }

    /// A value of the user: its keys are sorted, and nothing in it is renamed.
    fn data(&self, value: &Value) -> Value {
        match value {
            Value::Array(items) => items.iter().map(|item| self.data(item)).collect(),
            Value::Object(map) => {
                let mut fields: Vec<_> = map.iter().collect();
                fields.sort_by_key(|(key, _)| *key);
                Value::Object(fields.into_iter().map(|(key, item)| (key, self.data(item))).collect())
            }
            scalar => self.scalar(scalar),
        }
    }

    fn scalar(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => match inline(text) {
                Some(bytes) => bytes,
                None => Value::String(self.masks.text(text)),
            },
            Value::Number(number) => Value::Number(spelt(number)),
            other => other.clone(),
        }
    }
}

impl fmt::Debug for Canonical<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Canonical").field("ids", &self.names.len()).finish_non_exhaustive()
    }
}

/// A `data:` address with bytes, such as an image.
fn inline(text: &str) -> Option<Value> {
    let (kind, data) = text.strip_prefix("data:")?.split_once(";base64,")?;
    (data.len() >= SHORTEST_BYTES).then(|| bytes(kind, data))
}

/// Bytes as their kind, length and hash: they are not needed to find an answer.
fn bytes(kind: &str, base64: &str) -> Value {
    let length = base64.trim_end_matches('=').len() * 3 / 4;
    let kind = if kind.is_empty() { String::new() } else { format!("{kind}, ") };
    Value::String(format!("({kind}{length} bytes, sha256 {})", hash(base64.as_bytes())))
}

/// The first 16 bytes of a SHA-256, in hexadecimal digits.
pub(crate) fn hash(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    let first = digest.first_chunk::<16>().copied().unwrap_or_default();
    format!("{:032x}", u128::from_be_bytes(first))
}

/// A number in one spelling: `1.0` and `1` are the same for a provider.
fn spelt(number: &Number) -> Number {
    let text = number.to_string();
    match text.strip_suffix(".0") {
        Some(whole) => Number::parse(whole).unwrap_or_else(|| number.clone()),
        None => number.clone(),
    }
}

/// The declarations of tools in one order: by name, then by their text.
pub(crate) fn sorted_tools(tools: Value) -> Value {
    let Value::Array(items) = tools else { return tools };
    let mut items: Vec<Value> = items.into_iter().map(|item| with_sorted_declarations(&item)).collect();
    items.sort_by_cached_key(|item| (name_of_tool(item).unwrap_or_default().to_owned(), item.to_string()));
    Value::Array(items)
}

fn with_sorted_declarations(tool: &Value) -> Value {
    let Value::Object(map) = tool else { return tool.clone() };
    let sorted = map.iter().map(|(key, value)| match (key, value) {
        ("functionDeclarations" | "function_declarations", Value::Array(_)) => {
            (key, sorted_tools(value.clone()))
        }
        _ => (key, value.clone()),
    });
    Value::Object(sorted.collect())
}

/// The name of a declared tool.
pub(crate) fn name_of_tool(tool: &Value) -> Option<&str> {
    let map = tool.as_object()?;
    let own = map.get("name").and_then(Value::as_str);
    own.or_else(|| map.get("function")?.as_object()?.get("name")?.as_str())
}

#[cfg(test)]
mod tests;
