//! The configuration of a model: google-genai's `GenerateContentConfig`.

use eval_support::key_case::snake;
use eval_support::spelling::suggest;

use super::messages::SUGGESTION_LIMIT;
use crate::coerce;
use crate::problem::{Problem, ProblemCode, shown};
use crate::schema::{Place, Type, wrong_type};
use crate::syntax::{Entry, Kind, Node};
use crate::value::Map;

/// The keys whose values are numbers.
const NUMBERS: [&str; 9] = [
    "temperature",
    "top_p",
    "top_k",
    "candidate_count",
    "max_output_tokens",
    "logprobs",
    "presence_penalty",
    "frequency_penalty",
    "seed",
];

/// The other keys of the config. ADK refuses all that are in neither list.
const OTHERS: [&str; 30] = [
    "http_options",
    "should_return_http_response",
    "system_instruction",
    "stop_sequences",
    "response_logprobs",
    "response_mime_type",
    "response_schema",
    "response_json_schema",
    "routing_config",
    "model_selection_config",
    "safety_settings",
    "tools",
    "tool_config",
    "labels",
    "cached_content",
    "response_modalities",
    "media_resolution",
    "speech_config",
    "audio_timestamp",
    "automatic_function_calling",
    "thinking_config",
    "image_config",
    "enable_enhanced_civic_answers",
    "model_armor_config",
    "service_tier",
    "audio_transcription_config",
    "continuation_token",
    "automatic_continuation",
    "generation_output_config",
    "store",
];

/// Checks the keys of a config, and the values that are numbers. `whose` names it in messages.
pub(crate) fn check(node: &Node<'_>, whose: &str, place: &Place<'_>, problems: &mut Vec<Problem>) {
    for entry in node.object().unwrap_or_default() {
        problems.extend(option(entry, whose, &Place::Key(place, &entry.key), problems.len()));
    }
}

fn option(entry: &Entry<'_>, whose: &str, place: &Place<'_>, before: usize) -> Option<Problem> {
    let key = snake(&entry.key);
    let is_number = NUMBERS.contains(&key.as_str());
    if !is_number && !OTHERS.contains(&key.as_str()) {
        let known = NUMBERS.into_iter().chain(OTHERS);
        let nearest = if before < SUGGESTION_LIMIT { suggest(&key, known) } else { None };
        return Some(unknown(entry, whose, nearest, place));
    }
    let refused = is_number && !entry.value.is_null() && number(&entry.value).is_none();
    refused.then(|| wrong_type(&entry.value, &Type::Float, "0.0", place))
}

/// The value of a number; `None` if it is infinite, `NaN` or not written as a number.
pub(super) fn number(node: &Node<'_>) -> Option<f64> {
    coerce::float(node).filter(|number| matches!(node.kind, Kind::Number(_)) && number.is_finite())
}

/// The config with its keys in `snake_case`, as providers look for them.
pub(super) fn snake_case(config: Map) -> Map {
    config.into_iter().map(|(key, value)| (snake(&key), value)).collect()
}

fn unknown(entry: &Entry<'_>, whose: &str, nearest: Option<&str>, place: &Place<'_>) -> Problem {
    let message = format!("unknown key `{}` in {whose}", shown(&entry.key));
    let found = place.error_at_key(ProblemCode::UnknownKey, entry, message).label("ADK rejects this key");
    match nearest {
        Some(known) => found.help(format!("did you mean `{known}`?")),
        None => found.help("remove it; it takes the keys of google-genai's `GenerateContentConfig`"),
    }
}
