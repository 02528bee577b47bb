//! The owner of a call: the conversation that it belongs to, among those that share a program.
//!
//! A call belongs to the conversation to which an id in it was given, else to those whose message of the user it holds last.
//! Among several, one whose recording has an unused answer to the call goes before one that had all of its answers, if the
//! answers are the same. If this leaves several with different answers, or one that has the same messages and no answer, the
//! call is an error of all of them.

use eval_format::Value;
use eval_support::words::code_list;

use super::attributions::{Attributions, is};
use crate::cassette::Has;
use crate::conversation::Conversation;
use crate::handler::Reply;
use crate::recording::{Answer, Body};
use crate::sse::{Data, Event};
use crate::wire::Asked;

/// A conversation with a call as it reads it.
type Read = (Conversation, Asked);

/// The reply to a call of one of these conversations, or of one whose turn was left.
pub(super) fn reply(read: &[Read], left: &[Conversation], attributions: &mut Attributions) -> Reply {
    // A replay to a turn that the case itself left belongs to the case.
    let is_same =
        |active: &Conversation, over: &Conversation| !active.mode().asks() && active.case() == over.case();
    let is_other = |over: &&Conversation| !read.iter().any(|(active, _)| is_same(active, over));
    let left: Vec<&Conversation> = left.iter().filter(is_other).collect();
    let Some((_, first)) = read.first() else { return Reply::Refused("no case is in progress".to_owned()) };
    let mut among: Vec<&Conversation> = read.iter().map(|(active, _)| active).chain(left).collect();
    if among.len() > 1 {
        keep(&mut among, |conversation| conversation.handed_out(first));
        let is_last = |conversation: &Conversation, is: &dyn Fn(&str) -> bool| {
            conversation.said().last().is_some_and(|text| !text.is_empty() && is(text))
        };
        keep(&mut among, |conversation| is_last(conversation, &|text| first.user_text.contains(text)));
        // The program hands messages on as they are, or puts words around them: the same for all.
        keep(&mut among, |conversation| is_last(conversation, &|text| first.user_text == text));
    }
    let (owners, over): (Vec<&Conversation>, Vec<&Conversation>) =
        among.into_iter().partition(|owner| read.iter().any(|(active, _)| is(active, owner)));
    match (&owners[..], &over[..]) {
        ([], [over, ..]) => of_a_left_turn(over),
        ([owner], []) => {
            attributions.free(owner, &first.key);
            answered(read, owner)
        }
        _ => among_several(read, &owners, &over, attributions),
    }
}

/// The refusal of a call by a turn that was left: its case is an error already.
pub(super) fn of_a_left_turn(over: &Conversation) -> Reply {
    Reply::Refused(format!("the call is of a turn of the case `{}` that was left", over.eval_id()))
}

/// Keeps the ones that fit, unless none does.
fn keep<'c>(among: &mut Vec<&'c Conversation>, fits: impl Fn(&'c Conversation) -> bool) {
    let fitting: Vec<&Conversation> = among.iter().copied().filter(|it| fits(it)).collect();
    if !fitting.is_empty() {
        *among = fitting;
    }
}

fn asked<'r>(read: &'r [Read], owner: &Conversation) -> Option<&'r Asked> {
    read.iter().find(|(active, _)| is(active, owner)).map(|(_, asked)| asked)
}

fn answered(read: &[Read], owner: &Conversation) -> Reply {
    match asked(read, owner) {
        Some(asked) => owner.answer(asked.clone()),
        None => of_a_left_turn(owner),
    }
}

/// The reply to a call that may be of several conversations by what it says: of `over`, too, whose turns were left.
fn among_several(
    read: &[Read],
    owners: &[&Conversation],
    over: &[&Conversation],
    attributions: &mut Attributions,
) -> Reply {
    let has_unused =
        |owner: &&Conversation| asked(read, owner).is_some_and(|asked| owner.has_unused(&asked.key));
    if !owners.iter().any(has_unused) {
        let mut asking = owners.iter().filter_map(|owner| Some((owner, asked(read, owner)?)));
        // One is enough: it gives the answer.
        asking.any(|(owner, asked)| attributions.free(owner, &asked.key));
    }
    let mut unused: Vec<(&Conversation, Answer)> = Vec::new();
    let mut used: Vec<(&Conversation, Answer)> = Vec::new();
    let mut nothing = over.to_vec();
    for owner in owners {
        let Some(asked) = asked(read, owner) else { continue };
        match owner.has(asked) {
            Has::Unused(answer) => unused.push((owner, answer)),
            Has::Nothing => nothing.push(owner),
            Has::Used(answer) => used.push((owner, answer)),
        }
    }
    let Some((first, answer)) = unused.first() else { return missed(read, owners, over) };
    let is_rival = |other: &&Conversation| unused.iter().any(|(owner, _)| owner.said() == other.said());
    // One that asks again what it had all answers to is not told from the first request of another one.
    let asks_again = used.iter().filter(|(_, other)| !same_answer(other, answer)).map(|(owner, _)| *owner);
    let rivals: Vec<&Conversation> = nothing.into_iter().filter(is_rival).chain(asks_again).collect();
    let is_same = unused.iter().all(|(_, other)| same_answer(other, answer));
    match asked(read, first) {
        // Whichever conversation gives it, the answer is the same.
        Some(asked) if is_same && rivals.is_empty() => {
            for owner in owners {
                owner.may_hold(asked, answer);
            }
            attributions.note(asked, answer, first, owners);
            first.answer(asked.clone())
        }
        _ => {
            let owners: Vec<&Conversation> = unused.iter().map(|(owner, _)| *owner).chain(rivals).collect();
            let why = "which use one program at the same time and do not all have the same answer to it";
            ambiguous(read, &owners, why)
        }
    }
}

