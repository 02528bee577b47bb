//! Expected and actual tool calls side by side.

use eval_format::{ArgsMatch, FunctionCall, Invocation, MatchType};
use eval_support::message::cut;
use eval_support::untrusted::name;
use eval_support::words::count;

use super::differ;
use super::lines::line;
use crate::score::align::{Pair, align};
use crate::score::equality::values_equal;

/// The most lines that are shown. Unchanged calls are left out first.
const SHOWN_LINES: usize = 7;
const SHOWN_CALL: usize = 90;

/// One line per pair: `=` the same, `~` other arguments, `-` not called, `+` not expected.
pub(super) fn write(
    out: &mut String,
    scored: &str,
    expected: Option<&Invocation>,
    actual: &Invocation,
    match_type: MatchType,
    args: ArgsMatch,
) {
    let expected: Vec<&FunctionCall> = expected.map(|turn| turn.tool_calls().collect()).unwrap_or_default();
    let actual: Vec<&FunctionCall> = actual.tool_calls().collect();
    let pairs = align(&expected, &actual, match_type, args);
    line(out, &format!("  tool calls: {scored} (= same, ~ other arguments, - not called, + not expected)"));
    if pairs.is_empty() {
        line(out, "    none expected, none called");
    }
    let hidden_same = pairs.len().saturating_sub(SHOWN_LINES);
    let mut skipped = 0;
    let mut shown = 0;
    for pair in &pairs {
        if (matches!(pair, Pair::Same(..)) && skipped < hidden_same) || shown == SHOWN_LINES {
            skipped += 1;
            continue;
        }
        shown += 1;
        match *pair {
            Pair::Same(_, a) => line(out, &format!("    = {}", call(actual[a]))),
            Pair::Missing(e) => {
                let look_alike = actual.iter().find_map(|made| other_name(expected[e], made));
                line(out, &format!("    - {}{}", call(expected[e]), look_alike.unwrap_or_default()));
            }
            Pair::Extra(a) => line(out, &format!("    + {}", call(actual[a]))),
            Pair::Changed(e, a) => {
                line(out, &format!("    ~ expected {}", call(expected[e])));
                line(
                    out,
                    &format!("      actual   {}  ({})", call(actual[a]), difference(expected[e], actual[a])),
                );
            }
        }
    }
    if skipped > 0 {
        line(out, &format!("    ... and {}", count(skipped, "more call")));
    }
}

/// The calls that were made, for metrics that compare no expected calls.
pub(super) fn list(out: &mut String, scored: &str, actual: &Invocation) {
    line(out, &format!("  tool calls: {scored}"));
    let calls: Vec<&FunctionCall> = actual.tool_calls().collect();
    if calls.is_empty() {
        line(out, "    none called");
    }
    for made in calls.iter().take(SHOWN_LINES) {
        line(out, &format!("    {}", call(made)));
    }
    if calls.len() > SHOWN_LINES {
        line(out, &format!("    ... and {}", count(calls.len() - SHOWN_LINES, "more call")));
    }
}

fn call(call: &FunctionCall) -> String {
    name(&cut(&call.to_string(), SHOWN_CALL)).into_owned()
}

fn other_name(expected: &FunctionCall, actual: &FunctionCall) -> Option<String> {
    let how = differ::texts(expected.name.as_deref()?, actual.name.as_deref()?)?;
    Some(format!("  (a name that was called differs{how})"))
}

fn difference(expected: &FunctionCall, actual: &FunctionCall) -> String {
    let (Some(wanted), Some(found)) = (&expected.args, &actual.args) else {
        return "`args` are absent on one side".to_owned();
    };
    let look_alike = |key: &str| found.keys().find_map(|other| differ::texts(key, other));
    let differs = wanted.iter().filter_map(|(key, value)| match found.get(key) {
        None => Some(match look_alike(key) {
            Some(how) => format!("the key `{key}` differs{how}"),
            None => format!("`{key}` is missing"),
        }),
        Some(other) if !values_equal(value, other) => Some(match differ::values(value, other) {
            Some(how) => format!("`{key}` differs{how}"),
            None => format!("`{key}` differs"),
        }),
        Some(_) => None,
    });
    let extra = found.keys().filter(|key| !wanted.contains_key(key)).map(|key| format!("`{key}` is extra"));
    let all: Vec<String> = differs.chain(extra).collect();
    let shown = match all.len() {
        0..=3 => all.join(", "),
        more => format!("{} and {} more", all[..3].join(", "), more - 3),
    };
    name(&shown).into_owned()
}
