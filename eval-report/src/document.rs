//! The report as JSON: the one document of a run. `docs/report.schema.json` describes it.
//!
//! `cargo evalset report`, `run` and `rescore`, programs and the service print it. A field that its source does not know is null.

use std::borrow::Cow;

use eval_core::report::{MetricOutcome, MetricReport};
use serde::Serialize;

use crate::journal::{Attempt, Evaluation};
use crate::output::{Outcome, finite, time};
use crate::price::{Cost, Prices};
use crate::recorded::{
    AppliedRule, CaseLocation, ModelCalls, PassEstimates, Problem, RunCounts, RunResults, RunUsage, State,
    TestResult, cost, headline, near,
};
use crate::statistics::{Interval, PassCount};
use crate::summary_text::new_golden;

/// The version of the document. It grows if a field is removed or changes its meaning, and not for new fields.
const SCHEMA_VERSION: u32 = 1;

#[doc(hidden)]
pub const SCHEMA: &str = include_str!("../docs/report.schema.json");

#[derive(Debug, Serialize)]
pub struct Document<'r> {
    command: &'static str,
    schema: u32,
    outcome: Outcome,
    runs: Option<&'r [String]>,
    folders: Option<Vec<String>>,
    began: Option<String>,
    built: Option<String>,
    doubts: &'r [String],
    problems: &'r [Problem],
    cases: Vec<Case<'r>>,
    summary: Summary<'r>,
}

/// Facts about a case that was scored again, beside its new result.
#[derive(Clone, Copy, Debug)]
pub struct Rescored<'r> {
    pub before: &'r TestResult<'r>,
    pub is_scored: bool,
    pub is_edited: bool,
    pub kept: &'r [String],
}

#[derive(Debug, Serialize)]
struct Summary<'r> {
    cases: usize,
    passed: usize,
    failed: usize,
    not_evaluated: usize,
    errors: usize,
    unfinished: usize,
    skipped: usize,
    partly_skipped: usize,
    /// `missing` and `left_out` together.
    not_run: usize,
    missing: usize,
    left_out: usize,
    not_selected: usize,
    flaky: usize,
    retried: Option<usize>,
    runs: usize,
    runs_with_verdict: usize,
    pass_rate: Option<f64>,
    interval: Option<[f64; 2]>,
    over_cases: Option<&'r PassEstimates>,
    seconds: Option<f64>,
    usage: UsageEntry,
    torn: Option<usize>,
    lost: Option<usize>,
    unreadable: Option<usize>,
}

#[derive(Debug, Serialize)]
struct UsageEntry {
    agent_tokens: Option<i64>,
    judge_tokens: Option<i64>,
    judge_questions: Option<usize>,
    judge_unanswered: Option<usize>,
    /// `None` if a journal does not tell.
    judge_replayed: Option<usize>,
    /// The calls of the agent's models, where they are recorded or replayed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    models: Vec<ModelCalls>,
    /// The cost of the agent; `None` without prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<CostEntry>,
}

#[derive(Debug, Serialize)]
struct CostEntry {
    /// In the currency of the prices.
    money: f64,
    input_tokens: i64,
    output_tokens: i64,
    /// Tokens that are not in it, since they have no price.
    unpriced_tokens: i64,
}

#[derive(Debug, Serialize)]
struct Case<'r> {
    name: &'r str,
    test: &'r str,
    package: Option<&'r str>,
    binary: Option<&'r str>,
    eval_set_id: Option<&'r str>,
    eval_id: &'r str,
    label: Option<&'r str>,
    asks: &'r str,
    expects: &'r str,
    tags: &'r [String],
    of_program: bool,
    place: Option<CaseLocation<'r>>,
    state: State,
    role: Option<String>,
    reason: Option<String>,
    flaky: bool,
    attempt: Option<u32>,
    attempts: Option<usize>,
    earlier_attempts: Option<Vec<EarlierAttempt<'r>>>,
    pass: Option<String>,
    gate: String,
    /// Whether calls were judged as ADK does, whatever the case loosens.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    literal: bool,
    runs: Runs,
    repeated: usize,
    skipped_metrics: Vec<&'r str>,
    metrics: Vec<Metric<'r>>,
    seconds: f64,
    usage: UsageEntry,
    notes: &'r [String],
    failure: Option<&'r str>,
    new_golden: Option<String>,
    record: Option<String>,
    /// The rules that none of several runs needed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unneeded_rules: Vec<UnneededRule>,
    rescored: Option<bool>,
    edited: Option<bool>,
    loosened_since: Option<usize>,
    kept: Option<&'r [String]>,
    before: Option<Before<'r>>,
}

