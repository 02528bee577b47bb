//! `cargo evalset import`: drafts of cases from conversations that are stored.

mod replace;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use eval_agents::draft::Draft;
use eval_agents::import::{self, Format as Stored, Import, ImportError, Mapping};
use eval_support::untrusted::one_line;
use eval_support::words::count;

use crate::drafts::{Added, Destination};
use crate::output::{Answer, CommandError, Format};
use crate::recorded::{WhichRun, near};

/// Adds drafts of cases to a set, made of conversations that are stored.
///
/// The content of a file tells its format: a session of ADK as JSON, a database of ADK's sessions, an eval set of another
/// tool, stored traces, a table of questions and answers. `RUN:CASE` is a case of a recorded run: its conversation becomes
/// a new case. Secrets are masked, equal conversations are dropped, and arguments that probably differ next time are
/// pointed out. Tests refuse a draft until `accept` takes its mark away.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// Files, or `RUN:CASE`. The run is an id or a folder; without it, the last run is meant: `:CASE`.
    #[arg(value_name = "FROM", required = true)]
    from: Vec<OsString>,

    /// The set. A file that does not exist is made.
    #[arg(short, long, value_name = "SET", required_unless_present = "replace")]
    output: Option<PathBuf>,

    /// Puts what the agent did in place of the golden that it ran, as a draft. The case keeps its id, its session, its
    /// rubrics, its comments and what the user says.
    #[arg(long, conflicts_with_all = ["output", "case", "session", "map", "from_format"])]
    replace: bool,

    /// The id of the case, if there is one. It is derived from what the user says otherwise.
    #[arg(long, value_name = "ID")]
    case: Option<String>,

    /// Takes the session with this id alone, and others that are named so.
    #[arg(long, value_name = "ID")]
    session: Vec<String>,

    /// The roles of a table's columns: `user`, `final`, `tools`, `id` or `conversation`.
    #[arg(long, value_name = "COLUMN=ROLE,..")]
    map: Option<Mapping>,

    /// The format of the files, whatever they look like.
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    from_format: Option<Stored>,

    /// Writes nothing, and shows what would be written.
    #[arg(long)]
    dry_run: bool,

    /// The output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset import session.json -o evals/weather.evalset.json
  cargo evalset import sessions.db --session s-17 -o evals/weather.evalset.json --case refund
  cargo evalset import faq.csv --map question=user,answer=final -o evals/faq.evalset.json --dry-run
  cargo evalset import traces.json -o evals/weather.evalset.json
  cargo evalset import :weather::sunny -o evals/weather.evalset.json
  cargo evalset import 2026-11-22T02-31-07-1a2b3c4d:weather::sunny --replace

Exit codes:
  0  each source was read; the drafts were added, or the set has their conversations already
  2  a source or the set cannot be read or written, a source holds no conversation, or a run cannot take the place of its
     golden; nothing was written";

/// The names of the formats, for the help.
fn formats() -> impl TypedValueParser<Value = Stored> {
    PossibleValuesParser::new(Stored::ALL.map(Stored::name)).try_map(|name| name.parse::<Stored>())
}

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    let Some(output) = &args.output else { return replace::run(&args.from, args.dry_run, args.format) };
    let destination = Destination::new(output)?;
    let mut import = Import::new();
    if let Some(format) = args.from_format {
        import = import.format(format);
    }
    if let Some(mapping) = &args.map {
        import = import.mapping(mapping.clone());
    }
    import = args.session.iter().fold(import, Import::session);
    let (mut drafts, mut left_out) = (Vec::new(), Vec::new());
    for from in &args.from {
        let (found, not_found) = read(from, &import)?;
        drafts.extend(found);
        // With several sources, each note names its source.
        let named =
            |what| if args.from.len() > 1 { format!("`{}`: {what}", from.to_string_lossy()) } else { what };
        left_out.extend(not_found.into_iter().map(named));
    }
    if let Some(id) = &args.case {
        match drafts.as_mut_slice() {
            [draft] => draft.case.eval_id.clone_from(id),
            all => {
                return Err(CommandError::new(
                    format!("`--case` names one case, and there are {}", count(all.len(), "conversation")),
                    "leave it out, or choose a session with `--session`; `rename-case` changes ids later",
                ));
            }
        }
    }
    let written = if args.dry_run { destination.preview(drafts)? } else { destination.add(drafts)? };
    let added = Added {
        command: "import",
        destination: &destination,
        drafts: &written.new.drafts,
        equal: written.new.equal,
        left_out: &left_out,
        failures: &[],
        preview: args.dry_run.then_some(&written),
    };
    added.answer(args.format)
}

