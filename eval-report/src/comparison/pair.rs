//! A case on both sides: each of its metrics.

use eval_support::untrusted::one_line;
use serde::Serialize;

use crate::baseline::{Line, MetricLine, changed};
use crate::statistics::PassCount;

/// A metric on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MetricChange {
    /// Its name.
    pub name: String,
    /// The runs that passed it before, and the runs with a score.
    pub before: Option<[usize; 2]>,
    /// The runs that passed it now, and the runs with a score.
    pub now: Option<[usize; 2]>,
    /// The mean score before, and now. Null without a score.
    pub scores: [Option<f64>; 2],
    /// The reason why it cannot be compared; null if it can.
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
                incomparable: changed(before, now, name),
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
