//! Expected and actual tool calls side by side.

use eval_format::expect::{Point, Relation, TurnRules};
use eval_format::{ArgsMatch, FunctionCall, Invocation, MatchType};
use eval_support::message::cut;
use eval_support::untrusted::name;
use eval_support::words::count;

use super::differ;
use super::lines::line;
use crate::score::align::{Pair, align};
use crate::score::equality::values_equal;
use crate::score::ruled::RuledCalls;

/// The most lines that are shown. Unchanged calls are left out first.
const MAX_LINES: usize = 7;
const MAX_CALL_CHARS: usize = 90;

/// One line per pair: `=` the same, `~` other arguments, `-` not called, `+` not expected. With rules also `≈` the same by a
/// rule, and `?` left out by one.
pub(super) fn write(
    out: &mut String,
    scored: &str,
    expected: Option<&Invocation>,
    actual: &Invocation,
    (match_type, args): (MatchType, ArgsMatch),
    rules: Option<&TurnRules>,
) {
    let expected: Vec<&FunctionCall> = expected.map(|turn| turn.tool_calls().collect()).unwrap_or_default();
    let actual: Vec<&FunctionCall> = actual.tool_calls().collect();
    let ruled = rules.map(|rules| RuledCalls::new(&expected, &actual, rules, match_type, args));
    let pairs = match &ruled {
        Some(ruled) => ruled.align(),
        None => align(&expected, &actual, match_type, args),
    };
    let of_rules = if rules.is_some() { "≈ same by a rule, ? optional, " } else { "" };
    line(
        out,
        &format!(
            "  tool calls: {scored} (= same, {of_rules}~ other arguments, - not called, + not expected)"
        ),
    );
    if pairs.is_empty() {
        line(out, "    none expected, none called");
    }
    let hidden_same = pairs.len().saturating_sub(MAX_LINES);
    let mut skipped = 0;
    let mut shown = 0;
    for pair in &pairs {
        if (matches!(pair, Pair::Same(..)) && skipped < hidden_same) || shown == MAX_LINES {
            skipped += 1;
            continue;
        }
        shown += 1;
        let wanted = |e: usize| match rules {
            Some(rules) => with_rules(expected[e], &rules.points(e)),
            None => call(expected[e]),
        };
        let mut both = |sign: char, e: usize, a: usize, how: &str| {
            line(out, &format!("    {sign} expected {}", wanted(e)));
            line(out, &format!("      actual   {}  ({how})", call(actual[a])));
        };
        match *pair {
            Pair::Same(_, a) => line(out, &format!("    = {}", call(actual[a]))),
            Pair::Loosened(e, a) => both('≈', e, a, &why(ruled.as_ref(), e, a)),
            Pair::Changed(e, a) => {
                let has_rules = rules.is_some_and(|rules| rules.has_rules(e));
                let how =
                    if has_rules { why(ruled.as_ref(), e, a) } else { difference(expected[e], actual[a]) };
                both('~', e, a, &how);
            }
            Pair::Missing(e) => {
                let look_alike = actual.iter().find_map(|made| other_name(expected[e], made));
                line(out, &format!("    - {}{}", wanted(e), look_alike.unwrap_or_default()));
            }
            Pair::LeftOut(e) => line(out, &format!("    ? {}  (optional, not called)", wanted(e))),
            Pair::Extra(a) => line(out, &format!("    + {}", call(actual[a]))),
            Pair::Other(a) => line(out, &format!("    ≈ {}  (other calls may be made)", call(actual[a]))),
        }
    }
    if skipped > 0 {
        line(out, &format!("    ... and {}", count(skipped, "more call")));
    }
}

/// A call with its rules in the place of values: `get_weather(city: "Oslo", day: <date>)`.
fn with_rules(expected: &FunctionCall, points: &[Point]) -> String {
    let tool = expected.name.as_deref().unwrap_or("(no name)");
    let rule = |path: &str| points.iter().find(|point| point.path == path);
    if rule("").is_some() {
        return name(&format!("{tool}(<any>)")).into_owned();
    }
    let args = expected.args.iter().flatten().map(|(key, value)| match rule(key) {
        Some(point) => format!("{key}: <{}>", point.matcher),
        None => format!("{key}: {value}"),
    });
    let mut args: Vec<String> = args.collect();
    args.extend(rule("...").map(|_| "..".to_owned()));
    name(&cut(&format!("{tool}({})", args.join(", ")), MAX_CALL_CHARS)).into_owned()
}

/// The rules by which two calls match, or the reasons why they do not.
fn why(ruled: Option<&RuledCalls<'_>>, e: usize, a: usize) -> String {
    let reasons: Vec<String> = match ruled.map(|ruled| ruled.relation(e, a)) {
        Some(Relation::Loosened(points)) => points.iter().filter(|point| point.needed).map(free).collect(),
        Some(Relation::Mismatch(reasons)) => reasons.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    };
    let shown = match reasons.len() {
        0..=MAX_REASONS => reasons.join(", "),
        more => format!("{} and {} more", reasons[..MAX_REASONS].join(", "), more - MAX_REASONS),
    };
    name(&cut(&shown, MAX_REASON_CHARS)).into_owned()
}

/// A rule that was needed: `` `day` matches <date>, expected "2026-11-22" ``.
fn free(point: &Point) -> String {
    let place = match point.path.as_str() {
        "" => "the whole".to_owned(),
        "..." => "what is added".to_owned(),
        path => format!("`{path}`"),
    };
    let golden = match &point.expected {
        Some(golden) => format!(", expected {}", cut(&golden.to_string(), MAX_VALUE_CHARS)),
        None => String::new(),
    };
    format!("{place} matches <{}>{golden}", point.matcher)
}

const MAX_REASONS: usize = 3;
const MAX_REASON_CHARS: usize = 240;
const MAX_VALUE_CHARS: usize = 60;

/// The calls that were made, for metrics that compare no expected calls.
pub(super) fn list(out: &mut String, scored: &str, actual: &Invocation) {
    line(out, &format!("  tool calls: {scored}"));
    let calls: Vec<&FunctionCall> = actual.tool_calls().collect();
    if calls.is_empty() {
        line(out, "    none called");
    }
    for made in calls.iter().take(MAX_LINES) {
        line(out, &format!("    {}", call(made)));
    }
    if calls.len() > MAX_LINES {
        line(out, &format!("    ... and {}", count(calls.len() - MAX_LINES, "more call")));
    }
}

fn call(call: &FunctionCall) -> String {
    name(&cut(&call.to_string(), MAX_CALL_CHARS)).into_owned()
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
