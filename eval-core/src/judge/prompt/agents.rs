//! The instructions and the tools of the agents.

use std::collections::HashSet;

use eval_format::{AgentDetails, Invocation, Value};

use super::steps::line;

/// The instructions of the agents of these turns, a JSON object a line.
pub(crate) fn instructions(turns: &[Invocation]) -> String {
    let told = agents(turns).filter(|(_, agent)| !agent.instructions.is_empty());
    let lines = told.map(|(name, agent)| {
        line([("agent", Value::from(name)), ("instructions", Value::from(agent.instructions.as_str()))])
    });
    once(lines).unwrap_or_else(|| "(not known)".to_owned())
}

/// The tools that the agents of these turns had, a JSON object a line.
///
/// The text for agents without tools is not the one for agents of which nothing is known.
pub(crate) fn tools(turns: &[Invocation]) -> String {
    let lines = agents(turns).flat_map(|(name, agent)| {
        let line = move |tool: &Value| line([("agent", Value::from(name)), ("tool", tool.clone())]);
        agent.tool_declarations.iter().map(line)
    });
    once(lines).unwrap_or_else(|| match agents(turns).next() {
        Some(_) => "(the agent has no tools)".to_owned(),
        None => "(not known)".to_owned(),
    })
}

fn agents(turns: &[Invocation]) -> impl Iterator<Item = (&str, &AgentDetails)> {
    let details = turns.iter().filter_map(|turn| turn.app_details.as_ref());
    details.flat_map(|details| &details.agent_details).map(|(name, agent)| (name.as_str(), agent))
}

/// The lines in order, without repetitions. `None` if there are none.
fn once(lines: impl Iterator<Item = String>) -> Option<String> {
    let mut seen = HashSet::new();
    let lines: Vec<String> = lines.filter(|line| seen.insert(line.clone())).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use eval_format::AppDetails;
    use serde_json::json;

    fn turn(instructions: &str, tools: &[&str]) -> Invocation {
        let tools = tools.iter().map(|tool| json!({ "name": tool }));
        let agent = AgentDetails::new("clerk", instructions).with_tool_declarations(tools);
        Invocation::user("q").with_app_details(AppDetails::default().with_agent(agent))
    }

    #[test]
    fn what_all_turns_repeat_is_shown_once() {
        let turns = [turn("Be kind.", &["look"]), turn("Be kind.", &["look", "buy"])];
        assert_eq!(instructions(&turns), r#"{"agent":"clerk","instructions":"Be kind."}"#);
        assert_eq!(
            tools(&turns),
            "{\"agent\":\"clerk\",\"tool\":{\"name\":\"look\"}}\n{\"agent\":\"clerk\",\"tool\":{\"name\":\"buy\"}}"
        );
    }

    #[test]
    fn unknown_tools_are_not_no_tools() {
        let (unknown, none) = ([Invocation::user("q")], [turn("", &[])]);
        assert_eq!(
            (tools(&unknown), tools(&none)),
            ("(not known)".into(), "(the agent has no tools)".into())
        );
        assert_eq!(instructions(&none), "(not known)");
    }
}
