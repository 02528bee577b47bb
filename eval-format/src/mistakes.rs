//! Mistakes in the value of a key of ours, found without places, and placed afterwards.

use std::borrow::Cow;

use crate::problem::{Problem, ProblemCode};
use crate::schema::Place;
use crate::syntax::{Entry, Node};

/// A step from a value to a value in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Key(Cow<'static, str>),
    Index(usize),
}

impl Step {
    /// A key as the file has it.
    pub(crate) fn key(key: &str) -> Self {
        Self::Key(Cow::Owned(key.to_owned()))
    }

    /// A key that the code names.
    pub(crate) const fn named(key: &'static str) -> Self {
        Self::Key(Cow::Borrowed(key))
    }
}

/// A mistake, at a path below the key.
#[derive(Debug)]
pub(crate) struct Mistake {
    pub(crate) code: ProblemCode,
    pub(crate) path: Vec<Step>,
    /// Whether the last key of the path is wrong, and not its value.
    pub(crate) at_key: bool,
    pub(crate) message: String,
    pub(crate) help: String,
}

/// The problem of a mistake below a value. `entry` has the key of the value, if it has one.
pub(crate) fn located(
    mistake: &Mistake,
    entry: Option<&Entry<'_>>,
    value: &Node<'_>,
    place: &Place<'_>,
) -> Problem {
    below(mistake, &mistake.path, entry, value, place)
}

fn below(
    mistake: &Mistake,
    steps: &[Step],
    entry: Option<&Entry<'_>>,
    value: &Node<'_>,
    place: &Place<'_>,
) -> Problem {
    match steps.split_first() {
        Some((Step::Index(at), rest)) if let Some(item) = value.array().and_then(|items| items.get(*at)) => {
            return below(mistake, rest, None, item, &Place::Index(place, *at));
        }
        Some((Step::Key(key), rest)) if let Some(found) = value.get(key) => {
            return below(mistake, rest, Some(found), &found.value, &Place::Key(place, &found.key));
        }
        _ => {}
    }
    let range = match entry.filter(|_| mistake.at_key) {
        Some(entry) => &entry.key_range,
        None => &value.range,
    };
    place.error(mistake.code, range.clone(), mistake.message.as_str()).help(mistake.help.as_str())
}
