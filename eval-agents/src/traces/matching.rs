//! Matching of conversations with cases.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use eval_core::format::EvalCase;

use super::conversation::{Conversation, Turn};
use super::index::{Group, Index, MAX_SHOWN_BEGINNINGS, normalized};

/// The rule by which a conversation was matched with a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MatchedBy {
    /// Its spans name the case: `agentevals.eval.case.id`.
    CaseId,
    /// The id of the case, or the session id that the case gives, is its key.
    Key,
    /// The user says the same words.
    Words,
    /// It is the only conversation, and the case is the only case.
    OnlyOne,
}

impl fmt::Display for MatchedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CaseId => "by the id of the case in its spans",
            Self::Key => "by its id",
            Self::Words => "by the user's words",
            Self::OnlyOne => "as the only one for the only case",
        })
    }
}

/// The reason why no conversation matches a case.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MatchError {
    /// No conversation fits.
    None {
        /// The first messages of some of the conversations.
        begin: Vec<String>,
    },
    /// Several conversations fit alike.
    Several {
        /// The rule by which they match.
        by: MatchedBy,
        /// Their keys.
        keys: Arc<[String]>,
    },
}

impl fmt::Display for MatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None { begin } if begin.is_empty() => {
                f.write_str("no conversation belongs to this case: the traces have no turns in which a user says something")
            }
            Self::None { begin } => write!(
                f,
                "no conversation belongs to this case: none has its id, and in none the user begins with its words; they \
                 begin with {}",
                begin.join(", ")
            ),
            Self::Several { by, keys } => write!(
                f,
                "several conversations belong to this case {by}: {}; give the spans of one the attribute \
                 `agentevals.eval.case.id`, or leave the others out",
                listed(keys)
            ),
        }
    }
}

impl Error for MatchError {}

/// The maximum characters of a key in a message. Names that spans give are not longer.
const MAX_KEY_CHARS: usize = 256;

fn listed(keys: &[String]) -> String {
    // A trace can have an id of any length.
    let name = |key: &String| format!("`{}`", key.chars().take(MAX_KEY_CHARS).collect::<String>());
    let shown = keys.iter().take(MAX_SHOWN_BEGINNINGS).map(name).collect::<Vec<_>>().join(", ");
    match keys.len().saturating_sub(MAX_SHOWN_BEGINNINGS) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Sought<'c> {
    pub(crate) eval_id: Option<&'c str>,
    pub(crate) session_id: Option<&'c str>,
    pub(crate) turns: Option<usize>,
    pub(crate) first: &'c str,
    /// Whether the only conversation matches, whatever is said in it.
    pub(crate) is_only_case: bool,
}

impl<'c> Sought<'c> {
    pub(crate) fn new(case: &'c EvalCase, first: &'c str, is_only_case: bool) -> Self {
        Self {
            eval_id: Some(&case.eval_id),
            session_id: case.session_input.as_ref().and_then(|input| input.session_id.as_deref()),
            turns: case.conversation_scenario.is_none().then_some(case.conversation.len()),
            first,
            is_only_case,
        }
    }

    /// The place of its conversation. It takes the same time however many conversations there are.
    pub(super) fn find(
        self,
        conversations: &[Conversation],
        index: &Index,
    ) -> Result<(usize, MatchedBy), MatchError> {
        let only = |group: &Group, by| match &*group.places {
            [at] => Ok((*at, by)),
            _ => Err(MatchError::Several { by, keys: group.keys(conversations) }),
        };
        if let Some(tagged) = self.eval_id.and_then(|id| index.of_case.get(id)) {
            return only(tagged, MatchedBy::CaseId);
        }
        let of_session = self.session_id.and_then(|id| index.by_key.get(id));
        match (self.eval_id.and_then(|id| index.by_key.get(id)), of_session) {
            (Some(one), Some(other)) => return only(&one.or(other), MatchedBy::Key),
            (Some(named), None) | (None, Some(named)) => return only(named, MatchedBy::Key),
            (None, None) => {}
        }
        if let Some(alike) = index.beginning(&normalized(self.first), self.turns) {
            return only(alike, MatchedBy::Words);
        }
        match index.only_free {
            Some(at) if self.is_only_case => Ok((at, MatchedBy::OnlyOne)),
            _ => Err(MatchError::None { begin: index.begin.clone() }),
        }
    }
}

