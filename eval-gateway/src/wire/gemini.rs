//! Gemini's API and Vertex: methods of a model, such as `generateContent`.

use eval_format::{Map, Value};

use super::parts::{Parts, list};
use crate::canonical::Canonical;
use crate::usage::{Usage, number};

/// The methods that are answered.
const METHODS: [&str; 6] = [
    "generateContent",
    "streamGenerateContent",
    "countTokens",
    "embedContent",
    "batchEmbedContents",
    "predict",
];

/// The model and the method of a path: `/v1beta/models/m:generateContent`. A tuned model and an endpoint of Vertex keep their
/// kind in their name.
pub(super) fn method(path: &str) -> Option<(String, String)> {
    let (before, method) = path.rsplit_once(':')?;
    let tuned = || {
        let at = ["/tunedModels/", "/endpoints/"].iter().find_map(|kind| before.rfind(kind))?;
        Some(&before[at + 1..])
    };
    let model = before.split_once("/models/").map(|(_, model)| model).or_else(tuned)?;
    METHODS.contains(&method).then(|| (model.to_owned(), method.to_owned()))
}

/// Both spellings of a key.
fn either<'a>(body: &'a Map, camel: &str, snake: &str) -> Option<&'a Value> {
    body.get(camel).or_else(|| body.get(snake))
}

pub(super) fn parts(body: &Map, canonical: &mut Canonical<'_>) -> Parts {
    let system = either(body, "systemInstruction", "system_instruction");
    let system = system.map(|system| canonical.part("systemInstruction", system));
    let lists = ["contents", "requests", "content", "instances"];
    let messages = lists.iter().find_map(|key| Some((*key, body.get(key)?)));
    let messages = messages.map(|(key, value)| list(canonical, key, Some(value))).unwrap_or_default();
    let tools = body.get("tools").map(|tools| canonical.part("tools", tools));
    let is_option = |key: &str| {
        !lists.contains(&key)
            && !matches!(key, "model" | "tools" | "systemInstruction" | "system_instruction")
    };
    let options = canonical.options(body.iter().filter(|(key, _)| is_option(key)));
    Parts { options, system, tools, messages }
}

pub(super) fn usage(answer: &Value) -> Option<Usage> {
    let usage = answer.as_object()?.get("usageMetadata")?.as_object()?;
    let thoughts = number(usage, "thoughtsTokenCount").unwrap_or(0);
    Some(Usage {
        input: number(usage, "promptTokenCount").unwrap_or(0),
        output: number(usage, "candidatesTokenCount").unwrap_or(0) + thoughts,
        cached: number(usage, "cachedContentTokenCount").unwrap_or(0),
    })
}

/// Whether a part of a stream has the end of the answer, or says that the prompt gets none.
pub(super) fn is_finished(part: &Value) -> bool {
    let Some(part) = part.as_object() else { return false };
    let says = |of: &Value, key: &str| {
        of.as_object().is_some_and(|of| of.get(key).is_some_and(|end| !end.is_null()))
    };
    let candidates = part.get("candidates").and_then(Value::as_array).unwrap_or_default();
    candidates.iter().any(|of| says(of, "finishReason"))
        || part.get("promptFeedback").is_some_and(|feedback| says(feedback, "blockReason"))
}

pub(super) fn error(status: u16, message: &str) -> Value {
    let name = match status {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        500 => "INTERNAL",
        503 => "UNAVAILABLE",
        _ => "INVALID_ARGUMENT",
    };
    let error = Map::from([
        ("code", Value::from(i64::from(status))),
        ("message", Value::from(message)),
        ("status", Value::from(name)),
    ]);
    Value::Object(Map::from([("error", Value::Object(error))]))
}
