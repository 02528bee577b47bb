//! From scores to verdicts. Pure: it reads what was recorded and scored, and nothing else.

mod forbidden;

use eval_format::metric::metric;
use eval_format::{Bound, Criterion, Direction, PassRule, TurnAggregation};
use eval_support::untrusted::headline;
use eval_support::words::count;

use crate::metric::arithmetic::Pool;
use crate::metric::{Loosening, Score, Scores};
use crate::report::{MetricOutcome, MetricReport, RunReport, run_count};
use crate::verdict::{Role, TurnVerdict, Verdict};

pub(crate) use forbidden::forbidden;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rule {
    pub(crate) name: String,
    /// Threshold and options; `None` for metrics that never gate.
    pub(crate) criterion: Option<Criterion>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Decision {
    /// One report per rule, in the order of the rules.
    pub(crate) metrics: Vec<MetricReport>,
    pub(crate) verdict: Verdict,
    /// The number of runs that passed every metric with a threshold; `None` unless runs are decided one by one.
    pub(crate) passed_runs: Option<usize>,
    /// One note for each run without a score that the verdict does not need, as enough other runs passed.
    pub(crate) notes: Vec<String>,
}

/// Decides on each metric and on the case. `repeated` holds the attempts that `retry` replaced because the agent was
/// not reached. A forbidden call in one of them fails the case, whatever the verdicts of the runs are.
pub(crate) fn decide<'a>(
    rules: impl IntoIterator<Item = &'a Rule>,
    runs: &[RunReport],
    repeated: &[RunReport],
    pass: PassRule,
    gate: TurnAggregation,
) -> Decision {
    let needed = pass.needed(run_count(runs));
    let mut metrics: Vec<MetricReport> =
        rules.into_iter().map(|rule| report_of_metric(rule, runs, needed, gate)).collect();
    let passed_runs = needed.map(|_| passed_runs(runs));
    // If a run was not scored with one of the metrics, the case is an ERROR, however many other runs passed.
    let is_whole =
        !metrics.iter().any(|metric| matches!(metric.verdict, Verdict::Error { role: Role::Harness, .. }));
    let enough = is_whole && needed.zip(passed_runs).is_some_and(|(needed, passed)| passed >= needed);
    let mut verdict = if enough { Verdict::Passed } else { verdict_of_case(&metrics, runs) };
    for metric in &mut metrics {
        let Some(forbidden) = forbidden(metric.criterion.as_ref(), repeated) else { continue };
        metric.notes.insert(0, forbidden);
        for verdict in [&mut metric.verdict, &mut verdict] {
            if !verdict.fails() {
                *verdict = Verdict::Failed;
            }
        }
    }
    let notes = if enough { notes_of_ignored_runs(runs, pass) } else { Vec::new() };
    Decision { metrics, verdict, passed_runs, notes }
}

pub(crate) fn notes_of_ignored_runs(runs: &[RunReport], pass: PassRule) -> Vec<String> {
    let total = run_count(runs);
    let of_run = |run: &RunReport| {
        let of_metric = || {
            let broken = run.metrics.iter().find(|metric| {
                metric.criterion.is_some()
                    && matches!(metric.verdict, Verdict::Error { .. } | Verdict::NotEvaluated(_))
            })?;
            let reason = headline(broken.verdict.reason().unwrap_or_default());
            Some(format!("{}: {}: {reason}", broken.name, broken.verdict))
        };
        let what = run.error.as_ref().map(ToString::to_string).or_else(of_metric)?;
        Some(format!(
            "run {} of {total} does not count, `pass = \"{pass}\"` holds without it: {what}",
            run.number
        ))
    };
    runs.iter().filter_map(of_run).collect()
}

pub(crate) fn verdict_of_run(
    criterion: Option<&Criterion>,
    outcome: &MetricOutcome,
    gate: TurnAggregation,
) -> Verdict {
    match (outcome, criterion) {
        (MetricOutcome::Error { role, message }, _) => Verdict::error(*role, message.as_str()),
        (MetricOutcome::Skipped(reason) | MetricOutcome::Unjudged(reason), _) => {
            Verdict::Skipped(reason.clone())
        }
        (MetricOutcome::Scored(_), None) => Verdict::Informational,
        (MetricOutcome::Scored(scores), Some(criterion)) => match unscored(&[scores]) {
            Some(reason) => Verdict::NotEvaluated(reason),
            None if scores.meets(criterion.bound(), gate) => Verdict::Passed,
            None => Verdict::Failed,
        },
    }
}

