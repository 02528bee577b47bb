//! `cargo evalset store list`: the content of a store.

use eval_support::untrusted::one_line;
use eval_support::words::count;
use serde_json::json;

use crate::output::{Answer, CommandError, Format, Outcome};
use crate::store::{App, StoreArg, StoredRun, apps, runs, runtime};

/// Lists what a store holds: runs, the last one first, and of each app ADK's sets and results.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Args {
    /// The store.
    #[arg(value_name = "URL")]
    store: StoreArg,

    /// The output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset store list gs://my-evals

Exit codes:
  0  it is listed
  2  the store cannot be read";

pub(super) fn run(args: &Args) -> Result<Answer, CommandError> {
    let store = args.store.open_to_read()?;
    let (runs, apps) = runtime()?.block_on(async {
        store.check().await?;
        Ok::<_, CommandError>((runs(&store).await?, apps(&store).await?))
    })?;
    match args.format {
        Format::Human => Ok(Answer::new(Outcome::Passed, text(&store.shown(), &runs, &apps))),
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

fn text(store: &str, runs: &[StoredRun], apps: &[App]) -> String {
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
            for id in ids {
                text.push_str(&format!("  {what}  {}\n", one_line(id)));
            }
        }
    }
    text
}
