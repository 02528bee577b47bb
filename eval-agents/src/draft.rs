//! Drafts: cases that were made of what happened, before a person has reviewed them.
//!
//! [`import`](crate::import) makes them of conversations that are stored, and [`record`](crate::record) of conversations that it
//! has with an agent. A program that keeps its sessions itself makes one of any case:
//!
//! ```
//! use eval_agents::draft::{Draft, Origin, new_cases};
//! use eval_core::format::{EvalCase, FunctionCall, Invocation};
//! use eval_core::json;
//!
//! let call = FunctionCall::new("book", json!({ "room": "R2", "at": "2026-11-22T09:30:00Z", "api_key": "correct-horse" }));
//! let turn = Invocation::user("Book a room!").call(call).response("It is booked.");
//! let draft = Draft::of(EvalCase::new("").turn(turn), Origin::new("our archive"))?;
//!
//! // What is secret is not in the case. What will be another value next time is pointed out.
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
mod naming;
mod new_cases;
mod origin;
mod place;
mod played;
mod volatile;

use eval_core::agent::shows_something;
use eval_core::format::{EvalCase, Invocation, Problems, Value};

pub use new_cases::{NewCases, new_cases};
pub use origin::Origin;
pub use place::{Masked, Volatile, VolatileKind};
pub(crate) use played::played;

/// Whether a turn has an answer that a user sees: neither blank nor a thought alone.
pub(crate) fn answers(turn: &Invocation) -> bool {
    turn.final_response.as_ref().is_some_and(|answer| answer.parts().iter().any(shows_something))
}

/// A case that was made of what happened, and what its reviewer should know of it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Draft {
    /// The case, without secrets and without the mark of a draft. [`new_cases`] gives it an id that no other case of a set has.
    pub case: EvalCase,
    /// Where it comes from.
    pub origin: Origin,
    /// Where a secret stood.
    pub masked: Vec<Masked>,
    /// Arguments of tools that are probably others next time. They are in the case as they were.
    pub volatile: Vec<Volatile>,
    /// What happened and is not in the case, or is in doubt.
    pub gaps: Vec<String>,
    /// What was not the same each time, if it was recorded several times. It is not in the case.
    pub varied: Vec<String>,
}

impl Draft {
    /// A draft of a case. Secrets are masked, by their names and by the shapes that providers give their keys. A case with an
    /// empty id gets one that is made of the first words of the user.
    ///
    /// Fails if the case has errors, as a file with it would.
    pub fn of(case: EvalCase, origin: Origin) -> Result<Self, Problems> {
        let is_nameless = case.eval_id.is_empty();
        let (mut case, masked) = masking::masked(case)?;
        if is_nameless {
            // Of what is masked: the id must not tell what the case does not.
            case.eval_id = naming::derived(&case);
        }
        let volatile = volatile::of(&case);
        Ok(Self { case, origin, masked, volatile, gaps: Vec::new(), varied: Vec::new() })
    }

    /// Adds what is not in the case, or is in doubt.
    #[must_use]
    pub fn with_gaps(mut self, gaps: impl IntoIterator<Item = String>) -> Self {
        self.gaps.extend(gaps.into_iter().map(|gap| eval_support::secrets::mask(&gap).into_owned()));
        self
    }

    /// Adds what was not the same each time.
    #[must_use]
    pub fn with_varied(mut self, varied: impl IntoIterator<Item = String>) -> Self {
        self.varied.extend(varied.into_iter().map(|what| eval_support::secrets::mask(&what).into_owned()));
        self
    }

    /// The case as it stands in a file until somebody has reviewed it: marked by `_draft`, which says all that is known of
    /// its making.
    pub fn marked(&self) -> EvalCase {
        let mut mark = self.origin.to_map();
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
