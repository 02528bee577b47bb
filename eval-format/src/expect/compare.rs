//! The comparison of a call with a golden call, under the rules of its arguments.

use std::fmt;
use std::sync::Arc;

use super::matcher::{Matcher, show};
use super::path::{ArgPath, Step, shown};
use crate::metric::ArgsMatch;
use crate::value::{Map, Value};

/// The relation of an actual call to an expected one.
#[derive(Clone, Debug, PartialEq)]
pub enum Relation {
    /// It equals the golden call, as ADK compares, or as `args_match` says.
    Equal,
    /// It matches by rules alone. All rules of the call are named, and whether each was needed.
    Loosened(Vec<Point>),
    /// It does not match, for these reasons.
    Mismatch(Vec<Reason>),
    /// The comparison would take seconds, as long lists would have to be paired.
    TooLarge,
}

impl Relation {
    /// Whether the call matches.
    pub fn matches(&self) -> bool {
        matches!(self, Self::Equal | Self::Loosened(_))
    }
}

/// A point of a golden call that may vary.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Point {
    /// The path of the argument as the rule names it: `day`, `tags[*]`, `...`. Empty if all arguments are free.
    pub path: String,
    /// The condition on its value.
    pub matcher: Matcher,
    /// The golden value at the first place where the rule was needed; `None` if there is none.
    pub expected: Option<Value>,
    /// The value that was there instead; `None` if the argument was left out.
    pub seen: Option<Value>,
    /// Whether the call matches only by this rule.
    pub needed: bool,
}

/// A reason why a call does not match.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reason {
    /// The path of the value: `day`, `tags[1]`. Empty if it is about the call as a whole.
    pub path: String,
    /// The mismatch, in words that follow the path: `is "tomorrow", no date`. On one line, with control characters spelt
    /// out.
    pub text: String,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => write!(f, "it {}", self.text),
            path => write!(f, "`{}` {}", eval_support::untrusted::name(path), self.text),
        }
    }
}

/// The rules for the arguments of a call.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum CallRules {
    Any,
    /// The exact paths before the ones with wildcards. Calls of one name share them.
    Args(Arc<[(ArgPath, Matcher)]>),
}

impl ArgsMatch {
    /// Whether the arguments of an actual call agree with the expected ones, by Python's `==`, as in ADK. Absent arguments
    /// are not empty ones.
    pub fn holds(self, expected: Option<&Map>, actual: Option<&Map>) -> bool {
        match (self, expected, actual) {
            (Self::Ignore, ..) | (Self::Exact, None, None) | (Self::Subset, None, _) => true,
            (Self::Exact, Some(expected), Some(actual)) => expected.equals(actual),
            (Self::Exact, ..) => false,
            (Self::Subset, Some(expected), Some(actual)) => expected.matches(actual, Value::equals),
            (Self::Subset, Some(expected), None) => expected.is_empty(),
        }
    }
}

/// The maximum number of steps of a comparison; looking at a value is one.
const MAX_STEPS: usize = 1 << 22;

/// More reasons are not looked for.
pub(super) const MAX_REASONS: usize = 100;

/// Compares the arguments of a call whose tool is the expected one.
pub(super) fn compare(
    rules: Option<&CallRules>,
    expected: Option<&Map>,
    actual: Option<&Map>,
    args: ArgsMatch,
) -> Relation {
    if args.holds(expected, actual) {
        return Relation::Equal;
    }
    let points: &[(ArgPath, Matcher)] = match rules {
        Some(CallRules::Any) => {
            let point = Point { needed: true, ..Point::new("", &Matcher::Any) };
            return Relation::Loosened(vec![point]);
        }
        Some(CallRules::Args(points)) => points,
        None => &[],
    };
    let mut comparison = Comparison {
        rules: points,
        allows_more: args == ArgsMatch::Subset,
        needed: vec![None; points.len()],
        reasons: Vec::new(),
        trial: None,
        place: Vec::new(),
        steps_left: MAX_STEPS,
    };
    // Without a rule, absent arguments differ from empty ones.
    let has_none = expected.or(actual).is_none_or(Map::is_empty) && expected.is_none() != actual.is_none();
    if points.is_empty() && has_none {
        comparison.fail(|| match actual {
            Some(_) => "has empty arguments, and the expected call has none".to_owned(),
            None => "has no arguments, and the expected call has empty ones".to_owned(),
        });
    }
    let empty = Map::new();
    comparison.objects(expected.unwrap_or(&empty), actual.unwrap_or(&empty), None);
    comparison.relation()
}

/// A rule that was needed: the golden value and the seen one.
type Need = Option<(Option<Value>, Option<Value>)>;

