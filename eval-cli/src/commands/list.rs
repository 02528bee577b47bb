//! `cargo evalset list`: the cases of sets.

mod human;
mod listed;

use std::ffi::OsString;

use crate::edited::{open, select};
use crate::output::{Answer, CommandError, Format};
use listed::{ListedSet, Listing};

/// Lists the cases of eval sets: turns, tools, and which of them are drafts.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Sets: files, folders, globs in quotes, or ids of sets below this folder. `SET:case1,case2` selects cases.
    #[arg(value_name = "SET[:CASE,..]", required = true)]
    sets: Vec<OsString>,

    /// Lists drafts only.
    #[arg(long)]
    drafts: bool,

    /// The output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset list evals
  cargo evalset list evals --drafts
  cargo evalset list weather:sunny --format json

Exit codes:
  0  all sets are listed
  2  a set or a case does not exist, or a set has errors";

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    let mut listing = Listing { sets: Vec::new(), errors: Vec::new() };
    for set in select(&args.sets)? {
        match open(&set.path) {
            Ok(editor) => listing.sets.push(ListedSet::of(&set, &editor, args.drafts)),
            Err(error) => listing.errors.push(error),
        }
    }
    match args.format {
        Format::Human => Ok(Answer::new(listing.outcome(), human::text(&listing))),
        Format::Json => Answer::results("list", listing.outcome(), &listing),
    }
}
