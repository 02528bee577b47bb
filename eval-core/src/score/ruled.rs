//! The calls of a turn under the rules of the key `_expect`: pairs, and the calls side by side.

use std::collections::HashMap;

use eval_format::expect::{Matcher, Relation, TurnRules};
use eval_format::{FunctionCall, MatchType};

use super::align::{Lists, Pair};
use super::assign::{assign_equal, weight_of_args};
use super::equality::{ArgsMatch, CallKey, calls_match};
use super::pairing::{Class, Fit, MAX_STEPS, Often, Pairing, Steps, any_order, in_order, most_in_order};

/// Expected and actual calls of a turn, with the rules of the turn and the way in which a metric compares calls.
#[derive(Clone, Copy, Debug)]
pub struct RuledCalls<'a> {
    pub(crate) expected: &'a [&'a FunctionCall],
    pub(crate) actual: &'a [&'a FunctionCall],
    pub(crate) rules: &'a TurnRules,
    pub(crate) match_type: MatchType,
    pub(crate) args: ArgsMatch,
}

impl<'a> RuledCalls<'a> {
    /// The calls of a turn whose rules are these. [`comparison`](super::align::comparison) tells how a metric compares.
    pub fn new(
        expected: &'a [&'a FunctionCall],
        actual: &'a [&'a FunctionCall],
        rules: &'a TurnRules,
        match_type: MatchType,
        args: ArgsMatch,
    ) -> Self {
        Self { expected, actual, rules, match_type, args }
    }

    /// Whether the order of the calls is free.
    pub(crate) fn is_in_any_order(&self) -> bool {
        self.rules.any_order() || self.match_type == MatchType::AnyOrder
    }

    /// Whether an actual call may be made although nothing expects it.
    pub(crate) fn is_allowed(&self, actual: usize) -> bool {
        self.match_type != MatchType::Exact || self.is_other(actual)
    }

    /// Whether a rule says that an actual call may be made although nothing expects it.
    pub(crate) fn is_other(&self, actual: usize) -> bool {
        self.rules.allows(self.actual[actual].name.as_deref())
    }

    pub(crate) fn often(&self) -> Vec<Often> {
        let of = |at| Often { optional: self.rules.is_optional(at), most: self.rules.most(at) };
        (0..self.expected.len()).map(of).collect()
    }

    /// Compares an actual with an expected call, by their indices.
    pub fn relation(&self, expected: usize, actual: usize) -> Relation {
        self.rules.compare(expected, self.expected[expected], self.actual[actual], self.args)
    }

    /// Whether an actual call fits an expected one; `None` if the comparison would take seconds. Calls of different tools
    /// never fit.
    pub(crate) fn fit(&self, expected: usize, actual: usize) -> Option<Fit> {
        let (wanted, made) = (self.expected[expected], self.actual[actual]);
        if wanted.name != made.name {
            return Some(Fit::Not);
        }
        if !self.rules.has_rules(expected) {
            return Some(if calls_match(wanted, made, self.args) { Fit::Equal } else { Fit::Not });
        }
        match self.relation(expected, actual) {
            Relation::Equal => Some(Fit::Equal),
            Relation::Loosened(_) => Some(Fit::Loosely),
            Relation::Mismatch(_) => Some(Fit::Not),
            Relation::TooLarge => None,
        }
    }

    /// Pairs the calls; `None` if they are too many.
    pub(crate) fn pairing(&self) -> Option<Pairing> {
        if self.is_in_any_order() { self.in_any_order() } else { self.in_order() }
    }

    /// Pairs the calls in order.
    pub(crate) fn in_order(&self) -> Option<Pairing> {
        let (steps, weights) = (Steps::new(MAX_STEPS), Weights::new(self));
        in_order(&self.often(), &self.all_allowed(), |e, a| self.charged(e, a, &steps, &weights), &steps)
    }

    /// Pairs as many calls as possible, whether they hold or not. A call that no rule allows is not paired, whatever the match
    /// type says.
    pub(crate) fn most(&self) -> Option<Pairing> {
        if self.is_in_any_order() {
            return self.in_any_order();
        }
        let (steps, weights) = (Steps::new(MAX_STEPS), Weights::new(self));
        let others: Vec<bool> = (0..self.actual.len()).map(|at| self.is_other(at)).collect();
        most_in_order(&self.often(), &others, |e, a| self.charged(e, a, &steps, &weights), &steps)
    }

    fn charged(&self, expected: usize, actual: usize, steps: &Steps, weights: &Weights) -> Option<Fit> {
        steps.take(weights.of(expected, actual))?;
        self.fit(expected, actual)
    }

    pub(crate) fn in_any_order(&self) -> Option<Pairing> {
        let steps = Steps::new(MAX_STEPS);
        let classes = self.classes(&steps)?;
        let by_value = if self.args == ArgsMatch::Ignore { self.args } else { ArgsMatch::Exact };
        let equal = assign_equal(self.expected, self.actual, by_value);
        any_order(&classes, &self.often(), &self.all_allowed(), &equal, &steps)
    }

    fn all_allowed(&self) -> Vec<bool> {
        (0..self.actual.len()).map(|at| self.is_allowed(at)).collect()
    }

    /// The expected calls in classes of those that the same actual calls match. Equal calls without rules form one.
    fn classes(&self, steps: &Steps) -> Option<Vec<Class>> {
        let is_plain = |at: usize| self.args != ArgsMatch::Subset && !self.rules.has_rules(at);
        let key = |call| CallKey { call, args: self.args };
        let mut of_tool: HashMap<Option<&str>, Vec<usize>> = HashMap::new();
        let mut equal: HashMap<CallKey<'_>, Vec<usize>> = HashMap::new();
        for (at, call) in self.actual.iter().enumerate() {
            of_tool.entry(call.name.as_deref()).or_default().push(at);
            equal.entry(key(call)).or_default().push(at);
        }
        let mut classes: Vec<Class> = Vec::new();
        let mut class_of: HashMap<CallKey<'_>, usize> = HashMap::new();
        let weights = Weights::new(self);
        for (at, call) in self.expected.iter().enumerate() {
            let call: &FunctionCall = call;
            if is_plain(at) {
                let class = *class_of.entry(key(call)).or_insert(classes.len());
                if class < classes.len() {
                    classes[class].members.push(at);
                    continue;
                }
                let candidates = equal.get(&key(call)).cloned().unwrap_or_default();
                classes.push(Class { members: vec![at], candidates });
                continue;
            }
            let mut candidates = Vec::new();
            for &made in of_tool.get(&call.name.as_deref()).into_iter().flatten() {
                if self.charged(at, made, steps, &weights)? != Fit::Not {
                    candidates.push(made);
                }
            }
            classes.push(Class { members: vec![at], candidates });
        }
        Some(classes)
    }

    /// The calls side by side. Calls that hold are shown as they were paired, others as they are most alike.
    pub fn align(&self) -> Vec<Pair> {
        let (steps, weights) = (Steps::new(MAX_STEPS), Weights::new(self));
        // Calls that are equal are the same for nothing. What differs is compared as long as there are steps.
        let same = |expected: usize, actual: usize| {
            calls_match(self.expected[expected], self.actual[actual], self.args)
                || self.charged(expected, actual, &steps, &weights).is_some_and(|fit| fit != Fit::Not)
        };
        let lists = Lists { expected: self.expected, actual: self.actual, same: &same };
        let pairs = match self.pairing() {
            Some(pairing) if self.is_in_any_order() => {
                let mut made = vec![Vec::new(); self.expected.len()];
                for (actual, expected) in pairing.expected_of.iter().enumerate() {
                    if let Some(expected) = expected {
                        made[*expected].push(actual);
                    }
                }
                lists.in_any_order(|expected| made[expected].iter().copied())
            }
            Some(pairing) if pairing.holds => in_sequence(self.expected.len(), &pairing),
            _ => lists.in_order(),
        };
        let named = |pair: Pair| match pair {
            Pair::Same(expected, actual) if self.fit(expected, actual) == Some(Fit::Loosely) => {
                Pair::Loosened(expected, actual)
            }
            Pair::Missing(expected) if self.rules.is_optional(expected) => Pair::LeftOut(expected),
            Pair::Extra(actual) if self.is_allowed(actual) && self.is_other(actual) => Pair::Other(actual),
            other => other,
        };
        pairs.into_iter().map(named).collect()
    }
}

