//! Where a value stands in the document, while it is walked.

use crate::problem::{JsonPath, Step, short};

/// A place in the document: a list of steps on the call stack. A [`JsonPath`] is made of it only if a problem is found.
#[derive(Clone, Copy)]
pub(crate) enum Place<'p> {
    Root,
    Key(&'p Place<'p>, &'p str),
    Index(&'p Place<'p>, usize),
}

impl Place<'_> {
    pub(crate) fn path(&self) -> JsonPath {
        let mut steps = Vec::new();
        let mut place = self;
        loop {
            place = match place {
                Self::Root => break,
                Self::Key(parent, key) => {
                    steps.push(Step::Key(short(key)));
                    parent
                }
                Self::Index(parent, index) => {
                    steps.push(Step::Index(*index));
                    parent
                }
            };
        }
        let mut path = JsonPath::default();
        steps.into_iter().rev().for_each(|step| path.push(step));
        path
    }
}