#[derive(Debug, Serialize)]
struct UnneededRule {
    turn: usize,
    rule: String,
    runs: usize,
}

#[derive(Debug, Serialize)]
struct Before<'r> {
    state: State,
    role: Option<String>,
    reason: Option<String>,
    metrics: Vec<Metric<'r>>,
}

#[derive(Debug, Serialize)]
struct EarlierAttempt<'r> {
    attempt: u32,
    state: State,
    reason: Option<Cow<'r, str>>,
}

#[derive(Debug, Serialize)]
struct Runs {
    #[serde(flatten)]
    counts: RunCounts,
    interval: Option<[f64; 2]>,
    each: Vec<Run>,
}

#[derive(Debug, Serialize)]
struct Run {
    #[serde(rename = "run")]
    number: usize,
    passed: Option<bool>,
    error: Option<String>,
}

#[derive(Debug, Serialize)]
struct Metric<'r> {
    name: &'r str,
    state: &'static str,
    reason: Option<&'r str>,
    score: Option<f64>,
    threshold: Option<f64>,
    direction: Option<&'static str>,
    scored: usize,
    total: usize,
    passed_runs: Option<usize>,
    notes: &'r [String],
    /// The score without the rules of the case, which is ADK's. It is left out if there are none, and so are these.
    #[serde(skip_serializing_if = "Option::is_none")]
    literal_score: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    loosened: Vec<Loosened<'r>>,
    runs: Vec<ScoredRun<'r>>,
}

/// A point at which the case says what may vary, over all runs.
#[derive(Debug, Serialize)]
struct Loosened<'r> {
    turn: usize,
    call: Option<&'r str>,
    path: Option<&'r str>,
    matcher: &'r str,
    needed: bool,
    runs: usize,
    needed_runs: usize,
}

/// The scores of a metric in one run: one for each turn with its verdict, or the reason why there are none.
#[derive(Debug, Serialize)]
struct ScoredRun<'r> {
    run: usize,
    state: &'static str,
    scores: Option<Vec<Option<f64>>>,
    verdicts: Option<Vec<&'static str>>,
    reason: Option<Cow<'r, str>>,
}

impl<'r> Document<'r> {
    pub fn new(results: &'r RunResults<'_>) -> Self {
        let RunResults { totals, loaded, .. } = results;
        let folders = || loaded.folders.iter().map(|folder| near(folder).display().to_string());
        let recorded = |count: usize| loaded.is_recorded().then_some(count);
        Self {
            command: "report",
            schema: SCHEMA_VERSION,
            outcome: totals.outcome(),
            runs: loaded.is_recorded().then_some(&loaded.run.ids),
            folders: loaded.is_recorded().then(|| folders().collect()),
            began: results.times.began.map(time::iso),
            built: results.times.built.map(time::iso),
            doubts: &results.doubts,
            problems: &results.problems,
            cases: results.tests.iter().map(|test| Case::new(test, results)).collect(),
            summary: Summary {
                cases: totals.cases,
                passed: totals.passed,
                failed: totals.failed,
                not_evaluated: totals.not_evaluated,
                errors: totals.errors,
                unfinished: totals.unfinished,
                not_run: totals.missing + totals.left_out,
                missing: totals.missing,
                left_out: totals.left_out,
                not_selected: totals.not_selected,
                skipped: totals.skipped,
                partly_skipped: totals.partly_skipped,
                flaky: totals.flaky,
                retried: recorded(totals.retried),
                runs: totals.runs,
                runs_with_verdict: totals.runs_with_verdict,
                pass_rate: totals.tally().rate(),
                interval: interval(totals.tally()),
                over_cases: results.over_cases.as_ref(),
                seconds: loaded.is_timed().then_some(totals.elapsed.as_secs_f64()),
                usage: UsageEntry::new(totals.usage, &results.tests, results),
                torn: recorded(loaded.run.torn),
                lost: recorded(loaded.run.lost),
                unreadable: recorded(totals.unreadable),
            },
        }
    }

