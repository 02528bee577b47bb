//! Histories of model calls as hashes. A call whose history begins with all of another call continues it.
//!
//! Ids are not hashed: some libraries write one id into a message and another into the history.

use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher, Hash};

use super::message::{Message, Part};

/// One hash for each text, call and result of some messages, in their order. Reasoning is no part of a history.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Atoms {
    hashes: Vec<u64>,
    /// Whether something among them was not captured. The hashes end before it.
    is_cut: bool,
}

impl Atoms {
    pub(super) fn new(messages: &[Message]) -> Self {
        let mut atoms = Self::default();
        // Instructions may differ from call to call: some have the time in them.
        for message in messages.iter().filter(|message| !matches!(&*message.role, "system" | "developer")) {
            if !atoms.add(message) {
                atoms.is_cut = true;
                break;
            }
        }
        atoms
    }

    /// Adds a message. Says whether all of it was captured.
    fn add(&mut self, message: &Message) -> bool {
        let is_answer = matches!(&*message.role, "assistant" | "model");
        let has_calls = message.parts.iter().any(|part| matches!(part, Part::Call(_)));
        let mut said = String::new();
        for part in &message.parts {
            if let Part::Text(text) = part {
                said.push_str(text);
                continue;
            }
            self.say(is_answer, &mut said);
            match part {
                Part::Text(_) | Part::Thought => {}
                // Beside calls, many libraries write an empty text.
                Part::Redacted if has_calls => {}
                Part::Redacted => return false,
                Part::Call(call) => match &call.args {
                    Some(args) => self.push(("call", &call.name, args.to_string())),
                    None => return false,
                },
                Part::Response(response) => self.push(("result", response.value.to_string())),
                Part::Data => self.push("data"),
                Part::Unknown(kind) => self.push(("unknown", kind)),
            }
        }
        self.say(is_answer, &mut said);
        true
    }

    fn say(&mut self, is_answer: bool, said: &mut String) {
        if !said.trim().is_empty() {
            self.push((is_answer, said.trim()));
        }
        said.clear();
    }

    fn push(&mut self, atom: impl Hash) {
        self.hashes.push(hash(atom));
    }
}

pub(super) fn hash(value: impl Hash) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(value)
}

/// A history: for each atom, a hash of everything up to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct History {
    points: Box<[u64]>,
    is_cut: bool,
}

impl History {
    pub(super) fn new(messages: &[Message]) -> Self {
        let Atoms { hashes, is_cut } = Atoms::new(messages);
        let mut all = 0;
        let points = hashes.into_iter().map(|atom| {
            all = hash((all, atom));
            all
        });
        Self { points: points.collect(), is_cut }
    }

    /// The hash of all of it; `None` if it is empty, or not all of it was captured.
    pub(super) fn whole(&self) -> Option<u64> {
        self.points.last().copied().filter(|_| !self.is_cut)
    }

    /// The hash of the history followed by an output; `None` if one of them is not whole.
    pub(super) fn then(&self, put_out: &Atoms) -> Option<u64> {
        let whole = self.whole().filter(|_| !put_out.is_cut)?;
        Some(put_out.hashes.iter().fold(whole, |all, atom| hash((all, atom))))
    }

    /// The hashes of beginnings that atoms follow, the longest first, each with the number of these atoms.
    pub(super) fn beginnings(&self) -> impl Iterator<Item = (u64, usize)> {
        // A part that was not captured counts as an atom.
        let following = (usize::from(self.is_cut)..).zip(self.points.iter().rev());
        following.filter(|(after, _)| *after > 0).map(|(after, point)| (*point, after))
    }

    /// The number of atoms after a beginning; `None` if the history has no such beginning.
    pub(super) fn after(&self, beginning: u64) -> Option<usize> {
        self.beginnings().find(|(point, _)| *point == beginning).map(|(_, after)| after)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use eval_core::format::{Map, Value};

    use super::*;
    use crate::traces::message::{PartCall, Response};

    fn says(role: &str, text: &str) -> Message {
        Message::new(role, vec![Part::Text(text.to_owned())])
    }

    fn asks(id: &str, args: Option<Value>) -> Message {
        let call = PartCall { id: Some(id.to_owned()), name: "now".to_owned(), args };
        Message::new("assistant", vec![Part::Redacted, Part::Call(call)])
    }

    fn result(text: &str) -> Message {
        let response = Response { id: None, name: None, value: Arc::new(Value::from(text)) };
        Message::new("tool", vec![Part::Response(Arc::new(response))])
    }

    #[test]
    fn a_history_begins_with_what_was_sent_and_put_out_before_whatever_the_ids_and_instructions_are() {
        let none = || Some(Map::new().into());
        let first = History::new(&[says("system", "It is 9:00"), says("user", "Time?")]);
        let asked = first.then(&Atoms::new(&[asks("1", none())])).unwrap();
        let second =
            [says("system", "It is 9:01"), says("user", "Time?"), asks("a", none()), result("12:00")];
        assert_eq!(History::new(&second).after(asked), Some(1));
        let other = [says("user", "Time?"), asks("a", none()), result("12:00"), says("user", " Thanks\n")];
        assert_eq!(History::new(&other).after(asked), Some(2));
        let answered = History::new(&other[..3]).then(&Atoms::new(&[says("assistant", "Noon.")]));
        assert_ne!(answered, History::new(&other).whole());
        // The speaker matters, and the name and the arguments of a call.
        let as_user = first.then(&Atoms::new(&[says("user", "Noon.")]));
        assert_ne!(first.then(&Atoms::new(&[says("assistant", "Noon.")])), as_user);
        let with = asks("1", Some(Value::from("x")));
        assert_ne!(first.then(&Atoms::new(&[with])), Some(asked));
    }

    #[test]
    fn nothing_goes_on_with_itself_or_with_what_was_not_captured() {
        let history = History::new(&[says("user", "Time?")]);
        assert_eq!(history.after(history.whole().unwrap()), None);
        assert_eq!(History::default().whole(), None);
        for cut in [Message::new("user", vec![Part::Redacted]), asks("1", None)] {
            let history = History::new(&[says("user", "Time?"), cut.clone(), says("user", "More")]);
            assert_eq!(history.whole(), None, "{cut:?}");
            assert_eq!(history.beginnings().count(), 1, "{cut:?}");
            assert_eq!(History::new(&[says("user", "Time?")]).then(&Atoms::new(&[cut])), None);
        }
    }
}
