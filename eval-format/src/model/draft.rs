//! Drafts: cases that nobody has reviewed yet.

use super::EvalCase;
use crate::value::Value;

pub(crate) const DRAFT: &str = "_draft";

impl EvalCase {
    /// The key that marks a case as a draft.
    pub const DRAFT_KEY: &'static str = DRAFT;

    /// What marks the case as a draft: where it comes from. `None` for a case that is a golden.
    ///
    /// A draft was written by a program and nobody has reviewed it. `#[eval_set]` and the runner refuse drafts. In a
    /// file the mark is the key `_draft` of the case, whose value is an object with the origin: `from`, and what else
    /// the writer knows. Any value but `null` marks a draft. ADK keeps the key.
    ///
    /// ```
    /// use eval_format::{EvalCase, Invocation, Map};
    ///
    /// let case = EvalCase::new("sunny").turn(Invocation::user("Weather in Paris?").response("It is sunny."));
    /// assert!(case.draft().is_none());
    ///
    /// let draft = case.with_draft(Map::from([("from", "trace 4bf92f35")]));
    /// assert_eq!(draft.draft().unwrap()["from"].as_str(), Some("trace 4bf92f35"));
    /// ```
    pub fn draft(&self) -> Option<&Value> {
        self.extra.get(DRAFT).filter(|mark| !mark.is_null())
    }

    /// Marks the case as a draft, with its origin.
    #[must_use]
    pub fn with_draft(self, origin: impl Into<Value>) -> Self {
        self.with_extra(DRAFT, origin)
    }
}