    /// The report of a run that was scored again. `cases` are the cases of the results, in their order.
    pub fn rescored(results: &'r RunResults<'_>, cases: impl IntoIterator<Item = Rescored<'r>>) -> Self {
        let mut document = Self { command: "rescore", ..Self::new(results) };
        let cases = document.cases.iter_mut().zip(&results.tests).zip(cases);
        for ((case, now), Rescored { before, is_scored, is_edited, kept }) in cases {
            case.loosened_since = Some(now.loosened_since(before));
            (case.rescored, case.edited, case.kept) = (Some(is_scored), Some(is_edited), Some(kept));
            case.before = Some(Before {
                state: before.state,
                role: before.role().map(|role| role.to_string()),
                reason: reason(before),
                metrics: Metric::all(before),
            });
        }
        document
    }
}

impl<'r> Case<'r> {
    fn new(test: &'r TestResult<'_>, results: &RunResults<'_>) -> Self {
        let started = &test.attempt.started;
        let decided = test.attempt.decided.as_ref();
        let is_recorded = results.loaded.is_recorded();
        let run = |evaluation: &Evaluation| Run {
            number: evaluation.ran.run,
            passed: evaluation.passed,
            error: evaluation.ran.transcript.error.as_ref().map(ToString::to_string),
        };
        Self {
            name: &test.name,
            test: test.test.name(),
            package: test.test.package(),
            binary: test.test.binary(),
            eval_set_id: started.eval_set_id.as_deref(),
            eval_id: &started.eval_id,
            label: started.label.as_deref(),
            asks: &started.asks,
            expects: &started.expects,
            tags: &started.tags,
            of_program: started.of_program,
            place: test.location(),
            state: test.state,
            role: test.role().map(|role| role.to_string()),
            reason: reason(test),
            flaky: test.runs.are_flaky(),
            attempt: is_recorded.then_some(started.attempt),
            attempts: is_recorded.then_some(test.test.attempts.len()),
            earlier_attempts: is_recorded.then(|| test.earlier().iter().map(EarlierAttempt::new).collect()),
            pass: is_recorded.then(|| started.pass.to_string()),
            gate: started.gate.to_string(),
            literal: started.literal,
            skipped_metrics: test.skipped_metrics().map(|metric| metric.name.as_str()).collect(),
            runs: Runs {
                counts: test.runs,
                interval: interval(test.runs.tally()),
                each: test.attempt.evaluations.iter().map(run).collect(),
            },
            repeated: test.repeated(),
            metrics: Metric::all(test),
            seconds: test.elapsed().as_secs_f64(),
            usage: UsageEntry::new(test.usage(), std::slice::from_ref(test), results),
            notes: decided.map(|decided| decided.notes.as_slice()).unwrap_or_default(),
            failure: decided.and_then(|decided| decided.failure.as_deref()),
            new_golden: new_golden(results, test),
            record: is_recorded.then(|| near(&test.attempt.file).display().to_string()),
            unneeded_rules: test.unneeded_rules().iter().map(UnneededRule::new).collect(),
            rescored: None,
            edited: None,
            loosened_since: None,
            kept: None,
            before: None,
        }
    }
}

impl UnneededRule {
    fn new(rule: &AppliedRule<'_>) -> Self {
        Self { turn: rule.turn, rule: rule.point.name(), runs: rule.runs }
    }
}

