//! Counts of the points that the cases of a set let vary.

use std::fmt;

use eval_support::words::count;

use super::compare::CallRules;
use super::rules::{TurnRules, resolved};
use crate::model::EvalCase;

/// The number of points that a set lets vary: `12 points in 7 of 40 cases (5 any, 4 contains, 2 order, 1 optional)`.
///
/// ```
/// use eval_format::expect::{Expect, Loosened, Matcher, TurnExpect};
/// use eval_format::{EvalCase, FunctionCall, Invocation};
/// use serde_json::json;
///
/// let turn = Invocation::user("Visa?").call(FunctionCall::new("search", json!({ "q": "visa", "page": 1 })));
/// let loose = TurnExpect::default().arg("search", "q", Matcher::Any).arg("search", "page", Matcher::Integer).any_order();
/// let case = EvalCase::new("visa").turn(turn.clone()).with_expect(Expect::default().turn(1, loose));
/// let counted = Loosened::in_cases(&[case, EvalCase::new("strict").turn(turn)]);
/// assert_eq!(counted.to_string(), "3 points in 1 of 2 cases (1 any, 1 integer, 1 order)");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loosened {
    /// The points.
    pub points: usize,
    /// The cases with at least one.
    pub cases: usize,
    /// All cases.
    pub of: usize,
    /// The number of points of each matcher and of each other rule, the most frequent first.
    pub by: Vec<(&'static str, usize)>,
}

impl Loosened {
    /// Counts the points of these cases. A demand on an answer is no point.
    pub fn in_cases(cases: &[EvalCase]) -> Self {
        let mut counted = Self { of: cases.len(), ..Self::default() };
        for case in cases {
            let Some((rules, _)) = resolved(case) else { continue };
            let before = counted.points;
            for turn in 0..case.conversation.len() {
                counted.add(rules.turn(turn));
            }
            counted.cases += usize::from(counted.points > before);
        }
        counted.by.sort_by(|(a, some), (b, more)| more.cmp(some).then(a.cmp(b)));
        counted
    }

    /// Whether nothing may vary.
    pub fn is_empty(&self) -> bool {
        self.points == 0
    }

    fn add(&mut self, turn: &TurnRules) {
        let args = turn.calls.iter().filter_map(|call| call.args.as_ref());
        for rules in args.chain(turn.responses.values()) {
            match rules {
                CallRules::Any => self.point("any"),
                CallRules::Args(args) => args.iter().for_each(|(_, matcher)| self.point(matcher.name())),
            }
        }
        for call in &turn.calls {
            [("optional", call.optional), ("repeat", call.most.is_some())]
                .into_iter()
                .filter(|(_, is_there)| *is_there)
                .for_each(|(name, _)| self.point(name));
        }
        if turn.any_order {
            self.point("order");
        }
        if turn.others.is_some() {
            self.point("others");
        }
    }

    fn point(&mut self, name: &'static str) {
        self.points += 1;
        match self.by.iter_mut().find(|(known, _)| *known == name) {
            Some((_, number)) => *number += 1,
            None => self.by.push((name, 1)),
        }
    }
}

impl fmt::Display for Loosened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (points, of) = (count(self.points, "point"), count(self.of, "case"));
        write!(f, "{points} in {} of {of}", self.cases)?;
        let by: Vec<String> = self.by.iter().map(|(name, number)| format!("{number} {name}")).collect();
        if by.is_empty() { Ok(()) } else { write!(f, " ({})", by.join(", ")) }
    }
}
