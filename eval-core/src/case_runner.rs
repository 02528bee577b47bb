//! Running one case, from its first turn to its verdict: play, record, score, decide.
//!
//! The attribute, test bodies, [`EvalRunner`](crate::EvalRunner) and scoring recorded runs again all go this
//! way. Each step reads only the result of the step before, so a judge that fails cannot cost another run of
//! the agent.

mod again;
mod evaluated;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use eval_format::config::UserSimulatorConfig;
use eval_format::tools::ToolInjections;
use eval_format::{EvalCase, EvalConfig, PassRule, ToolSource, Value};

use crate::agent::{BoxAgent, Erased, Log};
use crate::decide::{Decision, decide};
use crate::guard::{Fault, What, catch_panic};
use crate::journal::{RunLog, TestLog};
use crate::judge::{JudgeRouter, MeteredJudge, in_case};
use crate::metric::BoxMetric;
use crate::models::Models;
use crate::options::Options;
use crate::play::{Conditions, User, converse, turns_of};
use crate::report::{CaseReport, Location, MetricOutcome, RunReport};
use crate::scoring::ScoringPlan;
use crate::simulator::Simulation;
use crate::tools::GoldenTools;
use crate::transcript::{RunError, Transcript};
use crate::verdict::Role;

use again::Again;
use evaluated::{Bodies, blame};
pub(crate) use evaluated::{EndedBody, Evaluated};

#[derive(Debug)]
pub(crate) struct CaseRunner {
    scoring: ScoringPlan,
    judges: JudgeRouter,
    simulation: Simulation,
    pub(crate) options: Options,
    names: SessionNames,
    tool_files: ToolFiles,
    models: Models,
}

/// The content of the files beside a set about its golden tools.
#[derive(Clone, Debug, Default)]
pub(crate) struct ToolFiles {
    pub(crate) faults: Option<Arc<ToolInjections>>,
    /// The declarations of the tools.
    pub(crate) declarations: Option<Arc<Vec<Value>>>,
}

/// The names of a session whose case has none.
#[derive(Clone, Debug)]
pub(crate) struct SessionNames {
    pub(crate) app_name: String,
    pub(crate) user_id: String,
}

impl Default for SessionNames {
    /// The names that `adk eval` uses.
    fn default() -> Self {
        Self {
            app_name: eval_format::options::DEFAULT_APP_NAME.to_owned(),
            user_id: eval_format::options::DEFAULT_USER_ID.to_owned(),
        }
    }
}

/// A case to run, with what identifies it in reports and in the journal.
#[derive(Clone, Debug)]
pub(crate) struct IdentifiedCase<'a> {
    pub(crate) eval_set_id: Option<&'a str>,
    pub(crate) case: &'a EvalCase,
    pub(crate) location: Option<Location>,
    /// The name of the case in messages: the path of the test, or its id.
    pub(crate) name: String,
    pub(crate) log: Arc<TestLog>,
}

#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) number: usize,
    /// Its name in the watchdog's line: the case and the run.
    pub(crate) label: Arc<str>,
    /// Whether it is repeated if its agent is not reached. The attempt is then recorded, but not scored.
    pub(crate) is_repeatable: bool,
}

impl Run {
    pub(crate) fn new(number: usize, label: String) -> Self {
        Self { number, label: label.into(), is_repeatable: false }
    }

    fn repeats(&self, error: Option<&RunError>) -> bool {
        self.is_repeatable && error.is_some_and(|error| error.unreachable)
    }
}

pub(crate) trait AgentSource {
    /// Makes the agent of a run, or runs the case in a test body.
    fn begin(&self, run: &Run, limit: Duration) -> impl Future<Output = Result<Begun, Fault>>;

    /// Plays a run with its agent and scores it: in the task of the caller, unless the source overrides this.
    fn evaluate(
        &self,
        runner: &CaseRunner,
        identified: &IdentifiedCase<'_>,
        agent: BoxAgent,
        run: &Run,
    ) -> impl Future<Output = Evaluated> {
        runner.evaluate(identified, agent.0, run)
    }

