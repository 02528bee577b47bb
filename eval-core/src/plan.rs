//! What a case is scored with, and scoring: each metric on its own.

use std::sync::Arc;
use std::time::Duration;

use eval_format::{Criterion, EvalCase, EvalConfig, MetricInfo};

use crate::agent::Erased;
use crate::decide::{Rule, decide};
use crate::journal::{Entry, Journal, JudgeUse, MetricLine};
use crate::judge::{Asking, JudgeError, Judges};
use crate::message::count;
use crate::metric::{
    BoxMetric, FINAL_SESSION_STATE_MATCH, FindMetric, Metric, MetricInput, Scores, built_in,
};
use crate::options::{Gate, Pass};
use crate::report::{CaseReport, Place, RunReport, RunScore};
use crate::runner::conversation::{Conditions, converse};
use crate::runner::guard::{Fault, catch_panic, fenced_but_for};
use crate::runner::user::User;
use crate::simulator::Simulation;
use crate::transcript::Transcript;
use crate::verdict::Role;

/// The metrics with their criteria, and what it takes to pass.
#[derive(Debug)]
pub(crate) struct Plan {
    metrics: Vec<Planned>,
    pub(crate) runs: usize,
    pub(crate) pass: Pass,
    pub(crate) gate: Gate,
    pub(crate) timeout: Duration,
    pub(crate) app_name: String,
    pub(crate) user_id: String,
    pub(crate) judges: Judges,
    /// Where a runner records its cases.
    pub(crate) journal: Option<Arc<Journal>>,
    simulation: Simulation,
}

#[derive(Debug)]
struct Planned {
    rule: Rule,
    /// What the metric is given; the rule has it only where the metric gates.
    criterion: Criterion,
    metric: BoxMetric,
    origin: Origin,
}

/// Where a metric of a plan comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// A criterion names it and it is built in.
    Criterion,
    /// It is the user's: it may hang or panic.
    Custom,
    /// Nobody asked; it is there anyway.
    Always,
}

/// The threshold of a custom metric that no criterion names: anything less than a full score fails.
const CUSTOM_THRESHOLD: f64 = 1.0;

impl Plan {
    /// Metrics in the order of the criteria, then custom ones that no criterion names, then the
    /// session state, then those that only inform.
    ///
    /// `judged` finds the metrics that ask a judge. A name that neither a built-in nor a custom metric answers is an
    /// error.
    pub(crate) fn new(
        config: &EvalConfig,
        custom: Vec<(String, BoxMetric)>,
        judged: FindMetric,
    ) -> Result<Self, String> {
        let mut metrics = named_or_custom(config, custom, judged)?;
        let is_named = |name| metrics.iter().any(|planned| planned.rule.name == name);
        let others = eval_format::METRICS.iter().filter(|info| !is_named(info.name));
        let always: Vec<Planned> = others.filter_map(Planned::always).collect();
        metrics.extend(always);
        Ok(Self {
            metrics,
            runs: 1,
            pass: Pass::default(),
            gate: Gate::default(),
            timeout: DEFAULT_TIMEOUT,
            app_name: DEFAULT_APP_NAME.to_owned(),
            user_id: DEFAULT_USER_ID.to_owned(),
            judges: Judges::default(),
            journal: None,
            simulation: Simulation::new(&config.user_simulator_config.clone().unwrap_or_default())?,
        })
    }

    /// Runs a case once with an agent and scores what happened; `number` says which run it is, from 1.
    pub(crate) async fn run(
        &self,
        case: &EvalCase,
        agent: Box<dyn Erased + '_>,
        number: usize,
        label: String,
        entry: &Entry,
    ) -> RunReport {
        let conditions = Conditions {
            app_name: self.app_name.clone(),
            user_id: self.user_id.clone(),
            timeout: self.timeout,
            label,
        };
        let simulator = Asking::new(self.judges.of_case(&case.eval_id));
        let judge = simulator.judge();
        let user = User::of(case, &self.simulation, &judge, number);
        // An agent that panics while it is dropped panics outside its fences.
        let transcript = match catch_panic(converse(agent, case, user, &conditions)).await {
            Ok(transcript) => transcript,
            Err(panic) => Transcript::broken(format!("panicked: {panic}")),
        };
        // Whatever becomes of the scores, the agent need not run again.
        let evaluation = entry.ran(number, &transcript, &simulator.used());
        let (report, used) = self.score_run(case, transcript, &conditions.label).await;
        if !report.scores.is_empty() {
            entry.scored(number, evaluation, &self.named(case, &report.scores, &used));
        }
        report
    }

