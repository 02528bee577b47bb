//! `cargo evalset migrate`: files in ADK's old forms as eval sets.

mod human;
mod migration;
mod source;

use std::fs;
use std::path::{Path, PathBuf};

use eval_format::conventions::file_stem;
use eval_format::reader::{CheckedSet, Form, check_session, check_set};
use eval_support::untrusted::one_line;

use crate::files::{modern, replace, sessions_in};
use crate::output::{Answer, CommandError, Format};
use migration::Migration;
use source::Source;

/// Writes an eval set from a file in one of ADK's old forms.
///
/// The result is that of ADK's own migration, in the form in which ADK saves eval sets. Ids that ADK draws at random are
/// derived from the content, so migrating twice gives the same result. The set is named after the new file. The case of
/// a test file is named after the old file, like its test.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The old file: a test file (`query`, `reference`, ..) or an old eval set (`name`, `data`, ..).
    old: PathBuf,

    /// The file to write.
    new: PathBuf,

    /// The initial session of an old test file.
    #[arg(long, value_name = "FILE")]
    session: Option<PathBuf>,

    /// Replaces an existing file.
    #[arg(long)]
    force: bool,

    /// The output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset migrate evals/trip.test.json evals/trip.evalset.json
  cargo evalset migrate trip.test.json trip.evalset.json --session trip.session.json

Exit codes:
  0  the new file was written
  1  the old file or the session file has errors
  2  a file cannot be read or written, or the new file exists already";

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    let old = Source::read(&args.old)?;
    let session = args.session.as_deref().map(Source::read).transpose()?;
    check_target(args)?;
    let named = session.as_ref().map(|session| (session.shown.as_str(), session.bytes.as_slice()));
    let checked = check_set(&old.shown, &old.bytes, named);
    let session = session.map(|session| (session.shown, check_session(&session.bytes, checked.form)));
    let migration = match &checked.set {
        None => Migration::refused(checked, session),
        Some(_) if checked.form == Form::EvalSet => {
            let help = "`cargo evalset fmt` writes it as ADK saves it";
            return Err(CommandError::new(format!("`{}` is an eval set already", checked.file), help));
        }
        Some(set) => {
            let set = modern(set, checked.form, file_stem(&args.new.to_string_lossy()));
            replace(&args.new, set.to_json()).map_err(|error| {
                let help = "name a file in an existing folder that this user may write to";
                CommandError::new(format!("cannot write `{}`: {error}", args.new.display()), help)
            })?;
            let unread = unread_session(args, &checked);
            Migration::written(&args.new, set.eval_cases.len(), checked, session, unread)
        }
    };
    match args.format {
        Format::Human => Ok(Answer::new(migration.outcome(), human::text(&migration, &args.new))),
        Format::Json => Answer::results("migrate", migration.outcome(), &migration),
    }
}

fn check_target(args: &Args) -> Result<(), CommandError> {
    let new = args.new.display();
    match fs::symlink_metadata(&args.new) {
        Ok(found) if found.is_dir() => {
            Err(CommandError::new(format!("`{new}` is a folder"), "name the file to write in it"))
        }
        Ok(_) if !args.force => Err(CommandError::new(
            format!("`{new}` exists already"),
            "name another file, or replace it with `--force`",
        )),
        _ => Ok(()),
    }
}

/// The session file beside an old test file, if none was named.
fn unread_session(args: &Args, checked: &CheckedSet) -> Option<String> {
    if args.session.is_some() || checked.form != Form::TestFile {
        return None;
    }
    let folder = args.old.parent().unwrap_or(Path::new(""));
    let session = sessions_in(folder).into_iter().next()?;
    Some(one_line(&folder.join(session).display().to_string()))
}