    /// The case for the report, once all runs are over. A source that owns the case need not clone it.
    fn into_case(self, case: &EvalCase) -> EvalCase
    where
        Self: Sized,
    {
        case.clone()
    }

    /// The number and the error of a run that was left unfinished, once all runs are over.
    fn left_undone(&self) -> Option<(usize, RunError)> {
        None
    }
}

pub(crate) enum Begun {
    Agent(BoxAgent),
    /// In a test body, which evaluated the case itself.
    Body(EndedBody),
}

impl CaseRunner {
    /// Plans the metrics and the simulated user of a config. No further turns are scored when `stopped` is set.
    pub(crate) fn new(
        config: &EvalConfig,
        custom: Vec<(String, BoxMetric)>,
        judges: JudgeRouter,
        options: Options,
        names: SessionNames,
        stopped: Option<Arc<AtomicBool>>,
    ) -> Result<Self, String> {
        let default = UserSimulatorConfig::default();
        let simulation = Simulation::new(config.user_simulator_config.as_ref().unwrap_or(&default))?;
        let scoring = ScoringPlan::new(config, custom, judges.clone(), options, stopped)?;
        Ok(Self {
            scoring,
            judges,
            simulation,
            options,
            names,
            tool_files: ToolFiles::default(),
            models: Models::default(),
        })
    }

    /// The same runner, for whose golden tools these files hold.
    pub(crate) fn with_tool_files(self, tool_files: ToolFiles) -> Self {
        Self { tool_files, ..self }
    }

    /// The same runner, whose agents' calls of models these recordings answer.
    pub(crate) fn with_models(self, models: Models) -> Self {
        Self { models, ..self }
    }

    /// The answers to calls of models.
    #[cfg(feature = "models")]
    pub(crate) fn models(&self) -> Option<crate::models::ModelMode> {
        self.models.mode()
    }

    fn golden_tools(&self, case: &EvalCase) -> GoldenTools {
        let ToolFiles { faults, declarations } = &self.tool_files;
        let tools = GoldenTools::new(case);
        let tools = match faults {
            Some(faults) => tools.with_injections(Arc::clone(faults)),
            None => tools,
        };
        match declarations {
            Some(declarations) => tools.with_declarations(Arc::clone(declarations)),
            None => tools,
        }
    }

    pub(crate) async fn run(&self, identified: &IdentifiedCase<'_>, source: impl AgentSource) -> CaseReport {
        in_case(&identified.case.eval_id, Box::pin(self.all_runs(identified, source))).await
    }

    async fn all_runs(&self, identified: &IdentifiedCase<'_>, source: impl AgentSource) -> CaseReport {
        let mut runs: Vec<Evaluated> = Vec::new();
        let mut bodies = Bodies::default();
        let mut again = Again::new(self.options.retry);
        for number in 1..=self.options.runs {
            let label = format!("{}, run {number} of {}", identified.name, self.options.runs);
            let run = Run::new(number, label);
            loop {
                match source.begin(&run, self.options.timeout).await {
                    Ok(Begun::Agent(mut agent)) => {
                        let what = What::of(run.label.clone());
                        again.wait_until_reachable(number, what, &mut agent, self.options.timeout).await;
                        let attempt = Run { is_repeatable: again.may_repeat(number), ..run.clone() };
                        let evaluated = source.evaluate(self, identified, agent, &attempt).await;
                        if attempt.repeats(evaluated.report.error.as_ref()) {
                            again.wait(evaluated).await;
                            continue;
                        }
                        runs.push(evaluated);
                    }
                    Ok(Begun::Body(ended)) => runs.extend(bodies.add(ended, number, &identified.log)),
                    Err(fault) => {
                        let error = RunError::new(Role::Setup, None, fault.to_string());
                        runs.push(Evaluated::broken(number, error, &identified.log));
                    }
                }
                break;
            }
        }
        for run in &mut runs {
            run.look_for_late_events(&identified.log);
        }
        for (number, error) in again.late().chain(source.left_undone()) {
            blame(&mut runs, number, &error, &identified.log);
        }
        let repeated = again.into_runs();
        let mut case = Some(source.into_case(identified.case));
        bodies.decide(runs, &identified.log, |runs| {
            let case = case.take().unwrap_or_else(|| identified.case.clone());
            self.decide(identified, case, runs, &repeated, self.options.pass)
        })
    }

