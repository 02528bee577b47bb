//! `cargo evalset review`: failing cases whose new behaviour was the same in every run, and drafts, one by one.

mod accepted;
mod again;
mod console;
mod editing;
mod entries;
mod list;
mod other_keys;
mod parts;
mod record;
mod review_loop;
mod screen;
mod whole_set;

use std::ffi::OsString;
use std::io::{self, IsTerminal};

use eval_support::untrusted::one_line;
use eval_support::variables::is_ci;

use crate::edited::select;
use crate::output::{Answer, CommandError, Format, Outcome, notice};
use crate::recorded::{LoadedRun, WhichRun, doubts_about_build};
use crate::review::Queue;
use crate::sides::{last_run, not_complete, why_incomplete};

/// Reviews what failed: shows each failing case whose new behaviour was the same in every run, and each draft, with the bytes that
/// a choice changes, and writes what you accept into the set.
///
/// It needs a terminal. Scripts and agents list the choices, and accept one by its name and the hash of what was shown.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Sets, or cases with their set: files, folders, globs in quotes, or ids of sets below this folder. Without any, the sets of
    /// the run.
    #[arg(value_name = "SET[:CASE,..]")]
    sets: Vec<OsString>,

    /// The id or the folder of the run. Without it, the last run of this package or workspace is meant.
    #[arg(long, value_name = "RUN")]
    run: Option<String>,

    /// Lists the choices and changes nothing.
    #[arg(long, conflicts_with = "accept")]
    list: bool,

    /// Accepts a choice of the list, if what it changes is what was shown: its hash is the same.
    #[arg(long, value_name = "SET:CASE@HASH")]
    accept: Vec<String>,

    /// The output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset review                                   # on a terminal: what failed in the last run, and drafts
  cargo evalset review desk:refund
  cargo evalset review --list --format json
  cargo evalset review --accept 'evals/desk.evalset.json:refund:1@5a3e9d0c11f2b746'

Keys:
  a r s  accept, reject, skip one       A R S  the rest of this set, after a list and a `yes`
  t      turns, calls and arguments     m      loosen: a rule in `_expect` of the case
  e      edit the case in $EDITOR       u      undo the last write
  d      the whole record               x      run the case 5 times more
  ?      the keys                       q      quit: what is written stays
  Enter and Esc do nothing.

Exit codes:
  0  the queue was reviewed or listed, or the choices were accepted
  2  there is no terminal, or CI; a choice is not as it was shown; a run is doubtful and not named; a set or a run does not exist";

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    let sets = if args.sets.is_empty() { None } else { Some(select(&args.sets)?) };
    if !args.list && args.accept.is_empty() && (args.format == Format::Json || !is_interactive()) {
        return Err(no_terminal());
    }
    let named = |name: &String| WhichRun::named(Some(name.clone())).load();
    let loaded = match args.run.as_ref().map_or_else(last_run, named) {
        Ok(loaded) => {
            refuse_doubts(&loaded)?;
            Some(loaded)
        }
        // Drafts need no run.
        Err(error) if args.run.is_some() || sets.is_none() => return Err(error),
        Err(error) => {
            notice(&format!("no run is reviewed, only drafts: {}", error.message));
            None
        }
    };
    let mut queue = Queue::new(loaded.as_ref(), sets.as_deref())?;
    if let Some(loaded) = &loaded {
        for path in &queue.did_not_run {
            notice(&format!("`{}` did not run in {}", one_line(&path.display().to_string()), loaded.name()));
        }
    }
    let incomplete = loaded.as_ref().map_or(Ok(Vec::new()), |loaded| why_incomplete(loaded, false))?;
    for why in &incomplete {
        notice(&format!("the run {}", not_complete(why)));
    }
    if !args.accept.is_empty() {
        return accepted::accept(&queue, &args.accept, args.format);
    }
    if args.list {
        return list::answer(&queue, loaded.as_ref(), &incomplete, args.format);
    }
    let summary = entries::review(&mut queue, loaded.as_ref())?;
    Ok(Answer::new(Outcome::Passed, summary))
}

/// Whether a person can answer: not in CI, and on a terminal that can show keys.
fn is_interactive() -> bool {
    !is_ci()
        && io::stdin().is_terminal()
        && io::stderr().is_terminal()
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

fn no_terminal() -> CommandError {
    let why = match () {
        () if is_ci() => "`review` asks a person, and `CI` is set: in a job no person answers",
        () if std::env::var_os("TERM").is_some_and(|term| term == "dumb") => {
            "`review` asks a person on a terminal that shows keys, and `TERM` is `dumb`"
        }
        () => "`review` asks a person on a terminal, and there is none here",
    };
    CommandError::new(
        why,
        "list the choices: `cargo evalset review --list`; accept one by its hash: `cargo evalset review --accept SET:CASE@HASH`",
    )
}

/// Refuses a run that may be of another build or another job, unless it is named.
fn refuse_doubts(loaded: &LoadedRun) -> Result<(), CommandError> {
    match doubts_about_build(loaded).first() {
        None => Ok(()),
        Some(doubt) => {
            let help = format!(
                "run the cases again; or if this run is meant, name it: `cargo evalset review --run {}`",
                loaded.name()
            );
            Err(CommandError::new(format!("run {}: {doubt}", loaded.name()), help))
        }
    }
}
