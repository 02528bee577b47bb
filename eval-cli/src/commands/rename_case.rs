//! `cargo evalset rename-case`: gives a case another id.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use eval_core::models::ModelsFolder;
use eval_format::conventions::{models_path, recording_path};
use eval_format::recording::{Recording, check_recording};
use eval_support::shell;
use eval_support::untrusted::one_line;

use crate::edited::{Change, changed, edit, one_set, refused};
use crate::files::{first_error, locked};
use crate::output::{Answer, CommandError, Format};

/// Gives a case another id. Its test is named after the id, and so is what runs record from now on. Its recorded calls of models
/// and questions to judges go with it.
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
    let models = models_path(&set.path.to_string_lossy());
    let models = ModelsFolder::new(&models, &*models);
    if models.is_in_the_way(old, &args.new_id) {
        return Err(in_the_way(&set.path, &models.shown_file(&args.new_id)));
    }
    edit(&set.path, |editor| {
        editor.rename_case(old, &args.new_id).map_err(|error| refused(&set.path, &error))
    })?;
    let mut remark = format!("it was `{}`\n", one_line(old));
    if old != &args.new_id {
        // Each write takes the lock of the folder itself. A lock held here would keep the writes of the recordings out.
        if models.rename(old, &args.new_id).map_err(|why| left_behind(&why))? {
            remark.push_str("its recorded calls of models go with it\n");
        }
        if rename_in_judges(&set.path, old, &args.new_id)? {
            remark.push_str("its recorded questions to judges go with it\n");
        }
    }
    let change = Change {
        file: set.path.display().to_string(),
        cases: vec![args.new_id.clone()],
        ..Change::default()
    };
    changed("rename-case", ("renamed", "in"), &[change], &remark, args.format)
}

/// The error of a recording that no case of the set has, under the name that the renamed case would have.
fn in_the_way(set: &Path, file: &str) -> CommandError {
    let prune = shell::line(&["cargo", "evalset", "models", "prune", &set.to_string_lossy()]);
    CommandError::new(
        format!("`{}` is there already, and the recording of this case would take its place", one_line(file)),
        format!("look at it, and remove it: `{prune}`"),
    )
}

fn left_behind(why: &str) -> CommandError {
    CommandError::new(
        format!("the case is renamed, and its recorded calls of models are not: {}", one_line(why)),
        "record the case again: `EVALSET_MODELS=record-all`",
    )
}

/// Names the case anew in the questions to judges that it asks. Returns whether it asks any.
fn rename_in_judges(set: &Path, old: &str, new: &str) -> Result<bool, CommandError> {
    let path = PathBuf::from(recording_path(&set.to_string_lossy()));
    if !path.exists() {
        return Ok(false);
    }
    let shown = path.display().to_string();
    locked(&path, |bytes| {
        let Some(bytes) = bytes else { return Ok((None, false)) };
        let recording = check_recording(&shown, bytes).into_result().map_err(|problems| {
            let (why, help) = first_error(&problems);
            CommandError::new(
                format!("the case is renamed, and not in `{}`: {why}", one_line(&shown)),
                help.unwrap_or_else(|| "record its questions again".to_owned()),
            )
        })?;
        let (mut renamed, mut is_asked) = (Recording::default(), false);
        for question in recording.questions() {
            let mut question = question.clone();
            for case in question.cases.iter_mut().filter(|case| **case == old) {
                new.clone_into(case);
                is_asked = true;
            }
            renamed.add(question);
        }
        Ok((is_asked.then(|| renamed.to_json()), is_asked))
    })
}