pub(crate) fn verdicts_of_turns(criterion: Option<&Criterion>, outcome: &MetricOutcome) -> Vec<TurnVerdict> {
    let MetricOutcome::Scored(scores) = outcome else { return Vec::new() };
    scores.scores().iter().map(|score| verdict_of_turn(criterion, score)).collect()
}

/// The verdict on one score. There is no tolerance, as in ADK.
fn verdict_of_turn(criterion: Option<&Criterion>, score: &Score) -> TurnVerdict {
    match (criterion, score.value()) {
        (None, _) => TurnVerdict::Informational,
        (Some(_), None) if score.why_left_out().is_some() => TurnVerdict::Informational,
        (Some(_), None) => TurnVerdict::NotEvaluated,
        (Some(criterion), Some(value)) if criterion.is_met(value) => TurnVerdict::Passed,
        (Some(_), Some(_)) => TurnVerdict::Failed,
    }
}

/// The verdict on a case without enough passing runs. In this order: an error of a run, an error of a metric,
/// a metric that was not evaluated, a run or a metric that failed.
fn verdict_of_case<'r>(metrics: &[MetricReport], runs: &'r [RunReport]) -> Verdict {
    let broke = |run: &'r RunReport| Some((run, run.error.as_ref().filter(|error| error.breaks())?));
    if let Some((run, error)) = runs.iter().find_map(broke) {
        let which = match run_count(runs) {
            1 => String::new(),
            total => format!("run {} of {total}: ", run.number),
        };
        return Verdict::error(error.role, format!("{which}{error}"));
    }
    let first = |wanted: fn(&Verdict) -> bool| metrics.iter().find(|metric| wanted(&metric.verdict));
    if let Some(metric) = first(|verdict| matches!(verdict, Verdict::Error { .. })) {
        return metric.verdict.clone();
    }
    if let Some(metric) = first(|verdict| matches!(verdict, Verdict::NotEvaluated(_))) {
        let reason = metric.verdict.reason().unwrap_or_default();
        return Verdict::NotEvaluated(format!("{} was not evaluated: {reason}", metric.name));
    }
    // The runs that are left have failures, if they have an error.
    let has_failed = runs.iter().any(|run| run.error.is_some());
    if has_failed || metrics.iter().any(|metric| metric.verdict == Verdict::Failed) {
        return Verdict::Failed;
    }
    if !metrics.iter().any(|metric| metric.verdict.passed()) {
        if let Some(reason) = unjudged(runs) {
            return Verdict::Skipped(reason.to_owned());
        }
        return Verdict::NotEvaluated(
            "no metric that gates applies to this case, so nothing was checked".to_owned(),
        );
    }
    // Each metric passed in enough runs, but too few runs passed all metrics.
    if metrics.iter().any(|metric| metric.passed_runs.is_some()) { Verdict::Failed } else { Verdict::Passed }
}

/// The reason why a metric was skipped because no judge could be asked; `None` if none was.
fn unjudged(runs: &[RunReport]) -> Option<&str> {
    runs.iter().flat_map(|run| &run.metrics).find_map(|metric| match &metric.outcome {
        MetricOutcome::Unjudged(reason) => Some(reason.as_str()),
        _ => None,
    })
}

/// The number of runs that passed. A run passes if each of its evaluations ended and passed.
fn passed_runs(runs: &[RunReport]) -> usize {
    let passed = |run: &RunReport| {
        // A metric that only informs may break.
        let deciding = run.metrics.iter().filter(|metric| metric.criterion.is_some());
        run.error.is_none() && Verdict::run_passed(deciding.map(|metric| &metric.verdict)) == Some(true)
    };
    by_number(runs).filter(|evaluations| evaluations.iter().all(passed)).count()
}

fn by_number(runs: &[RunReport]) -> impl Iterator<Item = &[RunReport]> {
    runs.chunk_by(|one, next| one.number == next.number)
}

