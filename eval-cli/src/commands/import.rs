//! `cargo evalset import`: drafts of cases from conversations that are stored.

mod replace;
mod source;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use eval_agents::draft::Draft;
use eval_agents::import::{self, Format as Stored, Import, Mapping};
use eval_support::untrusted::one_line;
use eval_support::words::count;

use crate::drafts::{Added, Destination};
use crate::output::{Answer, CommandError, Format};
use crate::recorded::{WhichRun, near};
use source::{refused, run_and_case};

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

/// The drafts of a source, and notes on conversations that were left out.
fn read(word: &OsStr, import: &Import) -> Result<(Vec<Draft>, Vec<String>), CommandError> {
    let path = Path::new(word);
    // A pipe or a device is refused there.
    if path.exists() && !path.is_dir() {
        let imported = import.clone().called(called(path)).read(path).map_err(|error| refused(&error))?;
        return Ok((imported.drafts, imported.left_out));
    }
    let text = word.to_string_lossy();
    if let Some((run, case)) = run_and_case(&text) {
        let loaded = WhichRun::named(run.map(str::to_owned)).load()?;
        let drafts = import::journal(&format!("run {}", loaded.name()), &loaded.run, case);
        return Ok((drafts.map_err(|error| refused(&error))?, Vec::new()));
    }
    if path.exists() && !path.is_dir() {
        // A device, say.
        crate::files::read(path)?;
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

/// The name of a file in drafts. A path outside the current folder is private, so only its file name is kept.
fn called(path: &Path) -> String {
    let near = near(path);
    let shown = if near.is_absolute() { near.file_name().map_or(near, Path::new) } else { near };
    shown.display().to_string()
}
