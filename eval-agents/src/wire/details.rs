//! What an agent is made of: the instructions and tools of each of its agents.

use eval_core::format::{AgentDetails, AppDetails};

use super::keys::{respelled, snake};
use super::read::{Misread, Reader};

/// Reads the `agents` of an app info: an object of agents by their names.
pub(crate) fn details(mut sent: Reader) -> Result<AppDetails, Misread> {
    let mut details = AppDetails::default();
    let Some(agents) = sent.map("agents")? else { return Ok(details) };
    let path = sent.path("agents");
    for (name, agent) in agents {
        let mut agent = Reader::new(agent, format!("{path}.{name}"))?;
        // Instructions that are made anew for each call are no text.
        let instruction = agent.value("instruction").and_then(|text| text.as_str().map(str::to_owned));
        let tools = agent.list("tools")?.unwrap_or_default();
        let tools = tools.into_iter().map(|tool| respelled(tool, snake));
        details = details.with_agent(
            AgentDetails::new(name, instruction.unwrap_or_default()).with_tool_declarations(tools),
        );
    }
    Ok(details)
}
