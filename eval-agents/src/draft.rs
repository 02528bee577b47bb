//! Drafts: cases that were made of what happened, before a person has reviewed them.
//!
//! [`import`](crate::import) makes them of stored conversations, and [`record`](crate::record) of conversations that it has
//! with an agent. A program that keeps its sessions itself makes a draft of any case:
//!
//! ```
//! use eval_agents::draft::{Draft, Origin, new_cases};
//! use eval_core::format::{EvalCase, FunctionCall, Invocation};
//! use eval_core::json;
//!
//! let call = FunctionCall::new("book", json!({ "room": "R2", "at": "2026-11-22T09:30:00Z", "api_key": "correct-horse" }));
//! let turn = Invocation::user("Book a room!").call(call).response("It is booked.");
//! let draft = Draft::from_case(EvalCase::new("").turn(turn), Origin::new("our archive"))?;
//!
//! // A secret is not in the case. A value that will differ next time is pointed out.
//! assert_eq!(draft.case.conversation[0].tool_calls().next().unwrap().args.as_ref().unwrap()["api_key"], "(a secret)");
//! assert_eq!(draft.masked[0].to_string(), "turn 1, `book`: `api_key` is named like a secret");
//! assert_eq!(draft.volatile[0].to_string(), "turn 1, `book`: `at` is a time, `2026-11-22T09:30:00Z`");
//!
//! // In a set each case has an id of its own, and no conversation is there twice.
//! let new = new_cases(vec![draft.clone(), draft], &[]);
//! assert_eq!((new.drafts[0].case.eval_id.as_str(), new.equal), ("book_a_room", 1));
//! assert_eq!(new.drafts[0].marked().draft().unwrap()["from"], "our archive");
//! # Ok::<(), eval_core::format::Problems>(())
//! ```

mod masking;
mod new_cases;
mod proposed;
mod replaced;
mod varied;
mod volatile;

use std::collections::{HashMap, HashSet};

use eval_core::__private::turn_of_set;
use eval_core::agent::shows_something;
use eval_core::format::{EvalCase, Invocation, Map, Problems, SessionInput, Value};
use eval_core::report::Transcript;
use eval_support::secrets::mask;
use eval_support::setters;

pub use masking::Masked;
pub use new_cases::{NewCases, new_cases};
#[doc(hidden)]
pub use proposed::{argument_path, shape};
pub use replaced::NotReplaced;
#[doc(hidden)]
pub use replaced::{in_form_of, refuse_masks, what_varied};
pub(crate) use varied::common_part;
#[doc(hidden)]
pub use volatile::volatile_of;
pub use volatile::{Volatile, VolatileKind};

/// Whether a turn has an answer that a user sees: neither blank nor a thought alone.
pub(crate) fn answers(turn: &Invocation) -> bool {
    turn.final_response.as_ref().is_some_and(|answer| answer.parts().iter().any(shows_something))
}

/// A case that was made of a conversation, and notes for its reviewer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Draft {
    /// The case, without secrets and without the mark of a draft. [`new_cases`] gives it an id that no other case of a set has.
    pub case: EvalCase,
    /// Its origin.
    pub origin: Origin,
    /// The places of secrets.
    pub masked: Vec<Masked>,
    /// Arguments of tools and parts of answers that will probably differ next time. The case has them unchanged.
    pub volatile: Vec<Volatile>,
    /// Events that are not in the case, or are in doubt.
    pub gaps: Vec<String>,
    /// Parts that varied between several recordings. They are not in the case.
    pub varied: Vec<String>,
}

impl Draft {
    /// A draft of a case. Secrets are masked, by their names and by the shapes that providers give their keys. A case with an
    /// empty id gets one that is made of the first words of the user.
    ///
    /// Fails if the case has errors, as a file with it would.
    pub fn from_case(case: EvalCase, origin: Origin) -> Result<Self, Problems> {
        let is_nameless = case.eval_id.is_empty();
        let (mut case, masked) = masking::masked(case)?;
        if is_nameless {
            // The id is made of the masked case, so that it contains no secret.
            case.eval_id = derived(&case);
        }
        let volatile = volatile_of(&case);
        Ok(Self { case, origin, masked, volatile, gaps: Vec::new(), varied: Vec::new() })
    }

    setters! {
        /// Adds gaps: parts that the case lacks, or that are in doubt.
        with_gaps(gaps: impl IntoIterator<Item = String>) {
            gaps.extend(gaps.into_iter().map(|gap| mask(&gap).into_owned()))
        }

        /// Adds parts that varied between recordings.
        with_varied(varied: impl IntoIterator<Item = String>) {
            varied.extend(varied.into_iter().map(|what| mask(&what).into_owned()))
        }
    }

