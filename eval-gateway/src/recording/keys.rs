//! Keys of the files of recordings. One that is not known is an error: it may be a rule of the user that is misspelt.

use eval_format::Map;
use eval_support::message::cut;
use eval_support::spelling::suggest;
use eval_support::untrusted::one_line;
use eval_support::words::code_list;

/// The keys of a request with its answers.
pub(super) const OF_EXCHANGE: [&str; 11] = [
    "turn", "wire", "model", "key", "answered", "system", "tools", "options", "after", "messages", "answers",
];
pub(super) const OF_ANSWER: [&str; 8] =
    ["run", "status", "headers", "check", "body", "events", "type", "text"];
pub(super) const OF_EVENT: [&str; 3] = ["event", "data", "text"];

/// Fails if an object has another key than these. The error goes on behind the name of the object.
pub(super) fn check(map: &Map, known: &[&str]) -> Result<(), String> {
    let Some((key, _)) = map.iter().find(|(key, _)| !known.contains(key)) else { return Ok(()) };
    let meant = match suggest(key, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("known are {}", code_list(known)),
    };
    Err(format!("has the key `{}`, which is not known: {meant}", one_line(&cut(key, 80))))
}
