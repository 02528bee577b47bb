//! Whether the cases of a set fit the source of the answers to the agent's calls.

use super::incompatibility::{CallPlace, Incompatibility, Part};
use crate::model::EvalCase;
use crate::options::ToolSource;
use crate::problem::{ProblemCode, shown};
use crate::tools::{TRANSFER_TO_AGENT, ToolFaults, answered_calls};

/// Checks whether the tools of a set's cases can be answered, before anything runs.
///
/// With golden tools each expected call needs a response. Without them, nothing plays the faults of `_tools`.
///
/// ```
/// use eval_format::compat::check_tools;
/// use eval_format::{EvalCase, FunctionCall, Invocation, ToolSource};
/// use serde_json::json;
///
/// let turn = Invocation::user("Paris?").call(FunctionCall::new("get_weather", json!({"city": "Paris"})));
/// let cases = [EvalCase::new("sunny").turn(turn)];
/// assert!(check_tools(ToolSource::Real, &cases).is_empty());
/// let found = check_tools(ToolSource::Golden, &cases);
/// assert!(found[0].to_string().starts_with("case `sunny`: turn 1 has no response of `get_weather`"));
/// ```
pub fn check_tools(tools: ToolSource, cases: &[EvalCase]) -> Vec<Incompatibility> {
    let mut found = Vec::new();
    for (at, case) in cases.iter().enumerate() {
        match tools {
            ToolSource::Golden => unanswered(at, case, &mut found),
            ToolSource::Real => found.extend(unplayed(at, case)),
        }
    }
    found
}

/// More tools of a turn are not named in a message.
const MAX_NAMED_TOOLS: usize = 8;

/// One mistake for each turn, at the first call that has no response.
fn unanswered(at: usize, case: &EvalCase, found: &mut Vec<Incompatibility>) {
    if case.conversation_scenario.is_some() {
        let message = "a simulated user leads it, and no golden says what tools answer then";
        let help = "run it with the tools of the agent, or write down the turns";
        found.push(of_case(at, case, message.to_owned(), help).at(Part::Case));
    }
    for (turn, invocation) in case.conversation.iter().enumerate() {
        let calls = answered_calls(invocation).into_iter().enumerate();
        let mut missing = calls.filter_map(|(call, (expected, answer))| {
            let tool = expected.name.as_deref().unwrap_or_default();
            (answer.is_none() && tool != TRANSFER_TO_AGENT).then_some((call, tool))
        });
        let Some((call, first)) = missing.next() else { continue };
        let mut tools = vec![first];
        let others: Vec<&str> = missing.map(|(_, tool)| tool).collect();
        for tool in &others {
            if tools.len() < MAX_NAMED_TOOLS && !tools.contains(tool) {
                tools.push(tool);
            }
        }
        let names: Vec<String> = tools.iter().map(|tool| format!("`{}`", shown(tool))).collect();
        let calls = match others.len() {
            0 => "its call".to_owned(),
            more => format!("{} calls", more + 1),
        };
        let message =
            format!("turn {} has no response of {} to answer {calls} with", turn + 1, names.join(", "));
        let help =
            "add what the tool answered to `tool_responses`, or `{}`; `cargo evalset record` writes it down";
        found.push(of_case(at, case, message, help).at(Part::Call(CallPlace { turn, call })));
    }
}

fn unplayed(at: usize, case: &EvalCase) -> Option<Incompatibility> {
    let faults = ToolFaults::of(case);
    let first = faults.iter().next()?;
    let message =
        format!("nothing plays its fault `{}`, as the tools of the agent run", shown(&first.name()));
    let help = "say `tools = \"golden\"` in the attribute, `--tools golden` to `run`, or `tools(ToolSource::Golden)` of the runner";
    let found = Incompatibility::of_case(at, case, ProblemCode::ToolFault, message, help.to_owned());
    Some(found.at_keys(&[EvalCase::TOOLS_KEY]))
}

fn of_case(at: usize, case: &EvalCase, message: String, help: &str) -> Incompatibility {
    let help = eval_support::command::spelt(help.to_owned());
    Incompatibility::of_case(at, case, ProblemCode::UnansweredCall, message, help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::check_set;

    #[test]
    fn a_call_without_a_response_and_a_fault_without_golden_tools_are_errors_with_their_places() {
        let text = r#"{"eval_set_id": "s", "eval_cases": [
            {"eval_id": "flat", "_tools": {"1": {"f#1": "never"}}, "conversation": [{"user_content": {}, "intermediate_data": {
                "tool_uses": [{"name": "f", "args": {}}, {"name": "g", "args": {}}, {"name": "transfer_to_agent", "args": {}},
                    {"name": "h", "args": {}}, {"name": "g", "args": {}}],
                "tool_responses": [{"name": "f", "response": {}}]}}]},
            {"eval_id": "events", "conversation": [{"user_content": {}, "intermediate_data": {"invocation_events": [
                {"author": "a", "content": {"parts": [{"function_call": {"name": "h", "args": {}}}]}}]}}]},
            {"eval_id": "scenario", "conversation_scenario": {"starting_prompt": "Hi", "conversation_plan": "Book."}}]}"#;
        let checked = check_set("s.json", text.as_bytes(), None);
        let cases = &checked.set.as_ref().unwrap().eval_cases;
        let shown = |tools| -> Vec<String> {
            let problems = check_tools(tools, cases).into_iter().map(|found| found.problem(&checked));
            problems.map(|it| format!("{}: {} `{}`", it.path, it.message, &text[it.range.clone()])).collect()
        };
        assert_eq!(
            shown(ToolSource::Golden),
            [
                "eval_cases[0].conversation[0]: case `flat`: turn 1 has no response of `g`, `h` to answer 3 calls with `{\"name\": \"g\", \"args\": {}}`",
                "eval_cases[1].conversation[0]: case `events`: turn 1 has no response of `h` to answer its call with `{\"name\": \"h\", \"args\": {}}`",
                "eval_cases[2]: a simulated user leads it, and no golden says what tools answer then `\"scenario\"`",
            ]
        );
        assert_eq!(
            shown(ToolSource::Real),
            [
                "eval_cases[0]._tools: case `flat`: nothing plays its fault `f#1`, as the tools of the agent run `\"_tools\"`"
            ]
        );
    }
}
