//! ADK's types as JSON on the wire, with keys in camelCase, or in `snake_case` from some senders.
//!
//! Servers have other versions than this crate, so unknown keys are no error: they are listed for the caller.
//! A value of the wrong type is an error. So are the errors of the reader of files: a repeated key, a key in
//! two spellings, and a key that looks like a known one.

mod event;
mod read;

use eval_core::format::{AgentDetails, AppDetails, Content, Map, Value};

use read::{Misread, camel, respelled, snake};

pub(crate) use event::{ReadEvent, event};
pub(crate) use read::{Reader, parse};

/// Reads the `agents` of an app info: an object of agents by their names.
pub(crate) fn details(mut sent: Reader) -> Result<AppDetails, Misread> {
    let mut details = AppDetails::default();
    let Some(agents) = sent.map("agents")? else { return Ok(details) };
    let path = sent.path("agents");
    for (name, agent) in agents {
        let mut agent = Reader::new(agent, format!("{path}.{name}"))?;
        // Instructions that are generated for each call are not sent as text.
        let instruction = agent.value("instruction").and_then(|text| text.as_str().map(str::to_owned));
        let tools = agent.list("tools")?.unwrap_or_default();
        let tools = tools.into_iter().map(|tool| respelled(tool, snake));
        details = details.with_agent(
            AgentDetails::new(name, instruction.unwrap_or_default()).with_tool_declarations(tools),
        );
    }
    Ok(details)
}

/// A message with its keys in camelCase, which all servers read.
pub(crate) fn content(content: &Content) -> Value {
    let mut sent = Map::new();
    sent.insert("role", content.role.as_deref().unwrap_or("user"));
    let parts = content.parts().iter().map(|part| respelled(part.to_value(), camel));
    sent.insert("parts", parts.collect::<Vec<_>>());
    sent.into()
}

#[cfg(test)]
mod tests {
    use eval_core::format::{FunctionResponse, Part};

    use super::*;

    #[test]
    fn images_and_results_of_tools_are_sent_as_servers_read_them() {
        let image = Value::parse(r#"{"mime_type": "image/png", "data": "aGk="}"#).unwrap();
        let parts = vec![
            Part::text("look"),
            Part::default().with_other("inline_data", image),
            Part::response(FunctionResponse::new("f", Map::from([("the_result", 1)])).with_id("7")),
        ];
        assert_eq!(
            content(&Content::new("user", parts)).to_string(),
            r#"{"role":"user","parts":[{"text":"look"},{"inlineData":{"mimeType":"image/png","data":"aGk="}},{"functionResponse":{"id":"7","name":"f","response":{"the_result":1}}}]}"#
        );
        assert_eq!(content(&Content::default()).to_string(), r#"{"role":"user","parts":[]}"#);
    }
}
