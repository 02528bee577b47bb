//! `cargo evalset store push-sets`: sets, as ADK's manager lays them out.

use std::ffi::OsString;

use eval_format::EvalSet;
use eval_format::reader::check_set;
use eval_support::untrusted::one_line;
use eval_support::words::count;

use crate::edited::select;
use crate::files::{has, read};
use crate::output::{Answer, CommandError, Outcome};
use crate::store::{PutSet, Store, StoreArg, put_set, runtime};

/// Stores sets where google-adk's `GcsEvalSetsManager` reads them: `APP/evals/eval_sets/ID.evalset.json`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Args {
    /// The store.
    #[arg(value_name = "URL")]
    store: StoreArg,

    /// Sets: files, folders, globs in quotes, or ids of sets below this folder.
    #[arg(value_name = "SET", required = true)]
    sets: Vec<OsString>,

    /// The app. Without it, the app that all cases of the set name in `session_input.app_name`.
    #[arg(long, value_name = "NAME")]
    app: Option<String>,

    /// Replaces sets that are there and differ.
    #[arg(long)]
    replace: bool,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset store push-sets gs://my-evals evals --app weather

Exit codes:
  0  all sets are stored
  2  one is not: it has errors, has no app, or differs from the one that is there; those before it are stored";

pub(super) fn run(args: &Args) -> Result<Answer, CommandError> {
    let mut sets = Vec::new();
    for selected in select(&args.sets)? {
        let name = selected.path.display().to_string();
        let bytes = read(&selected.path)?;
        let checked = check_set(&name, &bytes, None);
        let set = checked.set.ok_or_else(|| has(&name, "errors"))?;
        let app = match &args.app {
            Some(app) => app.clone(),
            None => app_of(&set).ok_or_else(|| {
                let why = "does not say of which app it is: its cases name none, or several";
                CommandError::new(format!("`{}` {why}", one_line(&name)), "name the app: `--app NAME`")
            })?,
        };
        // As ADK writes sets: its managers read neither older forms nor our comments.
        let text = format!("{:#}", set.to_value());
        sets.push((name, app, set.eval_set_id, text));
    }
    let store = args.store.open()?;
    let text = runtime()?.block_on(put_all(&store, &sets, args.replace))?;
    Ok(Answer::new(Outcome::Passed, text))
}

async fn put_all(
    store: &Store,
    sets: &[(String, String, String, String)],
    may_replace: bool,
) -> Result<String, CommandError> {
    let mut there = 0;
    for (name, app, id, text) in sets {
        let put = put_set(store, app, id, text.as_bytes(), may_replace).await.map_err(|error| {
            CommandError::new(format!("`{}`: {}", one_line(name), error.message), error.help)
        })?;
        there += usize::from(put == PutSet::Same);
    }
    let stored = sets.len() - there;
    let same = if there == 0 { String::new() } else { format!("; {there} were there already") };
    Ok(format!("stored {} in {}{same}\n", count(stored, "set"), store.shown()))
}

/// The app that all cases name.
fn app_of(set: &EvalSet) -> Option<String> {
    let mut names =
        set.eval_cases.iter().map(|case| case.session_input.as_ref().map(|input| &input.app_name));
    let first = names.next()??;
    (!first.is_empty() && names.all(|name| name == Some(first))).then(|| first.clone())
}
