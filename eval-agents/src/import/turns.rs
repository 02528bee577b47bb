//! Events of a session as the turns of a case, as ADK makes them (`EvaluationGenerator.convert_events_to_eval_invocations`).
//!
//! It differs from ADK in three ways. Turns that were rewound are left out, as the agent does not see them
//! either. A second message of the user in one invocation begins a turn of its own. Parts that the case lacks
//! are named.

use std::collections::{HashMap, HashSet};

use eval_core::__private::check_events;
use eval_core::agent::Event;
use eval_core::format::options::DEFAULT_AUTHOR;
use eval_core::format::{Content, IntermediateData, Invocation, Map, Part};

use crate::{draft, wire};

#[derive(Debug)]
pub(super) struct SessionEvent {
    pub(super) event: Event,
    pub(super) invocation_id: String,
    pub(super) timestamp: f64,
    /// The invocation that this event rewinds to: the session continues before it.
    pub(super) rewound_to: Option<String>,
    pub(super) unread: Vec<String>,
}

impl SessionEvent {
    pub(super) fn read(mut sent: wire::Reader) -> Result<Self, String> {
        let invocation_id = sent.text("invocation_id")?.unwrap_or_default();
        let timestamp = sent.number("timestamp")?.unwrap_or_default();
        let mut rewound_to = None;
        if let Some(actions) = sent.value("actions") {
            let mut reader = wire::Reader::new(actions.clone(), sent.path("actions"))?;
            rewound_to = reader.text("rewind_before_invocation_id")?.filter(|id| !id.is_empty());
            sent.put_back("actions", actions);
        }
        let wire::ReadEvent { event, unread } = wire::event(sent)?;
        Ok(Self { event, invocation_id, timestamp, rewound_to, unread })
    }
}

#[derive(Debug, Default)]
pub(super) struct Turns {
    pub(super) all: Vec<Invocation>,
    /// The keys of the state that were set in the session, by the user or by agents.
    pub(super) changed: HashSet<String>,
    /// The state that the first message of the user set.
    pub(super) given: Map,
    pub(super) set_by_agents: Map,
    pub(super) gaps: Vec<String>,
}

pub(super) fn turns(events: Vec<SessionEvent>, mut unread: Vec<String>) -> Turns {
    let mut made = Turns::default();
    made.changed.extend(events.iter().flat_map(|sent| sent.event.state_delta.keys().map(str::to_owned)));
    unread.extend(events.iter().flat_map(|sent| sent.unread.clone()));
    for group in by_invocation(live(events, &mut made.gaps)) {
        made.add(group);
    }
    if let Some((first, more)) = unread.split_first() {
        let more =
            if more.is_empty() { String::new() } else { format!(" (and {} more such keys)", more.len()) };
        made.gaps.push(format!("`{first}` is a key that nothing reads{more}"));
    }
    made
}

/// The events that were not rewound.
fn live(events: Vec<SessionEvent>, gaps: &mut Vec<String>) -> Vec<SessionEvent> {
    let mut first: HashMap<&str, usize> = HashMap::new();
    for (at, sent) in events.iter().enumerate() {
        first.entry(&sent.invocation_id).or_insert(at);
    }
    let mut is_live = vec![true; events.len()];
    let mut end = events.len();
    while end > 0 {
        let at = end - 1;
        let rewound_to = events[at].rewound_to.as_deref();
        match rewound_to.and_then(|id| first.get(id)).filter(|from| **from < at) {
            Some(from) => {
                is_live[*from..=at].fill(false);
                end = *from;
            }
            None => end = at,
        }
    }
    let rewound: HashSet<&str> = events
        .iter()
        .zip(&is_live)
        .filter(|(sent, live)| !**live && sent.rewound_to.is_none())
        .map(|(sent, _)| sent.invocation_id.as_str())
        .collect();
    if !rewound.is_empty() {
        let (count, were) = (rewound.len(), if rewound.len() == 1 { "turn was" } else { "turns were" });
        gaps.push(format!("{count} {were} rewound in the session and left out"));
    }
    drop(rewound);
    events.into_iter().zip(is_live).filter_map(|(sent, live)| live.then_some(sent)).collect()
}

/// The events of each invocation, in the order in which the invocations began.
fn by_invocation(events: Vec<SessionEvent>) -> Vec<Vec<SessionEvent>> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut groups: Vec<Vec<SessionEvent>> = Vec::new();
    for sent in events {
        let place = *places.entry(sent.invocation_id.clone()).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[place].push(sent);
    }
    groups
}

#[derive(Default)]
struct Turn {
    id: String,
    user: Option<Content>,
    timestamp: f64,
    events: Vec<Event>,
}

