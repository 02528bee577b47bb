//! Running cases, sets and directories.

use std::future::{Future, pending};
use std::marker::PhantomData;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use eval_format::{EvalCase, EvalSet};

use super::builder::EvalRunner;
use super::directory::{self, Selected};
use super::error::{RunDirError, RunnerError};
use super::plan::{RunPlan, record};
use super::prepare::Job;
use super::setup_fn::Setup;
use crate::agent::{Agent, BoxAgent, BoxFuture};
use crate::case_runner::{AgentSource, Begun, CaseRunner, Evaluated, IdentifiedCase, Run};
use crate::failure;
use crate::guard::{self, Fault, Lanes, ShutDown, What};
use crate::journal::{Journal, ProgramCase, TestLog};
use crate::judge::{in_case, inherited};
use crate::report::{CaseReport, EvalReport};
use crate::transcript::RunError;
use crate::verdict::Role;

impl EvalRunner {
    /// Runs one case.
    ///
    /// `setup` is called once per run and returns the agent, plain or async, also as a `Result`; it may take
    /// the case. Fails if the runner's settings contradict each other. What the agent does wrong is in the report.
    pub async fn run_case<Shape, S>(&self, case: &EvalCase, setup: S) -> Result<CaseReport, RunnerError>
    where
        S: Setup<Shape>,
    {
        let prepared = self.prepare(None, None, std::slice::from_ref(case))?;
        let job = Job { prepared: &prepared, eval_set_id: None, case };
        record(&[job]);
        Ok(self.one(job, &setup).await)
    }

    /// Runs one case once with an agent that may borrow.
    ///
    /// ```
    /// use eval_core::{BoxError, EvalCase, EvalRunner, Invocation, Recorder, agent_fn};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let known = vec!["It is sunny.".to_owned()];
    /// let agent = agent_fn(async |_: String, _: Recorder| Ok::<_, BoxError>(known[0].clone()));
    ///
    /// let case = EvalCase::new("sunny").turn(Invocation::user("Paris?").response("It is sunny."));
    /// assert!(EvalRunner::new().run_agent(&case, agent).await?.verdict.passed());
    /// # Ok(()) }
    /// ```
    ///
    /// A borrowing agent cannot have a task of its own: it runs in the task of the caller. An agent is one conversation,
    /// so `runs` must be 1.
    pub async fn run_agent(&self, case: &EvalCase, agent: impl Agent) -> Result<CaseReport, RunnerError> {
        let prepared = self.prepare(None, None, std::slice::from_ref(case))?;
        if self.options.runs != 1 {
            return Err(RunnerError::OneConversation { runs: self.options.runs });
        }
        let job = Job { prepared: &prepared, eval_set_id: None, case };
        record(&[job]);
        let identified = self.begun(job);
        let run = Run::new(1, format!("{}, run 1 of 1", identified.name));
        let evaluating = prepared.runner.evaluate(&identified, Box::new(agent), &run);
        let evaluating = in_case(&case.eval_id, Box::pin(evaluating));
        let evaluated = self.lanes.clone().run(evaluating).await;
        let report = prepared.runner.decide_alone(&identified, evaluated.report);
        Ok(self.ended(&identified, report))
    }

    /// Runs the cases of a set, at most `concurrency` at a time (0 counts as 1). The report has them in the order of the
    /// set.
    ///
    /// `setup` is called in the task of the caller, so it may borrow. The agent that it returns, and the
    /// metrics, run in a task of each run, on as many threads as the runtime has. A case that blocks its
    /// thread past its time limit is an ERROR. On a runtime of one thread the other cases wait for it, and
    /// that time does not count towards their limits.
    ///
    /// If the returned future is dropped, running cases are aborted. [`on_case`](Self::on_case) has reported
    /// the cases that ended before.
    pub async fn run_set<Shape, S>(
        &self,
        set: &EvalSet,
        setup: S,
        concurrency: usize,
    ) -> Result<EvalReport, RunnerError>
    where
        S: Setup<Shape>,
    {
        if set.eval_cases.is_empty() {
            return Err(RunnerError::NoCases(set.eval_set_id.clone()));
        }
        self.check_faults(&set.eval_cases).map_err(RunnerError::Faults)?;
        let prepared = self.prepare(None, None, &set.eval_cases)?;
        let jobs = Job::of_set(&prepared, set).collect();
        Ok(self.run_jobs(jobs, &setup, concurrency, pending()).await)
    }

