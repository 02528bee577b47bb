//! `cargo evalset migrate`: files in ADK's old forms as eval sets.

use std::fs;
use std::path::{Path, PathBuf};

use eval_format::conventions::file_stem;
use eval_format::reader::{CheckedSession, CheckedSet, SetFormat, check_session, check_set};
use eval_support::untrusted::one_line;
use eval_support::words::count;
use serde::Serialize;

use crate::files::{self, FoundProblems, modern, read, replace, sessions_in, unwritten};
use crate::output::{Answer, BOLD, CommandError, Format, GOOD, Outcome, WARNING, styled};

/// Writes an eval set from a file in one of ADK's old forms.
///
/// The result equals ADK's own migration, in the form in which ADK saves eval sets. Ids that ADK draws at random are
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
    let (shown, bytes) = source(&args.old)?;
    let session = args.session.as_deref().map(source).transpose()?;
    check_target(args)?;
    let named = session.as_ref().map(|(shown, bytes)| (shown.as_str(), bytes.as_slice()));
    let checked = check_set(&shown, &bytes, named);
    let session = session.map(|(shown, bytes)| (shown, check_session(&bytes, checked.form)));
    let mut migration = Migration::default();
    if let Some(set) = &checked.set {
        if checked.form == SetFormat::EvalSet {
            let help = "`cargo evalset fmt` writes it as ADK saves it";
            return Err(CommandError::new(format!("`{}` is an eval set already", checked.file), help));
        }
        let set = modern(set, checked.form, file_stem(&args.new.to_string_lossy()));
        replace(&args.new, set.to_json())
            .map_err(|error| unwritten(&args.new.display().to_string(), &error))?;
        migration.written = Some(args.new.display().to_string());
        migration.cases = set.eval_cases.len();
        migration.unread_session = unread_session(args, &checked);
    }
    migration.add(checked, session);
    match args.format {
        Format::Human => Ok(Answer::new(migration.outcome(), text(&migration, &args.new))),
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
    if args.session.is_some() || checked.form != SetFormat::TestFile {
        return None;
    }
    let folder = args.old.parent().unwrap_or(Path::new(""));
    let session = sessions_in(folder).into_iter().next()?;
    Some(one_line(&folder.join(session).display().to_string()))
}

fn source(path: &Path) -> Result<(String, Vec<u8>), CommandError> {
    Ok((path.display().to_string(), read(path)?))
}

/// The result of a migration. Fields may be added to its JSON; no field is removed or changes its meaning.
#[derive(Debug, Default, Serialize)]
struct Migration {
    /// The new file; `None` if an old file has errors.
    written: Option<String>,
    cases: usize,
    /// The old files and their problems: errors, or parts that the new file cannot hold.
    files: Vec<OldFile>,
    #[serde(skip)]
    unread_session: Option<String>,
}

#[derive(Debug, Serialize)]
struct OldFile {
    #[serde(rename = "file")]
    shown: String,
    #[serde(rename = "problems")]
    found: FoundProblems,
}

impl Migration {
    /// Adds the old files with their problems or, if the new file was written, with what it cannot hold.
    fn add(&mut self, set: CheckedSet, session: Option<(String, CheckedSession)>) {
        let is_written = self.written.is_some();
        let problems = if is_written { set.unwritten() } else { set.problems };
        let set = (set.file, set.text, problems);
        let session = session.map(|(shown, it)| {
            let problems = if is_written { it.unwritten() } else { it.problems };
            (shown, it.text, problems)
        });
        let found = [Some(set), session].into_iter().flatten();
        let found = found.filter(|(_, _, problems)| !is_written || !problems.is_empty());
        self.files.extend(
            found.map(|(shown, text, problems)| OldFile { shown, found: FoundProblems { text, problems } }),
        );
    }

    fn outcome(&self) -> Outcome {
        if self.written.is_some() { Outcome::Passed } else { Outcome::Failed }
    }
}

fn text(migration: &Migration, new: &Path) -> String {
    let mut text = String::new();
    text.extend(migration.files.iter().map(|file| files::shown(&file.shown, &file.found)));
    let new = one_line(&new.display().to_string());
    if migration.written.is_none() {
        return text + &format!("`{new}` was not written\n");
    }
    text.push_str(&format!("{} `{new}`: {}", styled(GOOD, "wrote"), count(migration.cases, "case")));
    let lost: usize = migration.files.iter().map(|file| file.found.problems.len()).sum();
    if lost > 0 {
        text.push_str(&format!(", {}", styled(WARNING, &format!("{} lost", count(lost, "thing")))));
    }
    text.push('\n');
    if let Some(session) = &migration.unread_session {
        let note = styled(BOLD, "note");
        text.push_str(&format!("{note}: `{session}` was not read; name it with `--session` to include it\n"));
    }
    text
}
