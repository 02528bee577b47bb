//! The report for programs.

use eval_core::report::{MetricOutcome, MetricReport, Verdict};
use eval_core::statistics::{Interval, Tally};
use serde::Serialize;

use super::Report;
use crate::answer::{Outcome, Refusal};
use crate::recorded::{Recorded, State, Usage};
use crate::runs::near;

/// What `--json` writes and `--format json` prints. Fields may be added; none goes away or changes its meaning.
#[derive(Debug, Serialize)]
struct Document<'r> {
    command: &'static str,
    outcome: Outcome,
    runs: &'r [String],
    folders: Vec<String>,
    cases: Vec<Case<'r>>,
    summary: Summary,
}

#[derive(Debug, Serialize)]
struct Summary {
    cases: usize,
    passed: usize,
    failed: usize,
    not_evaluated: usize,
    errors: usize,
    unfinished: usize,
    skipped: usize,
    not_run: usize,
    flaky: usize,
    retried: usize,
    runs: usize,
    runs_with_verdict: usize,
    pass_rate: Option<f64>,
    interval: Option<[f64; 2]>,
    over_cases: Option<OverCases>,
    seconds: f64,
    usage: UsageEntry,
    torn: usize,
    lost: usize,
    unreadable: usize,
}

#[derive(Debug, Serialize)]
struct OverCases {
    k: usize,
    pass_at_k: f64,
    pass_all_k: f64,
    cases: usize,
}

#[derive(Debug, Serialize)]
struct UsageEntry {
    agent_tokens: Option<i64>,
    judge_tokens: Option<i64>,
    judge_questions: usize,
    judge_unanswered: usize,
    /// `null` where a journal does not tell.
    judge_replayed: Option<usize>,
}

#[derive(Debug, Serialize)]
struct Case<'r> {
    test: &'r str,
    package: &'r str,
    binary: &'r str,
    eval_set_id: Option<&'r str>,
    eval_id: &'r str,
    place: Option<Place<'r>>,
    state: State,
    role: Option<String>,
    reason: Option<String>,
    flaky: bool,
    attempt: u32,
    attempts: usize,
    runs: Runs,
    metrics: Vec<Metric<'r>>,
    seconds: f64,
    usage: UsageEntry,
    notes: &'r [String],
    failure: Option<&'r str>,
    record: String,
}

#[derive(Debug, Serialize)]
struct Place<'r> {
    file: &'r str,
    line: usize,
    column: usize,
}

#[derive(Debug, Serialize)]
struct Runs {
    total: usize,
    ran: usize,
    with_verdict: usize,
    passed: usize,
    interval: Option<[f64; 2]>,
}

#[derive(Debug, Serialize)]
struct Metric<'r> {
    name: &'r str,
    state: &'static str,
    reason: Option<&'r str>,
    score: Option<f64>,
    threshold: Option<f64>,
    scored: usize,
    total: usize,
    passed_runs: Option<usize>,
    notes: &'r [String],
    runs: Vec<RunEntry>,
}

/// What the metric made of a run: the score of each turn, or why there are none.
#[derive(Debug, Serialize)]
struct RunEntry {
    run: usize,
    scores: Option<Vec<Option<f64>>>,
    reason: Option<String>,
}

pub(super) fn text(report: &Report<'_>) -> Result<String, Refusal> {
    let document = Document::of(report);
    match serde_json::to_string_pretty(&document) {
        Ok(text) => Ok(text + "\n"),
        Err(error) => Err(Refusal::new(format!("cannot write JSON: {error}"), "use `--format human`")),
    }
}

impl<'r> Document<'r> {
    fn of(report: &'r Report<'_>) -> Self {
        let totals = &report.totals;
        let folders = report.recording.folders.iter().map(|folder| near(folder).display().to_string());
        Self {
            command: "report",
            outcome: totals.outcome(),
            runs: &report.recording.run.ids,
            folders: folders.collect(),
            cases: report.tests.iter().map(Case::of).collect(),
            summary: Summary {
                cases: totals.cases,
                passed: totals.passed,
                failed: totals.failed,
                not_evaluated: totals.not_evaluated,
                errors: totals.errors,
                unfinished: totals.unfinished,
                not_run: totals.not_run,
                skipped: totals.skipped,
                flaky: totals.flaky,
                retried: totals.retried,
                runs: totals.runs,
                runs_with_verdict: totals.judged,
                pass_rate: totals.tally().rate(),
                interval: interval(totals.tally()),
                over_cases: report.over_cases.map(|over| OverCases {
                    k: over.k,
                    pass_at_k: over.pass_at,
                    pass_all_k: over.pass_all,
                    cases: over.cases,
                }),
                seconds: totals.elapsed.as_secs_f64(),
                usage: UsageEntry::of(totals.usage),
                torn: report.recording.run.torn,
                lost: report.recording.run.lost,
                unreadable: totals.unreadable,
            },
        }
    }
}

