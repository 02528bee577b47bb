//! `cargo evalset add-case`: adds cases to a set.

mod source;

use std::ffi::OsString;
use std::path::PathBuf;

use eval_format::{EvalCase, Map, SetEditor, Value};
use eval_support::untrusted::one_line;
use eval_support::words::{count, short_code_list};

use crate::edited::{Change, changed, edit, one_set, refused};
use crate::output::{Answer, CommandError, Format};
use source::Source;

/// Adds cases to an eval set, behind those that it has. Every other byte of the file stays.
///
/// The file holds an eval case as JSON, an array of cases, another eval set, or scenarios as `adk eval_set add_eval_case`
/// takes them: `{"scenarios": [{"starting_prompt": .., "conversation_plan": ..}]}`. A new case is indented and spelt as the
/// cases that are there.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The set: a file, or the id of a set below this folder.
    #[arg(value_name = "SET")]
    set: OsString,

    /// The file with the cases; `-` is standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// The id of the case, in place of the one in the file.
    #[arg(long)]
    id: Option<String>,

    /// A file with a session input, for the cases that have none: `{"app_name": .., "user_id": .., "state": {}}`.
    #[arg(long, value_name = "FILE")]
    session_input: Option<PathBuf>,

    /// Marks the cases as drafts. Tests refuse them until `accept` takes the mark away.
    #[arg(long)]
    draft: bool,

    /// The output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset add-case weather case.json
  cargo evalset add-case evals/weather.evalset.json - --draft < case.json
  cargo evalset add-case trip scenarios.json --session-input session_input.json

Exit codes:
  0  the cases were added, or their scenarios are there already
  1  the file with the cases has errors
  2  the set does not exist or has a case of that id, or a file cannot be read or written";

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    let set = one_set(&args.set)?;
    if set.cases.is_some() {
        let word = one_line(&args.set.to_string_lossy());
        let help = "name the set alone; the id of the case is in the file, or `--id` gives it";
        return Err(CommandError::new(format!("`{word}` names a case"), help));
    }
    let source = Source::read(&args.file)?;
    let session = args.session_input.as_deref().map(source::session_input).transpose()?;
    let mut cases = match source.cases(args.id.as_deref())? {
        Ok(cases) => cases,
        Err(answer) => return Ok(answer),
    };
    for case in &mut cases {
        if case.session_input.is_none() {
            case.session_input.clone_from(&session);
        }
        if args.draft && case.draft().is_none() {
            let mark = Map::from([("from", Value::from(source.name.as_str()))]);
            *case = std::mem::take(case).with_draft(mark);
        }
    }
    let (added, there) = edit(&set.path, |editor| {
        let (mut added, mut there) = (Vec::new(), Vec::new());
        for case in &cases {
            if source.is_scenarios && is_there(editor, case) {
                there.push(one_line(&case.eval_id));
                continue;
            }
            editor.add_case(case).map_err(|error| refused(&set.path, &error))?;
            added.push(case.eval_id.clone());
        }
        Ok((added, there))
    })?;
    let remark = match there.len() {
        0 => String::new(),
        cases => format!("{} there already: {}\n", count(cases, "scenario"), short_code_list(&there)),
    };
    let change = Change { path: set.path, cases: added };
    changed("add-case", ("added", "to"), &[change], &remark, args.format)
}

/// Whether the set has the scenario of a case already, under the id that is derived from it.
fn is_there(editor: &SetEditor, case: &EvalCase) -> bool {
    editor.case(&case.eval_id).is_some_and(|known| known.conversation_scenario == case.conversation_scenario)
}
