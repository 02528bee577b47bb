//! Which conversation belongs to a case.

use std::error::Error;
use std::fmt;

use eval_core::format::EvalCase;

use super::conversation::Conversation;

/// How a conversation was found to belong to a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MatchedBy {
    /// Its spans name the case: `agentevals.eval.case.id`.
    CaseId,
    /// The id of the case, or the session id that the case gives, is its key.
    Key,
    /// The user says the same words.
    Words,
    /// It is the only one, and the case is the only one.
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

/// Why no conversation belongs to a case.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MatchError {
    /// No conversation fits.
    None {
        /// What the user says first in some of the conversations.
        begin: Vec<String>,
    },
    /// Several conversations fit alike.
    Several {
        /// How they fit.
        by: MatchedBy,
        /// Their keys.
        keys: Vec<String>,
    },
}

/// How many conversations a message names.
const SHOWN: usize = 5;

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

fn listed(keys: &[String]) -> String {
    let shown = keys.iter().take(SHOWN).map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
    match keys.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// What of a case tells which conversation is its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sought<'c> {
    pub(crate) eval_id: &'c str,
    pub(crate) session_id: Option<&'c str>,
    pub(crate) turns: usize,
    /// What the user says first.
    pub(crate) first: &'c str,
    /// Whether the only conversation is the one, whatever is said in it.
    pub(crate) is_only_case: bool,
}

impl<'c> Sought<'c> {
    pub(crate) fn of(case: &'c EvalCase, first: &'c str, is_only_case: bool) -> Self {
        Self {
            eval_id: &case.eval_id,
            session_id: case.session_input.as_ref().and_then(|input| input.session_id.as_deref()),
            turns: case.conversation.len(),
            first,
            is_only_case,
        }
    }

    /// The place of its conversation.
    pub(crate) fn find(self, conversations: &[Conversation]) -> Result<(usize, MatchedBy), MatchError> {
        let all = || conversations.iter().enumerate().filter(|(_, it)| !it.turns.is_empty());
        let one = |found: Vec<(usize, &Conversation)>, by| match found.as_slice() {
            [] => None,
            [(at, _)] => Some(Ok((*at, by))),
            several => {
                let keys = several.iter().map(|(_, conversation)| conversation.key.clone()).collect();
                Some(Err(MatchError::Several { by, keys }))
            }
        };
        let tagged = all().filter(|(_, it)| it.case_id.as_deref() == Some(self.eval_id)).collect();
        if let Some(found) = one(tagged, MatchedBy::CaseId) {
            return found;
        }
        // What names another case is not this one's.
        let free = || all().filter(|(_, it)| it.case_id.is_none());
        let named =
            free().filter(|(_, it)| it.key == self.eval_id || Some(it.key.as_str()) == self.session_id);
        if let Some(found) = one(named.collect(), MatchedBy::Key) {
            return found;
        }
        let words = normalized(self.first);
        let begins =
            |it: &Conversation| it.turns[0].user.as_deref().map(normalized).as_deref() == Some(&*words);
        let alike: Vec<_> = free().filter(|(_, it)| !words.is_empty() && begins(it)).collect();
        let same_length: Vec<_> =
            alike.iter().filter(|(_, it)| it.turns.len() == self.turns).copied().collect();
        let alike = if alike.len() > 1 && !same_length.is_empty() { same_length } else { alike };
        if let Some(found) = one(alike, MatchedBy::Words) {
            return found;
        }
        let mut rest = free();
        if let (true, Some((at, _)), None) = (self.is_only_case, rest.next(), rest.next()) {
            return Ok((at, MatchedBy::OnlyOne));
        }
        let said = all().filter_map(|(_, it)| it.turns[0].user.as_deref());
        let begin = said.take(SHOWN).map(|text| format!("{:?}", text.chars().take(60).collect::<String>()));
        Err(MatchError::None { begin: begin.collect() })
    }
}

/// A text without what does not matter when words are compared: white space and the case of letters.
pub(crate) fn normalized(text: &str) -> String {
    if text.is_ascii() {
        let mut words = String::with_capacity(text.len());
        for word in text.split_whitespace() {
            if !words.is_empty() {
                words.push(' ');
            }
            words.push_str(word);
        }
        words.make_ascii_lowercase();
        return words;
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    // Up and down again, so that letters without a capital of their own are equal to their capitals.
    words.join(" ").chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use eval_core::format::{EvalCase, Invocation};

    use super::*;
    use crate::traces::conversation::Turn;

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
        Sought::of(case, &case.conversation[0].user_text(), only).find(all)
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
        let keys = vec!["b".to_owned(), "c".to_owned()];
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
        // What was recorded for another case is not this one's.
        let others = [conversation("a", Some("y"), &["Paris?"])];
        assert!(matches!(find(&case("x", &["Paris?"]), &others, true), Err(MatchError::None { .. })));
    }
}
