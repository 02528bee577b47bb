//! The key `_tools` of a case, checked with places, and the places of the calls of a turn.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use eval_support::words::{count, did_you_mean, first_of_code_list};

use super::TRANSFER_TO_AGENT;
use super::faults::ToolFaults;
use crate::mistakes::{Mistake, Step, located};
use crate::model::EvalCase;
use crate::problem::{ProblemCode, shown};
use crate::schema::{EVAL_CASE, Place, Walker};
use crate::syntax::Node;

/// Checks the key `_tools` of a case.
pub(crate) fn check(case: &Node<'_>, place: &Place<'_>, walker: &mut Walker<'_>) {
    let Some(entry) = case.get(EvalCase::TOOLS_KEY) else { return };
    let (faults, mut mistakes) = ToolFaults::read(&entry.value.to_value());
    let turns = case.object().and_then(|entries| EVAL_CASE.entry(entries, "conversation"));
    let turns = turns.and_then(|turns| turns.value.array()).unwrap_or_default();
    // The tools of the turns that have faults.
    let mut expected: HashMap<usize, Vec<String>> = HashMap::new();
    for fault in &faults {
        let unknown = |path: &[String], message, help| Mistake {
            code: ProblemCode::ToolFault,
            path: path.iter().map(|key| Step::key(key)).collect(),
            at_key: true,
            message,
            help,
        };
        let turn = fault.turn.to_string();
        let Some(node) = turns.get(fault.turn - 1) else {
            let message = format!("there is no turn {turn}: the case has {}", count(turns.len(), "turn"));
            let help = if turns.is_empty() {
                "a scenario has no turns that a fault could name"
            } else {
                "number the turns from \"1\""
            };
            mistakes.push(unknown(&[turn], message, help.to_owned()));
            continue;
        };
        if fault.tool == TRANSFER_TO_AGENT {
            let message = format!("`{TRANSFER_TO_AGENT}` always runs, so no fault takes its place");
            mistakes.push(unknown(
                &[turn, fault.name()],
                message,
                "name a tool that the case answers".to_owned(),
            ));
            continue;
        }
        let tools = expected.entry(fault.turn).or_insert_with(|| tools_of(node));
        // A turn that expects no call may be one whose calls are not written down.
        if !tools.is_empty() && tools.binary_search(&fault.tool).is_err() {
            let meant = did_you_mean(&fault.tool, tools.iter().map(String::as_str));
            let listed =
                || format!("the turn expects calls of {}", first_of_code_list(tools, MAX_NAMED_TOOLS));
            let help = meant.unwrap_or_else(listed);
            let message = format!("turn {turn} expects no call of `{}`", shown(&fault.tool));
            mistakes.push(unknown(&[turn, fault.name()], message, help));
        }
    }
    let place = &Place::Key(place, EvalCase::TOOLS_KEY);
    for mistake in mistakes {
        walker.problems.push(located(&mistake, Some(entry), &entry.value, place));
    }
}

/// More tools of a turn are not named in a message.
const MAX_NAMED_TOOLS: usize = 20;

/// The tools of the calls that a turn expects, each once, in alphabetical order.
fn tools_of(turn: &Node<'_>) -> Vec<String> {
    let tools: BTreeSet<String> = call_places(turn).into_iter().map(|(tool, _)| tool).collect();
    tools.into_iter().collect()
}

/// The tool and the place of each call that a turn expects, in the order of [`Invocation::tool_calls`].
///
/// [`Invocation::tool_calls`]: crate::Invocation::tool_calls
pub(crate) fn call_places(turn: &Node<'_>) -> Vec<(String, Range<usize>)> {
    let mut found = Vec::new();
    let Some(data) = key(turn, "intermediate_data", "intermediateData") else { return found };
    let mut add = |call: &Node<'_>| {
        let name = call.get("name").and_then(|entry| entry.value.string()).unwrap_or_default();
        found.push((name.to_owned(), call.range.clone()));
    };
    items(key(data, "tool_uses", "toolUses")).for_each(&mut add);
    for event in items(key(data, "invocation_events", "invocationEvents")) {
        let content = event.get("content").map(|entry| &entry.value);
        let parts = content.and_then(|content| content.get("parts")).map(|entry| &entry.value);
        for part in items(parts) {
            if let Some(call) = key(part, "function_call", "functionCall").filter(|call| !call.is_null()) {
                add(call);
            }
        }
    }
    found
}

