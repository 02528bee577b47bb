//! `cargo evalset migrate`: the forms that ADK had before eval sets, as eval sets.

use std::fs;
use std::path::{Path, PathBuf};

use eval_format::{CheckedSession, CheckedSet, Form, Problem, check_session, check_set, file_stem};
use serde::Serialize;

use crate::answer::{Answer, Format, Outcome, Refusal};
use crate::input::sessions_in;
use crate::modern::modern;
use crate::problem_json::{self, ProblemEntry};
use crate::replace::replace;
use crate::show::{self, BOLD, GOOD, WARNING, one_line, styled};
use crate::words::count;

/// Writes an eval set from a file in one of the forms that ADK had before.
///
/// The result is that of ADK's own migration, in the form in which ADK saves eval sets. Ids that ADK draws at random are
/// derived from the content, so that migrating twice gives the same; the set is called after the new file, and the case
/// of a test file after the old one, as its test is.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The file as it is: an old test file (`query`, `reference`, ..) or an old eval set (`name`, `data`, ..).
    old: PathBuf,

    /// The file to write.
    new: PathBuf,

    /// The initial session of an old test file.
    #[arg(long, value_name = "FILE")]
    session: Option<PathBuf>,

    /// Writes over a file that is there.
    #[arg(long)]
    force: bool,

    /// For whom to print.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset migrate evals/trip.test.json evals/trip.evalset.json
  cargo evalset migrate evals/trip.test.json evals/trip.evalset.json --session evals/trip.session.json

Exit codes:
  0  written
  1  the old file or the session file has errors
  2  a file cannot be read or written, or the new one is there already";

pub(crate) fn run(args: &Args) -> Result<Answer, Refusal> {
    let old = Source::read(&args.old)?;
    let session = args.session.as_deref().map(Source::read).transpose()?;
    refuse_target(args)?;
    let named = session.as_ref().map(|session| (session.shown.as_str(), session.bytes.as_slice()));
    let checked = check_set(&old.shown, &old.bytes, named);
    let session = session.map(|session| (session.shown, check_session(&session.bytes, checked.form)));
    let Some(set) = modern(&checked, file_stem(&args.new.to_string_lossy())) else {
        return Migration::refused(checked, session).answer(args);
    };
    if checked.form == Form::EvalSet {
        let help = "`cargo evalset fmt` writes it as ADK saves it";
        return Err(Refusal::new(format!("`{}` is an eval set already", checked.file), help));
    }
    let text = set.to_json();
    replace(&args.new, &text).map_err(|error| {
        let help = "name a file in a folder that is there and that this user may write to";
        Refusal::new(format!("cannot write `{}`: {error}", args.new.display()), help)
    })?;
    let cases = set.eval_cases.len();
    Migration { cases: Some(cases), files: lost(&checked, session), hint: unread_session(args, &checked) }
        .answer(args)
}

struct Source {
    shown: String,
    bytes: Vec<u8>,
}

impl Source {
    fn read(path: &Path) -> Result<Self, Refusal> {
        let shown = path.display().to_string();
        match fs::read(path) {
            Ok(bytes) => Ok(Self { shown, bytes }),
            Err(error) => {
                let help = "name a file that is there and that this user may read";
                Err(Refusal::new(format!("cannot read `{shown}`: {error}"), help))
            }
        }
    }
}

fn refuse_target(args: &Args) -> Result<(), Refusal> {
    let new = args.new.display();
    match fs::symlink_metadata(&args.new) {
        Ok(found) if found.is_dir() => {
            Err(Refusal::new(format!("`{new}` is a folder"), "name the file to write in it"))
        }
        Ok(_) if !args.force => Err(Refusal::new(
            format!("`{new}` is there already"),
            "name another file, or write over it with `--force`",
        )),
        _ => Ok(()),
    }
}

/// What came of it.
#[derive(Debug)]
struct Migration {
    /// How many cases were written, if any were.
    cases: Option<usize>,
    files: Vec<Found>,
    /// A session file that stands beside the old one and was not named.
    hint: Option<String>,
}

/// What was found in one of the files.
#[derive(Debug)]
struct Found {
    shown: String,
    text: String,
    problems: Vec<Problem>,
}

impl Migration {
    fn refused(checked: CheckedSet, session: Option<(String, CheckedSession)>) -> Self {
        let mut files = vec![Found { shown: checked.file, text: checked.text, problems: checked.problems }];
        files.extend(session.map(|(shown, session)| Found {
            shown,
            text: session.text,
            problems: session.problems,
        }));
        Self { cases: None, files, hint: None }
    }

    fn outcome(&self) -> Outcome {
        if self.cases.is_some() { Outcome::Passed } else { Outcome::Failed }
    }

    fn answer(&self, args: &Args) -> Result<Answer, Refusal> {
        match args.format {
            Format::Human => Ok(Answer { outcome: self.outcome(), text: self.text(&args.new) }),
            Format::Json => Answer::json(self.outcome(), &self.document(&args.new)),
        }
    }

    fn text(&self, new: &Path) -> String {
        let mut text = String::new();
        for file in &self.files {
            text.push_str(&show::problems(&file.shown, &file.text, file.problems.iter()));
        }
        let new = one_line(&new.display().to_string());
        let Some(cases) = self.cases else {
            return text + &format!("`{new}` was not written\n");
        };
        text.push_str(&format!("{} `{new}`: {}", styled(GOOD, "wrote"), count(cases, "case")));
        let lost: usize = self.files.iter().map(|file| file.problems.len()).sum();
        if lost > 0 {
            text.push_str(&format!(
                ", {}",
                styled(WARNING, &format!("{} left behind", count(lost, "thing")))
            ));
        }
        text.push('\n');
        if let Some(session) = &self.hint {
            let note = styled(BOLD, "note");
            text.push_str(&format!("{note}: `{session}` was not read; `--session` takes it along\n"));
        }
        text
    }

    fn document(&self, new: &Path) -> Document {
        let entry = |file: &Found| Entry {
            file: file.shown.clone(),
            problems: problem_json::entries(&file.text, &file.problems),
        };
        Document {
            command: "migrate",
            outcome: self.outcome(),
            written: self.cases.map(|_| new.display().to_string()),
            cases: self.cases.unwrap_or_default(),
            files: self.files.iter().map(entry).collect(),
        }
    }
}

/// What the old files say and the new one does not.
fn lost(checked: &CheckedSet, session: Option<(String, CheckedSession)>) -> Vec<Found> {
    let set =
        Found { shown: checked.file.clone(), text: checked.text.clone(), problems: checked.unwritten() };
    let session = session.map(|(shown, session)| {
        let problems = session.unwritten();
        Found { shown, text: session.text, problems }
    });
    [Some(set), session].into_iter().flatten().filter(|file| !file.problems.is_empty()).collect()
}

fn unread_session(args: &Args, checked: &CheckedSet) -> Option<String> {
    if args.session.is_some() || checked.form != Form::TestFile {
        return None;
    }
    let folder = args.old.parent().unwrap_or(Path::new(""));
    let session = sessions_in(folder).into_iter().next()?;
    Some(one_line(&folder.join(session).display().to_string()))
}

#[derive(Debug, Serialize)]
struct Document {
    command: &'static str,
    outcome: Outcome,
    /// The new file; none where the old one has errors.
    written: Option<String>,
    cases: usize,
    /// The files that have errors, or that say more than the new one does.
    files: Vec<Entry>,
}

#[derive(Debug, Serialize)]
struct Entry {
    file: String,
    problems: Vec<ProblemEntry>,
}