/// The number of steps that the comparison of two calls takes.
struct Weights {
    expected: Vec<usize>,
    actual: Vec<usize>,
    /// Whether the items of lists are paired, for each expected call.
    pairs_items: Vec<bool>,
}

impl Weights {
    fn new(calls: &RuledCalls<'_>) -> Self {
        let of = |calls: &[&FunctionCall]| calls.iter().map(|call| 1 + weight_of_args(call)).collect();
        let is_of_lists = |matcher: &Matcher| matches!(matcher, Matcher::Unordered | Matcher::AtLeast);
        let pairs_items = |at| {
            calls.rules.points(at).iter().any(|point| match &point.matcher {
                Matcher::Optional(Some(inner)) => is_of_lists(inner),
                matcher => is_of_lists(matcher),
            })
        };
        Self {
            expected: of(calls.expected),
            actual: of(calls.actual),
            pairs_items: (0..calls.expected.len()).map(pairs_items).collect(),
        }
    }

    fn of(&self, expected: usize, actual: usize) -> usize {
        let (wanted, made) = (self.expected[expected], self.actual[actual]);
        8 + if self.pairs_items[expected] { wanted.saturating_mul(made) } else { wanted.saturating_add(made) }
    }
}

/// The pairs in the order of the calls.
fn in_sequence(expected: usize, pairing: &Pairing) -> Vec<Pair> {
    let mut pairs = Vec::new();
    let mut next = 0;
    for (actual, of) in pairing.expected_of.iter().enumerate() {
        match of {
            Some(of) => {
                pairs.extend((next..*of).map(Pair::Missing));
                pairs.push(Pair::Same(*of, actual));
                next = next.max(of + 1);
            }
            None => pairs.push(Pair::Extra(actual)),
        }
    }
    pairs.extend((next..expected).map(Pair::Missing));
    pairs
}

/// The calls of a turn as `_expect` names them: `search`, or `search#2` if the tool is expected several times.
pub fn call_names(calls: &[&FunctionCall]) -> Vec<String> {
    numbered(calls.iter().map(|call| call.name.as_deref().unwrap_or_default()))
}

/// The names of tools, each with its number if it comes several times.
pub(crate) fn numbered<'t>(tools: impl Iterator<Item = &'t str> + Clone) -> Vec<String> {
    let mut total = HashMap::new();
    for tool in tools.clone() {
        *total.entry(tool).or_insert(0) += 1;
    }
    let mut seen = HashMap::new();
    let name = |tool: &'t str| {
        let number = seen.entry(tool).or_insert(0);
        *number += 1;
        if total[tool] == 1 { tool.to_owned() } else { format!("{tool}#{number}") }
    };
    tools.map(name).collect()
}
