//! The conversations of one program that serves several of them, such as a server: the program has one address, and the
//! conversation of a call is found by what the call says.
//!
//! While calls are recorded, one conversation at a time uses the program. While they are replayed, several do, and a call
//! that may belong to several cases is an error of all of them: no case is guessed.

use std::fmt;
use std::sync::Arc;

use eval_format::Value;
use eval_support::mutex::Mutex;
use eval_support::words::code_list;
use tokio::sync::OwnedMutexGuard;

use crate::conversation::Conversation;
use crate::endpoint;
use crate::guest::{Guest, Reply};
use crate::mode::{ModelMode, Settings};
use crate::recording::{Answer, Body};
use crate::sse::{Data, Event};
use crate::variables;
use crate::wire::{Asked, Incoming, NoWire, Wire};

/// The address of a program for many conversations.
#[derive(Clone)]
pub struct Desk(pub(crate) Arc<Shared>);

pub(crate) struct Shared {
    token: Mutex<String>,
    conversations: Mutex<Vec<Conversation>>,
    /// Held by the only conversation while calls are recorded.
    turn: Arc<tokio::sync::Mutex<()>>,
}

/// The place of a conversation at a desk, until this is dropped.
#[must_use = "the conversation leaves as soon as this is dropped"]
pub struct Seat {
    desk: Desk,
    conversation: Conversation,
    _turn: Option<OwnedMutexGuard<()>>,
}

impl Desk {
    /// Opens a desk. The endpoint starts if it does not run.
    pub fn open() -> Result<Self, String> {
        let desk = Self(Arc::new(Shared {
            token: Mutex::default(),
            conversations: Mutex::default(),
            turn: Arc::default(),
        }));
        *desk.0.token.lock() = endpoint::admit(Arc::new(desk.clone()))?;
        Ok(desk)
    }

    /// The variables that redirect the clients of the program.
    pub fn variables(&self, mode: ModelMode) -> Result<Vec<(&'static str, String)>, String> {
        let address = endpoint::address(&self.0.token.lock())?;
        let is_offline = Settings::from_env()?.is_offline;
        Ok(variables::of_child(&address, &endpoint::proxy(&address), mode, is_offline))
    }

    /// Takes a place. While calls are recorded this waits until no other conversation has one.
    pub async fn sit(&self, conversation: &Conversation) -> Seat {
        let turn = match conversation.mode() {
            mode if !mode.asks() => None,
            _ => Some(conversation.waits(Arc::clone(&self.0.turn).lock_owned()).await),
        };
        conversation.redirects();
        self.0.conversations.lock().push(conversation.clone());
        Seat { desk: self.clone(), conversation: conversation.clone(), _turn: turn }
    }

    fn seated(&self) -> Vec<Conversation> {
        self.0.conversations.lock().clone()
    }
}

impl Guest for Desk {
    fn reply(&self, incoming: &Incoming<'_>) -> Result<(Wire, Reply), NoWire> {
        let mut read = Vec::new();
        for conversation in self.seated() {
            let asked = conversation.read(incoming)?;
            read.push((conversation, asked));
        }
        let Some((_, first)) = read.first() else {
            return Err(NoWire(
                "no case is in progress: the call was made before the first case, after the last one, or by work that a \
                 turn left behind"
                    .to_owned(),
            ));
        };
        let wire = first.wire;
        Ok((wire, decided(read)))
    }

    fn miss(&self, why: &str) {
        for conversation in self.seated() {
            conversation.miss(why.to_owned());
        }
    }

    fn is_offline(&self) -> bool {
        self.seated().iter().any(Guest::is_offline)
    }
}

/// The reply of the conversation that a call belongs to.
fn decided(mut read: Vec<(Conversation, Asked)>) -> Reply {
    if read.len() > 1 {
        let known: Vec<(usize, Answer)> = read
            .iter()
            .enumerate()
            .filter_map(|(at, (conversation, asked))| Some((at, conversation.unused_answer(asked)?)))
            .collect();
        let among: Vec<usize> = if known.is_empty() {
            (0..read.len()).collect()
        } else {
            known.iter().map(|(at, _)| *at).collect()
        };
        let is_same = |(_, answer): &(usize, Answer)| same_answer(answer, &known[0].1);
        let owners = owners(&read, &among);
        let at = match &owners[..] {
            [only] => *only,
            // Whichever conversation gives it, the answer is the same.
            [first, ..] if !known.is_empty() && known.iter().all(is_same) => *first,
            _ => return ambiguous(&read, &owners),
        };
        read.swap(0, at);
    }
    let Some((conversation, asked)) = read.into_iter().next() else {
        return Reply::Refused("no case is in progress".to_owned());
    };
    conversation.answer(asked)
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

/// The conversations that a call may belong to, by what it holds: an id that one of them was given, else the last message
/// of the user.
fn owners(read: &[(Conversation, Asked)], among: &[usize]) -> Vec<usize> {
    let that = |holds: &dyn Fn(&Conversation, &Asked) -> bool| -> Vec<usize> {
        among.iter().copied().filter(|at| holds(&read[*at].0, &read[*at].1)).collect()
    };
    let by_id = that(&Conversation::handed_out);
    if by_id.len() == 1 {
        return by_id;
    }
    let by_text = that(&Conversation::said_last);
    match (by_text.is_empty(), by_id.is_empty()) {
        (false, _) => by_text,
        (true, false) => by_id,
        (true, true) => among.to_vec(),
    }
}

/// A call that may belong to several cases is an error of all of them.
fn ambiguous(read: &[(Conversation, Asked)], owners: &[usize]) -> Reply {
    let cases: Vec<&str> = owners.iter().map(|at| read[*at].0.eval_id()).collect();
    let asked = &read[owners.first().copied().unwrap_or_default()].1;
    let message = format!(
        "a call of a model ({}, {}) may be of any of the cases {}, which use one program at the same time and have different \
         answers to it; run one case at a time: `--concurrency 1`, or `RUST_TEST_THREADS=1`",
        asked.wire,
        asked.model,
        code_list(&cases),
    );
    for at in owners {
        read[*at].0.miss(message.clone());
    }
    Reply::Refused(message)
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut conversations = self.desk.0.conversations.lock();
        conversations.retain(|seated| !Arc::ptr_eq(&seated.0, &self.conversation.0));
    }
}

/// The token is not shown.
impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Desk(..)")
    }
}

impl fmt::Debug for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seat(..)")
    }
}