    /// Runs every set in a directory, found as the attribute finds sets. Each set has its recording, and the
    /// `test_config.json` beside it unless this runner has criteria of its own.
    ///
    /// ```
    /// use eval_core::{Criterion, EvalRunner, Replay};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let runner = EvalRunner::new().criterion("response_match_score", Criterion::new(0.8));
    /// let report = runner.run_dir("evals", || Replay::new([["It is sunny in Paris."]]), 4).await?;
    ///
    /// let failed: Vec<&str> = report.failures().map(|case| case.eval_id()).collect();
    /// assert_eq!(failed, ["trip", "refund declined"]);
    /// println!("{report}");
    /// # Ok(()) }
    /// ```
    ///
    /// Fails before anything runs if the directory holds no sets, if a set or a config has errors, or if the runner's
    /// settings contradict each other.
    pub async fn run_dir<Shape, S>(
        &self,
        directory: impl AsRef<Path>,
        setup: S,
        concurrency: usize,
    ) -> Result<EvalReport, RunDirError>
    where
        S: Setup<Shape>,
    {
        let sets = directory::read(directory.as_ref(), &self.custom_names())?;
        let sets: Vec<Selected> = sets.into_iter().map(|found| Selected { found, ids: None }).collect();
        self.check_faults_of(&sets)?;
        let plan = self.plan(sets)?;
        Ok(self.run_jobs(plan.jobs(), &setup, concurrency, pending()).await)
    }

    /// Runs the [selected](Self::select) cases, at most `concurrency` at a time, until `stop` ends.
    ///
    /// Cases that are running when `stop` ends are aborted. The report has all cases: a case without a
    /// verdict is an error that says so.
    pub async fn run_plan<Shape, S: Setup<Shape>>(
        &self,
        plan: &RunPlan,
        setup: S,
        concurrency: usize,
        stop: impl Future<Output = ()> + Send,
    ) -> EvalReport {
        self.run_jobs(plan.jobs(), &setup, concurrency, stop).await
    }

    /// Runs the selected cases for the journal alone, in which [`RunPlan::record`] has noted them. The report of a case is dropped after the functions of
    /// `on_case` got it, so that memory does not grow with the transcripts.
    #[doc(hidden)]
    pub async fn record_plan<Shape, S: Setup<Shape>>(
        &self,
        run_plan: &RunPlan,
        setup: S,
        concurrency: usize,
        stop: impl Future<Output = ()> + Send,
    ) {
        self.run_each(&run_plan.jobs(), &setup, concurrency, stop, drop).await;
    }

    async fn run_jobs<Shape, S: Setup<Shape>>(
        &self,
        jobs: Vec<Job<'_>>,
        setup: &S,
        concurrency: usize,
        stop: impl Future<Output = ()> + Send,
    ) -> EvalReport {
        record(&jobs);
        let reports = self.run_each(&jobs, setup, concurrency, stop, std::convert::identity).await;
        let reports = reports.into_iter().zip(&jobs);
        EvalReport {
            cases: reports
                .map(|(report, job)| report.unwrap_or_else(|| self.labelled(job.interrupted())))
                .collect(),
        }
    }

