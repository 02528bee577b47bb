//! The names of the files in a folder.

use std::fs;
use std::path::Path;

use eval_format::conventions::FileKind;

/// The names in a folder, in alphabetical order, without those that are not UTF-8. A folder that cannot be listed has
/// none: its error was reported when the folder was searched, or a file in it was named on the command line.
pub(super) fn names_in(folder: &Path) -> Vec<String> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names
}

/// The names of the session files in a folder.
pub(crate) fn sessions_in(folder: &Path) -> Vec<String> {
    names_in(folder).into_iter().filter(|name| FileKind::of(name) == Some(FileKind::Session)).collect()
}
