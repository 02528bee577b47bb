//! `cargo evalset store`: runs, sets and results in object storage.

mod push_sets;

use clap::Subcommand;
use eval_support::untrusted::one_line;
use eval_support::words::count;
use serde_json::json;

use crate::output::{Answer, CommandError, Format, Outcome};
use crate::recorded::run_folder;
use crate::store::{
    App, CaseOutcome, StoreArg, StoredResult, StoredRun, apps, push, read_result, runs, runtime,
};

/// Stores runs and sets in a bucket or a folder, and shows what is there.
///
/// A store is `gs://BUCKET/PREFIX`, `s3://BUCKET/PREFIX` or `file:///FOLDER`. `run`, `report` and `serve` take one with
/// `--store`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset store push gs://my-evals
  cargo evalset store push-sets gs://my-evals evals --app weather
  cargo evalset store list gs://my-evals";

#[derive(Debug, Subcommand)]
enum Action {
    Push(PushArgs),
    PushSets(push_sets::Args),
    List(ListArgs),
    Result(ResultArgs),
}

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    match &args.action {
        Action::Push(args) => store_run(args),
        Action::PushSets(args) => push_sets::run(args),
        Action::List(args) => list(args),
        Action::Result(args) => result(args),
    }
}

/// Stores the journals of a run: the last run, unless another is named.
///
/// Machines that share the id of a run (`EVALSET_RUN_ID`) store into one run. Stored journals are not stored again.
/// No reader sees a part of an upload: it counts when all of it is there.
#[derive(Debug, clap::Args)]
#[command(after_help = PUSH_HELP)]
struct PushArgs {
    /// The store.
    #[arg(value_name = "URL")]
    store: StoreArg,

    /// The id or the folder of the run. Without it, the last run is meant.
    #[arg(value_name = "RUN")]
    run: Option<String>,
}

const PUSH_HELP: &str = "\
Examples:
  cargo evalset store push gs://my-evals
  cargo evalset store push s3://my-evals/nightly 2026-11-22T02-31-07-1a2b3c4d

Exit codes:
  0  the run is stored
  2  it is not, or there is no run";

fn store_run(args: &PushArgs) -> Result<Answer, CommandError> {
    let folder = run_folder(args.run.as_deref())?;
    let store = args.store.open()?;
    let pushed = runtime()?.block_on(push(&store, &folder))?;
    let id = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = match pushed.journals {
        0 => format!("the run {id} is in {} already\n", store.shown()),
        number => format!("stored the run {id} ({}) in {}\n", count(number, "journal"), store.shown()),
    };
    Ok(Answer::new(Outcome::Passed, text))
}

/// Lists what a store holds: runs, the last one first, and of each app ADK's sets and results.
#[derive(Debug, clap::Args)]
#[command(after_help = LIST_HELP)]
struct ListArgs {
    /// The store.
    #[arg(value_name = "URL")]
    store: StoreArg,

    /// The output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const LIST_HELP: &str = "\
Examples:
  cargo evalset store list gs://my-evals

Exit codes:
  0  it is listed
  2  the store cannot be read";

fn list(args: &ListArgs) -> Result<Answer, CommandError> {
    let store = args.store.open_to_read()?;
    let (runs, apps) = runtime()?.block_on(async {
        store.check().await?;
        Ok::<_, CommandError>((runs(&store).await?, apps(&store).await?))
    })?;
    match args.format {
        Format::Human => Ok(Answer::new(Outcome::Passed, list_text(&store.shown(), &runs, &apps))),
        Format::Json => {
            let run = |run: &StoredRun| json!({ "id": run.id, "uploads": run.uploads, "unfinished_uploads": run.began });
            let app = |app: &App| json!({ "app": app.name, "sets": app.sets, "results": app.results });
            let document = json!({
                "store": store.shown(),
                "runs": runs.iter().map(run).collect::<Vec<_>>(),
                "apps": apps.iter().map(app).collect::<Vec<_>>(),
            });
            Answer::json(Outcome::Passed, &document)
        }
    }
}

fn list_text(store: &str, runs: &[StoredRun], apps: &[App]) -> String {
    let mut text = format!("{store}: {}\n", count(runs.len(), "run"));
    for run in runs {
        let began = match run.began.len() {
            0 => String::new(),
            number => format!(", {} that have not ended", count(number, "upload")),
        };
        let uploads = count(run.uploads.len(), "upload");
        text.push_str(&format!("  {}  stored {} ({uploads}{began})\n", run.id, run.stored_at()));
    }
    for app in apps {
        text.push_str(&format!("app {}\n", one_line(&app.name)));
        for (what, ids) in [("set   ", &app.sets), ("result", &app.results)] {
            text.extend(ids.iter().map(|id| format!("  {what}  {}\n", one_line(id))));
        }
    }
    text
}

/// Shows a result of ADK's that a store holds, whether google-adk or this command stored it.
#[derive(Debug, clap::Args)]
#[command(after_help = RESULT_HELP)]
struct ResultArgs {
    /// The store.
    #[arg(value_name = "URL")]
    store: StoreArg,

