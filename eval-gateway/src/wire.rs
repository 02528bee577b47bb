//! Wires: the forms in which providers are asked. Each has a module that knows where a request has its parts, what an
//! answer cost, and which error no client repeats.

mod anthropic;
mod gemini;
mod openai;
mod openai_responses;
mod parts;
mod results;

use std::fmt;

use eval_format::__private::parse_value;
use eval_format::{Map, Value};

use crate::canonical::{Canonical, Masks, hash, sorted_tools};
use crate::provider::Provider;
use crate::sse::{Data, Event};
use crate::usage::Usage;
pub(crate) use openai::{is_usage, wants_usage, with_usage};
pub use parts::Parts;

/// The form of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Wire {
    /// OpenAI's Chat Completions.
    OpenAiChat,
    /// OpenAI's Responses.
    OpenAiResponses,
    /// OpenAI's embeddings.
    OpenAiEmbeddings,
    /// Anthropic's Messages, and the count of their tokens.
    Anthropic,
    /// The methods of a model of Gemini.
    Gemini,
    /// The models of OpenAI or Anthropic, as a list or one of them.
    Models,
}

const NAMES: [(Wire, &str); 6] = [
    (Wire::OpenAiChat, "openai chat"),
    (Wire::OpenAiResponses, "openai responses"),
    (Wire::OpenAiEmbeddings, "openai embeddings"),
    (Wire::Anthropic, "anthropic messages"),
    (Wire::Gemini, "gemini"),
    (Wire::Models, "models"),
];

/// The parts of a query that say which page of a list is asked for.
const PAGES: [&str; 10] = [
    "after",
    "after_id",
    "before",
    "before_id",
    "limit",
    "order",
    "pageSize",
    "pageToken",
    "page_size",
    "page_token",
];

impl fmt::Display for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAMES.iter().find(|(wire, _)| wire == self).map_or("", |(_, name)| name))
    }
}

impl Wire {
    /// The wire of this name.
    pub fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|(_, known)| *known == name).map(|(wire, _)| *wire)
    }

    /// Recorded messages with the results of each answer in the order of its calls; `None` if they are in that order.
    pub(crate) fn reordered(self, messages: &[Value]) -> Option<Vec<Value>> {
        let key = match self {
            Self::OpenAiResponses => "input",
            Self::Gemini => "contents",
            _ => "messages",
        };
        results::reordered(key, messages)
    }

    /// The tokens of an answer; `None` if it does not say.
    pub(crate) fn usage(self, answer: &Value) -> Option<Usage> {
        if let Some(items) = answer.as_array() {
            // A stream of Gemini without `alt=sse` is an array.
            return items.iter().filter_map(|item| self.usage(item)).reduce(Usage::updated);
        }
        match self {
            Self::OpenAiChat | Self::OpenAiResponses | Self::OpenAiEmbeddings => openai::usage(answer),
            Self::Anthropic => anthropic::usage(answer),
            Self::Gemini => gemini::usage(answer),
            Self::Models => None,
        }
    }

    /// The tokens of a streamed answer. Later events have the whole count.
    pub(crate) fn usage_of_events(self, events: &[Event]) -> Option<Usage> {
        let values = events.iter().filter_map(Event::json);
        let of_event = |value: &Value| match value
            .as_object()
            .and_then(|map| map.get("response").or(map.get("message")))
        {
            Some(inner) => self.usage(inner).or_else(|| self.usage(value)),
            None => self.usage(value),
        };
        values.filter_map(of_event).reduce(Usage::updated)
    }

    /// Whether a stream ended in an error.
    pub(crate) fn broke(events: &[Event]) -> bool {
        let is_error = |event: &Event| {
            let has_error = event.json().and_then(Value::as_object).is_some_and(|map| {
                map.get("error").is_some_and(|error| !error.is_null())
                    || matches!(map.get("type").and_then(Value::as_str), Some("error" | "response.failed"))
            });
            event.name.as_deref() == Some("error") || has_error
        };
        events.is_empty() || events.iter().any(is_error)
    }

    /// Whether an answer is an error, although its status says none.
    pub(crate) fn is_error(answer: &Value) -> bool {
        if let Some(items) = answer.as_array() {
            return items.iter().any(Self::is_error);
        }
        let Some(map) = answer.as_object() else { return false };
        let has = |key: &str| map.get(key).and_then(Value::as_array).is_some_and(|items| !items.is_empty());
        let has_answer = ["choices", "output", "content", "candidates", "data"].iter().any(|key| has(key));
        map.get("error").is_some_and(|error| !error.is_null()) && !has_answer
    }

    /// Whether a stream came to the end of its answer. Some servers leave out the event that ends a stream, and say before it why
    /// the answer ends.
    pub(crate) fn is_whole(self, events: &[Event]) -> bool {
        let is_done = |event: &Event| event.data == Data::Text("[DONE]".to_owned());
        let says_why = |event: &Event| match self {
            Self::OpenAiChat => event.json().is_some_and(openai::is_finished),
            Self::Anthropic => event.json().is_some_and(anthropic::is_finished),
            _ => false,
        };
        events.iter().any(|event| is_done(event) || self.ends(event) || says_why(event))
    }

    /// Whether an event ends a stream of this wire. Without it, a stream whose length is not known may have broken off.
    pub(crate) fn ends(self, event: &Event) -> bool {
        let kind =
            event.json().and_then(Value::as_object).and_then(|map| map.get("type")).and_then(Value::as_str);
        match self {
            Self::OpenAiChat => event.data == Data::Text("[DONE]".to_owned()),
            Self::OpenAiResponses => {
                matches!(kind, Some("response.completed" | "response.incomplete" | "response.failed"))
            }
            Self::Anthropic => kind == Some("message_stop"),
            Self::Gemini => event.json().is_some_and(gemini::is_finished),
            Self::OpenAiEmbeddings | Self::Models => true,
        }
    }

    /// The error that tells a client what is wrong. Its status is 400, which no client repeats.
    pub(crate) fn error(self, status: u16, message: &str) -> Value {
        match self {
            Self::Anthropic => anthropic::error(status, message),
            Self::Gemini => gemini::error(status, message),
            _ => openai::error(status, message),
        }
    }

    /// An error in the middle of a stream.
    pub(crate) fn error_event(self, message: &str) -> Event {
        let name = (self == Self::Anthropic).then(|| "error".to_owned());
        Event::of_json(name, self.error(500, message))
    }
}