/// The decision on one metric, over all runs. `needed` is the number of runs that must pass it, if runs are decided one
/// by one.
fn report_of_metric(
    rule: &Rule,
    runs: &[RunReport],
    needed: Option<usize>,
    gate: TurnAggregation,
) -> MetricReport {
    let mut report = MetricReport {
        name: rule.name.clone(),
        criterion: rule.criterion.clone(),
        score: None,
        scored: 0,
        total: 0,
        passed_runs: None,
        loosened: None,
        arithmetic: arithmetic(rule, runs),
        verdict: Verdict::Informational,
        notes: Vec::new(),
    };
    let Outcomes { scored, skipped, broken } = match Outcomes::of(&rule.name, runs) {
        Ok(outcomes) => outcomes,
        Err(verdict) => {
            report.verdict = verdict;
            return report;
        }
    };
    let enough = needed.filter(|_| report.criterion.is_some()).is_some_and(|needed| {
        let passed = by_number(runs)
            .filter(|run| run.iter().all(|run| reached(&rule.name, run) == Some(true)))
            .count();
        report.passed_runs = Some(passed);
        passed >= needed
    });
    if let (Some(broken), false) = (broken, enough) {
        report.passed_runs = None;
        report.verdict = broken;
        return report;
    }
    let pool = Pool::from_runs(&scored);
    report.scored = pool.values.len();
    report.total = pool.total;
    report.score = pool.mean();
    report.loosened = Loosening::of(&scored);
    let mixed = mixed(&rule.name, &scored);
    if let (Some(mixed), None, true) = (&mixed, needed, pool.is_whole()) {
        report.verdict = mixed.clone();
        return without_a_pool(report, &scored);
    }
    let Some(bound) = report.bound() else { return report };
    // Runs that no judge could judge do not undo the scores of other runs.
    let measured = pool.meets(bound, gate);
    let can_pass = match needed {
        None => measured || scored.is_empty(),
        Some(needed) => {
            let failed = |run: &RunReport| reached(&rule.name, run) == Some(false);
            by_number(runs).filter(|run| !run.iter().any(failed)).count() >= needed
        }
    };
    report.verdict = match (unscored(&scored), skipped, report.score) {
        _ if enough => Verdict::Passed,
        (Some(reason), ..) => Verdict::NotEvaluated(reason),
        (None, Some(reason), _) if can_pass => Verdict::Skipped(reason.clone()),
        (None, None, None) => Verdict::NotEvaluated(match runs.iter().find_map(|run| run.error.as_ref()) {
            Some(_) => "no run came to its end".to_owned(),
            None => "no turn has a score".to_owned(),
        }),
        (None, None, Some(_)) if needed.is_none() && measured => Verdict::Passed,
        (None, ..) => Verdict::Failed,
    };
    if matches!(report.verdict, Verdict::Skipped(_) | Verdict::NotEvaluated(_)) {
        report.passed_runs = None;
    }
    report.notes = notes(&report, &scored, &pool, bound, gate);
    if mixed.is_some() { without_a_pool(report, &scored) } else { report }
}

/// The outcomes of a metric in the runs of a case.
#[derive(Default)]
struct Outcomes<'r> {
    scored: Vec<&'r Scores>,
    /// The last reason of a run that was skipped.
    skipped: Option<&'r String>,
    /// The first error.
    broken: Option<Verdict>,
}

impl<'r> Outcomes<'r> {
    /// Fails with a verdict if a run was not scored with the metric. A run that ended in an error of the agent has no scores; a run
    /// whose test body failed keeps them.
    fn of(name: &str, runs: &'r [RunReport]) -> Result<Self, Verdict> {
        let mut all = Self::default();
        for run in runs {
            match run.metric(name).map(|metric| &metric.outcome) {
                Some(MetricOutcome::Scored(scores)) => all.scored.push(scores),
                Some(MetricOutcome::Skipped(reason) | MetricOutcome::Unjudged(reason)) => {
                    all.skipped = Some(reason);
                }
                Some(MetricOutcome::Error { role, message }) => {
                    all.broken.get_or_insert_with(|| Verdict::error(*role, format!("{name}: {message}")));
                }
                None if run.error.is_some() => {}
                None => {
                    return Err(Verdict::error(
                        Role::Harness,
                        format!("{name}: a run was not scored with it"),
                    ));
                }
            }
        }
        Ok(all)
    }
}

/// The number of a built-in metric's arithmetic, if it is not the first.
fn arithmetic(rule: &Rule, runs: &[RunReport]) -> Option<u32> {
    let is_custom = runs.iter().filter_map(|run| run.metric(&rule.name)).any(|metric| metric.custom);
    let info = metric(&rule.name).filter(|_| !is_custom)?;
    (info.arithmetic > 1).then_some(info.arithmetic)
}

/// The report of a metric that scored some runs by turn and others as a whole. Scores per turn and scores per run have
/// no common sum, so runs alone are counted.
fn without_a_pool(report: MetricReport, runs: &[&Scores]) -> MetricReport {
    let scored = runs.iter().filter(|scores| unscored(&[scores]).is_none()).count();
    MetricReport { score: None, scored, total: runs.len(), ..report }
}