impl Turn {
    /// A note on the user's words, if the case has others for the turn of this number.
    #[doc(hidden)]
    pub fn other_words(&self, number: usize, expected: &str) -> Option<String> {
        let said = self.user.as_deref().unwrap_or_default();
        let is_other = normalized(said) != normalized(expected);
        is_other.then(|| {
            format!("turn {number}: the user says {said:?} in the trace, and {expected:?} in the case")
        })
    }
}

#[cfg(test)]
mod tests {
    use eval_core::format::{EvalCase, Invocation};

    use proptest::prelude::*;

    use super::*;
    fn conversation(key: &str, case_id: Option<&str>, said: &[&str]) -> Conversation {
        let turn = |text: &&str| Turn { user: Some((*text).to_owned()), ..Turn::default() };
        Conversation {
            key: key.to_owned(),
            case_id: case_id.map(str::to_owned),
            turns: said.iter().map(turn).collect(),
            ..Conversation::default()
        }
    }

    fn case(id: &str, said: &[&str]) -> EvalCase {
        said.iter().fold(EvalCase::new(id), |case, text| case.turn(Invocation::user(*text)))
    }

    fn find(case: &EvalCase, all: &[Conversation], only: bool) -> Result<(usize, MatchedBy), MatchError> {
        Sought::new(case, &case.conversation[0].user_text(), only).find(all, &Index::new(all))
    }

    /// The same place, found by a scan of all conversations.
    fn by_scan(sought: Sought<'_>, conversations: &[Conversation]) -> Result<(usize, MatchedBy), MatchError> {
        let all = || conversations.iter().enumerate().filter(|(_, it)| !it.turns.is_empty());
        let one = |found: Vec<(usize, &Conversation)>, by| match found.as_slice() {
            [] => None,
            [(at, _)] => Some(Ok((*at, by))),
            several => {
                let keys = several.iter().map(|(_, conversation)| conversation.key.clone()).collect();
                Some(Err(MatchError::Several { by, keys }))
            }
        };
        let tagged =
            all().filter(|(_, it)| it.case_id.is_some() && it.case_id.as_deref() == sought.eval_id).collect();
        if let Some(found) = one(tagged, MatchedBy::CaseId) {
            return found;
        }
        let free = || all().filter(|(_, it)| it.case_id.is_none());
        let is_named =
            |it: &Conversation| [sought.eval_id, sought.session_id].contains(&Some(it.key.as_str()));
        if let Some(found) = one(free().filter(|(_, it)| is_named(it)).collect(), MatchedBy::Key) {
            return found;
        }
        let words = normalized(sought.first);
        let begins =
            |it: &Conversation| it.turns[0].user.as_deref().map(normalized).as_deref() == Some(&*words);
        let alike: Vec<_> = free().filter(|(_, it)| !words.is_empty() && begins(it)).collect();
        let same_length: Vec<_> =
            alike.iter().filter(|(_, it)| Some(it.turns.len()) == sought.turns).copied().collect();
        let alike = if alike.len() > 1 && !same_length.is_empty() { same_length } else { alike };
        if let Some(found) = one(alike, MatchedBy::Words) {
            return found;
        }
        let mut rest = free();
        if let (true, Some((at, _)), None) = (sought.is_only_case, rest.next(), rest.next()) {
            return Ok((at, MatchedBy::OnlyOne));
        }
        let said = all().filter_map(|(_, it)| it.turns[0].user.as_deref());
        let begin = said
            .take(MAX_SHOWN_BEGINNINGS)
            .map(|text| format!("{:?}", text.chars().take(60).collect::<String>()));
        Err(MatchError::None { begin: begin.collect() })
    }

    /// Ids and keys of which some are equal, and some are words.
    const NAMES: &[&str] = &["a", "b", "A", "hi", ""];