impl Turns {
    fn add(&mut self, events: Vec<SessionEvent>) {
        let mut turn = Turn {
            id: events.first().map(|it| it.invocation_id.clone()).unwrap_or_default(),
            ..Turn::default()
        };
        for SessionEvent { event, timestamp, .. } in events {
            if !event.author.eq_ignore_ascii_case("user") {
                self.set_by_agents.extend(event.state_delta.clone());
                turn.events.push(event);
                continue;
            }
            if !event.state_delta.is_empty() {
                self.sent_with_state(&event.state_delta);
            }
            let Some(content) = event.content else { continue };
            if turn.user.is_some() && !turn.events.is_empty() {
                let id = turn.id.clone();
                self.end(std::mem::take(&mut turn));
                self.gap("continues the one before it, which was interrupted");
                turn.id = id;
            }
            turn.timestamp = timestamp;
            match &mut turn.user {
                Some(said) => said.parts.get_or_insert_default().extend(content.parts.unwrap_or_default()),
                None => turn.user = Some(content),
            }
        }
        self.end(turn);
    }

    /// Records a message of the user that changes the state. The first message's changes are the state at the start.
    fn sent_with_state(&mut self, delta: &Map) {
        if self.all.is_empty() {
            self.given.extend(delta.clone());
        } else {
            let keys: Vec<_> = delta.keys().map(|key| format!("`{key}`")).collect();
            self.gap(&format!(
                "was sent with a change of the state ({}), which a case cannot say",
                keys.join(", ")
            ));
        }
    }

    fn gap(&mut self, what: &str) {
        self.gaps.push(format!("turn {} {what}", self.all.len() + 1));
    }

    fn end(&mut self, turn: Turn) {
        let Turn { id, user, timestamp, events } = turn;
        let Some(user) = user.filter(|said| said.parts().iter().any(says_something)) else {
            if events.iter().any(|event| event.parts().iter().any(says_something)) {
                let author = events.first().map_or(DEFAULT_AUTHOR, |event| event.author.as_str());
                let before = self.all.len();
                self.gaps.push(format!(
                    "what `{author}` said without a message of the user is left out (behind turn {before})"
                ));
            }
            return;
        };
        for event in events.iter().filter(|event| event.error_code.is_some()) {
            let code = event.error_code.as_deref().unwrap_or_default();
            let message = event.error_message.as_deref().map(|text| format!(" {text}")).unwrap_or_default();
            self.gap(&format!("had an error of the model: {code}{message}"));
        }
        if events.iter().any(|event| event.partial) && events.iter().all(|event| event.partial) {
            self.gap("has fragments of an answer and not the whole of it");
        }
        let invocation = invocation(user, &events).with_invocation_id(id).with_creation_timestamp(timestamp);
        if !draft::answers(&invocation) {
            self.gap("has no answer");
        }
        if let Err(what) = check_events(&events, self.all.iter().flat_map(Invocation::tool_calls)) {
            self.gap(&format!("has something that no metric sees: {what}"));
        }
        self.all.push(invocation);
    }
}

fn has_text(part: &Part) -> bool {
    part.text.as_deref().is_some_and(|text| !text.is_empty())
}

fn says_something(part: &Part) -> bool {
    has_text(part)
        || part.function_call.is_some()
        || part.function_response.is_some()
        || !part.other.is_empty()
}

/// A turn of a set. The answer is the last final event with text, else the last final event.
fn invocation(user: Content, events: &[Event]) -> Invocation {
    let speaks = |event: &Event| event.parts().iter().any(has_text);
    let mut answer: Option<usize> = None;
    for (at, event) in events.iter().enumerate() {
        let replaces = answer.is_none_or(|before| !speaks(&events[before]) || speaks(event));
        if !event.parts().is_empty() && event.is_final() && replaces {
            answer = Some(at);
        }
    }
    let mut kept = Vec::new();
    for (at, event) in events.iter().enumerate().filter(|(_, event)| !event.partial) {
        let shows = |part: &Part| {
            has_text(part)
                || part.function_call.is_some()
                || part.function_response.is_some()
                || part.other.contains_key("inline_data")
        };
        if !event.parts().iter().any(shows) && event.grounding_metadata.is_none() {
            continue;
        }
        // The answer is in the turn already. Calls stay: they are read from here.
        let is_repeated = answer == Some(at) && event.calls().next().is_none();
        kept.push(event.to_invocation_event(event.content.clone().filter(|_| !is_repeated)));
    }
    let mut turn = Invocation::new(user).with_intermediate_data(IntermediateData::Events(kept));
    turn.final_response = answer.and_then(|at| events[at].content.clone());
    turn
}