    /// Scores what happened in a run, and tells what the judge of each metric was asked.
    pub(crate) async fn score_run(
        &self,
        case: &EvalCase,
        transcript: Transcript,
        label: &str,
    ) -> (RunReport, Vec<Vec<JudgeUse>>) {
        if let Some(reason) = self.unplayed(&transcript) {
            let scores = self.applicable(case).map(|_| RunScore::Unjudged(reason.clone())).collect();
            return (RunReport { transcript, error: None, scores }, Vec::new());
        }
        let error = transcript.error.clone();
        let (scores, used) =
            if error.is_none() { self.score(case, &transcript, label).await } else { Default::default() };
        (RunReport { transcript, error, scores }, used)
    }

    /// The scores of a run under the names of their metrics.
    fn named<'a>(
        &'a self,
        case: &'a EvalCase,
        scores: &'a [RunScore],
        used: &'a [Vec<JudgeUse>],
    ) -> Vec<MetricLine<'a>> {
        let used = used.iter().map(Vec::as_slice).chain(std::iter::repeat(&[][..]));
        let scores = self.applicable(case).zip(scores).zip(used);
        scores
            .map(|((planned, score), judge)| {
                let custom = planned.origin == Origin::Custom;
                MetricLine { name: &planned.rule.name, custom, score, judge }
            })
            .collect()
    }

    /// Why nobody played the user, where that is allowed.
    fn unplayed(&self, transcript: &Transcript) -> Option<String> {
        let error = transcript.error.as_ref()?.judge.as_ref()?;
        self.judges.skips(error).then(|| error.headline().to_owned())
    }

    /// Scores a transcript with each metric that applies to the case.
    async fn score(
        &self,
        case: &EvalCase,
        transcript: &Transcript,
        label: &str,
    ) -> (Vec<RunScore>, Vec<Vec<JudgeUse>>) {
        let actual = transcript.invocations();
        let judge = self.judges.of_case(&case.eval_id);
        let mut scores = Vec::with_capacity(self.metrics.len());
        let mut used = Vec::with_capacity(self.metrics.len());
        for planned in self.applicable(case) {
            let asking = Asking::new(judge.clone());
            let judge = asking.judge();
            let input = MetricInput {
                case,
                actual: &actual,
                expected: &case.conversation,
                state: &transcript.state,
                criterion: &planned.criterion,
                judge: &judge,
            };
            let score = planned.score(input, &asking, self.timeout, label).await;
            scores.push(self.judged(score, &asking));
            used.push(asking.used());
        }
        (scores, used)
    }

    /// The score of a metric, unless a question of its stayed without an answer that must have one.
    ///
    /// Whatever the metric made of it: a vote of those samples that happen to be recorded is no vote.
    fn judged(&self, score: RunScore, asking: &Asking) -> RunScore {
        match asking.missed() {
            Some(error) if self.judges.skips(&error) => RunScore::Unjudged(error.headline().to_owned()),
            Some(error) => RunScore::Error { role: Role::Judge, message: error.to_string() },
            None => score,
        }
    }

    /// The verdicts on a case whose runs are done.
    pub(crate) fn decide(
        &self,
        eval_set_id: &str,
        case: EvalCase,
        place: Option<Place>,
        runs: Vec<RunReport>,
    ) -> CaseReport {
        let notes = self.judges.unused(&case.eval_id).filter(|_| came_to_an_end(&runs)).into_iter().collect();
        let rules: Vec<Rule> = self.applicable(&case).map(|planned| planned.rule.clone()).collect();
        let (metrics, verdict) = decide(&rules, &runs, self.pass, self.gate);
        let elapsed =
            runs.iter().flat_map(|run| &run.transcript.turns).filter_map(|turn| turn.invocation.duration);
        let elapsed = Duration::try_from_secs_f64(elapsed.sum()).unwrap_or_default();
        let passed_runs =
            self.pass.needed(runs.len()).map(|_| crate::decide::passed_runs(&rules, &runs, self.gate));
        CaseReport {
            eval_set_id: eval_set_id.to_owned(),
            case,
            place,
            runs,
            metrics,
            verdict,
            elapsed,
            notes,
            passed_runs,
            gate: self.gate,
        }
    }

    /// All metrics, but for the session state where nobody asked and the case expects none.
    fn applicable<'a>(&'a self, case: &'a EvalCase) -> impl Iterator<Item = &'a Planned> {
        self.metrics
            .iter()
            .filter(|planned| planned.origin != Origin::Always || planned.missing(case).is_none())
    }
}

