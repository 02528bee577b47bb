//! `cargo evalset create`: an eval set without cases.

use std::io::ErrorKind;
use std::path::PathBuf;

use eval_format::SetEditor;
use eval_format::conventions::file_stem;
use eval_support::command;
use eval_support::shell;
use eval_support::untrusted::one_line;

use crate::files::{check_set_name, create, unwritten};
use crate::output::{Answer, CommandError, GOOD, Outcome, styled};

/// Writes an eval set without cases, as `adk eval_set create` does. `add-case` adds cases to it.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The file to write. No existing file is replaced.
    #[arg(value_name = "SET")]
    set: PathBuf,

    /// The id of the set. Without it, the name of the file without its suffix, by which ADK finds the set.
    #[arg(long)]
    id: Option<String>,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset create evals/weather.evalset.json
  cargo evalset create evals/weather.evalset.json --id weather-2026

Exit codes:
  0  the file was written
  2  the file exists already, or cannot be written";

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    let shown = one_line(&args.set.display().to_string());
    check_set_name(&args.set, |near| format!("`cargo evalset create {near}`"))?;
    let id = args.id.clone().unwrap_or_else(|| file_stem(&args.set.to_string_lossy()).to_owned());
    create(&args.set, SetEditor::create(id).into_text()).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => CommandError::new(
            format!("`{shown}` exists already"),
            "`cargo evalset add-case` adds cases to it; remove it if it is to be made anew",
        ),
        ErrorKind::NotFound => {
            CommandError::new(format!("the folder of `{shown}` does not exist"), "make the folder first")
        }
        _ => unwritten(&shown, &error),
    })?;
    let next = shell::word(&args.set.display().to_string());
    let text = format!(
        "{} `{shown}`: a set without cases\nadd some with `{} add-case {} FILE`: tests refuse a set without cases\n",
        styled(GOOD, "wrote"),
        command::name(),
        one_line(&next),
    );
    Ok(Answer::new(Outcome::Passed, text))
}