/// A request as it arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incoming<'a> {
    pub(crate) method: &'a str,
    /// The path below the address of the conversation.
    pub(crate) path: &'a str,
    pub(crate) query: &'a str,
    pub(crate) version: Option<&'a str>,
    pub(crate) beta: Option<&'a str>,
    /// Whether it has a key of Google, in a header or in its query.
    pub(crate) is_googles: bool,
    pub(crate) body: &'a [u8],
}

impl Incoming<'_> {
    /// Whether it is a call of a model at a server that may have other paths, too: a tool may take `messages`.
    pub(crate) fn is_a_call(&self) -> bool {
        let asked = Asked::read(self, &Masks::default(), &|_| None);
        asked.is_ok_and(|asked| {
            let names_model = !asked.model.is_empty() || asked.wire == Wire::OpenAiChat;
            names_model && !asked.parts.messages.is_empty()
        })
    }

    /// Whether its path is of a wire, whatever its body is.
    pub(crate) fn is_of_a_wire(&self) -> bool {
        route(self).is_some()
    }
}

#[cfg(test)]
impl<'a> Incoming<'a> {
    /// A posted request without headers that matter.
    pub(crate) fn posted(path: &'a str, body: &'a str) -> Self {
        let (method, query, body) = ("POST", "", body.as_bytes());
        Self { method, path, query, version: None, beta: None, is_googles: false, body }
    }

    /// A request for an answer of OpenAI's chat.
    pub(crate) fn chat(body: &'a str) -> Self {
        Self::posted("/v1/chat/completions", body)
    }
}

/// A request that a wire has taken apart.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) wire: Wire,
    pub(crate) provider: Provider,
    pub(crate) model: String,
    pub(crate) parts: Parts,
    pub(crate) key: String,
    /// The ids and signed values in it, as they were sent.
    pub(crate) ids: Vec<String>,
    /// The text of its last message of the user.
    pub(crate) user_text: String,
    /// The path and the query below the base URL of the provider.
    pub(crate) rest: String,
}

/// The reason why the gateway does not take a request.
#[derive(Clone, Debug)]
pub(crate) struct NoWire(pub(crate) String);

struct Route {
    wire: Wire,
    provider: Provider,
    model: Option<String>,
    /// The method of a model, if its wire has several.
    verb: Option<String>,
}

