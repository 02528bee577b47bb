//! The calls of a golden turn beside the calls that a run made.

use eval_core::metric::arithmetic::{Pair, RuledCalls, align};
use eval_format::expect::TurnRules;
use eval_format::{FunctionCall, Invocation, Map, Value};

use crate::recorded::HowCalls;

/// A line of calls side by side, with their indices: of the golden, then of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A golden call that is as it should be: it was made, by a rule too, or may be left out.
    Kept(usize),
    /// A call of the same tool with other arguments.
    Changed(usize, usize),
    /// A golden call that was not made.
    Missing(usize),
    /// A call that the golden does not have, and no rule allows.
    Extra(usize),
}

/// Places the calls of a turn side by side.
pub(crate) fn lines(golden: &Invocation, run: &Invocation, rules: &TurnRules, how: HowCalls) -> Vec<Line> {
    let expected: Vec<&FunctionCall> = golden.tool_calls().collect();
    let actual: Vec<&FunctionCall> = run.tool_calls().collect();
    let pairs = if rules.is_literal() {
        align(&expected, &actual, how.match_type, how.args)
    } else {
        RuledCalls::new(&expected, &actual, rules, how.match_type, how.args).align()
    };
    // A golden call in another place is made: it moves, whatever other calls count.
    let missing = pairs.iter().filter_map(|pair| match pair {
        Pair::Missing(at) => Some(&expected[*at].name),
        _ => None,
    });
    let moved: Vec<_> = missing.collect();
    let line = |pair| match pair {
        Pair::Same(golden, _) | Pair::Loosened(golden, _) | Pair::LeftOut(golden) => Some(Line::Kept(golden)),
        Pair::Changed(golden, run) => Some(Line::Changed(golden, run)),
        Pair::Missing(golden) => Some(Line::Missing(golden)),
        Pair::Extra(run) => {
            (how.counts_extra || moved.contains(&&actual[run].name)).then_some(Line::Extra(run))
        }
        Pair::Other(_) => None,
    };
    let mut lines: Vec<Line> = pairs.into_iter().filter_map(line).collect();
    // A golden call that may be made several times is one line.
    lines.dedup();
    lines
}

/// The arguments in which two calls differ, in the order of the golden, each with both values.
pub(crate) fn arguments<'c>(
    golden: &'c FunctionCall,
    run: &'c FunctionCall,
) -> Vec<(&'c str, Option<&'c Value>, Option<&'c Value>)> {
    let of = |call: &'c FunctionCall, key: &str| call.args.as_ref().and_then(|args| args.get(key));
    let keys = |call: &'c FunctionCall| call.args.iter().flat_map(Map::keys);
    let new = keys(run).filter(|key| of(golden, key).is_none());
    let pairs = keys(golden).chain(new).map(|key| (key, of(golden, key), of(run, key)));
    let is_other = |(_, golden, run): &(&str, Option<&Value>, Option<&Value>)| match (golden, run) {
        (Some(golden), Some(run)) => !golden.equals(run),
        _ => true,
    };
    pairs.filter(is_other).collect()
}
