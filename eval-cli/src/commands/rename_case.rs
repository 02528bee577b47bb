//! `cargo evalset rename-case`: gives a case another id.

use std::ffi::OsString;

use eval_support::untrusted::one_line;

use crate::edited::{Change, changed, edit, one_set, refused};
use crate::output::{Answer, CommandError, Format};

/// Gives a case another id. Its test is named after the id, and so is what runs record from now on.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The case, with its set: a file, or the id of a set below this folder.
    #[arg(value_name = "SET:CASE")]
    case: OsString,

    /// The new id. No other case of the set has it.
    #[arg(value_name = "NEW")]
    new_id: String,

    /// The output format.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

const AFTER_HELP: &str = "\
Examples:
  cargo evalset rename-case weather:case_1 oslo_in_rain

Exit codes:
  0  the case was renamed
  2  the set or the case does not exist, the new id is taken, or the file cannot be read or written";

pub(crate) fn run(args: &Args) -> Result<Answer, CommandError> {
    let set = one_set(&args.case)?;
    let shown = one_line(&set.path.display().to_string());
    let [old] = set.cases.as_deref().unwrap_or_default() else {
        let help = "name one: `SET:CASE`";
        return Err(CommandError::new(format!("no single case of `{shown}` is named"), help));
    };
    edit(&set.path, |editor| {
        editor.rename_case(old, &args.new_id).map_err(|error| refused(&set.path, &error))
    })?;
    let remark = format!("it was `{}`\n", one_line(old));
    let change = Change {
        file: set.path.display().to_string(),
        cases: vec![args.new_id.clone()],
        ..Change::default()
    };
    changed("rename-case", ("renamed", "in"), &[change], &remark, args.format)
}