impl<'r> EarlierAttempt<'r> {
    fn new(attempt: &'r Attempt) -> Self {
        Self {
            attempt: attempt.started.attempt,
            state: State::of_attempt(attempt),
            reason: attempt.decided.as_ref().and_then(headline),
        }
    }
}

impl<'r> Metric<'r> {
    fn all(test: &TestResult<'r>) -> Vec<Self> {
        test.metrics().iter().map(|metric| Self::new(metric, test)).collect()
    }

    fn new(metric: &'r MetricReport, test: &TestResult<'r>) -> Self {
        let scored = test.attempt.evaluations.iter().filter_map(|evaluation| evaluation.scored.as_ref());
        let runs = scored.filter_map(|scored| {
            let of_metric = scored.metrics.iter().find(|score| score.name == metric.name)?;
            let scores = match &of_metric.outcome {
                MetricOutcome::Scored(scores) => Some(scores.scores()),
                _ => None,
            };
            Some(ScoredRun {
                run: scored.run,
                state: of_metric.outcome.name(),
                scores: scores.map(|scores| scores.iter().map(|score| finite(score.value())).collect()),
                verdicts: scores.map(|_| of_metric.turns.iter().map(|turn| turn.name()).collect()),
                reason: of_metric.outcome.reason(),
            })
        });
        Self {
            name: &metric.name,
            state: metric.verdict.name(),
            reason: metric.verdict.reason(),
            score: finite(metric.score),
            threshold: finite(metric.threshold()),
            direction: metric.bound().map(|bound| bound.direction.as_str()),
            scored: metric.scored,
            total: metric.total,
            passed_runs: metric.passed_runs,
            notes: &metric.notes,
            literal_score: finite(metric.loosened.as_ref().and_then(|loosened| loosened.literal_score)),
            loosened: test.rules_of(&metric.name).into_iter().map(Loosened::new).collect(),
            runs: runs.collect(),
        }
    }
}

impl<'r> Loosened<'r> {
    fn new(AppliedRule { turn, point, runs, needed }: AppliedRule<'r>) -> Self {
        Self {
            turn,
            call: point.call.as_deref(),
            path: point.path.as_deref(),
            matcher: &point.matcher,
            needed: needed > 0,
            runs,
            needed_runs: needed,
        }
    }
}

impl UsageEntry {
    /// The usage of these tests.
    fn new(usage: RunUsage, tests: &[TestResult<'_>], results: &RunResults<'_>) -> Self {
        let tokens = |count: Option<i128>| count.map(whole);
        let is_told = results.loaded.tells_questions();
        Self {
            agent_tokens: tokens(usage.agent_tokens),
            judge_tokens: tokens(usage.judge_tokens).filter(|_| is_told),
            judge_questions: is_told.then_some(usage.asked),
            judge_unanswered: is_told.then_some(usage.unanswered),
            judge_replayed: usage.replayed().filter(|_| is_told),
            models: ModelCalls::of(tests.iter().map(|test| test.attempt)),
            cost: CostEntry::new(tests, &results.prices),
        }
    }
}

impl CostEntry {
    fn new(tests: &[TestResult<'_>], prices: &Prices) -> Option<Self> {
        let costs = tests.iter().filter_map(|test| cost(test.attempt, prices));
        let Cost { money, tokens_in, tokens_out, unpriced } = costs.reduce(|mut all, cost| {
            all.add(&cost);
            all
        })?;
        let [input_tokens, output_tokens, unpriced_tokens] = [tokens_in, tokens_out, unpriced].map(whole);
        Some(Self { money, input_tokens, output_tokens, unpriced_tokens })
    }
}

fn whole(count: i128) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn reason(test: &TestResult<'_>) -> Option<String> {
    test.reason().filter(|_| test.state != State::Passed)
}

fn interval(tally: PassCount) -> Option<[f64; 2]> {
    tally.interval().map(|Interval { low, high, .. }| [low, high])
}