impl<'r> Case<'r> {
    fn of(test: &'r Recorded<'_>) -> Self {
        let started = &test.attempt.started;
        let decided = test.attempt.decided.as_ref();
        Self {
            test: &test.test.name,
            package: &test.test.package,
            binary: &test.test.binary,
            eval_set_id: started.eval_set_id.as_deref(),
            eval_id: &started.eval_id,
            place: test.place().map(|(file, line, column)| Place { file, line, column }),
            state: test.state,
            role: test.role().map(|role| role.to_string()),
            reason: Some(test.headline()).filter(|reason| test.state != State::Passed && !reason.is_empty()),
            flaky: test.runs.are_flaky(),
            attempt: started.attempt,
            attempts: test.test.attempts.len(),
            runs: Runs {
                total: test.runs.total,
                ran: test.runs.ran,
                with_verdict: test.runs.judged,
                passed: test.runs.passed,
                interval: interval(test.runs.tally()),
            },
            metrics: test.metrics().iter().map(|metric| Metric::of(metric, test)).collect(),
            seconds: test.elapsed().as_secs_f64(),
            usage: UsageEntry::of(test.usage()),
            notes: decided.map(|decided| decided.notes.as_slice()).unwrap_or_default(),
            failure: decided.map(|decided| decided.failure.as_str()).filter(|text| !text.is_empty()),
            record: near(&test.attempt.file).display().to_string(),
        }
    }
}

impl<'r> Metric<'r> {
    fn of(metric: &'r MetricReport, test: &Recorded<'_>) -> Self {
        let scored = test.attempt.evaluations.iter().filter_map(|evaluation| evaluation.scored.as_ref());
        let runs = scored.filter_map(|scored| {
            let of_metric = scored.metrics.iter().find(|score| score.name == metric.name)?;
            Some(RunEntry::of(scored.run, &of_metric.score))
        });
        Self {
            name: &metric.name,
            state: metric_state(&metric.verdict),
            reason: metric.verdict.reason(),
            score: finite(metric.score),
            threshold: finite(metric.threshold()),
            scored: metric.scored,
            total: metric.total,
            passed_runs: metric.passed_runs,
            notes: &metric.notes,
            runs: runs.collect(),
        }
    }
}

impl RunEntry {
    fn of(run: usize, score: &MetricOutcome) -> Self {
        let (scores, reason) = match score {
            MetricOutcome::Scored(scores) => {
                let values = scores.scores().iter().map(|score| finite(score.value()));
                let reason = scores.scores().iter().find_map(|score| score.reason());
                (Some(values.collect()), reason.map(str::to_owned))
            }
            MetricOutcome::Skipped(reason) | MetricOutcome::Unjudged(reason) => (None, Some(reason.clone())),
            MetricOutcome::Error { role, message } => (None, Some(format!("{role} error: {message}"))),
            other => (None, Some(format!("{other:?}"))),
        };
        Self { run, scores, reason }
    }
}

impl UsageEntry {
    fn of(usage: Usage) -> Self {
        let tokens = |count: Option<i128>| count.map(|count| i64::try_from(count).unwrap_or(i64::MAX));
        Self {
            agent_tokens: tokens(usage.agent.count),
            judge_tokens: tokens(usage.judge.count),
            judge_questions: usage.asked,
            judge_unanswered: usage.unanswered,
            judge_replayed: usage.replayed(),
        }
    }
}

/// The word for a verdict on a metric.
pub(crate) fn metric_state(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Passed => "passed",
        Verdict::Failed => "failed",
        Verdict::Error { .. } => "error",
        Verdict::Skipped(_) => "skipped",
        Verdict::Informational => "informational",
        _ => "not_evaluated",
    }
}

fn interval(tally: Tally) -> Option<[f64; 2]> {
    tally.interval().map(|Interval { low, high, .. }| [low, high])
}

/// JSON has no text for the others; a metric of the user's own may give them.
fn finite(number: Option<f64>) -> Option<f64> {
    number.filter(|number| number.is_finite())
}