    /// Runs each case. `keep` makes the result of a report; `None` for a case without a verdict when `stop`
    /// ended.
    async fn run_each<Shape, S: Setup<Shape>, T: Send>(
        &self,
        jobs: &[Job<'_>],
        setup: &S,
        concurrency: usize,
        stop: impl Future<Output = ()> + Send,
        keep: fn(CaseReport) -> T,
    ) -> Vec<Option<T>> {
        let first_to_fail = OnceLock::new();
        // Boxed one by one: in a closure, the compiler cannot see that the futures are `Send`.
        let mut cases: Vec<BoxFuture<'_, T>> = Vec::with_capacity(jobs.len());
        for job in jobs {
            let case = self.one_of_many(*job, setup, &first_to_fail);
            cases.push(Box::pin(async move { keep(case.await) }));
        }
        guard::all_until(concurrency, cases, stop).await
    }

    /// Runs one case, unless this runner is to `fail_fast` and another case failed before this one began.
    async fn one_of_many<Shape, S: Setup<Shape>>(
        &self,
        job: Job<'_>,
        setup: &S,
        first_to_fail: &OnceLock<String>,
    ) -> CaseReport {
        if let Some(failed) = first_to_fail.get() {
            return self.ended(&self.begun(job), job.left_out(failed));
        }
        let report = self.one(job, setup).await;
        if self.fail_fast && report.verdict.fails() {
            // If several cases fail, the first is named.
            let _ = first_to_fail.set(report.eval_id().to_owned());
        }
        report
    }

    async fn one<Shape, S: Setup<Shape>>(&self, job: Job<'_>, setup: &S) -> CaseReport {
        let identified = self.begun(job);
        let source = SetupSource {
            setup,
            case: job.case,
            owned: Arc::new(job.case.clone()),
            runner: job.prepared.runner.clone(),
            log: identified.log.clone(),
            lanes: self.lanes.clone(),
            shape: PhantomData,
        };
        let report = job.prepared.runner.run(&identified, source).await;
        self.ended(&identified, report)
    }

    fn ended(&self, identified: &IdentifiedCase<'_>, report: CaseReport) -> CaseReport {
        let mut report = self.labelled(report);
        identified.log.decided(&report, failure::texts(&report));
        if let Some(error) = identified.log.journal().and_then(Journal::failure) {
            report.notes.push(format!("the journal lacks this case, or a part of it: {error}"));
        }
        self.on_case.tell(&report);
        report
    }

    fn labelled(&self, report: CaseReport) -> CaseReport {
        CaseReport { label: self.label_of_runs(), ..report }
    }

    /// A case with its log, which begins here.
    fn begun<'a>(&self, job: Job<'a>) -> IdentifiedCase<'a> {
        let label = self.label_of_runs();
        let faults = self.faults.as_ref().map(|faults| &*faults.text);
        let recorded = ProgramCase { faults, ..job.recorded(label.as_deref(), &self.variant) };
        let log = TestLog::of_case(job.prepared.journal.clone(), &recorded, &self.options);
        job.identified(Arc::new(log))
    }
}

/// A setup function as the source of the agents of one case.
///
/// The function may borrow, so it is called in the task of the caller. Its agents own what they have, so each run gets a
/// task of its own.
struct SetupSource<'a, Shape, S> {
    setup: &'a S,
    case: &'a EvalCase,
    /// A copy of the case, which the tasks share.
    owned: Arc<EvalCase>,
    runner: Arc<CaseRunner>,
    log: Arc<TestLog>,
    lanes: Arc<Lanes>,
    shape: PhantomData<fn() -> Shape>,
}

impl<Shape, S: Setup<Shape>> AgentSource for SetupSource<'_, Shape, S> {
    async fn begin(&self, run: &Run, limit: Duration) -> Result<Begun, Fault> {
        let what = What::of(run.label.clone()).doing("setup");
        let set_up = guard::fenced(limit, what, || self.setup.set_up(self.case));
        self.lanes.clone().run(set_up).await.map(Begun::Agent)
    }

    /// The copy that the tasks shared. All of them are over, so it is not cloned.
    fn into_case(self, _: &EvalCase) -> EvalCase {
        Arc::unwrap_or_clone(self.owned)
    }

    async fn evaluate(
        &self,
        _: &CaseRunner,
        _: &IdentifiedCase<'_>,
        agent: BoxAgent,
        run: &Run,
    ) -> Evaluated {
        let (runner, case, log) = (self.runner.clone(), self.owned.clone(), self.log.clone());
        let its_run = run.clone();
        let work = async move { runner.evaluate_case(&case, &log, agent.0, &its_run).await };
        let work = inherited(Box::pin(work));
        match guard::on_own_task(self.lanes.clone().run(work)).await {
            Ok(evaluated) => evaluated,
            Err(ShutDown) => {
                let error = RunError::new(Role::Harness, None, "the tokio runtime shut down during the run");
                Evaluated::broken(run.number, error, &self.log)
            }
        }
    }
}