    /// The app and the id of the result, as `store list` shows them.
    #[arg(value_name = "APP/RESULT")]
    result: String,
}

const RESULT_HELP: &str = "\
Examples:
  cargo evalset store result gs://my-evals weather/weather_trip_1795390267.04

Exit codes:
  0  every case passed
  1  a case failed
  2  a case was not evaluated, there is none, or there is no such result";

fn result(args: &ResultArgs) -> Result<Answer, CommandError> {
    let Some((app, id)) = args.result.split_once('/') else {
        let message = format!("`{}` does not name the app of the result", one_line(&args.result));
        return Err(CommandError::new(message, "write `APP/RESULT`; `cargo evalset store list` shows both"));
    };
    let store = args.store.open_to_read()?;
    let result = runtime()?.block_on(read_result(&store, app, id))?;
    Ok(Answer::new(outcome(&result), result_text(&result)))
}

fn outcome(result: &StoredResult) -> Outcome {
    let outcome = |outcome| match outcome {
        CaseOutcome::Passed => Outcome::Passed,
        CaseOutcome::Failed => Outcome::Failed,
        CaseOutcome::NotEvaluated | CaseOutcome::Informational => Outcome::Unmeasurable,
    };
    // No case is no success.
    result.cases.iter().map(|case| outcome(case.outcome)).max().unwrap_or(Outcome::Unmeasurable)
}

fn result_text(result: &StoredResult) -> String {
    let mut text = format!("Result {} of the set {}\n", one_line(&result.id), one_line(&result.eval_set_id));
    for case in &result.cases {
        text.push_str(&format!("  {:<13}  {}\n", case.outcome.name(), one_line(&case.eval_id)));
        for (name, score, outcome) in &case.metrics {
            let score = score.map_or_else(|| "no score".to_owned(), |score| score.to_string());
            text.push_str(&format!("                   {} {score} ({})\n", one_line(name), outcome.name()));
        }
    }
    let passed = result.cases.iter().filter(|case| case.outcome == CaseOutcome::Passed).count();
    text.push_str(&format!("{passed} of {} passed\n", count(result.cases.len(), "case")));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::parse_result;

    #[test]
    fn a_result_passes_only_if_it_has_cases_and_each_of_them_passed() {
        for (statuses, expected) in [
            (&[1][..], Outcome::Passed),
            (&[1, 1], Outcome::Passed),
            (&[1, 2], Outcome::Failed),
            (&[2, 3, 1], Outcome::Unmeasurable),
            (&[], Outcome::Unmeasurable),
        ] {
            let cases: Vec<_> = statuses
                .iter()
                .map(|status| {
                    serde_json::json!({ "eval_id": "c", "final_eval_status": status, "overall_eval_metric_results": [] })
                })
                .collect();
            let result = serde_json::json!({ "eval_set_result_id": "r", "eval_set_id": "s", "eval_case_results": cases });
            assert_eq!(
                outcome(&parse_result(result.to_string().as_bytes()).unwrap()),
                expected,
                "{statuses:?}"
            );
        }
    }
}
