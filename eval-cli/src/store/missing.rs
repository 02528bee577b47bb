//! What a copy of a run says of the parts that it lacks. Every reader of runs looks for it.

use std::path::Path;
use std::{fs, io};

use eval_core::journal::file_names;
use eval_support::secrets::mask;
use eval_support::untrusted::one_line;

use crate::files::replace_private;
use crate::output::CommandError;

/// Writes a sentence for each part that is missing, or removes what was written if none is.
pub(super) fn say(folder: &Path, missing: &[String]) -> io::Result<()> {
    let path = folder.join(file_names::MISSING_PARTS);
    if !missing.is_empty() {
        let text = missing.iter().map(|sentence| one_line(sentence)).collect::<Vec<_>>().join("\n");
        return replace_private(&path, &*mask(&text));
    }
    match fs::remove_file(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Says of a copy that is there why the rest of its run could not be copied. Without that, the copy would look like all of it.
pub(super) fn say_why(folder: &Path, error: &CommandError) {
    if !folder.is_dir() {
        return;
    }
    let why = format!("the run could not be copied from its store: {}; {}", error.message, error.help);
    if say(folder, &[why]).is_err() {
        // A folder without its mark is no run. Better none than one that looks complete.
        let _ = fs::remove_file(folder.join(file_names::MARKER));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_that_cannot_say_what_it_lacks_is_no_run() {
        let folder = tempfile::tempdir().unwrap();
        let (missing, marker) = (folder.path().join("missing-parts.txt"), folder.path().join("run.json"));
        fs::write(&marker, "{}").unwrap();
        let error = CommandError::new("the part\nis not there", "store it again");
        say_why(folder.path(), &error);
        let said = fs::read_to_string(&missing).unwrap();
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.ends_with("is not there; store it again") && marker.exists(), "{said}");
        say(folder.path(), &[]).unwrap();
        assert!(!missing.exists());
        // A folder in its place stands for a disk that takes nothing.
        fs::create_dir(&missing).unwrap();
        say_why(folder.path(), &error);
        assert!(!marker.exists());
        say_why(&folder.path().join("none"), &error);
        assert!(!folder.path().join("none").exists());
    }

    #[test]
    fn no_credential_is_written() {
        crate::output::hide("wJalrXUtnFEMI-of-the-store");
        let folder = tempfile::tempdir().unwrap();
        say(folder.path(), &["the store said wJalrXUtnFEMI-of-the-store".to_owned()]).unwrap();
        let said = fs::read_to_string(folder.path().join("missing-parts.txt")).unwrap();
        assert!(said.starts_with("the store said ") && !said.contains("wJalr"), "{said}");
    }
}
