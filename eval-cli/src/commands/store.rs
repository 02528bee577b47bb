//! `cargo evalset store`: runs, sets and results in object storage.

mod list;
mod push;
mod push_sets;
mod result;

use clap::Subcommand;

use crate::output::{Answer, CommandError};

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
    Push(push::Args),
    PushSets(push_sets::Args),
    List(list::Args),
    Result(result::Args),
}

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    match &args.action {
        Action::Push(args) => push::run(args),
        Action::PushSets(args) => push_sets::run(args),
        Action::List(args) => list::run(args),
        Action::Result(args) => result::run(args),
    }
}
