//! `cargo evalset rescore`: scores recorded runs again, without running the agent.

mod human;

use std::path::PathBuf;

use eval_report::document::{Document, Rescored};

use crate::output::width::fitted;
use crate::output::{Answer, CommandError, Format, runtime};
use crate::recorded::{Cases, RunArgs, RunResults, TestResult, added_cases};
use crate::rescoring::{self, Now, RescoredCase, RescoredRun, Selection};

/// Scores what agents did in a recorded run again: with other criteria, by another judge, or against expectations that
/// were edited since. No agent runs.
///
/// Metrics of your own keep their recorded scores, even if a built-in metric has the same name: only your tests can run
/// them. Programs that `--config` names as metrics are asked again. `EVALSET_JUDGE` says how judges are asked. Their answers are taken from the recording beside the set, unless it
/// is `record` or `live`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    run: RunArgs,

    /// Scores only these metrics again, and keeps the scores of the others.
    #[arg(long = "metric", value_name = "NAME", value_delimiter = ',')]
    metrics: Vec<String>,

    /// Uses the criteria of this config instead of the run's own.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Asks this model, whatever model the criteria name.
    #[arg(long, value_name = "MODEL")]
    judge: Option<String>,

    /// Judges calls as ADK does: what `_expect` loosens is passed over, and so are the criteria of a case.
    #[arg(long)]
    literal: bool,

    /// Says that tests were left out on purpose, as for `report`, and that cases were added to the sets or removed from them since.
    /// Without it, such a run ends with 2.
    #[arg(long)]
    partial: bool,

    /// The output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset rescore                                  # after editing an expectation
  cargo evalset rescore --config evals/strict.json
  EVALSET_JUDGE=live cargo evalset rescore --metric safety_v1 --judge openai/gpt-5-mini

Exit codes:
  0  with the new scores every case passes
  1  a case fails
  2  a case has no verdict, or cannot be scored again; a set has a case now that did not run, or has one no more that did; or
     `report` would end with 2 whatever the scores are: tests never began, or the run is not of this CI job or of the tests
     that are there now";

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    let loaded = args.run.which().load()?;
    let tests = TestResult::all(&loaded.run);
    let selection = Selection::new(&args.metrics, args.config.as_deref(), args.judge.clone(), &tests)?;
    let selection = Selection { literal: args.literal, ..selection };
    let runtime = runtime("judges")?;
    let mut files = Cases::default();
    let (cases, gone) = runtime.block_on(rescoring::all(tests, &selection, &mut files, args.partial));
    let added = added_cases(&loaded.run);
    let (added, left_out) = if args.partial { (Vec::new(), [gone, added].concat()) } else { (added, gone) };
    let rescored = loaded.rescored(cases.iter().map(RescoredCase::rescored).collect(), added);
    let now = RunResults::new(&rescored, None, args.partial)
        .map_err(|error| CommandError::new(error.to_string(), "report the run: `cargo evalset report`"))?;
    let outcome = now.totals.outcome();
    let run = RescoredRun { now: &now, cases: &cases, left_out };
    match args.format {
        Format::Human => Ok(Answer::new(outcome, fitted(human::text(&run)))),
        Format::Json => {
            let cases = run.cases.iter().map(|case| Rescored {
                before: &case.test,
                is_scored: matches!(case.now, Now::Scored(_)),
                is_edited: case.is_edited,
                kept: &case.kept,
            });
            Answer::json(outcome, &Document::rescored(&now, cases))
        }
    }
}
