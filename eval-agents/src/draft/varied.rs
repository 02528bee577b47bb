//! Comparison of several recordings of a conversation: the common part, and what varied.

use std::collections::{HashMap, HashSet};

use eval_core::format::expect::{Others, TurnExpect};
use eval_core::format::{Content, EvalCase, FunctionCall, IntermediateData, Invocation, Map, Part, Value};
use eval_core::metric::arithmetic::call_names;

use super::proposed;

const MAX_VALUE_CHARS: usize = 80;
const MAX_VALUES: usize = 5;

/// A case with the parts that were equal each time, and the parts that varied. The cases are recordings of
/// one script.
pub(crate) fn common_part(cases: Vec<EvalCase>) -> (EvalCase, Vec<String>) {
    let mut cases = cases.into_iter();
    let Some(mut case) = cases.next() else { return (EvalCase::default(), Vec::new()) };
    let others: Vec<EvalCase> = cases.collect();
    let mut varied = Vec::new();
    if others.is_empty() {
        return (case, varied);
    }
    for (at, turn) in case.conversation.iter_mut().enumerate() {
        let other_turns: Vec<&Invocation> =
            others.iter().filter_map(|case| case.conversation.get(at)).collect();
        let mut told = Vec::new();
        calls(turn, &other_turns, &mut told);
        answer(turn, &other_turns, &mut told);
        varied.extend(told.into_iter().map(|what| format!("turn {}: {what}", at + 1)));
    }
    let states: Vec<&Map> = others.iter().map(|case| &case.final_session_state).collect();
    let kept = same_entries(&case.final_session_state, &states, |key, values| {
        varied.push(format!("`{key}` of the state at the end: {}", list(&shown(&values))));
    });
    case.final_session_state = kept;
    (case, varied)
}

fn answer(turn: &mut Invocation, others: &[&Invocation], told: &mut Vec<String>) {
    if others.iter().all(|other| other.final_response == turn.final_response) {
        return;
    }
    let text = |turn: &Invocation| match &turn.final_response {
        Some(answer) if !answer.text().is_empty() => format!("{:?}", answer.text()),
        Some(_) => "(without text)".to_owned(),
        None => "(none)".to_owned(),
    };
    let texts = std::iter::once(text(turn)).chain(others.iter().map(|other| text(other)));
    told.push(format!("the answer: {}", list(&texts.collect::<Vec<_>>())));
    turn.final_response = None;
}

/// Keeps the calls of the first recording, with the results and the texts before the answer that were equal in all. With the
/// proposed rules, the calls of the other recordings match.
fn calls(turn: &mut Invocation, others: &[&Invocation], told: &mut Vec<String>) {
    let first: Vec<FunctionCall> = turn.tool_calls().cloned().collect();
    let names = call_names(&first.iter().collect::<Vec<_>>());
    let runs = others.len() + 1;
    let in_others: Vec<Vec<&FunctionCall>> =
        others.iter().map(|other| other.tool_calls().collect()).collect();
    let pairs: Vec<Vec<Option<usize>>> = in_others.iter().map(|calls| paired(&first, calls)).collect();
    let own_results = results(turn);
    let other_results: Vec<_> = others.iter().map(|other| results(other)).collect();
    // For each call, whether its result was the same each time.
    let mut same_results = Vec::with_capacity(first.len());
    for (at, call) in first.iter().enumerate() {
        let name = call.name.as_deref().unwrap_or("(no name)");
        let rule_name = &names[at];
        let partners: Vec<Option<&FunctionCall>> =
            pairs.iter().zip(&in_others).map(|(pairs, calls)| pairs[at].map(|at| calls[at])).collect();
        let made = 1 + partners.iter().flatten().count();
        if made < runs {
            let rule = proposed::shown(TurnExpect::default().optional(rule_name));
            told.push(format!("`{call}` was called in {made} of {runs} runs; a rule for it is {rule}"));
        }
        let none = Map::new();
        let args = |call: &'_ FunctionCall| call.args.clone().unwrap_or_default();
        let partner_args: Vec<Map> = partners.iter().flatten().map(|call| args(call)).collect();
        let partner_arg_refs: Vec<&Map> = partner_args.iter().collect();
        same_entries(call.args.as_ref().unwrap_or(&none), &partner_arg_refs, |key, values| {
            let rule = proposed::for_argument(rule_name, key, &values);
            let values = list(&shown(&values));
            told.push(format!("the argument `{key}` of `{name}`: {values}; a rule for it is {rule}"));
        });
        let result = own_results.get(&call.id);
        let results = partners.iter().zip(&other_results);
        let mut results = results.filter_map(|(partner, results)| Some(results.get(&(*partner)?.id)));
        let same_result = results.all(|other| other == result);
        if !same_result {
            told.push(format!("the result of `{name}`"));
        }
        same_results.push(same_result);
    }
    for name in more_calls(&pairs, &in_others) {
        let rule = proposed::shown(TurnExpect::default().others(Others::Tools(vec![name.clone()])));
        told.push(format!(
            "`{name}` was called in some runs and not in the first one; a rule for it is {rule}"
        ));
    }
    let in_order = |pairs: &Vec<Option<usize>>| pairs.iter().flatten().is_sorted();
    if !pairs.iter().all(in_order) {
        let rule = proposed::shown(TurnExpect::default().any_order());
        told.push(format!("the order of the calls; a rule for it is {rule}"));
    }
    let said = texts(turn);
    let keeps_texts = others.iter().all(|other| texts(other) == said);
    if !keeps_texts {
        told.push("what was said on the way".to_owned());
    }
    rebuild(turn, &first, &same_results, keeps_texts);
}