    pub(crate) async fn evaluate(
        &self,
        identified: &IdentifiedCase<'_>,
        agent: Box<dyn Erased + '_>,
        run: &Run,
    ) -> Evaluated {
        self.evaluate_case(identified.case, &identified.log, agent, run).await
    }

    /// The report of a case, for callers that keep the identity of the case.
    pub(crate) async fn evaluate_case(
        &self,
        case: &EvalCase,
        log: &TestLog,
        agent: Box<dyn Erased + '_>,
        run: &Run,
    ) -> Evaluated {
        let conditions = Conditions {
            app_name: &self.names.app_name,
            user_id: &self.names.user_id,
            timeout: self.options.timeout,
            label: run.label.clone(),
        };
        let simulator = MeteredJudge::new(self.judges.of_case(&case.eval_id));
        let judge = simulator.judge();
        let user = User::of(case, &self.simulation, &judge, run.number);
        let tools = (self.options.tools == ToolSource::Golden).then(|| self.golden_tools(case));
        let opened = if agent.asks_models() {
            self.models.open(case, run.number).await
        } else {
            self.models.unasked(case).map(|()| None)
        };
        let models = match opened {
            Ok(models) => models,
            Err(message) => {
                let error = RunError::new(Role::Recording, None, message);
                return Evaluated::broken(run.number, error, log);
            }
        };
        let events = Log::answered_by(tools, models);
        let begins = |turn| log.turn_began(run.number, turn, turns_of(case));
        // Some code of the agent runs outside of its guards, such as the `Display` of its errors.
        let mut transcript =
            match catch_panic(converse(agent, case, user, &conditions, &events, &begins)).await {
                Ok(transcript) => transcript,
                Err(panic) => {
                    let error = RunError::new(Role::Agent, None, format!("panicked: {panic}"));
                    Transcript { error: Some(error), ..Transcript::default() }
                }
            };
        // The record is written before the first score, so that no failure to score can cost the run.
        let repeated = run.repeats(transcript.error.as_ref());
        let written = log.ran(run.number, repeated, &mut transcript, simulator.used());
        if repeated {
            return Evaluated::unreached(run.number, transcript, events);
        }
        let number = written.as_ref().map(RunLog::evaluation);
        let mut report = self.score(case, transcript, run.number, &run.label).await;
        if let Some(written) = written.filter(|_| !report.metrics.is_empty()) {
            written.scored(&mut report.metrics);
        }
        let mut evaluated = Evaluated::new(report, events, number);
        evaluated.look_for_late_events(log);
        evaluated
    }

    /// Decides on one evaluation alone. It counts as one run, whatever `pass` is.
    pub(crate) fn decide_alone(&self, identified: &IdentifiedCase<'_>, report: RunReport) -> CaseReport {
        self.decide(identified, identified.case.clone(), vec![report], &[], PassRule::Mean)
    }

    /// Scores recorded runs of a case, and decides on the case. `repeated` holds attempts that were repeated.
    pub(crate) async fn score_recorded(
        &self,
        identified: &IdentifiedCase<'_>,
        transcripts: Vec<Transcript>,
        repeated: &[RunReport],
    ) -> CaseReport {
        let case = identified.case;
        let mut runs = Vec::with_capacity(transcripts.len());
        for (number, transcript) in (1..).zip(transcripts) {
            let label = format!("{}, recorded run {number}", identified.name);
            runs.push(self.score(case, transcript, number, &label).await);
        }
        self.decide(identified, case.clone(), runs, repeated, self.options.pass)
    }

    /// Scores what happened in a run. A run that broke has no scores.
    async fn score(
        &self,
        case: &EvalCase,
        mut transcript: Transcript,
        number: usize,
        label: &str,
    ) -> RunReport {
        let unplayed = transcript.error.as_ref().and_then(|error| error.judge.as_ref());
        if let Some(error) = unplayed.filter(|error| self.judges.skips(error)) {
            let metrics = self.scoring.left_out(case, &error.headline());
            return RunReport { number, transcript, error: None, metrics };
        }
        let error = transcript.error.clone();
        let metrics = match &error {
            Some(error) if error.breaks() => Vec::new(),
            _ => self.scoring.score(case, &mut transcript, label).await,
        };
        RunReport { number, transcript, error, metrics }
    }

