//! The result for people.

use std::path::Path;

use eval_support::untrusted::one_line;
use eval_support::words::count;

use super::migration::Migration;
use crate::files;
use crate::output::style::{BOLD, GOOD, WARNING, styled};

pub(super) fn text(migration: &Migration, new: &Path) -> String {
    let mut text = String::new();
    for file in &migration.files {
        text.push_str(&files::shown(&file.shown, &file.found));
    }
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
