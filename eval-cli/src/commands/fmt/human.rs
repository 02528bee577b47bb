//! The results for people.

use eval_support::untrusted::one_line;
use eval_support::words::count;

use super::file::FileState;
use super::results::FmtResults;
use crate::files;
use crate::output::style::{BOLD, ERROR, GOOD, styled};

pub(super) fn text(results: &FmtResults) -> String {
    let mut text = String::new();
    for file in &results.files {
        if let FileState::Kept(found) = &file.state {
            text.push_str(&files::shown(&file.shown, found));
        }
    }
    for error in results.files.iter().filter_map(|file| file.state.error()).chain(&results.errors) {
        text.push_str(&error.shown());
        text.push('\n');
    }
    for file in &results.files {
        let shown = one_line(&file.shown);
        match &file.state {
            FileState::Formatted => text.push_str(&format!("{} `{shown}`\n", styled(GOOD, "formatted"))),
            FileState::NotFormatted => {
                text.push_str(&format!("{} `{shown}`\n", styled(ERROR, "not formatted")));
            }
            FileState::Kept(_) => {
                text.push_str(&format!("{} `{shown}` as it is\n", styled(BOLD, "kept")));
            }
            FileState::Unchanged | FileState::OldForm(_) | FileState::Unmeasurable(_) => {}
        }
    }
    text + &summary(results) + "\n"
}

fn summary(results: &FmtResults) -> String {
    let number = |is: fn(&FileState) -> bool| results.files.iter().filter(|file| is(&file.state)).count();
    let not_formatted = number(|state| matches!(state, FileState::NotFormatted));
    let parts = [
        (number(|state| matches!(state, FileState::Formatted)), "formatted"),
        (not_formatted, "not formatted"),
        (number(|state| matches!(state, FileState::Unchanged)), "already formatted"),
        (number(|state| matches!(state, FileState::Kept(_) | FileState::OldForm(_))), "kept"),
    ];
    let mut said: Vec<String> = parts
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, what)| format!("{number} {what}"))
        .collect();
    let unmeasurable = number(|state| matches!(state, FileState::Unmeasurable(_))) + results.errors.len();
    if unmeasurable > 0 {
        said.push(format!("{} not read or written", count(unmeasurable, "path")));
    }
    let help = match not_formatted {
        0 => "",
        _ => "\n  = help: `cargo evalset fmt` without `--check` formats them",
    };
    format!("{}: {}{help}", count(results.files.len(), "file"), said.join(", "))
}
