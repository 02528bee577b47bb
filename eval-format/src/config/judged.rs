//! What only the criteria of judged metrics have: the judge's options, rubrics, and their weights.

use super::criteria::SUGGESTION_LIMIT;
use crate::coerce;
use crate::problem::{Code, Problem, shown};
use crate::rubrics;
use crate::schema::{JUDGE_MODEL_OPTIONS, Model, Place, Type, opening, wrong_type};
use crate::suggest::suggest;
use crate::syntax::{Entry, Kind, Node};
use crate::value::{Map, Value};

/// More questions about one turn than this are a slip of the finger.
const MOST: i64 = 1000;

/// The keys of google-genai's `GenerateContentConfig`. ADK refuses any other, when the metric runs.
const MODEL_CONFIG: [&str; 39] = [
    "http_options",
    "should_return_http_response",
    "system_instruction",
    "temperature",
    "top_p",
    "top_k",
    "candidate_count",
    "max_output_tokens",
    "stop_sequences",
    "response_logprobs",
    "logprobs",
    "presence_penalty",
    "frequency_penalty",
    "seed",
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

/// Those of them that are numbers.
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

/// Checks what no shape expresses.
pub(super) fn check(model: &Model, entries: &[Entry<'_>], place: &Place<'_>, problems: &mut Vec<Problem>) {
    let mut at = |name: &str, check: fn(&Node<'_>, &Place<'_>, &mut Vec<Problem>)| {
        if let Some(entry) = model.entry(entries, name) {
            check(&entry.value, &Place::Key(place, &entry.key), problems);
        }
    };
    at("judge_model_options", options);
    at("rubrics", rubrics::check_criterion);
    at("weights", weights);
}

fn options(node: &Node<'_>, place: &Place<'_>, problems: &mut Vec<Problem>) {
    let Some(entries) = node.object() else { return };
    for name in ["num_samples", "parallelism_limit"] {
        let Some(entry) = JUDGE_MODEL_OPTIONS.entry(entries, name) else { continue };
        // That it is no integer has been said.
        let Some(number) = coerce::int(&entry.value) else { continue };
        if !number.as_i64().is_some_and(|number| (1..=MOST).contains(&number)) {
            problems.push(not_a_count(entry, &Place::Key(place, &entry.key)));
        }
    }
    if let Some(entry) = JUDGE_MODEL_OPTIONS.entry(entries, "judge_model")
        && entry.value.string().is_some_and(|model| model.trim().is_empty())
    {
        problems.push(no_model(entry, &Place::Key(place, &entry.key)));
    }
    if let Some(entry) = JUDGE_MODEL_OPTIONS.entry(entries, "judge_model_config") {
        let place = &Place::Key(place, &entry.key);
        for entry in entry.value.object().unwrap_or_default() {
            problems.extend(model_config(entry, &Place::Key(place, &entry.key), problems.len()));
        }
    }
}

fn model_config(entry: &Entry<'_>, place: &Place<'_>, before: usize) -> Option<Problem> {
    let key = snake(&entry.key);
    if !MODEL_CONFIG.contains(&key.as_str()) {
        let nearest = if before < SUGGESTION_LIMIT { suggest(&key, MODEL_CONFIG) } else { None };
        return Some(unknown_option(entry, nearest, place));
    }
    let refused = NUMBERS.contains(&key.as_str()) && !entry.value.is_null() && number(&entry.value).is_none();
    refused.then(|| wrong_type(&entry.value, &Type::Float, "0.0", place))
}

fn weights(node: &Node<'_>, place: &Place<'_>, problems: &mut Vec<Problem>) {
    let mut sum = 0.0;
    let entries = node.object().unwrap_or_default();
    for entry in entries {
        match number(&entry.value) {
            Some(weight) if weight >= 0.0 => sum += weight,
            _ => {
                problems.push(no_weight(entry, &Place::Key(place, &entry.key)));
                return;
            }
        }
    }
    if !sum.is_finite() {
        problems.push(too_heavy(node, place));
    }
}

/// A number that is written as one.
fn number(node: &Node<'_>) -> Option<f64> {
    coerce::float(node).filter(|number| matches!(node.kind, Kind::Number(_)) && number.is_finite())
}

/// The options with the keys of `judge_model_config` in `snake_case`.
pub(super) fn snake_case(mut options: Map) -> Map {
    if let Some(Value::Object(judge)) = options.remove("judge_model_options") {
        let judge: Map = judge.into_iter().map(|(key, value)| (key, config_in_snake_case(value))).collect();
        options.insert("judge_model_options", judge);
    }
    options
}

fn config_in_snake_case(value: Value) -> Value {
    match value {
        Value::Object(config) => {
            config.into_iter().map(|(key, value)| (snake(&key), value)).collect::<Map>().into()
        }
        other => other,
    }
}

/// The `snake_case` spelling of a camelCase key.
fn snake(key: &str) -> String {
    let mut out = String::with_capacity(key.len());
    for letter in key.chars() {
        if letter.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}

fn not_a_count(entry: &Entry<'_>, place: &Place<'_>) -> Problem {
    let message = format!("`{}` must be a number from 1 to {MOST}", entry.key);
    Problem::error(Code::WrongType, place.path(), entry.value.range.clone(), message)
        .label("nobody would be asked, or far too often")
        .help("ADK asks 5 times, one at a time, where nothing is said")
}

fn no_model(entry: &Entry<'_>, place: &Place<'_>) -> Problem {
    let message = "the name of the judge's model is empty";
    Problem::error(Code::WrongType, place.path(), entry.value.range.clone(), message)
        .label("expected a model")
        .help("name one, such as `gemini-2.5-flash`, or remove the key to get that one")
}

fn unknown_option(entry: &Entry<'_>, nearest: Option<&str>, place: &Place<'_>) -> Problem {
    let message = format!("unknown key `{}` in the judge's model config", shown(&entry.key));
    let found = Problem::error(Code::UnknownKey, place.path(), entry.key_range.clone(), message)
        .label("ADK rejects this key");
    match nearest {
        Some(known) => found.help(format!("did you mean `{known}`?")),
        None => found.help("remove it; it takes the keys of google-genai's `GenerateContentConfig`"),
    }
}

fn no_weight(entry: &Entry<'_>, place: &Place<'_>) -> Problem {
    let message = format!("the weight of the rubric `{}` must be a number from 0 on", shown(&entry.key));
    Problem::error(Code::WrongType, place.path(), entry.value.range.clone(), message)
        .label("no weight")
        .help("write a number like `2.0`; rubrics without a weight have the weight 1")
}

fn too_heavy(node: &Node<'_>, place: &Place<'_>) -> Problem {
    let message = "the weights are too large to be added";
    Problem::error(Code::WrongType, place.path(), opening(node), message)
        .label("their sum is infinite")
        .help("only the ratios of weights count: divide them all by the same number")
}