    /// Decides on a case whose only run ended in this error before it began.
    pub(crate) fn decide_unplayed(&self, identified: &IdentifiedCase<'_>, error: RunError) -> CaseReport {
        let run = Evaluated::broken(1, error, &identified.log).report;
        self.decide(identified, identified.case.clone(), vec![run], &[], self.options.pass)
    }

    /// Decides on a case whose runs are done. `case` is the same one, for the report.
    fn decide(
        &self,
        identified: &IdentifiedCase<'_>,
        case: EvalCase,
        runs: Vec<RunReport>,
        repeated: &[RunReport],
        pass: PassRule,
    ) -> CaseReport {
        let IdentifiedCase { eval_set_id, location, .. } = identified;
        let gate = self.options.gate;
        let unused = self.judges.unused(&case.eval_id).filter(|_| asked_all_questions(&runs));
        let Decision { metrics, verdict, passed_runs, notes } =
            decide(&self.scoring.rules(&case), &runs, repeated, pass, gate);
        let of_runs = runs.iter().flat_map(|run| {
            let of = if runs.len() > 1 { format!("run {}: ", run.number) } else { String::new() };
            run.transcript.notes.iter().map(move |note| format!("{of}{note}"))
        });
        let notes = unused
            .into_iter()
            .chain(self.scoring.note(&case))
            .chain(notes)
            .chain(again::notes(repeated))
            .chain(of_runs)
            .collect();
        let elapsed =
            runs.iter().flat_map(|run| &run.transcript.turns).filter_map(|turn| turn.invocation.duration);
        let elapsed = Duration::try_from_secs_f64(elapsed.sum()).unwrap_or_default();
        CaseReport {
            eval_set_id: eval_set_id.map(str::to_owned),
            case,
            location: location.clone(),
            label: None,
            runs,
            metrics,
            verdict,
            elapsed,
            notes,
            repeated: repeated.to_vec(),
            passed_runs,
            gate,
            literal: self.options.is_literal(),
        }
    }
}

fn asked_all_questions(runs: &[RunReport]) -> bool {
    let is_broken =
        |outcome: &MetricOutcome| matches!(outcome, MetricOutcome::Error { .. } | MetricOutcome::Unjudged(_));
    let broke = |run: &RunReport| run.error.as_ref().is_some_and(RunError::breaks);
    runs.iter().all(|run| !broke(run) && !run.metrics.iter().any(|metric| is_broken(&metric.outcome)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::Scores;
    use crate::report::ScoredMetric;
    use crate::verdict::Verdict;

    fn run(outcome: MetricOutcome, error: Option<RunError>) -> RunReport {
        let metric = ScoredMetric {
            name: "m".to_owned(),
            custom: false,
            criterion: None,
            outcome,
            judge: Vec::new(),
            verdict: Verdict::Informational,
            turns: Vec::new(),
        };
        RunReport { number: 1, transcript: Transcript::default(), error, metrics: vec![metric] }
    }

    /// A recorded answer counts as unused only if every question was asked.
    #[test]
    fn runs_that_broke_did_not_ask_every_question() {
        let scored = || MetricOutcome::Scored(Scores::whole_run(1.0));
        let broken = || MetricOutcome::Error { role: Role::Judge, message: "503".to_owned() };
        let gone = || Some(RunError::new(Role::Agent, Some(1), "gone"));
        for (runs, asked_all) in [
            (vec![run(scored(), None)], true),
            (vec![run(MetricOutcome::Skipped("does not apply".to_owned()), None)], true),
            (vec![run(MetricOutcome::Unjudged("no judge".to_owned()), None)], false),
            (vec![run(broken(), None)], false),
            (vec![run(scored(), gone())], false),
            (vec![run(scored(), None), run(broken(), None)], false),
        ] {
            assert_eq!(asked_all_questions(&runs), asked_all, "{runs:?}");
        }
    }
}
