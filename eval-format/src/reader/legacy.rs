//! The two formats that ADK had before eval sets, turned into the present model.
//!
//! ADK draws some ids at random. Here they are derived from the text, so that reading a file twice gives the same set.
//! ADK also records the time of reading; here there is none.

use eval_support::hash::content_hash;

use super::cases::{OWN_KEYS, check_ids, empty_conversation, no_cases};
use super::checked::{Reading, SetFormat};
use super::session;
use crate::model::{
    Content, DRAFT, EvalCase, EvalSet, FunctionCall, IntermediateData, Invocation, Part, SessionInput, TAGS,
};
use crate::problem::ProblemCode;
use crate::schema::{OLD_CASE, OLD_TURN, Place, Record, Walker, opening};
use crate::syntax::Node;
use crate::value::Value;

/// Whether an array holds cases (`name`, `data`), not turns.
pub(super) fn is_old_eval_set(items: &[Node<'_>]) -> bool {
    items.first().is_some_and(|item| item.get("data").is_some() && item.get("query").is_none())
}

/// Reads an array of turns: one case, named after the file.
pub(super) fn read_test_file(root: &Node<'_>, text: &str, stem: &str) -> Reading {
    let mut problems = Vec::new();
    let case = test_file(root, text, stem, None, &mut Walker { problems: &mut problems });
    let set = case.map(|case| {
        let id = format!("{:016x}", content_hash(text.as_bytes()));
        EvalSet { name: Some(id.clone()), ..EvalSet::new(id) }.case(case)
    });
    let cases = vec![(stem.to_owned(), opening(root), root.range.clone())];
    Reading { form: SetFormat::TestFile, set, cases, problems }
}

pub(super) fn read_old_eval_set(root: &Node<'_>, text: &str, stem: &str) -> Reading {
    let mut problems = Vec::new();
    let mut walker = Walker { problems: &mut problems };
    let items = root.array().unwrap_or_default();
    let mut set = EvalSet { name: Some(stem.to_owned()), ..EvalSet::new(stem) };
    let mut cases = Vec::new();
    let mut ids = Vec::new();
    for (at, item) in items.iter().enumerate() {
        set.eval_cases.extend(case(item, text, &Place::Index(&Place::Root, at), &mut walker));
        if let Some(name) = item.get("name")
            && let Some(id) = name.value.string()
        {
            cases.push((id.to_owned(), name.value.range.clone(), item.range.clone()));
            ids.push((at, (id, name.value.range.clone())));
        }
    }
    check_ids(ids.into_iter(), &Place::Root, &mut walker);
    Reading { form: SetFormat::OldEvalSet, set: Some(set), cases, problems }
}

pub(super) fn test_file(
    root: &Node<'_>,
    text: &str,
    eval_id: &str,
    session_input: Option<SessionInput>,
    walker: &mut Walker<'_>,
) -> Option<EvalCase> {
    refuse_own_keys_of_turns(root, &Place::Root, walker);
    let records = walker.records(root, &OLD_TURN, &Place::Root)?;
    if records.is_empty() {
        walker.problems.push(no_cases(root, &Place::Root).help(ADD_A_TURN));
    }
    let conversation = conversation(records, root, text);
    Some(EvalCase { conversation, session_input, ..EvalCase::new(eval_id) })
}

pub(super) fn case(
    node: &Node<'_>,
    text: &str,
    place: &Place<'_>,
    walker: &mut Walker<'_>,
) -> Option<EvalCase> {
    let mut record = walker.record(node, &OLD_CASE, place)?;
    refuse_own_keys(node, "case", place, walker);
    let data = &node.get("data")?.value;
    refuse_own_keys_of_turns(data, &Place::Key(place, "data"), walker);
    let records: Vec<Record> = record.take("data")?;
    if records.is_empty() {
        walker.problems.push(empty_conversation(data, &Place::Key(place, "data")).help(ADD_A_TURN));
    }
    let session: Option<Record> = record.take("initial_session");
    // ADK does not have this key. It marks a draft in every form of a set.
    let draft: Option<Value> = record.take(DRAFT);
    let has_session = node
        .get("initial_session")
        .and_then(|entry| entry.value.object())
        .is_some_and(|keys| !keys.is_empty());
    Some(EvalCase {
        extra: draft.map(|mark| (DRAFT, mark)).into_iter().collect(),
        conversation: conversation(records, data, text),
        session_input: session.filter(|_| has_session).map(session::session_input),
        ..EvalCase::new(record.take::<String>("name").unwrap_or_default())
    })
}

fn refuse_own_keys_of_turns(turns: &Node<'_>, place: &Place<'_>, walker: &mut Walker<'_>) {
    for (at, turn) in turns.array().unwrap_or_default().iter().enumerate() {
        refuse_own_keys(turn, "turn", &Place::Index(place, at), walker);
    }
}

/// Keys that say what decides a case, or which cases are meant, are read in today's form alone, and there on the case. Here
/// they would do nothing.
fn refuse_own_keys(holder: &Node<'_>, what: &str, place: &Place<'_>, walker: &mut Walker<'_>) {
    for entry in OWN_KEYS.into_iter().chain([TAGS]).filter_map(|key| holder.get(key)) {
        let message = format!("a {what} of the old format has no `{}`", entry.key);
        let problem = Place::Key(place, &entry.key).error_at_key(ProblemCode::IgnoredKey, entry, message);
        let help = "take it out, let `cargo evalset migrate` write the set in today's form, and add it to the case there";
        walker.problems.push(problem.label("nothing reads this key here").help(help));
    }
}

const ADD_A_TURN: &str = r#"add a turn: `{"query": "...", "reference": "..."}`"#;

fn conversation(records: Vec<Record>, data: &Node<'_>, text: &str) -> Vec<Invocation> {
    // The walker returns a record for each node, or no records at all.
    let nodes = data.array().unwrap_or_default();
    let turns = records.into_iter().zip(nodes).enumerate();
    turns.map(|(at, (record, node))| turn(record, node, text, at)).collect()
}

fn turn(mut record: Record, node: &Node<'_>, text: &str, at: usize) -> Invocation {
    let text_of = |key: &str, found: Option<String>| Content {
        parts: Some(vec![Part {
            // An absent key is an empty text, `null` is no text.
            text: if node.get(key).is_some() { found } else { Some(String::new()) },
            ..Part::default()
        }]),
        role: None,
    };
    Invocation {
        invocation_id: turn_id(node, text, at),
        user_content: Content { role: Some("user".to_owned()), ..text_of("query", record.take("query")) },
        final_response: Some(Content {
            role: Some("model".to_owned()),
            ..text_of("reference", record.take("reference"))
        }),
        intermediate_data: Some(IntermediateData::Tools {
            tool_uses: tool_uses(record.take("expected_tool_use").unwrap_or_default()),
            tool_responses: Vec::new(),
            intermediate_responses: responses(
                record.take("expected_intermediate_agent_responses").unwrap_or_default(),
            ),
        }),
        ..Invocation::default()
    }
}

/// The hash of the turn's text and its position, since two turns may be alike.
fn turn_id(node: &Node<'_>, text: &str, at: usize) -> String {
    let own = text.get(node.range.clone()).unwrap_or_default();
    format!("{:016x}", content_hash(own.as_bytes()).rotate_left(8) ^ content_hash(&at.to_le_bytes()))
}

fn tool_uses(records: Vec<Record>) -> Vec<FunctionCall> {
    let call = |mut record: Record| FunctionCall {
        name: record.take("tool_name"),
        args: record.take("tool_input"),
        ..FunctionCall::default()
    };
    records.into_iter().map(call).collect()
}

fn responses(records: Vec<Record>) -> Vec<(String, Vec<Part>)> {
    let response = |mut record: Record| {
        let part = Part { text: record.take("text"), ..Part::default() };
        Some((record.take("author")?, vec![part]))
    };
    records.into_iter().filter_map(response).collect()
}
