//! `cargo evalset remove-case`: takes cases out of sets.

use std::ffi::OsString;

use eval_support::untrusted::one_line;

use crate::drafts::take_out;
use crate::edited::{Change, after, changed, edit, refused, select};
use crate::output::{Answer, CommandError, Format};

/// Takes cases out of eval sets. Every other byte of the files stays.
///
/// A draft in place of a golden is taken out, and the golden is put back.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The cases, each with its set: a file, a folder, a glob in quotes, or the id of a set below this folder.
    #[arg(value_name = "SET:CASE,..", required = true)]
    cases: Vec<OsString>,

    /// The output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset remove-case evals/weather.evalset.json:oslo
  cargo evalset remove-case weather:sunny,oslo trip:rome

Exit codes:
  0  the cases were removed, or are the goldens again that they were
  2  a set or a case does not exist, or a file cannot be read or written";

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    let sets = select(&args.cases)?;
    if let Some(set) = sets.iter().find(|set| set.cases.as_ref().is_none_or(Vec::is_empty)) {
        let shown = one_line(&set.path.display().to_string());
        let help = "say which: `SET:case1,case2`; a whole set is removed with its file";
        return Err(CommandError::new(format!("no case of `{shown}` is named"), help));
    }
    let mut changes = Vec::new();
    let mut remarks = String::new();
    for set in sets {
        let mut change = Change { file: set.path.display().to_string(), ..Change::default() };
        let left = edit(&set.path, |editor| {
            for id in set.cases.unwrap_or_default() {
                let is_back = take_out(editor, &id).map_err(|error| refused(&set.path, &error))?;
                if is_back { &mut change.put_back } else { &mut change.cases }.push(id);
            }
            Ok(editor.case_ids().len())
        });
        let left = left.map_err(|error| {
            let written: Vec<String> = changes.iter().map(|change: &Change| change.file.clone()).collect();
            after(error, &written)
        })?;
        for id in &change.put_back {
            remarks.push_str(&format!("`{}` is the golden again that it was\n", one_line(id)));
        }
        if left == 0 {
            let shown = one_line(&set.path.display().to_string());
            remarks.push_str(&format!("`{shown}` has no cases now, and tests refuse it\n"));
        }
        changes.push(change);
    }
    changed("remove-case", ("removed", "from"), &changes, &remarks, args.format)
}