/// A call that none of its possible owners has recorded: it is a miss of the ones whose messages it holds, all of them.
fn missed(read: &[Read], owners: &[&Conversation], over: &[&Conversation]) -> Reply {
    let mut among: Vec<&Conversation> = owners.iter().chain(over).copied().collect();
    if let Some((_, first)) = read.first() {
        let text: String = first.parts.messages.iter().map(Value::to_string).collect();
        let longest = among.iter().filter_map(|owner| told(&text, &owner.said())).max();
        keep(&mut among, |owner| longest.is_some() && told(&text, &owner.said()) == longest);
    }
    let owners: Vec<&Conversation> = among.iter().copied().filter(|it| asked(read, it).is_some()).collect();
    match (&owners[..], &among[..]) {
        ([], [over, ..]) => of_a_left_turn(over),
        ([owner], [_]) => answered(read, owner),
        _ if owners.iter().all(|owner| !owner.mode().asks()) => {
            let mut replies: Vec<Reply> = owners.iter().map(|owner| answered(read, owner)).collect();
            replies.pop().unwrap_or_else(|| Reply::Refused("no case is in progress".to_owned()))
        }
        _ => ambiguous(read, &among, "one of which was left in its turn"),
    }
}

/// The number of messages of a user, if a text has all of them in their order.
fn told(text: &str, said: &[String]) -> Option<usize> {
    let mut left = text;
    for message in said {
        let written = Value::from(&**message).to_string();
        left = left.split_once(written.trim_matches('"'))?.1;
    }
    Some(said.len())
}

/// A call that may belong to several cases is an error of all of them.
fn ambiguous(read: &[Read], owners: &[&Conversation], why: &str) -> Reply {
    let mut cases: Vec<&str> = owners.iter().map(|owner| owner.eval_id()).collect();
    cases.dedup();
    let Some((_, asked)) = read.first() else { return Reply::Refused("no case is in progress".to_owned()) };
    let message = format!(
        "a call of a model ({}, {}) may be of any of the cases {}, {why}; run one case at a time: `--concurrency 1`, or \
         `RUST_TEST_THREADS=1`",
        asked.wire,
        asked.model,
        code_list(&cases),
    );
    for owner in owners {
        owner.miss(message.clone());
    }
    Reply::Refused(message)
}

/// Whether two answers say the same. Ids and signatures differ each time, and name nothing outside of the answer.
fn same_answer(one: &Answer, other: &Answer) -> bool {
    let events = |events: &[Event]| -> Vec<(Option<String>, String)> {
        let said = |event: &Event| match &event.data {
            Data::Json(value) => settled(value).to_string(),
            Data::Text(text) => text.clone(),
        };
        events.iter().map(|event| (event.name.clone(), said(event))).collect()
    };
    let is_same = match (&one.body, &other.body) {
        (Body::Json(one), Body::Json(other)) => settled(one) == settled(other),
        (Body::Events(one), Body::Events(other)) => events(one) == events(other),
        (one, other) => one == other,
    };
    is_same && one.status == other.status
}

/// Keys of answers whose values differ each time.
const VOLATILE: [&str; 11] = [
    "id",
    "call_id",
    "created",
    "created_at",
    "encrypted_content",
    "item_id",
    "request_id",
    "responseId",
    "signature",
    "system_fingerprint",
    "thoughtSignature",
];

/// An answer without what differs each time. Arguments of calls are left alone.
fn settled(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(settled).collect(),
        Value::Object(map) => {
            let kept = map.iter().filter(|(key, _)| !VOLATILE.contains(key));
            let settled = kept.map(|(key, item)| match key {
                "args" | "arguments" | "input" => (key, item.clone()),
                _ => (key, settled(item)),
            });
            Value::Object(settled.collect())
        }
        other => other.clone(),
    }
}
