//! What an agent does, as it is shown while it answers.

use eval_agents::record::Watched;
use eval_core::BoxAgent;
use eval_core::agent::Event;
use eval_format::{Part, Value};
use eval_support::message::truncated;
use eval_support::untrusted::one_line;

use crate::agent::AnyAgent;
use crate::output::style::{BOLD, ERROR, styled};
use crate::output::tell;

/// How many characters of a result are shown.
const SHOWN: usize = 300;

/// An agent whose events are shown as they come.
pub(super) fn watched(agent: &AnyAgent) -> Watched<BoxAgent, fn(&Event)> {
    Watched::new(agent.boxed(), show as fn(&Event))
}

/// Shows an event.
fn show(event: &Event) {
    tell(&shown(event));
}

/// An event in lines.
fn shown(event: &Event) -> String {
    let mut text: String = event.parts().iter().filter_map(|part| part_shown(&event.author, part)).collect();
    if let Some(code) = &event.error_code {
        let message = event.error_message.as_deref().unwrap_or_default();
        text.push_str(&format!("  {} {}\n", styled(ERROR, "error"), cut(&format!("{code} {message}"))));
    }
    for (key, value) in &event.state_delta {
        text.push_str(&format!("  state {} = {}\n", cut(key), cut(&value.to_string())));
    }
    text
}

fn part_shown(author: &str, part: &Part) -> Option<String> {
    if let Some(call) = &part.function_call {
        return Some(format!("  calls {}\n", cut(&call.to_string())));
    }
    if let Some(response) = &part.function_response {
        let name = response.name.as_deref().unwrap_or("a tool");
        let result = Value::from(response.response.clone().unwrap_or_default());
        return Some(format!("  {} answers {}\n", one_line(name), cut(&result.to_string())));
    }
    let said = part.text.as_deref().filter(|text| !text.is_empty())?;
    if part.thought == Some(true) {
        return Some(format!("  thinks {}\n", cut(said)));
    }
    // An answer is shown whole.
    let lines: Vec<String> = said.lines().map(one_line).collect();
    Some(format!("{} {}\n", styled(BOLD, &format!("{}>", one_line(author))), lines.join("\n  ")))
}

/// The beginning of a text, in one line.
fn cut(text: &str) -> String {
    one_line(&truncated(text, SHOWN, ".."))
}

#[cfg(test)]
mod tests {
    use eval_format::{Content, FunctionCall, FunctionResponse};
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_is_shown_in_lines_that_nothing_in_it_can_forge() {
        let parts = vec![
            Part::call(FunctionCall::new("look", json!({ "city": "Oslo" }))),
            Part::response(FunctionResponse::new("look", json!("rain\u{1b}[2J"))),
            Part::text("It rains.\nTake an umbrella\r\u{1b}[31m."),
        ];
        let event = Event::new("agent", Content::new("model", parts)).with_state("last", "Oslo");
        let text = shown(&event);
        assert!(text.contains("  calls look(city: \"Oslo\")\n"), "{text}");
        assert!(text.contains("It rains.\n  Take an umbrella"), "{text}");
        assert!(text.ends_with("  state last = \"Oslo\"\n"), "{text}");
        assert!(
            !text.contains("\u{1b}[2J") && !text.contains("\u{1b}[31m") && !text.contains('\r'),
            "{text:?}"
        );
    }
}
