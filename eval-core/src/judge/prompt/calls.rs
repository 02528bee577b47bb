//! The calls of a turn with their responses, as prompts show them.

use std::collections::{HashMap, VecDeque};

use eval_format::{FunctionCall, FunctionResponse, Invocation};

/// The tool calls of a turn in order, each with the response that a judge is shown.
///
/// This is ADK's rule. Metrics that compare responses have [`tools::calls_with_responses`](eval_format::tools::calls_with_responses).
/// A call with an id gets the response of that id, and the last one if there are several. Any other call gets
/// the next response without an id that has its name. ADK shows every call without an id with the last
/// response without an id, whatever its tool.
pub(crate) fn calls_for_judges(turn: &Invocation) -> Vec<(&FunctionCall, Option<&FunctionResponse>)> {
    let calls: Vec<&FunctionCall> = turn.tool_calls().collect();
    let (mut by_id, mut by_name) = (HashMap::new(), HashMap::new());
    for response in turn.tool_responses() {
        let queue: &mut VecDeque<&FunctionResponse> = match response.id.as_deref() {
            Some(id) => by_id.entry(id).or_default(),
            None => by_name.entry(response.name.as_deref()).or_default(),
        };
        queue.push_back(response);
    }
    let mut to_come: HashMap<&str, usize> = HashMap::new();
    for id in calls.iter().filter_map(|call| call.id.as_deref()) {
        *to_come.entry(id).or_default() += 1;
    }
    let mut pairs = Vec::with_capacity(calls.len());
    for call in calls {
        let by_own_id = call.id.as_deref().and_then(|id| {
            let calls_left = to_come.get_mut(id)?;
            *calls_left -= 1;
            let queue = by_id.get_mut(id)?;
            if *calls_left == 0 { queue.pop_back() } else { queue.pop_front() }
        });
        let by_name = || by_name.get_mut(&call.name.as_deref())?.pop_front();
        pairs.push((call, by_own_id.or_else(by_name)));
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::responses::tests::{call, response, turn};

    #[test]
    fn calls_are_shown_with_their_own_responses() {
        type Call<'a> = (Option<&'a str>, &'a str);
        type Response<'a> = (Option<&'a str>, &'a str, &'a str);
        type Row<'a> = (&'a [Call<'a>], &'a [Response<'a>], &'a [Option<&'a str>]);
        let rows: [Row<'_>; 8] = [
            // ADK shows `t` with what `u` said: one response for all calls without an id.
            (&[(None, "t"), (None, "u")], &[(None, "t", "1"), (None, "u", "2")], &[Some("1"), Some("2")]),
            (&[(None, "t"), (None, "u")], &[(None, "u", "2"), (None, "t", "1")], &[Some("1"), Some("2")]),
            (&[(None, "t"), (None, "t")], &[(None, "t", "1"), (None, "t", "2")], &[Some("1"), Some("2")]),
            (
                &[(Some("1"), "t"), (Some("2"), "t")],
                &[(Some("2"), "t", "b"), (Some("1"), "t", "a")],
                &[Some("a"), Some("b")],
            ),
            // A tool that reports its progress: the last word counts, as in ADK.
            (&[(Some("1"), "t")], &[(Some("1"), "t", "wait"), (Some("1"), "t", "done")], &[Some("done")]),
            (
                &[(Some("1"), "t"), (Some("1"), "t")],
                &[(Some("1"), "t", "a"), (Some("1"), "t", "b")],
                &[Some("a"), Some("b")],
            ),
            (&[(Some("1"), "t"), (None, "u")], &[], &[None, None]),
            (&[(Some("1"), "t")], &[(Some("2"), "t", "other"), (None, "t", "mine")], &[Some("mine")]),
        ];
        for (calls, responses, expected) in rows {
            let calls: Vec<_> = calls.iter().map(|(id, name)| call(*id, name)).collect();
            let responses: Vec<_> =
                responses.iter().map(|(id, name, text)| response(*id, name, text)).collect();
            for turn in turn(calls, responses) {
                let found: Vec<Option<String>> = calls_for_judges(&turn)
                    .into_iter()
                    .map(|(_, response)| Some(response?.response.as_ref()?.get("is")?.as_str()?.to_owned()))
                    .collect();
                let found: Vec<Option<&str>> = found.iter().map(Option::as_deref).collect();
                assert_eq!(found, expected, "{turn:?}");
            }
        }
    }
}
