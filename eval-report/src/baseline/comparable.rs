//! Lines of a baseline that can be compared: the same case, scored in the same way.

use eval_core::journal::Revision;
use eval_support::untrusted::one_line;

use super::judges::Judges;
use super::line::{Line, MetricLine};

/// The reason why the passes of a case cannot be compared; `None` if they can.
pub fn incomparable(before: &Line, now: &Line) -> Option<String> {
    if let Some(why) = incomparable_case(before, now) {
        return Some(why);
    }
    // A run passes if each metric does, so one that changed makes the passes of runs another thing.
    let mut names: Vec<&String> = before.metrics.keys().chain(now.metrics.keys()).collect();
    names.sort();
    names.dedup();
    let changed = |name: &&String| Some(format!("`{}`: {}", one_line(name), changed(before, now, name)?));
    let changed: Vec<String> = names.iter().filter_map(changed).collect();
    (!changed.is_empty()).then(|| changed.join("; "))
}

/// The reason why the case cannot be compared; `None` if its metrics can, each by itself.
pub(crate) fn incomparable_case(before: &Line, now: &Line) -> Option<String> {
    let since = before.from.commit.as_ref().map_or_else(
        || format!("since {}", one_line(&before.from.at)),
        |commit| format!("since {}", one_line(&Revision::short(commit))),
    );
    if before.asks != now.asks {
        return Some(format!("the user says something else {since}"));
    }
    if before.expects != now.expects {
        return Some(format!("it expects something else {since}"));
    }
    if before.gate != now.gate {
        return Some(format!(
            "the turns of a run are combined in another way: {} before, {} now",
            before.gate, now.gate
        ));
    }
    if before.tools != now.tools {
        let named = |tools: &Option<String>| {
            tools
                .as_deref()
                .map_or_else(|| "the agent's own tools".to_owned(), |tools| format!("`{}`", one_line(tools)))
        };
        return Some(format!(
            "other tools answered the agent: {} before, {} now",
            named(&before.tools),
            named(&now.tools)
        ));
    }
    let why = match (before.literal, now.literal) {
        (false, true) => "the rules of the case counted before, and not now (`--literal`)",
        (true, false) => "the rules of the case count now, and did not before (`--literal`)",
        _ => return None,
    };
    Some(why.to_owned())
}

/// The reason why a metric cannot be compared; `None` if it can. Where no run has a verdict, nothing tells which metrics there would have been.
pub(crate) fn changed(before: &Line, now: &Line, name: &str) -> Option<String> {
    let has_verdicts = [before, now].iter().all(|line| line.with_verdict().total() > 0);
    match [before, now].map(|line| line.metrics.get(name)) {
        [Some(before), Some(now)] if before.criterion != now.criterion => {
            Some("another criterion".to_owned())
        }
        [Some(one), Some(other)] if one.arithmetic != other.arithmetic => Some(other_arithmetic(before, now)),
        [Some(before), Some(now)] => other_judge(before, now),
        [None, _] if has_verdicts => Some("it decided nothing before".to_owned()),
        [_, None] if has_verdicts => Some("it decides nothing now".to_owned()),
        _ => None,
    }
}

/// Equal turns may have other scores now, so a difference says nothing of the agent.
fn other_arithmetic(before: &Line, now: &Line) -> String {
    let [before, now] = [before, now].map(|line| one_line(&line.from.evalset));
    if before.is_empty() || now.is_empty() || before == now {
        return "it is computed in another way now".to_owned();
    }
    format!("evalset {now} computes it in another way than {before} did")
}

/// A judge that was asked on both sides and is another one. A run that broke or that says nothing asks none.
fn other_judge(before: &MetricLine, now: &MetricLine) -> Option<String> {
    let (before, now) = (before.judge.as_deref()?, now.judge.as_deref()?);
    (!Judges::parse(before).are_those(&Judges::parse(now)))
        .then(|| format!("another judge: {} before, {} now", one_line(before), one_line(now)))
}