    /// Words of which some are equal without their case and white space, and a text that is longer than what is shown.
    const WORDS: &[&str] = &[
        "",
        " \u{a0}\n",
        "hi",
        "\u{2003}HI ",
        "a",
        "straße 1",
        "STRASSE\u{85}1",
        "ǅ ς",
        "Ǆ\tΣ",
        "ﬁ",
        "FI",
        "İ",
        "i\u{307}",
        "\u{200b}hi",
        "Paris? Paris? Paris? Paris? Paris? Paris? Paris? Paris? Paris? Paris? Paris?",
    ];

    fn conversations() -> impl Strategy<Value = Vec<Conversation>> {
        let one = (
            prop::sample::select(NAMES),
            prop::option::weighted(0.3, prop::sample::select(NAMES)),
            prop::option::weighted(0.9, prop::sample::select(WORDS)),
            0_usize..4,
        );
        let one = one.prop_map(|(key, case_id, said, turns)| {
            let mut made = conversation(key, case_id, &vec!["and then?"; turns]);
            if let Some(first) = made.turns.first_mut() {
                first.user = said.map(str::to_owned);
            }
            made
        });
        prop::collection::vec(one, 0..9)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]
        #[test]
        fn the_index_finds_what_looking_through_all_finds(
            all in conversations(),
            eval_id in prop::option::of(prop::sample::select(NAMES)),
            session_id in prop::option::of(prop::sample::select(NAMES)),
            first in prop::sample::select(WORDS),
            turns in prop::option::of(0_usize..4),
            is_only_case: bool,
        ) {
            let sought = Sought { eval_id, session_id, turns, first, is_only_case };
            let found = sought.find(&all, &Index::new(&all));
            prop_assert_eq!(&found, &by_scan(sought, &all));
            if let Err(error) = found {
                prop_assert_eq!(error.to_string(), by_scan(sought, &all).unwrap_err().to_string());
            }
        }
    }

    #[test]
    fn tags_go_before_ids_and_ids_before_words() {
        let all = [
            conversation("a", None, &["Hi"]),
            conversation("b", Some("sunny"), &["Something else"]),
            conversation("sunny", None, &["Again another thing"]),
        ];
        assert_eq!(find(&case("sunny", &["Hi"]), &all, false), Ok((1, MatchedBy::CaseId)));
        assert_eq!(find(&case("a", &["?"]), &all, false), Ok((0, MatchedBy::Key)));
        assert_eq!(find(&case("other", &["  hI\n"]), &all, false), Ok((0, MatchedBy::Words)));
        assert_eq!(normalized("Die  STRASSE"), normalized("die straße"));
        assert_eq!(normalized("\x0b In\tPARIS \n"), "in paris");
    }

    #[test]
    fn of_several_with_the_same_words_the_one_with_as_many_turns_is_taken_else_none() {
        let all = [
            conversation("a", None, &["Hi"]),
            conversation("b", None, &["Hi", "Paris?"]),
            conversation("c", None, &["Hi", "Rome?"]),
        ];
        assert_eq!(find(&case("x", &["Hi"]), &all, false), Ok((0, MatchedBy::Words)));
        let keys = ["b".to_owned(), "c".to_owned()].into();
        let several = Err(MatchError::Several { by: MatchedBy::Words, keys });
        assert_eq!(find(&case("x", &["Hi", "Paris?"]), &all, false), several);
        let tagged = [conversation("a", Some("x"), &["Hi"]), conversation("b", Some("x"), &["Hi"])];
        assert!(matches!(find(&case("x", &["Hi"]), &tagged, true), Err(MatchError::Several { .. })));
    }

    #[test]
    fn the_only_one_is_taken_only_where_the_caller_says_that_the_case_is_the_only_one() {
        let all = [conversation("a", None, &["Rome?"])];
        assert!(matches!(find(&case("x", &["Paris?"]), &all, false), Err(MatchError::None { .. })));
        assert_eq!(find(&case("x", &["Paris?"]), &all, true), Ok((0, MatchedBy::OnlyOne)));
        // A conversation of another case does not match.
        let others = [conversation("a", Some("y"), &["Paris?"])];
        assert!(matches!(find(&case("x", &["Paris?"]), &others, true), Err(MatchError::None { .. })));
    }
}
