//! Drafts as new cases of a set: each with an id of its own, and no conversation twice.

use std::collections::{HashMap, HashSet};

use eval_core::format::{EvalCase, Meaning, SessionInput};

use super::Draft;

/// Drafts that fit into a set.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct NewCases {
    /// The drafts, each with an id that no other case has.
    pub drafts: Vec<Draft>,
    /// The number of dropped drafts, whose conversations are in the set or in earlier drafts.
    pub equal: usize,
}

/// Fits drafts into a set that has these cases. Where an id is taken already, a number is added to it: `hi_2`.
///
/// Conversations are equal if the same was said and called from the same state. Ids, times and tokens do not count.
pub fn new_cases<'a>(drafts: Vec<Draft>, existing: impl IntoIterator<Item = &'a EvalCase>) -> NewCases {
    let (mut known, mut ids): (HashSet<Meaning>, HashSet<String>) =
        existing.into_iter().map(|case| (key(case), case.eval_id.clone())).unzip();
    // The last number tried behind each id, so that many drafts of one name are not counted again and again.
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut new = NewCases::default();
    for mut draft in drafts {
        if !known.insert(key(&draft.case)) {
            new.equal += 1;
            continue;
        }
        let wanted = draft.case.eval_id;
        let mut id = wanted.clone();
        while !ids.insert(id.clone()) {
            let number = numbers.entry(wanted.clone()).or_insert(1);
            *number += 1;
            id = format!("{wanted}_{number}");
        }
        draft.case.eval_id = id;
        new.drafts.push(draft);
    }
    new
}

/// The meaning of a conversation and of the state it begins with. Cases with equal conversations share it.
fn key(case: &EvalCase) -> Meaning {
    let state = case.session_input.as_ref().map(|input| input.state.clone()).unwrap_or_default();
    let mut plain = EvalCase::new("").with_session_input(SessionInput::new("", "").with_state(state));
    plain.conversation_scenario.clone_from(&case.conversation_scenario);
    plain.conversation.clone_from(&case.conversation);
    for turn in &mut plain.conversation {
        turn.app_details = None;
    }
    Meaning::from_case(&plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draft::Origin;
    use eval_core::format::{FunctionCall, Invocation, Map};
    use eval_core::json;

    #[test]
    fn ids_are_unique_and_equal_conversations_are_counted() {
        let case = |id: &str, text: &str| EvalCase::new(id).turn(Invocation::user(text).response("Hello!"));
        let draft = |id: &str, text: &str| Draft::from_case(case(id, text), Origin::new("x")).unwrap();
        let existing = [case("hi", "Hi"), case("hi_there_2", "Hm")];
        let drafts = vec![
            draft("", "Hi!"),
            draft("", "Hi"),
            draft("", "Hi there"),
            draft("", "Hi there!"),
            draft("mine", "Hm"),
            draft("mine", "One"),
            draft("mine", "Two"),
        ];
        let new = new_cases(drafts, &existing);
        let ids: Vec<_> = new.drafts.iter().map(|draft| draft.case.eval_id.as_str()).collect();
        assert_eq!(ids, ["hi_2", "hi_there", "hi_there_3", "mine", "mine_2"]);
        assert_eq!(new.equal, 2);
    }

    #[test]
    fn many_drafts_of_one_name_are_numbered() {
        let draft = |at: usize| {
            let turn = Invocation::user("Hi").response(at.to_string());
            Draft::from_case(EvalCase::new("").turn(turn), Origin::new("x")).unwrap()
        };
        let new = new_cases((0..3000).map(draft).collect(), &[]);
        assert_eq!(new.drafts[2999].case.eval_id, "hi_3000");
    }

    #[test]
    fn ids_and_times_make_no_other_conversation() {
        let turn = |id: &str, args| {
            Invocation::user("Hi").call(FunctionCall::new("f", args).with_id(id)).response("Hello!")
        };
        let one = EvalCase::new("a").turn(turn("1", json!({ "x": 1, "id": "a" })).with_duration(1.0));
        let two = EvalCase::new("b")
            .turn(turn("2", json!({ "id": "a", "x": 1 })).with_invocation_id("e"))
            .with_session_input(SessionInput::new("app", "anna"));
        assert_eq!(key(&one), key(&two));
        for other in [
            EvalCase::new("a").turn(turn("1", json!({ "x": 2, "id": "a" }))),
            EvalCase::new("a").turn(turn("1", json!({ "x": 1, "id": "b" }))),
            one.clone().turn(Invocation::user("And?")),
            one.clone().state(Map::from([("k", 1)])),
            EvalCase::new("a").turn(Invocation::user("Hi").response("Hello!")),
        ] {
            assert_ne!(key(&one), key(&other), "{other:?}");
        }
    }
}