    /// The case as files have it until it is reviewed. Its key `_draft` holds the other fields of this draft.
    pub fn marked(&self) -> EvalCase {
        let mut mark = Map::from([("from", self.origin.from.as_str())]);
        mark.extend(self.origin.details.clone());
        let mut list = |key: &str, items: Vec<String>| {
            if !items.is_empty() {
                mark.insert(key, items.into_iter().map(Value::from).collect::<Value>());
            }
        };
        list("masked", self.masked.iter().map(ToString::to_string).collect());
        list("volatile", self.volatile.iter().map(ToString::to_string).collect());
        list("gaps", self.gaps.clone());
        list("varied", self.varied.clone());
        self.case.clone().with_draft(mark)
    }
}

/// The origin of a draft.
///
/// ```
/// use eval_agents::draft::Origin;
///
/// let origin = Origin::new("support chats").with("session", "s-17");
/// assert_eq!(origin.from, "support chats");
/// assert_eq!(origin.details["session"], "s-17");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Origin {
    /// The source: a file, a server.
    pub from: String,
    /// Further details: the kind of the file, the id of the session.
    pub details: Map,
}

impl Origin {
    /// An origin without further details.
    pub fn new(from: impl Into<String>) -> Self {
        Self { from: mask(&from.into()).into_owned(), details: Map::new() }
    }

    /// Adds a detail. Secrets in a text are masked.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        let value = match value.into() {
            Value::String(text) => Value::String(mask(&text).into_owned()),
            other => other,
        };
        self.details.insert(key, value);
        self
    }
}

/// The case of a transcript, and its gaps, which include the notes of the run; `None` without a turn.
pub(crate) fn played(eval_id: Option<&str>, transcript: &Transcript) -> Option<(EvalCase, Vec<String>)> {
    if transcript.turns.is_empty() {
        return None;
    }
    let mut gaps = transcript.notes.clone();
    let mut case = EvalCase::new(eval_id.unwrap_or_default());
    for (at, record) in transcript.turns.iter().enumerate() {
        let turn = turn_of_set(&record.invocation);
        if turn.final_response.is_none() {
            gaps.push(format!("turn {} has no answer", at + 1));
        }
        case.conversation.push(turn);
    }
    if let Some(error) = &transcript.error {
        gaps.push(format!("the run ended early: {error}"));
    }
    let session = &transcript.session;
    case.final_session_state = set_in(transcript);
    let ended: HashSet<&str> = transcript.state.keys().collect();
    let gone = session.state.keys().filter(|key| lasts(key) && !ended.contains(key));
    gaps.extend(
        gone.map(|key| format!("`{key}` is not in the state at the end, which a case cannot expect")),
    );
    if !session.app_name.is_empty() || !session.state.is_empty() {
        let input = SessionInput::new(&session.app_name, &session.user_id).with_state(session.state.clone());
        case = case.with_session_input(input);
    }
    Some((case, gaps))
}

/// The keys of the state at the end that the conversation set. Events set them, or the agent tells its state itself.
fn set_in(transcript: &Transcript) -> Map {
    let began: HashMap<&str, &Value> = transcript.session.state.iter().collect();
    let events = transcript.turns.iter().flat_map(|turn| &turn.events);
    let in_events: HashSet<&str> = events.flat_map(|event| event.state_delta.keys()).collect();
    let ended = transcript.state.iter().filter(|(key, value)| {
        lasts(key) && (in_events.contains(key) || began.get(key).is_none_or(|began| began != value))
    });
    ended.map(|(key, value)| (key.to_owned(), value.clone())).collect()
}

/// Whether a key of the state lasts longer than its turn.
fn lasts(key: &str) -> bool {
    !key.starts_with("temp:")
}

const MAX_ID_WORDS: usize = 6;
const MAX_ID_CHARS: usize = 40;

fn derived(case: &EvalCase) -> String {
    let said = case.conversation.iter().map(Invocation::user_text);
    let slug = said.map(|text| slug(&text)).find(|slug| !slug.is_empty());
    slug.unwrap_or_else(|| "case".to_owned())
}

/// The first words of a text as a name: `Weather in Paris?` is `weather_in_paris`.
fn slug(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut slug = String::new();
    for word in words.take(MAX_ID_WORDS) {
        let word = word.to_lowercase();
        let length = slug.chars().count() + word.chars().count();
        if !slug.is_empty() && length >= MAX_ID_CHARS {
            break;
        }
        if !slug.is_empty() {
            slug.push('_');
        }
        slug.extend(word.chars().take(MAX_ID_CHARS));
    }
    slug
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_made_of_the_first_words() {
        for (text, id) in [
            ("Weather in Paris?", "weather_in_paris"),
            ("  What's  up -- doc?", "what_s_up_doc"),
            ("one two three four five six seven", "one_two_three_four_five_six"),
            ("大阪の天気は?", "大阪の天気は"),
            ("a verylongwordthatgoesonandonandonandonandon b", "a"),
            ("???", "case"),
            ("", "case"),
        ] {
            assert_eq!(derived(&EvalCase::new("").turn(Invocation::user(text))), id, "{text}");
        }
        assert_eq!(slug(&"x".repeat(100)).len(), MAX_ID_CHARS);
    }
}
