//! Messages that a program writes in a turn.

use eval_agents::streams::{Passed, play};
use serde_json::Value;

/// Takes the input as what a program writes after its `hello`, for a case that expects no call and the answer `hello`.
pub fn check(data: &[u8]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let played = runtime.block_on(play(data.to_vec())).expect("no bytes keep the case from being played");
    let Some(Passed { events, has_notes: false }) = played else { return };
    let text = std::str::from_utf8(data).expect("what passes is text");
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    // The line that ends the turn is no event.
    assert!(events + 1 >= lines.len(), "{events} events of {lines:?}");
    for line in lines {
        let message: Value = serde_json::from_str(line).expect("what passes is JSON");
        assert!(!calls(&message), "a call of {line} passed");
    }
}

/// A message says that a tool was called, or what a tool returned.
fn calls(message: &Value) -> bool {
    let parts = &message["event"]["content"]["parts"];
    let keys = ["functionCall", "function_call", "functionResponse", "function_response"];
    message["type"] == "tool_call"
        || parts.as_array().is_some_and(|parts| {
            parts
                .iter()
                .any(|part| keys.iter().any(|key| part.get(key).is_some_and(|value| !value.is_null())))
        })
}
