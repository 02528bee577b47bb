//! What a word of the command line names: a file, or a case of a recorded run.

use std::ffi::OsStr;
use std::path::Path;

use eval_agents::draft::Draft;
use eval_agents::import::{self, Import};
use eval_support::untrusted::one_line;

use super::problem;
use crate::output::CommandError;
use crate::recorded::{WhichRun, near};

/// The drafts of a source, and what is left out.
pub(super) fn read(word: &OsStr, import: &Import) -> Result<(Vec<Draft>, Vec<String>), CommandError> {
    let path = Path::new(word);
    if path.is_file() {
        let imported = import.clone().called(called(path)).read(path).map_err(|error| problem::of(&error))?;
        return Ok((imported.drafts, imported.left_out));
    }
    let text = word.to_string_lossy();
    if let Some((run, case)) = run_and_case(&text) {
        let loaded = WhichRun::of(run.map(str::to_owned)).load()?;
        let drafts = import::journal(&format!("run {}", loaded.name()), &loaded.run, case);
        return Ok((drafts.map_err(|error| problem::of(&error))?, Vec::new()));
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

/// What drafts call a file. Where it lies on this machine is nobody's business, unless it is below the current folder.
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