fn route(incoming: &Incoming<'_>) -> Option<Route> {
    let path = incoming.path.trim_end_matches('/');
    let of = |wire, provider| Some(Route { wire, provider, model: None, verb: None });
    let posted = incoming.method == "POST";
    if posted && let Some((model, verb)) = gemini::method(path) {
        let (model, verb) = (Some(model), Some(verb));
        return Some(Route { wire: Wire::Gemini, provider: Provider::Gemini, model, verb });
    }
    if posted && let Some(model) = anthropic::vertex_model(path) {
        // A count names its model in the body.
        let (model, verb) = match model.as_str() {
            "count-tokens" => (None, Some("count_tokens".to_owned())),
            _ => (Some(model), None),
        };
        return Some(Route { wire: Wire::Anthropic, provider: Provider::Gemini, model, verb });
    }
    if posted && path.ends_with("/messages/count_tokens") {
        let verb = Some("count_tokens".to_owned());
        return Some(Route { wire: Wire::Anthropic, provider: Provider::Anthropic, model: None, verb });
    }
    if incoming.method == "GET" {
        return models(path, incoming);
    }
    match path.rsplit('/').next().unwrap_or_default() {
        "completions" if posted && path.ends_with("/chat/completions") => {
            of(Wire::OpenAiChat, Provider::OpenAi)
        }
        "responses" if posted => of(Wire::OpenAiResponses, Provider::OpenAi),
        "embeddings" if posted => of(Wire::OpenAiEmbeddings, Provider::OpenAi),
        "messages" if posted => of(Wire::Anthropic, Provider::Anthropic),
        _ => None,
    }
}

/// The parts before the name of a model in a path: a deployment of Azure, an engine of OpenAI, an endpoint of Vertex, a model of
/// Hugging Face.
const BEFORE_MODELS: [&str; 5] = ["/deployments/", "/engines/", "/endpoints/", "/models/", "/model/"];

/// The model that a path names before its wire, as `/deployments/gpt-5/chat/completions` does.
fn deployed(path: &str) -> Option<&str> {
    const ENDS: [&str; 5] =
        ["/chat/completions", "/responses", "/embeddings", "/messages", "/messages/count_tokens"];
    let path = path.trim_end_matches('/');
    let before = ENDS.iter().find_map(|end| path.strip_suffix(end))?;
    let before = before.strip_suffix("/v1").unwrap_or(before);
    let (_, name) = BEFORE_MODELS.iter().find_map(|known| before.split_once(known))?;
    // Vertex answers for all models under this name.
    (!name.is_empty() && name != "openapi").then_some(name)
}

/// The list of models, or one of them. All providers have it below the same path, and a key of one must not go to another.
fn models(path: &str, incoming: &Incoming<'_>) -> Option<Route> {
    let (before, below) = path.rsplit_once("/models")?;
    let model = match below.strip_prefix('/') {
        Some(model) => Some(model.to_owned()),
        None if below.is_empty() => None,
        _ => return None,
    };
    let verb = Some(if model.is_some() { "get" } else { "list" }.to_owned());
    let is_gemini = incoming.is_googles || before.contains("/v1beta") || before.contains("/publishers/");
    let (wire, provider) = match (incoming.version, is_gemini) {
        (Some(_), _) => (Wire::Models, Provider::Anthropic),
        (None, true) => (Wire::Gemini, Provider::Gemini),
        (None, false) => (Wire::Models, Provider::OpenAi),
    };
    Some(Route { wire, provider, model, verb })
}