struct Comparison<'r> {
    rules: &'r [(ArgPath, Matcher)],
    /// Whether further arguments are allowed, whatever the rules say.
    allows_more: bool,
    /// For each rule the first place where it was needed.
    needed: Vec<Need>,
    reasons: Vec<Reason>,
    /// Set in a trial, which needs no words: whether a reason was found.
    trial: Option<bool>,
    place: Vec<Step>,
    steps_left: usize,
}

impl<'r> Comparison<'r> {
    fn relation(self) -> Relation {
        if self.steps_left == 0 {
            return Relation::TooLarge;
        }
        if !self.reasons.is_empty() {
            return Relation::Mismatch(self.reasons);
        }
        let points = self.rules.iter().zip(self.needed).map(|((path, matcher), need)| {
            let (needed, (expected, seen)) = (need.is_some(), need.unwrap_or_default());
            Point { expected, seen, needed, ..Point::new(path.as_str(), matcher) }
        });
        Relation::Loosened(points.collect())
    }

    fn fail(&mut self, text: impl FnOnce() -> String) {
        match &mut self.trial {
            Some(failed) => *failed = true,
            None => self.reasons.push(Reason { path: shown(&self.place), text: text() }),
        }
    }

    fn need(&mut self, rule: usize, expected: Option<&Value>, actual: Option<&Value>) {
        if self.trial.is_none() {
            self.needed[rule].get_or_insert_with(|| (expected.cloned(), actual.cloned()));
        }
    }

    /// Takes steps. Returns whether the comparison is over, as there are none left or a trial has failed.
    fn is_over(&mut self, steps: usize) -> bool {
        self.steps_left = self.steps_left.saturating_sub(steps);
        self.steps_left == 0 || self.trial == Some(true) || self.reasons.len() >= MAX_REASONS
    }

    /// The rule at the place. Rules are in order of exactness.
    fn rule(&self) -> Option<(usize, &'r Matcher)> {
        let at = self.rules.iter().position(|(path, _)| !path.is_further() && path.names(&self.place))?;
        Some((at, &self.rules[at].1))
    }

    fn at(&mut self, step: Step, expected: Option<&Value>, actual: Option<&Value>) {
        self.place.push(step);
        self.values(expected, actual);
        self.place.pop();
    }

    fn values(&mut self, expected: Option<&Value>, actual: Option<&Value>) {
        let is_equal = || expected.zip(actual).is_some_and(|(expected, actual)| expected.equals(actual));
        if self.is_over(1) || is_equal() {
            return;
        }
        let mut rule = self.rule();
        if let Some((at, Matcher::Optional(inner))) = rule {
            rule = inner.as_deref().map(|inner| (at, inner));
            if actual.is_none() {
                return self.need(at, expected, None);
            }
        }
        match (rule, expected, actual) {
            (_, _, None) => self.fail(|| "is absent".to_owned()),
            (None, None, Some(_)) => self.fail(|| "was not expected".to_owned()),
            (Some((at, Matcher::Unordered | Matcher::AtLeast)), Some(expected), Some(actual)) => {
                self.below(expected, actual, Some(at));
            }
            (Some((at, matcher)), _, Some(seen)) if matcher.takes(expected, seen) => {
                self.need(at, expected, actual);
            }
            (Some((_, matcher)), _, Some(seen)) => self.fail(|| matcher.reason(expected, seen)),
            (None, Some(expected), Some(actual)) => self.below(expected, actual, None),
        }
    }

    /// Compares items. A rule says that there may be more, or that the order is free.
    fn below(&mut self, expected: &Value, actual: &Value, rule: Option<usize>) {
        match (expected, actual, rule) {
            (Value::Object(expected), Value::Object(actual), _) => self.objects(expected, actual, rule),
            (Value::Array(expected), Value::Array(actual), None) => {
                if expected.len() == actual.len() {
                    self.in_order(expected, actual);
                } else {
                    self.fail(|| format!("has {} items, not {}", actual.len(), expected.len()));
                }
            }
            (Value::Array(expected), Value::Array(actual), Some(rule)) => self.lists(expected, actual, rule),
            _ => self.fail(|| format!("is {}, not {}", show(actual), show(expected))),
        }
    }

