//! `cargo evalset run`: runs eval sets against any agent.

pub(super) mod ended;
mod matrix;
mod options;
mod source;
#[cfg(feature = "store")]
mod stored;

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use eval_core::journal::hold;
use eval_core::journal::project::Project;
use eval_core::runner::RunPlan;
use eval_core::{EvalCase, EvalRunner, Verdict};
use eval_format::matrix::{Variant, too_many_tests};
use eval_report::command::{REPORT_FOLLOWS, pressed as ctrl_c_pressed};
use eval_support::{command, variables};

use super::report::formats::ReportFiles;
#[cfg(not(feature = "store"))]
use crate::features::StoreArgs;
use crate::features::with_judge;
use crate::output::{Answer, CommandError, Format, notice, runtime};
use crate::recorded::{LoadedRun, RunResults, new_root};
use crate::sides::changed_by_hand;
use ended::Ended;
use eval_report::progress::Progress;
use matrix::{MatrixArgs, in_matrix};
use options::OptionArgs;
use source::{Matched, Source, SourceArgs};
#[cfg(feature = "store")]
use stored::StoreArgs;

/// Runs eval sets against an agent that is not Rust in a test: behind an ADK server, a program in any language, or what
/// stored traces say that one did.
///
/// The sets, metrics, judges, records and reports are those of `#[eval_set]`. Each set is scored with the `test_config.json`
/// beside it, else with ADK's default criteria.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP, override_usage = command::line(USAGE), group = source::exactly_one())]
pub(crate) struct Args {
    /// Sets: files, folders, globs in quotes, or ids of sets below this folder. `SET:case1,case2` selects cases.
    #[arg(value_name = "SET[:CASE,..]", required = true)]
    sets: Vec<OsString>,

    #[command(flatten)]
    source: SourceArgs,

    #[command(flatten)]
    matrix: MatrixArgs,

    #[command(flatten)]
    options: OptionArgs,

    #[command(flatten)]
    files: ReportFiles,

    #[command(flatten)]
    stored: StoreArgs,

    /// Also prints annotations of GitHub Actions, on the lines of the cases.
    #[arg(long, conflicts_with = "format")]
    github: bool,

    /// The output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const USAGE: &str = "run [OPTIONS] <AGENT> <SET[:CASE,..]>...";

const AFTER_HELP: &str = "\
Examples:
  cargo evalset run evals --agent my_agents.weather:agent
  cargo evalset run evals --agent-cmd 'python3 agents/weather.py'
  cargo evalset run weather:sunny,oslo --adk-cmd 'adk api_server --no_use_local_storage agents' --app weather
  cargo evalset run 'evals/**/*.evalset.json' --agent-url $URL --app trip --retry 2
  cargo evalset run evals --agent-cmd 'python3 agent.py --model {model}' --matrix model=flash,pro --runs 5
  cargo evalset run weather --trace traces.json -m tool_trajectory_avg_score
  cargo evalset run trip --agent-url $URL --app trip --header \"Authorization=Bearer $TOKEN\"

Exit codes:
  0  every case passed, or was skipped and another passed
  1  a case failed
  2  a case has no verdict (an error, not evaluated, interrupted), nothing was run, or a program that cases shared ended badly";

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    match run_sets(args).map_err(|error| args.files.before_writing(error)) {
        Err(error) if args.github => Ok(Answer::annotated(error)),
        answer => answer,
    }
}