impl Asked {
    /// Takes a request apart. `previous` is the key of the request whose answer has an id.
    pub(crate) fn read(
        incoming: &Incoming<'_>,
        masks: &Masks,
        previous: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, NoWire> {
        let Route { wire, provider, model, verb } = route(incoming).ok_or_else(|| {
            let path = eval_support::untrusted::one_line(incoming.path);
            NoWire(format!(
                "{} {path} is not a wire of the gateway: it knows chat completions, responses and embeddings of OpenAI, \
                 messages of Anthropic, and the methods of Gemini's models",
                incoming.method
            ))
        })?;
        let mut body = body(wire, incoming)?;
        for key in ["messages", "input", "contents"] {
            let items = body.get(key).and_then(Value::as_array);
            if let Some(items) = items.and_then(results::in_order) {
                body.insert(key, Value::Array(items));
            }
        }
        let deployed = deployed(incoming.path).filter(|_| model.is_none());
        let named = body.get("model").and_then(Value::as_str).filter(|name| !name.is_empty());
        // The path decides which model answers, whatever the body says.
        let other = deployed.filter(|deployed| named.is_some_and(|named| named != *deployed));
        let model = model.or(named.or(deployed).map(str::to_owned)).unwrap_or_default();
        let mut canonical = Canonical::new(masks);
        let mut parts = match wire {
            Wire::OpenAiChat | Wire::OpenAiEmbeddings | Wire::Models => openai::parts(&body, &mut canonical),
            Wire::OpenAiResponses => openai_responses::parts(&body, &mut canonical, previous),
            Wire::Anthropic => anthropic::parts(&body, &mut canonical, previous),
            Wire::Gemini => gemini::parts(&body, &mut canonical),
        };
        parts.tools = parts.tools.map(sorted_tools);
        parts.options.extend(more_options(incoming, verb));
        if let Some(deployed) = other {
            parts.options.insert("deployment", deployed);
        }
        let user_text = last_user_text(&body);
        let rest = rest(provider, incoming);
        let key = key(wire, &model, &parts);
        Ok(Self { wire, provider, model, parts, key, ids: canonical.seen, user_text, rest })
    }
}

fn body(wire: Wire, incoming: &Incoming<'_>) -> Result<Map, NoWire> {
    if incoming.body.is_empty() && incoming.method == "GET" {
        return Ok(Map::new());
    }
    let text = std::str::from_utf8(incoming.body)
        .map_err(|_| NoWire(format!("the body of a call ({wire}) is not UTF-8")))?;
    match parse_value(text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(NoWire(format!("the body of a call ({wire}) is no object"))),
        Err(why) => Err(NoWire(format!("the body of a call ({wire}) is not JSON: {why}"))),
    }
}

/// Options that are not in the body.
fn more_options(incoming: &Incoming<'_>, verb: Option<String>) -> Map {
    let mut options = Map::new();
    if let Some(verb) = verb {
        options.insert("method", verb);
    }
    if let Some(version) = incoming.version {
        options.insert("anthropic-version", version);
    }
    if let Some(beta) = incoming.beta {
        let mut features: Vec<&str> = beta.split(',').map(str::trim).collect();
        features.sort_unstable();
        options.insert("anthropic-beta", features.join(","));
    }
    let mut query: Vec<&str> = incoming.query.split('&').filter(|pair| !pair.is_empty()).collect();
    if let Some(alt) = query.iter().find_map(|pair| pair.strip_prefix("alt=")) {
        options.insert("alt", alt);
    }
    if incoming.method == "GET" {
        query.retain(|pair| is_of_a_page(pair));
        query.sort_unstable();
        if !query.is_empty() {
            options.insert("query", query.join("&"));
        }
    }
    options
}

/// Whether a part of a query says which page of a list is asked for. Others, such as keys of any name, are dropped.
fn is_of_a_page(pair: &str) -> bool {
    let name = pair.split('=').next().unwrap_or_default();
    PAGES.contains(&name)
}

/// The path below the base URL, with the query.
fn rest(provider: Provider, incoming: &Incoming<'_>) -> String {
    let path = incoming.path.strip_prefix(provider.base()).filter(|rest| rest.starts_with('/'));
    let path = path.unwrap_or(incoming.path);
    match incoming.query {
        "" => path.to_owned(),
        query => format!("{path}?{query}"),
    }
}

/// A text that is the same for the same canonical request.
pub(crate) fn key(wire: Wire, model: &str, parts: &Parts) -> String {
    let Parts { options, system, tools, messages } = parts;
    let mut text = format!("{wire}\0{model}\0");
    let mut sorted: Vec<_> = options.iter().collect();
    sorted.sort_by_key(|(key, _)| *key);
    for (name, value) in sorted {
        text.push_str(&format!("{name}={value}\0"));
    }
    for part in [system, tools] {
        text.push_str(&part.as_ref().map(Value::to_string).unwrap_or_default());
        text.push('\0');
    }
    for message in messages {
        text.push_str(&message.to_string());
        text.push('\0');
    }
    hash(text.as_bytes())
}

/// The text of the last message of the user, whichever wire has it.
fn last_user_text(body: &Map) -> String {
    let lists = ["messages", "input", "contents"].into_iter().find_map(|key| body.get(key));
    let message = match lists {
        Some(Value::String(text)) => return text.clone(),
        Some(Value::Array(items)) => items.iter().rev().find(|item| {
            let role = item.as_object().and_then(|map| map.get("role")).and_then(Value::as_str);
            role == Some("user") && !texts_of(item).is_empty()
        }),
        _ => None,
    };
    message.map(|message| texts_of(message).join("\n")).unwrap_or_default()
}

/// The texts of a message: its content, or the parts of it that are text.
fn texts_of(message: &Value) -> Vec<&str> {
    let Some(map) = message.as_object() else { return Vec::new() };
    let content = map.get("content").or_else(|| map.get("parts"));
    match content {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.as_object()?.get("text")?.as_str()).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