/// The error of a metric that scored some runs by turn and others as a whole; `None` if it did not.
fn mixed(name: &str, scored: &[&Scores]) -> Option<Verdict> {
    let whole = scored.iter().filter(|scores| scores.is_whole_run()).count();
    let by_turn = scored.len() - whole;
    (whole > 0 && by_turn > 0).then(|| {
        let message = format!(
            "{name}: it scored {} as a whole and {by_turn} by turn; a metric scores all runs in one way",
            count(whole, "run")
        );
        Verdict::error(Role::Metric, message)
    })
}

/// Whether a run reached the threshold of a metric; `None` if the metric has no score for it, or not for each turn.
fn reached(name: &str, run: &RunReport) -> Option<bool> {
    Verdict::run_passed(std::iter::once(&run.metric(name)?.verdict))
}

/// The reason why the first unscored turn has no score; `None` if all turns are scored.
fn unscored(scored: &[&Scores]) -> Option<String> {
    for (run, scores) in (1_usize..).zip(scored) {
        for (turn, score) in (1_usize..).zip(scores.scores()) {
            let Some(reason) = score.reason() else { continue };
            let turn = if scores.is_whole_run() { "the run".to_owned() } else { format!("turn {turn}") };
            let run = if scored.len() > 1 { format!(" of run {run}") } else { String::new() };
            return Some(format!("{turn}{run}: {reason}"));
        }
    }
    None
}

/// Differences below this come from rounding, not from the agent.
const ROUNDING: f64 = 1e-9;

/// Remarks about a score: rounding, ADK's two means, low scores that the mean hides.
fn notes(
    report: &MetricReport,
    scored: &[&Scores],
    pool: &Pool,
    bound: Bound,
    gate: TurnAggregation,
) -> Vec<String> {
    let mut notes = Vec::new();
    let Some(score) = report.score else { return notes };
    if report.verdict == Verdict::Failed {
        notes.extend(rounding_note(score, bound));
    }
    if gate == TurnAggregation::Mean {
        notes.extend(front_ends_note(score, scored, bound));
        notes.extend(hidden_note(report, scored, pool, bound));
    }
    notes
}

fn rounding_note(score: f64, bound: Bound) -> Option<String> {
    let Bound { threshold, direction, .. } = bound;
    let margin = if direction == Direction::AtLeast { -0.01 } else { 0.01 };
    (!bound.is_met(score) && (threshold - score).abs() < ROUNDING).then(|| {
        format!(
            "{score:?} is {threshold:?} but for rounding; ADK compares without tolerance, and so does this test. \
             Set the threshold to {:.2} if this is meant to pass",
            threshold + margin
        )
    })
}

/// A remark if the run passes with one of ADK's two means and fails with the other.
fn front_ends_note(exact: f64, scored: &[&Scores], bound: Bound) -> Option<String> {
    let [only] = scored else { return None };
    let naive = only.overall()?;
    (bound.is_met(naive) != bound.is_met(exact)).then(|| {
        format!(
            "ADK's two front ends differ here: `AgentEvaluator` takes the exact mean {exact:?} (as this test does), \
             `adk eval` the running sum {naive:?}"
        )
    })
}

/// A note if the mean meets the threshold although single scores miss it. If runs are decided one by one, each run has
/// its own mean, and only runs that passed are looked at.
fn hidden_note(report: &MetricReport, scored: &[&Scores], pool: &Pool, bound: Bound) -> Option<String> {
    if report.verdict != Verdict::Passed {
        return None;
    }
    let misses = |value: &&f64| !bound.is_met(**value);
    if !pool.values.iter().any(|value| misses(&value)) {
        return None;
    }
    let (of_runs, mean, values) = if report.passed_runs.is_some() {
        let passed = scored.iter().copied().filter(|scores| scores.meets(bound, TurnAggregation::Mean));
        (" in runs that passed", "the mean of the run", Pool::from_runs(&passed.collect::<Vec<_>>()).values)
    } else {
        ("", "the mean", pool.values.clone())
    };
    let missing = values.iter().filter(misses).count();
    (missing > 0).then(|| {
        format!(
            "{} of {}{of_runs} {} the threshold; {mean} passes (`gate = \"every_turn\"` compares each)",
            count(missing, "score"),
            values.len(),
            bound.missed()
        )
    })
}

#[cfg(test)]
mod tests;
