//! The place of a value in the document, while it is walked.

use std::ops::Range;

use crate::problem::{JsonPath, PathSegment, Problem, ProblemCode, short};
use crate::syntax::Entry;

/// A place in the document: a list of steps on the call stack. It becomes a [`JsonPath`] only if a problem is
/// found.
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
                    steps.push(PathSegment::Key(short(key)));
                    parent
                }
                Self::Index(parent, index) => {
                    steps.push(PathSegment::Index(*index));
                    parent
                }
            };
        }
        let mut path = JsonPath::default();
        steps.into_iter().rev().for_each(|step| path.push(step));
        path
    }

    pub(crate) fn error(
        &self,
        code: ProblemCode,
        range: Range<usize>,
        message: impl Into<String>,
    ) -> Problem {
        Problem::error(code, self.path(), range, message)
    }

    pub(crate) fn warning(
        &self,
        code: ProblemCode,
        range: Range<usize>,
        message: impl Into<String>,
    ) -> Problem {
        Problem::warning(code, self.path(), range, message)
    }

    pub(crate) fn error_at_key(
        &self,
        code: ProblemCode,
        entry: &Entry<'_>,
        message: impl Into<String>,
    ) -> Problem {
        self.error(code, entry.key_range.clone(), message)
    }

    pub(crate) fn warning_at_key(
        &self,
        code: ProblemCode,
        entry: &Entry<'_>,
        message: impl Into<String>,
    ) -> Problem {
        self.warning(code, entry.key_range.clone(), message)
    }
}