fn items<'n, 'a>(node: Option<&'n Node<'a>>) -> std::slice::Iter<'n, Node<'a>> {
    node.and_then(Node::array).unwrap_or_default().iter()
}

fn key<'n, 'a>(node: &'n Node<'a>, snake: &str, camel: &str) -> Option<&'n Node<'a>> {
    node.get(camel).or_else(|| node.get(snake)).map(|entry| &entry.value)
}

#[cfg(test)]
mod tests {
    use crate::reader::check_set;

    fn problems(tools: &str, turns: &str) -> Vec<String> {
        let text = format!(
            r#"{{"eval_set_id": "s", "eval_cases": [{{"eval_id": "c", "_tools": {tools}, "conversation": [{turns}]}}]}}"#
        );
        let checked = check_set("s.json", text.as_bytes(), None);
        let shown = checked.problems.iter().map(|problem| {
            let help = problem.help.as_deref().unwrap_or_default();
            format!(
                "{} {} at {} `{}`; {help}",
                problem.code,
                problem.message,
                problem.path,
                &text[problem.range.clone()]
            )
        });
        shown.collect()
    }

    const TURN: &str = r#"{"user_content": {"parts": [{"text": "Hi"}]}, "intermediate_data": {"tool_uses":
        [{"name": "search", "args": {}}, {"name": "book", "args": {}}]}}"#;
    const EVENTS: &str = r#"{"userContent": {"parts": [{"text": "Hi"}]}, "intermediateData": {"invocationEvents":
        [{"author": "a", "content": {"parts": [{"text": "x"}, {"functionCall": {"name": "search", "args": {}}}]}}]}}"#;
    #[test]
    fn many_faults_of_one_turn_take_no_longer_each() {
        let calls = (0..2_000).map(|at| format!(r#"{{"name": "t{at}", "args": {}}}"#, "{}"));
        let calls: Vec<String> = calls.collect();
        let turn = TURN.replace(r#"{"name": "search", "args": {}}"#, &calls.join(","));
        let faults: Vec<String> = (0..2_000).map(|at| format!(r#""t{at}#1": "never""#)).collect();
        let began = std::time::Instant::now();
        assert_eq!(problems(&format!(r#"{{"1": {{{}}}}}"#, faults.join(",")), &turn), Vec::<String>::new());
        assert!(began.elapsed() < std::time::Duration::from_secs(10), "{:?}", began.elapsed());
    }

    const SILENT: &str = r#"{"user_content": {"parts": [{"text": "Hi"}]}}"#;

    #[test]
    fn a_mistake_of_a_fault_is_an_error_with_its_place() {
        for (tools, turns, expected) in [
            (r#"{"1": {"search#2": "never"}}"#, TURN, None),
            (r#"{"1": {"search#1": "never"}}"#, EVENTS, None),
            (r#"{"1": {"anything#1": "never"}}"#, SILENT, None),
            (
                r#"{"2": {"search#1": "never"}}"#,
                TURN,
                Some(
                    r#"tool-fault there is no turn 2: the case has 1 turn at eval_cases[0]._tools.2 `"2"`; number the turns from "1""#,
                ),
            ),
            (
                r#"{"1": {"serach#1": "never"}}"#,
                TURN,
                Some(
                    r#"tool-fault turn 1 expects no call of `serach` at eval_cases[0]._tools.1["serach#1"] `"serach#1"`; did you mean `search`?"#,
                ),
            ),
            (
                r#"{"1": {"transfer_to_agent#1": "never"}}"#,
                SILENT,
                Some(
                    r#"tool-fault `transfer_to_agent` always runs, so no fault takes its place at eval_cases[0]._tools.1["transfer_to_agent#1"] `"transfer_to_agent#1"`; name a tool that the case answers"#,
                ),
            ),
            (
                r#"{"1": {"pay#1": "never"}}"#,
                EVENTS,
                Some(
                    r#"tool-fault turn 1 expects no call of `pay` at eval_cases[0]._tools.1["pay#1"] `"pay#1"`; the turn expects calls of `search`"#,
                ),
            ),
            (
                r#"{"1": {"search#1": {"after": "2"}}}"#,
                TURN,
                Some(
                    r#"wrong-type `after` is "2" at eval_cases[0]._tools.1["search#1"].after `"2"`; it is a number of seconds, above 0 and at most 86400"#,
                ),
            ),
        ] {
            let found = problems(tools, turns);
            assert_eq!(
                found.iter().map(String::as_str).collect::<Vec<_>>(),
                Vec::from_iter(expected),
                "{tools}"
            );
        }
    }
}
