//! Edits of a draft by its reviewer: messages of the user, answers, and calls.

use std::collections::{HashMap, HashSet, VecDeque};

use eval_format::problem::line_column;
use eval_format::{
    Content, EvalCase, FunctionCall, IntermediateData, Invocation, InvocationEvent, Map, Part, Value,
};
use eval_support::untrusted::one_line;
use serde::{Deserialize, Serialize};

use super::golden_of;
use crate::output::CommandError;
use crate::page::text;

/// The parts of a turn that can be edited.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Fields {
    user: Field,
    answer: Field,
    /// The tool of each call, and its arguments as JSON.
    calls: Vec<(String, Field)>,
}

/// A text that can be edited, or the reason why it cannot be edited on the page.
#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Field {
    Text(String),
    Fixed(&'static str),
}

/// The edits of a turn. What is not named stays.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Edit {
    /// The turn, from 1.
    turn: usize,
    user: Option<String>,
    /// The answer; an empty text expects none.
    answer: Option<String>,
    #[serde(default)]
    calls: Vec<CallEdit>,
    /// The calls that are removed, with their results, each by its number in its turn, from 1.
    #[serde(default)]
    removed: Vec<usize>,
    /// New calls behind the others.
    #[serde(default)]
    added: Vec<NewCall>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NewCall {
    tool: String,
    /// The arguments as JSON.
    args: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CallEdit {
    /// The call of its turn, from 1.
    call: usize,
    /// The arguments as JSON.
    args: String,
}

const IN_THE_FILE: &str = "edit it in the file: some of it is masked, escaped or left out here";
const SEVERAL_PARTS: &str = "edit it in the file: it is more than one text";
const ASKED_BY_THE_GOLDEN: &str = "the golden that the draft replaces asks this too";

/// The fields of each turn of a case.
pub(crate) fn fields(case: &EvalCase) -> Vec<Fields> {
    let replaces = golden_of(case).is_some();
    let fields = |turn: &Invocation| Fields {
        user: if replaces { Field::Fixed(ASKED_BY_THE_GOLDEN) } else { of_content(&turn.user_content) },
        answer: turn.final_response.as_ref().map_or(Field::Text(String::new()), of_content),
        calls: turn.tool_calls().map(of_call).collect(),
    };
    case.conversation.iter().map(fields).collect()
}

fn of_content(content: &Content) -> Field {
    match content.parts() {
        [] => Field::Text(String::new()),
        [Part { text: Some(text), thought: None | Some(false), .. }] => of_text(text),
        _ => Field::Fixed(SEVERAL_PARTS),
    }
}

fn of_call(call: &FunctionCall) -> (String, Field) {
    let args = Value::from(call.args.clone().unwrap_or_default());
    (one_line(call.name.as_deref().unwrap_or_default()), of_text(&format!("{args:#}")))
}

/// The field of a text; a text that the page cannot show unchanged is fixed.
fn of_text(raw: &str) -> Field {
    if text(raw).shown == raw { Field::Text(raw.to_owned()) } else { Field::Fixed(IN_THE_FILE) }
}

/// The case with these edits.
pub(crate) fn revised(case: &EvalCase, edits: Vec<Edit>) -> Result<EvalCase, CommandError> {
    let before = fields(case);
    let mut revised = case.clone();
    for Edit { turn: number, user, answer, calls, removed, added } in edits {
        let place = format!("turn {number}");
        let at = number.checked_sub(1);
        let found = at.and_then(|at| Some((before.get(at)?, revised.conversation.get_mut(at)?)));
        let (before, turn) = found.ok_or_else(|| unknown(&place))?;
        if let Some(user) = user {
            editable(&before.user, &format!("the user's message of {place}"))?;
            set_text(&mut turn.user_content, user);
        }
        if let Some(answer) = answer {
            editable(&before.answer, &format!("the answer of {place}"))?;
            match &mut turn.final_response {
                _ if answer.trim().is_empty() => turn.final_response = None,
                Some(content) => set_text(content, answer),
                None => turn.final_response = Some(Content::model(answer)),
            }
        }
        for CallEdit { call: number, args } in calls {
            let place = format!("call {number} of {place}");
            let at = number.checked_sub(1);
            let found = at.and_then(|at| Some((before.calls.get(at)?, calls_of(turn).into_iter().nth(at)?)));
            let ((_, before), call) = found.ok_or_else(|| unknown(&place))?;
            editable(before, &format!("the arguments of {place}"))?;
            call.args = Some(parsed(&args, &place, call.name.as_deref().unwrap_or_default())?);
        }
        let mut removed: Vec<usize> = removed;
        removed.sort_unstable();
        removed.dedup();
        // From the end, so that the numbers of the calls before stay.
        for call in removed.into_iter().rev() {
            let at = call.checked_sub(1).filter(|at| *at < before.calls.len());
            remove_call(turn, at.ok_or_else(|| unknown(&format!("call {call} of {place}")))?);
        }
        for (number, NewCall { tool, args }) in (1..).zip(added) {
            let place = format!("new call {number} of {place}");
            let tool = tool.trim();
            if tool.is_empty() {
                let help = "write the name of the tool that the agent is to call, or remove the call";
                return Err(CommandError::new(format!("{place} names no tool"), help));
            }
            let args = if args.trim().is_empty() { Map::new() } else { parsed(&args, &place, tool)? };
            add_call(turn, FunctionCall::new(tool, Value::from(args)));
        }
    }
    Ok(revised)
}

fn set_text(content: &mut Content, text: String) {
    match content.parts.as_deref_mut() {
        Some([part]) => part.text = Some(text),
        _ => content.parts = Some(vec![Part::text(text)]),
    }
}

/// The calls in the order of [`Invocation::tool_calls`].
fn calls_of(turn: &mut Invocation) -> Vec<&mut FunctionCall> {
    match &mut turn.intermediate_data {
        Some(IntermediateData::Tools { tool_uses, .. }) => tool_uses.iter_mut().collect(),
        Some(IntermediateData::Events(events)) => {
            let contents = events.iter_mut().filter_map(|event| event.content.as_mut());
            let parts = contents.filter_map(|content| content.parts.as_mut()).flatten();
            parts.filter_map(|part| part.function_call.as_mut()).collect()
        }
        None => Vec::new(),
    }
}

/// The results of a call, by their places in [`Invocation::tool_responses`]: the one that
/// [`answered_calls`](eval_format::tools::answered_calls) pairs with it, and further ones of its id if no other call has
/// this id.
fn results_of(turn: &Invocation, at: usize) -> HashSet<usize> {
    let calls: Vec<&FunctionCall> = turn.tool_calls().collect();
    let mut by_id: HashMap<&str, VecDeque<usize>> = HashMap::new();
    for (call, id) in calls.iter().enumerate().filter_map(|(call, it)| Some((call, it.id.as_deref()?))) {
        by_id.entry(id).or_default().push_back(call);
    }
    let id = calls[at].id.as_deref();
    let is_only_one = id.and_then(|id| by_id.get(id)).is_some_and(|of_id| of_id.len() == 1);
    let mut results = HashSet::new();
    let mut answered = HashSet::new();
    let mut left = Vec::new();
    for (result, response) in turn.tool_responses().enumerate() {
        match response.id.as_deref().and_then(|id| by_id.get_mut(id)) {
            Some(of_id) => {
                let call = of_id.pop_front();
                answered.extend(call);
                if call == Some(at) || is_only_one && response.id.as_deref() == id {
                    results.insert(result);
                }
            }
            None => left.push((result, response.name.as_deref())),
        }
    }
    // The answer of the turn may be the result of a call. It is no result that is removed.
    let answers = turn.final_response.iter().flat_map(Content::parts);
    for response in answers.filter_map(|part| part.function_response.as_ref()) {
        answered.extend(response.id.as_deref().and_then(|id| by_id.get_mut(id)?.pop_front()));
    }
    let mut by_name: HashMap<Option<&str>, VecDeque<usize>> = HashMap::new();
    for (call, it) in calls.iter().enumerate().filter(|(call, _)| !answered.contains(call)) {
        by_name.entry(it.name.as_deref()).or_default().push_back(call);
    }
    for (result, name) in left {
        if by_name.get_mut(&name).and_then(VecDeque::pop_front) == Some(at) {
            results.insert(result);
        }
    }
    results
}

/// Removes a call with its results.
fn remove_call(turn: &mut Invocation, at: usize) {
    let results = results_of(turn, at);
    // The calls and the results are counted on their own.
    let (mut call, mut result) = (0.., 0..);
    let mut is_call = || call.next() == Some(at);
    let mut is_result = || result.next().is_some_and(|result| results.contains(&result));
    match &mut turn.intermediate_data {
        Some(IntermediateData::Tools { tool_uses, tool_responses, .. }) => {
            tool_uses.remove(at);
            tool_responses.retain(|_| !is_result());
        }
        Some(IntermediateData::Events(events)) => {
            events.retain_mut(|event| {
                let Some(parts) = event.content.as_mut().and_then(|content| content.parts.as_mut()) else {
                    return true;
                };
                let had = parts.len();
                parts.retain(|part| {
                    let is_call = part.function_call.is_some() && is_call();
                    let is_result = part.function_response.is_some() && is_result();
                    !is_call && !is_result
                });
                had == parts.len() || !parts.is_empty()
            });
        }
        None => {}
    }
}

fn add_call(turn: &mut Invocation, call: FunctionCall) {
    match turn.intermediate_data.get_or_insert_default() {
        IntermediateData::Tools { tool_uses, .. } => tool_uses.push(call),
        IntermediateData::Events(events) => {
            let author = events.last().map_or("agent", |event| event.author.as_str()).to_owned();
            let content = Content::new("model", vec![Part::call(call)]);
            events.push(InvocationEvent::new(author).with_content(content));
        }
    }
}

fn editable(field: &Field, what: &str) -> Result<(), CommandError> {
    match field {
        Field::Text(_) => Ok(()),
        Field::Fixed(why) => Err(CommandError::new(format!("{what} cannot be edited here"), *why)),
    }
}

fn unknown(place: &str) -> CommandError {
    CommandError::new(format!("the draft has no {place}"), "load the page again, and edit what it shows")
}

/// Arguments of a call: an object.
fn parsed(args: &str, place: &str, tool: &str) -> Result<Map, CommandError> {
    let what = format!("the arguments of {place} (`{}`)", one_line(tool));
    let value = Value::parse(args).map_err(|problems| {
        let error = problems.iter().find(|problem| problem.is_error());
        let why = error.map(|problem| {
            let (line, column) = line_column(problems.text(), problem.range.start);
            format!(": line {line}, column {column}: {}", one_line(&problem.message))
        });
        let message = format!("{what} cannot be read as JSON{}", why.unwrap_or_default());
        let help = error.and_then(|problem| problem.help.clone());
        CommandError::new(message, help.unwrap_or_else(|| "fix it there and save again".to_owned()))
    })?;
    value.as_object().cloned().ok_or_else(|| {
        let help = "write an object with the names of the arguments, such as `{\"city\": \"Paris\"}`";
        CommandError::new(format!("{what} are {}, and no object", value.kind()), help)
    })
}

#[cfg(test)]
mod tests {
    use eval_format::FunctionResponse;
    use eval_format::tools::answered_calls;
    use serde_json::json;

    use super::*;

    fn case() -> EvalCase {
        let turn = Invocation::user("Paris?").call(FunctionCall::new("f", json!({ "city": "Paris" })));
        EvalCase::new("a").turn(turn.response("It is sunny.")).with_draft(true)
    }

    fn edit(edits: serde_json::Value) -> Result<EvalCase, CommandError> {
        revised(&case(), serde_json::from_value(edits).expect("edits"))
    }

    #[test]
    fn what_is_named_is_edited_and_the_rest_stays() {
        assert_eq!(edit(json!([{ "turn": 1 }])).expect("nothing is edited"), case());
        let edited = edit(
            json!([{ "turn": 1, "user": "Rome?", "answer": "It rains.", "calls": [{ "call": 1, "args": "{\"city\": \"Rome\"}" }] }]),
        );
        let turn = &edited.expect("it can be edited").conversation[0];
        let call = turn.tool_calls().next().expect("a call");
        assert_eq!(
            (turn.user_text(), turn.response_text(), call.to_string()),
            ("Rome?".to_owned(), "It rains.".to_owned(), "f(city: \"Rome\")".to_owned())
        );
        let edited = edit(json!([{ "turn": 1, "answer": " " }])).expect("no answer is expected");
        assert_eq!(edited.conversation[0].final_response, None);
    }

    #[test]
    fn a_call_in_an_event_is_edited() {
        let mut of_event = case();
        let call = Part::call(FunctionCall::new("g", json!({})));
        let event =
            InvocationEvent::new("agent").with_content(Content::new("model", vec![Part::text("x"), call]));
        of_event.conversation[0].intermediate_data = Some(IntermediateData::Events(vec![event]));
        let edits = json!([{ "turn": 1, "calls": [{ "call": 1, "args": "{\"n\": 1}" }] }]);
        let edited = revised(&of_event, serde_json::from_value(edits).expect("edits")).expect("a call");
        assert_eq!(edited.conversation[0].tool_calls().next().expect("a call").to_string(), "g(n: 1)");
    }

    fn said(turn: &Invocation) -> (Vec<String>, Vec<String>) {
        let results =
            turn.tool_responses().map(|it| it.response.clone().map(Value::from).unwrap_or_default());
        (turn.tool_calls().map(ToString::to_string).collect(), results.map(|it| it.to_string()).collect())
    }

    #[test]
    fn calls_are_removed_with_their_results_and_added_behind_the_others() {
        let call = |id: Option<&str>, name: &str, n: i64| {
            let call = FunctionCall::new(name, json!({ "n": n }));
            if let Some(id) = id { call.with_id(id) } else { call }
        };
        let result = |id: Option<&str>, name: &str, n: i64| {
            let mut result = FunctionResponse::new(name, json!({ "r": n }));
            result.id = id.map(str::to_owned);
            result
        };
        let with = |data: IntermediateData| {
            let mut case = case();
            case.conversation[0].intermediate_data = Some(data);
            case
        };
        let tools = |ids: [Option<&str>; 3]| IntermediateData::Tools {
            tool_uses: vec![call(ids[0], "f", 1), call(ids[1], "g", 2), call(ids[2], "f", 3)],
            tool_responses: vec![
                result(ids[2], "f", if ids[2].is_some() { 3 } else { 1 }),
                result(ids[1], "g", 2),
                result(ids[0], "f", if ids[0].is_some() { 1 } else { 3 }),
            ],
            intermediate_responses: Vec::new(),
        };
        let event = |part: Part| InvocationEvent::new("a").with_content(Content::new("model", vec![part]));
        let events = || {
            let parts = [
                Part::call(call(None, "f", 1)),
                Part::response(result(None, "f", 1)),
                Part::text("x"),
                Part::call(call(None, "g", 2)),
                Part::response(result(None, "g", 2)),
                Part::call(call(None, "f", 3)),
                Part::response(result(None, "f", 3)),
            ];
            IntermediateData::Events(parts.map(event).to_vec())
        };
        for data in [tools([None; 3]), tools([Some("a"), Some("b"), Some("c")]), events()] {
            let of = |edits: serde_json::Value| {
                let edits = serde_json::from_value(edits).expect("edits");
                let revised = revised(&with(data.clone()), edits).expect("it can be edited");
                let (calls, mut results) = said(&revised.conversation[0]);
                results.sort();
                (calls, results)
            };
            let texts = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
            let left = of(json!([{ "turn": 1, "removed": [3] }]));
            assert_eq!(
                left,
                (texts(&["f(n: 1)", "g(n: 2)"]), texts(&[r#"{"r":1}"#, r#"{"r":2}"#])),
                "{data:?}"
            );
            let left =
                of(json!([{ "turn": 1, "removed": [1, 2, 1], "calls": [{ "call": 3, "args": "{}" }] }]));
            assert_eq!(left, (texts(&["f()"]), texts(&[r#"{"r":3}"#])), "{data:?}");
            let added = json!([{ "tool": " h ", "args": "{\"a\": 1}" }, { "tool": "i", "args": "" }]);
            let left = of(json!([{ "turn": 1, "removed": [1, 2, 3], "added": added }]));
            assert_eq!(left, (texts(&["h(a: 1)", "i()"]), Vec::new()), "{data:?}");
        }
        let none = edit(json!([{ "turn": 1, "removed": [1] }])).expect("no call is expected");
        assert_eq!(none.conversation[0].tool_calls().count(), 0);
        for (edits, said) in [
            (json!({ "removed": [2] }), "the draft has no call 2 of turn 1"),
            (json!({ "removed": [0] }), "the draft has no call 0 of turn 1"),
            (json!({ "added": [{ "tool": " ", "args": "{}" }] }), "new call 1 of turn 1 names no tool"),
            (
                json!({ "added": [{ "tool": "f", "args": "[1]" }] }),
                "the arguments of new call 1 of turn 1 (`f`) are an array",
            ),
        ] {
            let mut edits = edits;
            edits["turn"] = 1.into();
            let refused = edit(json!([edits])).unwrap_err();
            assert!(refused.message.contains(said) && !refused.help.is_empty(), "{said}: {refused:?}");
        }
    }

    /// A turn with calls and results that are written so: `a:f b:g` and `a:f`, or `f` without an id. The number of each
    /// result is its place.
    fn turn_of(calls: &str, results: &str, is_in_events: bool) -> Invocation {
        let named = |text: &str| {
            let (id, name) = text.split_once(':').map_or((None, text), |(id, name)| (Some(id), name));
            (id.map(str::to_owned), name.to_owned())
        };
        let mut turn = Invocation::user("Hi");
        let tool_uses = calls.split_whitespace().map(|text| {
            let (id, name) = named(text);
            let mut call = FunctionCall::new(name, json!({}));
            call.id = id;
            call
        });
        let tool_responses = (1..).zip(results.split_whitespace()).map(|(number, text)| {
            let (id, name) = named(text);
            let mut result = FunctionResponse::new(name, json!({ "n": number }));
            result.id = id;
            result
        });
        turn.intermediate_data = Some(if is_in_events {
            let parts = tool_uses.map(Part::call).chain(tool_responses.map(Part::response));
            let event = |part| InvocationEvent::new("a").with_content(Content::new("model", vec![part]));
            IntermediateData::Events(parts.map(event).collect())
        } else {
            IntermediateData::Tools {
                tool_uses: tool_uses.collect(),
                tool_responses: tool_responses.collect(),
                intermediate_responses: Vec::new(),
            }
        });
        turn
    }

    fn numbers_left(mut turn: Invocation, removed: usize) -> Vec<i64> {
        remove_call(&mut turn, removed - 1);
        let number = |it: &FunctionResponse| it.response.as_ref().and_then(|map| map["n"].as_i64());
        turn.tool_responses().filter_map(number).collect()
    }

    #[test]
    fn a_call_goes_with_the_results_that_are_paired_with_it() {
        for (calls, results, removed, left) in [
            // Only the calls have ids: the results are in their order.
            ("a:f b:f", "f f", 2, &[1][..]),
            ("a:f b:f", "f f", 1, &[2]),
            // Further results of an id go with it.
            ("a:f b:f", "a:f b:f a:f", 1, &[2]),
            ("a:f f", "a:f f a:f", 1, &[2]),
            // Another call has the same id: a further result may be its.
            ("a:f a:f", "a:f a:f a:f", 1, &[2, 3]),
            // A result with the id of no call is the next of its tool.
            ("f f", "x:f f", 1, &[2]),
            ("a:f f", "f a:f", 2, &[2]),
            ("f g", "g", 1, &[1]),
        ] {
            for is_in_events in [false, true] {
                let turn = turn_of(calls, results, is_in_events);
                assert_eq!(numbers_left(turn, removed), left, "{calls} / {results} without {removed}");
            }
        }
        let mut answered = turn_of("a:f f", "f", false);
        let mut answer = FunctionResponse::new("f", json!({}));
        answer.id = Some("a".to_owned());
        answered.final_response = Some(Content::new("model", vec![Part::response(answer)]));
        assert_eq!(numbers_left(answered.clone(), 1), [1], "the answer of the turn is the result");
        assert_eq!(numbers_left(answered, 2), [0; 0]);
    }

    #[test]
    fn the_other_calls_keep_their_results() {
        let words = ["f", "a:f", "b:f", "g", "a:g"];
        let three = |at: usize| [words[at % 5], words[at / 5 % 5], words[at / 25]].join(" ");
        let answers = |turn: &Invocation| -> Vec<Option<Map>> {
            answered_calls(turn).into_iter().map(|(_, answer)| answer.cloned()).collect()
        };
        for (calls, results) in (0..125).flat_map(|calls| (0..125).map(move |results| (calls, results))) {
            let before = turn_of(&three(calls), &three(results), false);
            for removed in 0..3 {
                let mut expected = answers(&before);
                expected.remove(removed);
                let mut after = before.clone();
                remove_call(&mut after, removed);
                assert_eq!(answers(&after), expected, "{before:?} without {removed}");
            }
        }
    }

    #[test]
    fn arguments_that_are_no_object_are_refused_with_their_place() {
        for (args, said) in [
            ("{\n  \"city\": Paris\n}", "call 1 of turn 1 (`f`) cannot be read as JSON: line 2, column 11: "),
            ("{\"a\": 1", "line 1, column "),
            ("[1]", "are an array, and no object"),
            ("", "cannot be read as JSON"),
        ] {
            let refused = edit(json!([{ "turn": 1, "calls": [{ "call": 1, "args": args }] }])).unwrap_err();
            assert!(refused.message.contains(said) && !refused.help.is_empty(), "{args}: {refused:?}");
        }
        for edits in [
            json!([{ "turn": 0 }]),
            json!([{ "turn": 2 }]),
            json!([{ "turn": 1, "calls": [{ "call": 2, "args": "{}" }] }]),
        ] {
            let refused = edit(edits.clone()).unwrap_err();
            assert!(refused.message.starts_with("the draft has no "), "{edits}: {refused:?}");
        }
    }

    #[test]
    fn what_the_page_does_not_show_as_it_is_cannot_be_edited_there() {
        let key = format!("sk-ant-{}", "abcde01234".repeat(6));
        for hidden in ["a\u{202e}b", &key, &"x".repeat(100_000)] {
            let mut case = case();
            case.conversation[0].user_content = Content::user(hidden);
            assert_eq!(fields(&case)[0].user, Field::Fixed(IN_THE_FILE));
            let edits = serde_json::from_value(json!([{ "turn": 1, "user": "x" }])).expect("edits");
            let refused = revised(&case, edits).unwrap_err();
            assert!(refused.message.contains("cannot be edited here"), "{refused:?}");
        }
        let mut several = case();
        several.conversation[0].final_response =
            Some(Content::new("model", vec![Part::text("a"), Part::text("b")]));
        assert_eq!(fields(&several)[0].answer, Field::Fixed(SEVERAL_PARTS));
        let mark = Value::parse(r#"{"golden": [{"turn": 1, "final_response": null}]}"#).expect("JSON");
        assert_eq!(fields(&case().with_draft(mark))[0].user, Field::Fixed(ASKED_BY_THE_GOLDEN));
    }
}