fn refused(error: &ImportError) -> CommandError {
    if let ImportError::OldDatabase { from, migrate, .. } = error {
        return CommandError::new(
            format!("`{from}` has the schema of an earlier ADK, whose events only Python can read"),
            format!("make a new database of it with ADK's own command, then import that: `{migrate}`"),
        );
    }
    let help = match error {
        ImportError::Io { .. } => "give this user permission to read it, or name another file",
        ImportError::TooLarge { .. } => "split it, or import a part of it",
        ImportError::Unknown { .. } => "name its format with `--from-format`, if it is one of these",
        ImportError::Mapping { .. } => "`--map COLUMN=user,COLUMN=final` says what the columns hold",
        ImportError::Missing { .. } => "name one that is there",
        ImportError::Nothing { .. } => "a conversation begins with a message of the user",
        ImportError::NotCompiled { .. } => "install `cargo-evalset` with its default features",
        _ => "mend the file, or name its format with `--from-format`",
    };
    CommandError::new(one_line(&error.to_string()), help)
}

/// The drafts of a source, and notes on conversations that were left out.
fn read(word: &OsStr, import: &Import) -> Result<(Vec<Draft>, Vec<String>), CommandError> {
    let path = Path::new(word);
    if path.is_file() {
        let imported = import.clone().called(called(path)).read(path).map_err(|error| refused(&error))?;
        return Ok((imported.drafts, imported.left_out));
    }
    let text = word.to_string_lossy();
    if let Some((run, case)) = run_and_case(&text) {
        let loaded = WhichRun::named(run.map(str::to_owned)).load()?;
        let drafts = import::journal(&format!("run {}", loaded.name()), &loaded.run, case);
        return Ok((drafts.map_err(|error| refused(&error))?, Vec::new()));
    }
    let shown = one_line(&text);
    Err(if path.is_dir() {
        let help = format!("name files, or a case of a recorded run: `{shown}:CASE`");
        CommandError::new(format!("`{shown}` is a folder"), help)
    } else {
        CommandError::new(
            format!("there is no file `{shown}`"),
            "name a file, or a case of a recorded run: `RUN:CASE`, or `:CASE` for the last run",
        )
    })
}

/// The run and the case of `RUN:CASE`. The name of a test may have colons, and so may the path of a folder on Windows.
fn run_and_case(text: &str) -> Option<(Option<&str>, &str)> {
    let colons = || text.match_indices(':').map(|(at, _)| (&text[..at], &text[at + 1..]));
    let of_folder = colons().filter(|(run, _)| !run.is_empty()).find(|(run, _)| Path::new(run).is_dir());
    let (run, case) = of_folder.or_else(|| colons().next())?;
    (!case.is_empty()).then_some((Some(run).filter(|run| !run.is_empty()), case))
}

/// The name of a file in drafts. A path outside the current folder is private, so only its file name is kept.
fn called(path: &Path) -> String {
    let near = near(path);
    let shown = if near.is_absolute() { near.file_name().map_or(near, Path::new) } else { near };
    shown.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_and_a_case_are_told_apart_at_the_first_colon() {
        for (text, expected) in [
            ("2026:sunny", Some((Some("2026"), "sunny"))),
            (":weather::sunny", Some((None, "weather::sunny"))),
            ("2026:weather::sunny", Some((Some("2026"), "weather::sunny"))),
            ("session.json", None),
            ("2026:", None),
        ] {
            assert_eq!(run_and_case(text), expected, "{text}");
        }
    }
}