/// The pairs of calls in two runs: calls of the same name, with equal arguments where possible.
fn paired(first: &[FunctionCall], others: &[&FunctionCall]) -> Vec<Option<usize>> {
    let mut pairs = vec![None; first.len()];
    let mut is_taken = vec![false; others.len()];
    for equal_args in [true, false] {
        for (at, call) in first.iter().enumerate().filter(|(_, call)| call.name.is_some()) {
            let fits =
                |other: &FunctionCall| other.name == call.name && (!equal_args || other.args == call.args);
            if pairs[at].is_none()
                && let Some(found) = (0..others.len()).find(|at| !is_taken[*at] && fits(others[*at]))
            {
                is_taken[found] = true;
                pairs[at] = Some(found);
            }
        }
    }
    pairs
}

fn more_calls(pairs: &[Vec<Option<usize>>], others: &[Vec<&FunctionCall>]) -> Vec<String> {
    let mut names = Vec::new();
    for (pairs, calls) in pairs.iter().zip(others) {
        for (at, call) in calls.iter().enumerate() {
            let name = call.name.clone().unwrap_or_else(|| "(no name)".to_owned());
            if !pairs.contains(&Some(at)) && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

fn results(turn: &Invocation) -> HashMap<Option<String>, Option<Map>> {
    let parts = turn.events().iter().filter_map(|event| event.content.as_ref()).flat_map(Content::parts);
    let results = parts.filter_map(|part| part.function_response.as_ref());
    results.map(|result| (result.id.clone(), result.response.clone())).collect()
}

fn texts(turn: &Invocation) -> Vec<(&str, &str)> {
    let parts = turn.events().iter().flat_map(|event| {
        let parts = event.content.as_ref().map(Content::parts).unwrap_or_default();
        parts.iter().map(|part| (event.author.as_str(), part))
    });
    parts.filter_map(|(author, part)| Some((author, part.text.as_deref()?))).collect()
}

fn rebuild(turn: &mut Invocation, first: &[FunctionCall], same_results: &[bool], keeps_texts: bool) {
    let Some(IntermediateData::Events(events)) = &mut turn.intermediate_data else { return };
    let of_call = |id: &Option<String>| {
        first.iter().position(|call| call.id == *id).and_then(|at| same_results.get(at)).copied()
    };
    let part = |part: &mut Part| match &part.function_response {
        Some(response) => of_call(&response.id).unwrap_or(true),
        None => keeps_texts || part.text.is_none() || part.function_call.is_some(),
    };
    for event in events.iter_mut() {
        if let Some(parts) = event.content.as_mut().and_then(|content| content.parts.as_mut()) {
            parts.retain_mut(part);
        }
    }
    events.retain(|event| {
        event.content.as_ref().is_none_or(|content| !content.parts().is_empty())
            && (event.content.is_some() || event.grounding_metadata.is_some())
    });
}

/// The entries with the same value in all maps. `other` is called with each remaining key and its values.
fn same_entries(own: &Map, others: &[&Map], mut other: impl FnMut(&str, Vec<Option<&Value>>)) -> Map {
    let mut seen = HashSet::new();
    let keys = own.keys().chain(others.iter().flat_map(|map| map.keys())).filter(|key| seen.insert(*key));
    // Tables, as a state can have any number of keys.
    let maps: Vec<HashMap<&str, &Value>> =
        std::iter::once(own).chain(others.iter().copied()).map(|map| map.iter().collect()).collect();
    let mut same = Vec::new();
    for key in keys {
        let values: Vec<Option<&Value>> = maps.iter().map(|map| map.get(key).copied()).collect();
        match values.as_slice() {
            [Some(value), others @ ..] if others.iter().all(|other| *other == Some(*value)) => {
                same.push((key.to_owned(), (*value).clone()));
            }
            _ => other(key, values),
        }
    }
    same.into_iter().collect()
}

fn shown(values: &[Option<&Value>]) -> Vec<String> {
    values.iter().map(|value| value.map_or_else(|| "(none)".to_owned(), ToString::to_string)).collect()
}

fn list(values: &[String]) -> String {
    let mut different: Vec<String> = Vec::new();
    for value in values {
        let mut shown: String = value.chars().take(MAX_VALUE_CHARS).collect();
        if shown.len() < value.len() {
            shown.push_str("..");
        }
        if !different.contains(&shown) {
            different.push(shown);
        }
    }
    let more = different.len().saturating_sub(MAX_VALUES);
    different.truncate(MAX_VALUES);
    let list = different.join(" | ");
    if more > 0 { format!("{list} and {more} more") } else { list }
}

#[cfg(test)]
mod tests {
    use eval_core::format::{FunctionResponse, InvocationEvent};

    use super::*;

    /// A recording of a turn: its calls with arguments and result, and the answer.
    fn run(calls: &[(&str, &str, &str)], answer: &str, state: i64) -> EvalCase {
        let event = |role: &str, part| InvocationEvent::new("a").with_content(Content::new(role, vec![part]));
        let mut events = vec![event("model", Part::text("Let me see."))];
        for (at, (name, args, result)) in calls.iter().enumerate() {
            let id = format!("call-{at}");
            events.push(event(
                "model",
                Part::call(FunctionCall::new(*name, Value::parse(args).unwrap()).with_id(&id)),
            ));
            events.push(event("user", Part::response(FunctionResponse::new(*name, *result).with_id(&id))));
        }
        let turn =
            Invocation::user("Hi").with_intermediate_data(IntermediateData::Events(events)).response(answer);
        EvalCase::new("c").turn(turn).final_state(Map::from([("last", state), ("fix", 1)]))
    }

    fn shown(case: &EvalCase) -> String {
        let turn = &case.conversation[0];
        let calls: Vec<_> = turn.tool_calls().map(ToString::to_string).collect();
        format!("{} > {}", calls.join(" "), turn.response_text())
    }

    #[test]
    fn what_was_the_same_each_time_is_kept_as_it_is() {
        let one = run(&[("f", r#"{ "x": 1 }"#, "r"), ("g", "{}", "s")], "Hello!", 1);
        let (case, varied) = common_part(vec![one.clone(), one.clone(), one.clone()]);
        assert_eq!((case, varied.len()), (one, 0));
    }

    #[test]
    fn what_varied_is_told_with_a_rule_that_the_draft_takes() {
        let (case, varied) = common_part(vec![
            run(&[("f", r#"{ "x": 1, "at": 5 }"#, "r"), ("once", "{}", "o"), ("g", "{}", "s")], "Hello!", 1),
            run(&[("g", "{}", "s"), ("f", r#"{ "x": 1, "at": 6 }"#, "q"), ("late", "{}", "")], "Hi!", 2),
        ]);
        assert_eq!(shown(&case), "f(x: 1, at: 5) once() g() > ");
        assert_eq!(case.final_session_state, Map::from([("fix", 1)]));
        assert_eq!(
            varied,
            [
                r#"turn 1: the argument `at` of `f`: 5 | 6; a rule for it is `{"calls":{"f":{"at":{"within":1.0}}}}`"#,
                "turn 1: the result of `f`",
                r#"turn 1: `once()` was called in 1 of 2 runs; a rule for it is `{"optional":["once"]}`"#,
                r#"turn 1: `late` was called in some runs and not in the first one; a rule for it is `{"others":["late"]}`"#,
                r#"turn 1: the order of the calls; a rule for it is `{"order":"any"}`"#,
                r#"turn 1: the answer: "Hello!" | "Hi!""#,
                "`last` of the state at the end: 1 | 2",
            ]
        );
        let results = results(&case.conversation[0]).into_values().flatten();
        let mut results: Vec<String> = results.map(|result| result["result"].to_string()).collect();
        results.sort();
        assert_eq!(results, [r#""o""#, r#""s""#]);
        case.check().expect("it is a case");
    }

    /// The proposed rules of a draft, merged as a person pastes them.
    fn rules(varied: &[String]) -> serde_json::Value {
        fn lay(over: serde_json::Value, under: &mut serde_json::Value) {
            match (over, under) {
                (serde_json::Value::Object(over), serde_json::Value::Object(under)) => {
                    over.into_iter().for_each(|(key, value)| {
                        lay(value, under.entry(key).or_insert(serde_json::Value::Null));
                    });
                }
                (serde_json::Value::Array(over), serde_json::Value::Array(under)) => under.extend(over),
                (over, under) => *under = over,
            }
        }
        let mut all = serde_json::json!({});
        let texts = varied.iter().filter_map(|told| told.split_once("; a rule for it is `"));
        for (_, rule) in texts {
            lay(serde_json::from_str(rule.trim_end_matches('`')).unwrap(), &mut all);
        }
        all
    }

    #[tokio::test]
    async fn with_the_rules_that_are_told_the_draft_matches_each_recording() {
        use eval_core::report::{Transcript, TurnRecord};
        use eval_core::{Criterion, EvalRunner};

        let look = |at: &'static str| ("look", at, "r");
        let recordings = [
            vec![
                run(&[look(r#"{"at": 5}"#)], "Hi", 1),
                run(&[look(r#"{"at": 3}"#)], "Hi", 1),
                run(&[look(r#"{"at": 7}"#)], "Hi", 1),
            ],
            // The second of three calls is left out once, so that others of the tool have other numbers there.
            vec![
                run(
                    &[
                        look(r#"{"q": "a"}"#),
                        look(r#"{"q": "b"}"#),
                        look(r#"{"q": "c", "day": "2026-11-22"}"#),
                    ],
                    "Hi",
                    1,
                ),
                run(&[look(r#"{"q": "a"}"#), look(r#"{"q": "c", "day": "2026-11-23"}"#)], "Hi", 1),
            ],
            // The first recording lacks an argument, and a call.
            vec![
                run(&[("f", "{}", "r")], "Hi", 1),
                run(&[("f", r#"{"n": 1}"#, "r"), ("log", "{}", "")], "Hi", 1),
                run(&[("f", r#"{"n": 4}"#, "r")], "Hi", 1),
            ],
            vec![
                run(
                    &[("f", r#"{"l": ["a", "b"]}"#, "r"), ("once", r#"{"t": 1}"#, "o"), ("g", "{}", "s")],
                    "Hi",
                    1,
                ),
                run(&[("g", "{}", "s"), ("f", r#"{"l": ["b", "a"]}"#, "r")], "Hi", 1),
                run(
                    &[("once", r#"{"t": 2}"#, "o"), ("f", r#"{"l": ["a", "b"]}"#, "r"), ("g", "{}", "s")],
                    "Hi",
                    1,
                ),
            ],
        ];
        for runs in recordings {
            let (case, varied) = common_part(runs.clone());
            let rules = rules(&varied);
            let ruled = case.with_extra(EvalCase::EXPECT_KEY, serde_json::json!({ "1": rules }));
            ruled.check().unwrap_or_else(|problems| panic!("{rules}: {problems}"));
            for made in runs {
                let turns = made
                    .conversation
                    .into_iter()
                    .map(|invocation| TurnRecord { invocation, ..TurnRecord::default() });
                let given = Transcript { turns: turns.collect(), ..Transcript::default() };
                let runner = EvalRunner::new().criterion("tool_trajectory_avg_score", Criterion::new(1.0));
                let mut ruled = ruled.clone();
                ruled.final_session_state = Map::new();
                let report = runner.score_case(&ruled, vec![given]).await.unwrap();
                assert!(report.verdict.passed(), "{rules}: {report}");
            }
        }
    }

    #[test]
    fn runs_of_many_equal_calls_and_keys_are_the_same() {
        let calls: Vec<(&str, String, &str)> =
            (0..1000).map(|n| ("f", format!("{{\"n\": {n}}}"), "result")).collect();
        let calls: Vec<_> =
            calls.iter().map(|(name, args, result)| (*name, args.as_str(), *result)).collect();
        let state: Map = (0..20_000).map(|n| (format!("k{n}"), n)).collect();
        let case = run(&calls, "Hello!", 1).final_state(state);
        let (same, varied) = common_part(vec![case.clone(), case.clone()]);
        assert_eq!((same, varied.len()), (case, 0));
    }

    #[test]
    fn calls_of_one_name_are_paired_by_their_arguments() {
        let oslo = ("look", r#"{ "city": "Oslo" }"#, "o");
        let lima = ("look", r#"{ "city": "Lima" }"#, "l");
        let (case, varied) =
            common_part(vec![run(&[oslo, lima], "Both.", 1), run(&[lima, oslo], "Both.", 1)]);
        assert_eq!(shown(&case), r#"look(city: "Oslo") look(city: "Lima") > Both."#);
        assert_eq!(varied, [r#"turn 1: the order of the calls; a rule for it is `{"order":"any"}`"#]);
    }
}