    fn objects(&mut self, expected: &Map, actual: &Map, rule: Option<usize>) {
        let (in_expected, in_actual) = (expected.index(), actual.index());
        for (key, value) in expected {
            if self.is_over(0) {
                return;
            }
            self.at(Step::Key(key.to_owned()), Some(value), in_actual.get(key));
        }
        let further = self.rules.iter().position(|(path, _)| path.is_further());
        let more = if self.place.is_empty() { further } else { rule };
        for (key, value) in actual.iter().filter(|(key, _)| in_expected.get(key).is_none()) {
            if self.is_over(1) {
                return;
            }
            self.place.push(Step::Key(key.to_owned()));
            if self.rule().is_some_and(|(_, matcher)| matcher.says_what_may_be_added()) {
                self.values(None, Some(value));
            } else if let Some(more) = more {
                self.need(more, None, Some(value));
            } else if !(self.allows_more && self.place.len() == 1) {
                self.fail(|| "was not expected".to_owned());
            }
            self.place.pop();
        }
    }

    fn in_order(&mut self, expected: &[Value], actual: &[Value]) {
        for (at, (expected, actual)) in expected.iter().zip(actual).enumerate() {
            if self.is_over(0) {
                return;
            }
            self.at(Step::Index(at), Some(expected), Some(actual));
        }
    }

    /// Compares lists whose order is free, or of which one may have more items.
    fn lists(&mut self, expected: &[Value], actual: &[Value], rule: usize) {
        if expected.len() == actual.len() && self.holds(|it| it.in_order(expected, actual)) {
            return self.in_order(expected, actual);
        }
        let mut fitting = Vec::with_capacity(expected.len());
        for (at, wanted) in expected.iter().enumerate() {
            if self.steps_left == 0 {
                return;
            }
            let fits = |(_, found): &(usize, &Value)| {
                self.holds(|it| it.at(Step::Index(at), Some(wanted), Some(found)))
            };
            fitting.push(actual.iter().enumerate().filter(fits).map(|(at, _)| at).collect::<Vec<_>>());
        }
        let Some(pairs) = paired(&fitting, actual.len(), &mut self.steps_left) else { return };
        let lacking: Vec<&Value> = expected
            .iter()
            .zip(&pairs)
            .filter(|(_, found)| found.is_none())
            .map(|(value, _)| value)
            .collect();
        let more = actual.len().saturating_sub(expected.len());
        let is_unordered = self.rules[rule].1.unwrapped() == &Matcher::Unordered;
        match lacking.as_slice() {
            [] if is_unordered && more > 0 => {
                self.fail(|| format!("has {more} more than the {} expected items", expected.len()));
            }
            [] => {
                self.need(
                    rule,
                    Some(&expected.iter().cloned().collect()),
                    Some(&actual.iter().cloned().collect()),
                );
                for (at, found) in pairs.iter().enumerate() {
                    let found = found.and_then(|found| actual.get(found));
                    self.at(Step::Index(at), expected.get(at), found);
                }
            }
            [only] => self.fail(|| format!("lacks {}", show(only))),
            [first, others @ ..] => self.fail(|| format!("lacks {} and {} more", show(first), others.len())),
        }
    }

    /// Whether a part of the comparison finds no reason. It leaves no trace but the steps.
    fn holds(&mut self, compare: impl FnOnce(&mut Self)) -> bool {
        let outer = self.trial.replace(false);
        compare(self);
        let failed = std::mem::replace(&mut self.trial, outer);
        failed == Some(false) && self.steps_left > 0
    }
}

/// For each expected item an actual one that fits, so that as many as possible are paired. `None` if the steps are used up.
fn paired(fitting: &[Vec<usize>], actual: usize, steps_left: &mut usize) -> Option<Vec<Option<usize>>> {
    let mut owner: Vec<Option<usize>> = vec![None; actual];
    let mut pairs: Vec<Option<usize>> = vec![None; fitting.len()];
    for start in 0..fitting.len() {
        // Breadth first: for each actual item that is reached, the expected item from which it was.
        let mut from: Vec<Option<usize>> = vec![None; actual];
        let mut queue = std::collections::VecDeque::from([start]);
        let mut free = None;
        *steps_left = steps_left.saturating_sub(1 + actual / 16);
        'search: while let Some(expected) = queue.pop_front() {
            *steps_left = steps_left.saturating_sub(fitting[expected].len());
            if *steps_left == 0 {
                return None;
            }
            for &item in &fitting[expected] {
                if from[item].is_some() {
                    continue;
                }
                from[item] = Some(expected);
                match owner[item] {
                    Some(other) => queue.push_back(other),
                    None => {
                        free = Some(item);
                        break 'search;
                    }
                }
            }
        }
        while let Some(item) = free {
            let Some(expected) = from[item] else { break };
            owner[item] = Some(expected);
            free = pairs[expected].replace(item);
        }
    }
    Some(pairs)
}

impl Point {
    pub(super) fn new(path: &str, matcher: &Matcher) -> Self {
        Self { path: path.to_owned(), matcher: matcher.clone(), expected: None, seen: None, needed: false }
    }
}