/// ADK's name for sessions of cases that name no application.
const DEFAULT_APP_NAME: &str = "EvaluationGenerator";
/// ADK's user for cases that name none.
const DEFAULT_USER_ID: &str = "test_user_id";
/// The time for opening a session and for each turn.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(2);

/// What decides: the metrics that criteria name, then the custom ones that none names.
fn named_or_custom(
    config: &EvalConfig,
    custom: Vec<(String, BoxMetric)>,
    judged: FindMetric,
) -> Result<Vec<Planned>, String> {
    let mut custom = custom;
    let mut metrics = Vec::new();
    for (name, criterion) in &config.criteria {
        // As in ADK, a custom metric under a built-in name takes its place.
        let own = custom.iter().position(|(known, _)| known == name).map(|at| custom.remove(at).1);
        let origin = if own.is_some() { Origin::Custom } else { Origin::Criterion };
        let metric = own.or_else(|| built_in(name)).or_else(|| judged(name)).ok_or_else(|| unknown(name))?;
        metrics.push(Planned::gating(name, criterion.clone(), metric, origin));
    }
    let full = || Criterion::new(CUSTOM_THRESHOLD);
    let unnamed = custom.into_iter();
    metrics.extend(unnamed.map(|(name, metric)| Planned::gating(&name, full(), metric, Origin::Custom)));
    Ok(metrics)
}

fn unknown(name: &str) -> String {
    format!("there is no metric `{name}`; a custom metric of that name must be given to the runner")
}

impl Planned {
    /// A metric that is there without a criterion: the session state, and what only informs.
    fn always(info: &MetricInfo) -> Option<Self> {
        if info.gates && info.name != FINAL_SESSION_STATE_MATCH {
            return None;
        }
        let criterion = Criterion::new(1.0);
        let rule = Rule { name: info.name.to_owned(), criterion: info.gates.then(|| criterion.clone()) };
        Some(Self { rule, criterion, metric: built_in(info.name)?, origin: Origin::Always })
    }

    fn gating(name: &str, criterion: Criterion, metric: BoxMetric, origin: Origin) -> Self {
        let rule = Rule { name: name.to_owned(), criterion: Some(criterion.clone()) };
        Self { rule, criterion, metric, origin }
    }

    /// What the case would need for this metric to apply, where it lacks that.
    fn missing(&self, case: &EvalCase) -> Option<&'static str> {
        let built_in = Some(&self.rule.name).filter(|_| self.origin != Origin::Custom);
        built_in.and_then(|name| eval_format::metric(name))?.missing_in(case)
    }

    /// Scores a run. Only what is the user's own has a time limit, which waiting for the judge does not use up.
    async fn score(&self, input: MetricInput<'_>, asking: &Asking, limit: Duration, label: &str) -> RunScore {
        if let Some(missing) = self.missing(input.case) {
            return RunScore::Skipped(missing.to_owned());
        }
        let result = if self.origin == Origin::Custom {
            let what = || format!("{label}, metric `{}`,", self.rule.name);
            fenced_but_for(|| asking.waited(), limit, what, || self.metric.score(input)).await
        } else {
            self.metric.score(input).await.map_err(Fault::Failed)
        };
        match result {
            Ok(scores) => checked(scores, input.actual.len()),
            Err(fault) => RunScore::Error { role: blamed(&fault), message: fault.to_string() },
        }
    }
}

/// Whether everything was asked that there was to ask.
fn came_to_an_end(runs: &[RunReport]) -> bool {
    let broken = |score: &RunScore| matches!(score, RunScore::Error { .. } | RunScore::Unjudged(_));
    runs.iter().all(|run| run.error.is_none() && !run.scores.iter().any(broken))
}

/// One score per turn, or one for the whole run; anything else would be compared with the wrong turn.
fn checked(scores: Scores, turns: usize) -> RunScore {
    let got = scores.scores().len();
    if scores.is_whole_run() || got == turns {
        return RunScore::Scored(scores);
    }
    let message = format!("returned {} for {}", count(got, "score"), count(turns, "turn"));
    RunScore::Error { role: Role::Metric, message }
}

/// Who failed: a metric hands on the error of its judge.
fn blamed(fault: &Fault) -> Role {
    match fault {
        Fault::Failed(error) if error.is::<JudgeError>() => Role::Judge,
        _ => Role::Metric,
    }
}
