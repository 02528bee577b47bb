//! Index of conversations by case id, key and first words, so that a case need not look through all of them.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use super::conversation::Conversation;

/// The conversations with turns, by the ids, keys and words that cases look for.
#[derive(Debug, Default)]
pub(super) struct Index {
    pub(super) of_case: HashMap<String, Group>,
    /// Conversations whose spans name no case, by their keys.
    pub(super) by_key: HashMap<String, Group>,
    /// The same conversations, by the user's first message, if it is not empty.
    by_words: HashMap<String, Alike>,
    /// The conversation whose spans name no case, if there is exactly one.
    pub(super) only_free: Option<usize>,
    pub(super) begin: Vec<String>,
}

/// Conversations that fit alike, in the order of the files.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) places: Vec<usize>,
    /// Their keys, shared by the errors of all cases that match several of them.
    keys: OnceLock<Arc<[String]>>,
}

#[derive(Debug, Default)]
struct Alike {
    all: Group,
    by_turns: HashMap<usize, Group>,
}

pub(super) const MAX_SHOWN_BEGINNINGS: usize = 5;

const MAX_BEGINNING_CHARS: usize = 60;

impl Index {
    pub(super) fn new(conversations: &[Conversation]) -> Self {
        let mut index = Self::default();
        let mut free = 0;
        for (at, conversation) in conversations.iter().enumerate() {
            let Some(first) = conversation.turns.first() else { continue };
            if let Some(said) = first.user.as_deref()
                && index.begin.len() < MAX_SHOWN_BEGINNINGS
            {
                let shown: String = said.chars().take(MAX_BEGINNING_CHARS).collect();
                index.begin.push(format!("{shown:?}"));
            }
            // A conversation that names a case belongs to no other case.
            if let Some(case) = &conversation.case_id {
                index.of_case.entry(case.clone()).or_default().places.push(at);
                continue;
            }
            free += 1;
            index.only_free = (free == 1).then_some(at);
            index.by_key.entry(conversation.key.clone()).or_default().places.push(at);
            let words = first.user.as_deref().map(normalized).filter(|words| !words.is_empty());
            if let Some(words) = words {
                let alike = index.by_words.entry(words).or_default();
                alike.all.places.push(at);
                alike.by_turns.entry(conversation.turns.len()).or_default().places.push(at);
            }
        }
        index
    }

    /// The conversations that begin with these normalized words; of several, those with this number of turns.
    pub(super) fn beginning(&self, words: &str, turns: Option<usize>) -> Option<&Group> {
        let alike = self.by_words.get(words)?;
        turns.and_then(|turns| alike.by_turns.get(&turns)).or(Some(&alike.all))
    }
}

impl Group {
    pub(super) fn or(&self, other: &Self) -> Self {
        let mut places = [&*self.places, &*other.places].concat();
        places.sort_unstable();
        places.dedup();
        Self { places, keys: OnceLock::new() }
    }

    pub(super) fn keys(&self, conversations: &[Conversation]) -> Arc<[String]> {
        let keys = || self.places.iter().map(|at| conversations[*at].key.clone()).collect();
        Arc::clone(self.keys.get_or_init(keys))
    }
}

/// The index of conversations that do not change, made when a case first looks for its own.
#[derive(Clone, Default)]
pub(super) struct LazyIndex(OnceLock<Arc<Index>>);

impl LazyIndex {
    pub(super) fn get(&self, conversations: &[Conversation]) -> &Index {
        self.0.get_or_init(|| Arc::new(Index::new(conversations)))
    }
}

impl fmt::Debug for LazyIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LazyIndex(..)")
    }
}

/// The index holds nothing beyond the conversations.
impl PartialEq for LazyIndex {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A text normalized for comparison: white space is collapsed, and the case of letters is ignored.
pub(crate) fn normalized(text: &str) -> String {
    let mut words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.is_ascii() {
        words.make_ascii_lowercase();
        return words;
    }
    // To upper case and back: letters without a capital of their own (`ß`) then equal their capitals (`SS`).
    words.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}
