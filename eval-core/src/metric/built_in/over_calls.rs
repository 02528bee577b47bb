//! Metrics that compare the calls of a turn, under the rules of the key `_expect`.
//!
//! A turn without such rules is scored as ADK does, and by nothing else. A turn with rules has both scores: the literal one,
//! and the loosened one, which is never lower.

use eval_format::expect::{Others, Relation};
use eval_format::{Criterion, FunctionCall, Invocation, MatchType};

use super::calls::too_many;
use crate::agent::BoxError;
use crate::metric::loosened::LoosenedPoint;
use crate::metric::metric_trait::{BoxMetric, Metric};
use crate::metric::{MetricInput, Score, Scores};
use crate::score::align::{Pair, comparison};
use crate::score::ruled::{RuledCalls, call_names};

/// Puts a metric over calls behind a pointer: its name, the score of a turn without rules, and the score of a turn with
/// rules, which is `None` if the calls are too many to be paired.
pub(super) fn over_calls<L>(
    name: &'static str,
    literal: L,
    ruled: fn(&RuledCalls<'_>, &Criterion) -> Option<Score>,
) -> BoxMetric
where
    L: Fn(&Invocation, Option<&Invocation>, &Criterion) -> Score + Send + Sync + 'static,
{
    BoxMetric::new(OverCalls { name, literal, ruled })
}

struct OverCalls<L> {
    name: &'static str,
    literal: L,
    ruled: fn(&RuledCalls<'_>, &Criterion) -> Option<Score>,
}

impl<L> Metric for OverCalls<L>
where
    L: Fn(&Invocation, Option<&Invocation>, &Criterion) -> Score + Send + Sync,
{
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        let (match_type, args) = comparison(self.name, Some(input.criterion)).unwrap_or_default();
        let info = eval_format::metric::metric(self.name);
        let counts_others = info.is_none_or(|info| info.counts_others_under(match_type));
        let of_adk = criterion_of_adk(input.criterion);
        Ok(input.score_turns(&|at, actual, expected| {
            let literal = (self.literal)(actual, expected, input.criterion);
            let Some(rules) = input.rules.map(|rules| rules.turn(at)) else { return literal };
            let of_adk = of_adk.as_ref().map(|criterion| (self.literal)(actual, expected, criterion).value());
            let Some(golden) = expected.filter(|_| !rules.is_literal()) else {
                // The mean without rules is ADK's, so each of its turns is.
                return match of_adk.filter(|number| *number != literal.value()) {
                    Some(number) => literal.with_loosened(Vec::new(), number),
                    None => literal,
                };
            };
            let of_adk = of_adk.unwrap_or(literal.value());
            let expected: Vec<&FunctionCall> = golden.tool_calls().collect();
            let actual: Vec<&FunctionCall> = actual.tool_calls().collect();
            let calls = RuledCalls::new(&expected, &actual, rules, match_type, args);
            let (score, points) =
                loosened(literal, &calls, counts_others, |calls| (self.ruled)(calls, input.criterion));
            if score.value().is_none() { score } else { score.with_loosened(points, of_adk) }
        }))
    }
}

/// The criterion as ADK reads it, which knows none of our keys; `None` if it has none of them.
fn criterion_of_adk(criterion: &Criterion) -> Option<Criterion> {
    const OURS: [&str; 2] = ["args_match", "forbidden_tools"];
    OURS.iter().any(|key| criterion.get(key).is_some()).then(|| {
        let mut of_adk = criterion.clone();
        for key in OURS {
            of_adk.options.remove(key);
        }
        of_adk
    })
}

/// The score of a turn with rules, and the points at which they were applied. `literal` is the score without them.
fn loosened(
    literal: Score,
    calls: &RuledCalls<'_>,
    counts_others: bool,
    ruled: impl Fn(&RuledCalls<'_>) -> Option<Score>,
) -> (Score, Vec<LoosenedPoint>) {
    let number = literal.value();
    if number == Some(1.0) {
        return (literal, points(calls, counts_others, None));
    }
    let Some(score) = ruled(calls) else {
        return (too_many(calls.expected.len(), calls.actual.len()), Vec::new());
    };
    // The literal score has the notes on what may be unexpected in ADK.
    let score = if score.value() <= number { literal } else { score };
    (score, points(calls, counts_others, Some(&calls.align())))
}

/// The rules of a turn as they were applied: to the pairs of calls, or to calls that are equal, which need none.
fn points(calls: &RuledCalls<'_>, counts_others: bool, pairs: Option<&[Pair]>) -> Vec<LoosenedPoint> {
    let RuledCalls { expected, rules, .. } = calls;
    let mut made: Vec<Vec<usize>> = vec![Vec::new(); expected.len()];
    let mut differs = vec![false; expected.len()];
    let mut in_order = true;
    let mut last = None;
    for pair in pairs.into_iter().flatten() {
        if let Pair::Same(expected, actual) | Pair::Loosened(expected, actual) = *pair {
            made[expected].push(actual);
            in_order &= last.is_none_or(|last| last < actual);
            last = Some(actual);
        }
        if let Pair::Changed(expected, _) = *pair {
            differs[expected] = true;
        }
    }
    let mut points = Vec::new();
    let rule = |call: Option<&String>, matcher: String, needed: bool| LoosenedPoint {
        call: call.cloned(),
        path: None,
        matcher,
        needed,
    };
    let names = call_names(expected);
    for (at, call) in names.iter().enumerate() {
        let is_made = pairs.is_none() || !made[at].is_empty() || differs[at];
        let of_args = if is_made { rules.points(at) } else { Vec::new() };
        // A call that does not match is not equal either: none of its rules is needless.
        let mut needed = vec![differs[at]; of_args.len()];
        for actual in &made[at] {
            if let Relation::Loosened(found) = calls.relation(at, *actual) {
                needed.iter_mut().zip(found).for_each(|(needed, point)| *needed |= point.needed);
            }
        }
        let of_args = of_args.iter().zip(needed);
        points.extend(of_args.map(|(point, needed)| LoosenedPoint::of(call, point, needed)));
        if rules.is_optional(at) {
            points.push(rule(Some(call), "optional".to_owned(), pairs.is_some() && made[at].is_empty()));
        }
        if rules.most(at) > 1 {
            points.push(rule(Some(call), format!("repeat: {}", rules.most(at)), made[at].len() > 1));
        }
    }
    if rules.any_order() {
        let is_free = calls.match_type == MatchType::AnyOrder;
        let needed = !is_free && !in_order && calls.in_order().is_none_or(|pairing| !pairing.holds);
        points.push(rule(None, "order: any".to_owned(), needed));
    }
    if let Some(others) = rules.others() {
        let which = match others {
            Others::Any => "any".to_owned(),
            Others::Tools(tools) => tools.join(", "),
        };
        let is_other = |pair: &Pair| matches!(pair, Pair::Other(_));
        let needed = counts_others && pairs.into_iter().flatten().any(is_other);
        points.push(rule(None, format!("others: {which}"), needed));
    }
    points
}

#[cfg(test)]
mod tests;