fn run_sets(args: &Args) -> Result<Answer, CommandError> {
    let variants = args.matrix.variants(&args.source.agent)?;
    // This comes first: it registers the secrets to mask.
    let agents = variants.iter().map(|variant| args.source.choose(variant)).collect::<Result<Vec<_>, _>>()?;
    args.files.check(args.github)?;
    let options = args.options.read()?;
    let agents =
        agents.into_iter().map(|agent| agent.with_tools(options.tools())).collect::<Result<Vec<_>, _>>()?;
    let runtime = runtime("agents")?;
    let journal = JournalFolder::new()?;
    #[cfg(feature = "store")]
    let mut store = args.stored.open(&runtime, journal.stays())?;
    #[cfg(feature = "store")]
    let sets = &runtime.block_on(crate::store::fetch_sets(&args.sets, &new_root()))?;
    #[cfg(not(feature = "store"))]
    let sets = args.stored.check().map(|()| &args.sets)?;
    let again = [&*args.source.words(), &options.again[..]].concat();
    let tags = options.tags.clone();
    let dirty = changed_by_hand(None).map(|files| !files.is_empty());
    let progress = Progress::on_stderr(options.prices.clone().or_of_environment());
    let has_failed = Arc::new(AtomicBool::new(false));
    let runner_of = |variant: &Variant, run: Option<String>| -> Result<EvalRunner, CommandError> {
        let runner = args.source.agent.set(with_judge(EvalRunner::new()), variant);
        let runner = journal.set(options::apply(options, runner)?).__run_id(run);
        let failed = Arc::clone(&has_failed);
        let runner = runner.on_case(move |case| {
            let passes = matches!(case.verdict, Verdict::Passed | Verdict::Skipped(_));
            failed.fetch_or(!passes, Ordering::Relaxed);
        });
        Ok(progress.follow(runner.again([&*again, &in_matrix(variant)].concat()).__dirty(dirty)))
    };
    let (folder, planned, left, _held) = runtime.block_on(async {
        // All variants are planned, and their servers are reached, before the first case runs.
        let (mut runners, mut plans): (Vec<EvalRunner>, Vec<RunPlan>) = (Vec::new(), Vec::new());
        let mut ready = Vec::new();
        for (variant, agent) in variants.iter().zip(agents) {
            let run = plans.first().and_then(RunPlan::journal).and_then(Path::file_name);
            let runner = runner_of(variant, run.map(|run| run.to_string_lossy().into_owned()))?;
            let plan = runner.__select_cases(sets, &[], &tags).map_err(|error| ended::not_planned(&error))?;
            let agent = agent.with_models(plan.models());
            agent.ready(options.retries()).await?;
            plans.push(plan);
            runners.push(runner);
            ready.push(agent);
        }
        Matched::new(&ready, &plans).tell().check(args.source.allow_uncovered)?;
        warn_of_many_tests(&plans);
        progress.begin(plans.iter().map(RunPlan::len).sum());
        // A run that is killed in its first variant knows the others.
        plans.iter().for_each(RunPlan::record);
        let is_stopped = AtomicBool::new(false);
        for ((runner, agent), plan) in runners.iter().zip(&ready).zip(&plans) {
            let fails_fast = options.fails_fast() && has_failed.load(Ordering::Relaxed);
            let is_left_out = fails_fast || is_stopped.load(Ordering::Relaxed);
            let setup = |case: &EvalCase| {
                progress.began(case);
                agent.boxed(plan.len() == 1)
            };
            let stop = async {
                if !is_left_out {
                    ctrl_c_pressed(REPORT_FOLLOWS).await;
                    is_stopped.store(true, Ordering::Relaxed);
                }
            };
            // The results are read from the journal, which also has the interrupted cases.
            runner.record_plan(plan, setup, options.concurrency(), stop).await;
        }
        progress.end();
        let left = end_all(&ready).await;
        let folder = plans.iter().find_map(RunPlan::journal).map(Path::to_owned);
        // Runs that end meanwhile remove old ones. This one stays until it is reported.
        let held = folder.as_deref().map(hold);
        let planned = variants.iter().zip(&plans).flat_map(|(variant, plan)| ended::planned(plan, variant));
        // The journals are complete, and unlocked, once the runners are gone.
        Ok((folder, planned.collect::<Vec<_>>(), left, held))
    })?;
    let folder = folder.ok_or_else(|| ended::no_record("there is no journal"))?;
    #[cfg(feature = "store")]
    if let Some(store) = &mut store {
        store.push(&runtime, &folder);
    }
    let loaded = LoadedRun::own(folder).map_err(|error| ended::no_record(&error.to_string()))?;
    let results =
        RunResults::new(&loaded, None, false).map_err(|error| ended::no_record(&error.to_string()))?;
    let written = args.files.write(&results, args.source.agent.app());
    let ended = Ended {
        again: &again,
        matrix: &args.matrix.words(),
        results: &results,
        planned: &planned,
        cost: progress.cost(),
        is_recorded: journal.stays(),
        has_error_below: left.is_some() || written.failed.is_some(),
    };
    let is_for_programs = written.printed.is_some() || matches!(args.format, Format::Json);
    let answer = written.answer(&results, args.format, args.github, || ended.text())?;
    let answer = Answer { failed: answer.failed.or(left), ..answer };
    if let Some(cost) = progress.cost().filter(|_| is_for_programs) {
        progress.say(&cost);
    }
    #[cfg(feature = "store")]
    if let (Some(store), Some(folder)) = (&store, loaded.folders.first()) {
        let stored = store.publish(&runtime, &results, folder, args.source.agent.app());
        let exit_code = results.totals.outcome().max(stored).exit_code();
        return Ok(Answer { exit_code, ..answer });
    }
    Ok(answer)
}

/// Warns of a matrix that makes many tests.
fn warn_of_many_tests(plans: &[RunPlan]) {
    let cases = plans.first().map_or(0, RunPlan::len);
    if let Some(warning) = too_many_tests(plans.len(), cases).filter(|_| plans.len() > 1) {
        notice(&warning);
    }
}

/// Ends what cases shared, after the last one. Returns the first error, which is one of the run: no case has it.
async fn end_all(agents: &[Source]) -> Option<CommandError> {
    let mut left = None;
    for agent in agents {
        left = left.or(agent.end().await.err());
    }
    left
}

/// The folder of the journal. It is temporary if journals are turned off: reports are made from the journal.
enum JournalFolder {
    OfRuns,
    Temporary(tempfile::TempDir),
}

impl JournalFolder {
    fn new() -> Result<Self, CommandError> {
        if std::env::var_os(variables::JOURNAL).is_none_or(|value| value != "off") {
            return Ok(Self::OfRuns);
        }
        let folder = tempfile::Builder::new().prefix("evalset-run-").tempdir();
        folder.map(Self::Temporary).map_err(|error| {
            let help = "let `TMPDIR` name a folder in which this user can write";
            CommandError::new(format!("cannot make a temporary folder: {error}"), help)
        })
    }

    fn set(&self, runner: EvalRunner) -> EvalRunner {
        let runner = runner.project(Project::here());
        match self {
            Self::OfRuns => runner.journal(new_root()),
            Self::Temporary(folder) => runner.temporary_journal(folder.path()),
        }
    }

    fn stays(&self) -> bool {
        matches!(self, Self::OfRuns)
    }
}
