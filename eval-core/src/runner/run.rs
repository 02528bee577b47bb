//! Running cases, sets and directories.

use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use eval_format::{EvalCase, EvalSet};

use super::builder::EvalRunner;
use super::directory::{self, Found};
use super::error::{RunDirError, RunnerError};
use super::prepare::Prepared;
use super::setup_fn::Setup;
use crate::agent::BoxFuture;
use crate::case_runner::{AgentSource, Begun, IdentifiedCase, Run};
use crate::failure;
use crate::guard::{self, Fault};
use crate::journal::{ProgramCase, TestLog};
use crate::report::{CaseReport, EvalReport};

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
        plan(std::slice::from_ref(&prepared));
        Ok(self.one(&prepared, None, case, &setup).await)
    }

    /// Runs the cases of a set, at most `concurrency` at a time (0 counts as 1). The report has them in the order of the
    /// set.
    ///
    /// All cases run in one task. A case that blocks its thread holds up the others until it returns.
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
        let prepared = self.prepare(None, None, &set.eval_cases)?;
        plan(std::slice::from_ref(&prepared));
        Ok(EvalReport { cases: self.all(&prepared, set, &setup, concurrency).await })
    }

    /// Runs every set in a directory, found as the attribute finds them, each with the
    /// `test_config.json` beside it unless this runner has criteria of its own, and with its recording.
    ///
    /// ```
    /// use eval_core::{Criterion, EvalRunner, Replay};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// let runner = EvalRunner::new().criterion("response_match_score", Criterion::new(0.8));
    /// let report = runner.run_dir("evals", || Replay::new([["It is sunny in Paris."]]), 4).await?;
    ///
    /// let failed: Vec<&str> = report.failures().map(|case| case.eval_id()).collect();
    /// assert_eq!(failed, ["trip", "refund declined"]);
    /// println!("{report}");
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<_, Box<dyn std::error::Error>>(())
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
        self.all_of(sets, None, &setup, concurrency).await
    }

    #[cfg(feature = "reports")]
    /// Runs a set or the sets of a directory. If `ids` are given, only the cases of these ids run.
    pub(crate) async fn run_path<Shape, S>(
        &self,
        path: &Path,
        ids: Option<&[String]>,
        setup: S,
        concurrency: usize,
    ) -> Result<EvalReport, RunDirError>
    where
        S: Setup<Shape>,
    {
        let names = self.custom_names();
        let sets = if path.is_dir() {
            directory::read(path, &names)?
        } else {
            vec![directory::read_one(path, None, &names)?]
        };
        self.all_of(sets, ids, &setup, concurrency).await
    }

    async fn all_of<Shape, S>(
        &self,
        sets: Vec<Found>,
        ids: Option<&[String]>,
        setup: &S,
        concurrency: usize,
    ) -> Result<EvalReport, RunDirError>
    where
        S: Setup<Shape>,
    {
        let sets = sets.into_iter().filter_map(|mut found| {
            let cases = &mut found.set.eval_cases;
            cases.retain(|case| ids.is_none_or(|ids| ids.contains(&case.eval_id)));
            (!cases.is_empty() || ids.is_none()).then_some(found)
        });
        let prepared: Result<Vec<_>, RunDirError> = sets.map(|found| self.prepare_found(found)).collect();
        let (prepared, sets): (Vec<_>, Vec<_>) = prepared?.into_iter().unzip();
        plan(&prepared);
        let mut cases = Vec::new();
        for (prepared, set) in prepared.into_iter().zip(sets) {
            cases.extend(self.all(&prepared, &set, setup, concurrency).await);
        }
        Ok(EvalReport { cases })
    }

    /// A set of a directory with what its cases are run with.
    fn prepare_found(&self, found: Found) -> Result<(Prepared, EvalSet), RunDirError> {
        let Found { path, set, places, config, overlooked } = found;
        if let Some(overlooked) = overlooked.filter(|_| self.config.is_none() && self.criteria.is_empty()) {
            return Err(RunDirError::OverlookedConfig(overlooked));
        }
        let prepared = self.prepare(config.as_ref(), Some(&path), &set.eval_cases);
        let prepared = prepared.map_err(|source| RunDirError::Runner { path, source })?;
        Ok((Prepared { places, ..prepared }, set))
    }

    /// Runs every case of a set. The reports are in the order of the cases.
    async fn all<Shape, S: Setup<Shape>>(
        &self,
        prepared: &Prepared,
        set: &EvalSet,
        setup: &S,
        concurrency: usize,
    ) -> Vec<CaseReport> {
        // Boxed one by one: through a closure the compiler loses sight of the futures being `Send`.
        let mut cases: Vec<BoxFuture<'_, CaseReport>> = Vec::with_capacity(set.eval_cases.len());
        for case in &set.eval_cases {
            cases.push(Box::pin(self.one(prepared, Some(&set.eval_set_id), case, setup)));
        }
        guard::all(concurrency, cases).await
    }

    /// Runs one case and records its verdict.
    async fn one<Shape, S: Setup<Shape>>(
        &self,
        prepared: &Prepared,
        eval_set_id: Option<&str>,
        case: &EvalCase,
        setup: &S,
    ) -> CaseReport {
        let identified = self.identified(prepared, eval_set_id, case);
        let source = SetupSource { setup, case, shape: PhantomData };
        let report = prepared.runner.run(&identified, &source).await;
        let report = CaseReport { label: self.label.clone(), ..report };
        let headline = report.verdict.fails().then(|| failure::reason(&report));
        identified.log.decided(&report, headline, None);
        report
    }

    fn identified<'a>(
        &self,
        prepared: &Prepared,
        eval_set_id: Option<&'a str>,
        case: &'a EvalCase,
    ) -> IdentifiedCase<'a> {
        let Prepared { journal, places, cases, .. } = prepared;
        let location = places.location(&case.eval_id);
        let of = ProgramCase {
            eval_set_id,
            case,
            label: self.label.as_deref(),
            location,
            path: places.path(),
            text: places.text(&case.eval_id),
            set_cases: *cases,
        };
        let log = TestLog::of_case(journal.clone(), &of, &self.options);
        let name = format!("case `{}`", case.eval_id);
        IdentifiedCase { eval_set_id, case, location: location.cloned(), name, log: Arc::new(log) }
    }
}

/// Records how many cases are to run in all these sets, before the first of them begins.
fn plan(sets: &[Prepared]) {
    // All sets of a runner have one journal.
    if let Some(journal) = sets.iter().find_map(|set| set.journal.as_ref()) {
        journal.plan(sets.iter().map(|set| set.cases).sum());
    }
}

/// A setup function as the source of the agents of one case.
struct SetupSource<'a, Shape, S> {
    setup: &'a S,
    case: &'a EvalCase,
    shape: PhantomData<fn() -> Shape>,
}

impl<Shape, S: Setup<Shape>> AgentSource for SetupSource<'_, Shape, S> {
    async fn begin(&self, run: &Run, limit: Duration) -> Result<Begun, Fault> {
        let what = || format!("{}, setup,", run.label);
        guard::fenced(limit, what, || self.setup.set_up(self.case)).await.map(Begun::Agent)
    }
}
