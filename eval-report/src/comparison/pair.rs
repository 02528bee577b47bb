//! A case on both sides: whether its runs can be compared, and each of its metrics.

use eval_core::journal::Revision;
use eval_support::untrusted::one_line;
use serde::Serialize;

use crate::baseline::{Line, MetricLine};
use crate::statistics::PassCount;

/// A metric on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MetricChange {
    /// Its name.
    pub name: String,
    /// The runs that passed it before, and the runs with a score.
    pub before: Option<[usize; 2]>,
    /// The same now.
    pub now: Option<[usize; 2]>,
    /// The mean score before, and now. Null without a score.
    pub scores: [Option<f64>; 2],
    /// Why it cannot be compared; null if it can.
    pub incomparable: Option<String>,
}

impl MetricChange {
    /// The metrics of either side, by name.
    pub(super) fn all(before: &Line, now: &Line) -> Vec<Self> {
        let mut names: Vec<&String> = before.metrics.keys().chain(now.metrics.keys()).collect();
        names.sort();
        names.dedup();
        let of = |name: &&String| {
            let sides = [before, now].map(|line| line.metrics.get(*name));
            let [passed_before, passed_now] = [(before, sides[0]), (now, sides[1])]
                .map(|(line, side)| side.map(|it| [it.passed, scored(line, it)]));
            Self {
                name: (*name).clone(),
                before: passed_before,
                now: passed_now,
                scores: sides.map(|side| mean(side?)),
                incomparable: changed(sides),
            }
        };
        names.iter().map(of).collect()
    }
}

/// The runs that the metric scored. A line lists the scores of its first runs alone.
fn scored(line: &Line, metric: &MetricLine) -> usize {
    let listed = metric.scores.iter().flatten().count();
    if metric.scores.len() < line.runs { listed.max(line.with_verdict().total()) } else { listed }
}

/// The metrics that a smaller share of the runs passed than before, in a clause. It is no test: it tells where to look.
pub(super) fn metrics_that_fell(metrics: &[MetricChange]) -> Option<String> {
    const MAX_NAMED: usize = 3;
    let runs = |[passed, scored]: [usize; 2]| PassCount::new(passed.min(scored), scored).unwrap_or_default();
    let fell: Vec<String> = metrics
        .iter()
        .filter_map(|metric| {
            let (before, now) = (runs(metric.before?), runs(metric.now?));
            let name = one_line(&metric.name);
            now.is_below(before).then(|| format!("`{name}` passed {before} before and {now} now"))
        })
        .take(MAX_NAMED)
        .collect();
    (!fell.is_empty()).then(|| format!("{} (not adjusted, no test)", fell.join(", ")))
}

fn mean(metric: &MetricLine) -> Option<f64> {
    let scores: Vec<f64> = metric.scores.iter().flatten().copied().collect();
    let count = u32::try_from(scores.len()).ok().filter(|count| *count > 0)?;
    Some(scores.iter().sum::<f64>() / f64::from(count))
}

/// What changed about a metric.
fn changed(sides: [Option<&MetricLine>; 2]) -> Option<String> {
    match sides {
        [Some(before), Some(now)] if before.criterion != now.criterion => {
            Some("another criterion".to_owned())
        }
        [Some(before), Some(now)] if before.judge != now.judge => {
            let judge = |line: &MetricLine| line.judge.as_deref().map_or_else(|| "none".to_owned(), one_line);
            Some(format!("another judge: {} before, {} now", judge(before), judge(now)))
        }
        [Some(_), Some(_)] => None,
        [None, _] => Some("it decided nothing before".to_owned()),
        [_, None] => Some("it decides nothing now".to_owned()),
    }
}

/// Why the passes of a case cannot be compared; `None` if they can.
pub fn incomparable(before: &Line, now: &Line) -> Option<String> {
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
    // A run passes if each metric does, so one that changed makes the passes of runs another thing.
    let metrics = MetricChange::all(before, now);
    let changed: Vec<String> = metrics
        .iter()
        .filter_map(|metric| {
            Some(format!("`{}`: {}", one_line(&metric.name), metric.incomparable.as_deref()?))
        })
        .collect();
    (!changed.is_empty()).then(|| changed.join("; "))
}
