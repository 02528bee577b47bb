//! The user's editor: what is written there stays in a file until it is in the set, or nothing is left of it.

use std::path::{Path, PathBuf};
use std::{fs, io};

use eval_support::untrusted::one_line;

use super::console;
use super::review_loop::{Next, ReviewLoop, tell_error};
use crate::edited::open;
use crate::output::{CommandError, tell};
use crate::review::as_shown;

impl ReviewLoop<'_, '_> {
    /// Opens the case of an entry in the editor, or what the user wrote there before and is in no set yet. The change is shown, and
    /// written after a yes.
    pub(super) fn edit(&mut self, at: usize) -> Result<Option<Next>, CommandError> {
        let item = self.item(at);
        let text = match open(&item.path) {
            Ok(editor) => editor.case_text(&item.case.eval_id).map(str::to_owned),
            Err(error) => {
                tell_error(&error);
                return Ok(None);
            }
        };
        let Some(text) = text else {
            let error =
                CommandError::new("the case is gone", "list what is left: `cargo evalset review --list`");
            return Ok(Some(self.stale(at, &error)));
        };
        let path = match self.unsaved.get(&at).cloned().map_or_else(|| begun(&text), Ok) {
            Ok(path) => path,
            Err(error) => {
                tell_error(&error);
                return Ok(None);
            }
        };
        let edited = console::edit(&path).and_then(|()| read(&path));
        let edited = match edited {
            Ok(edited) => edited.trim().to_owned(),
            Err(error) => {
                tell_error(&error);
                self.keep(at, path, &text);
                return Ok(None);
            }
        };
        if edited.is_empty() || edited == text {
            tell("    nothing was changed\n");
            self.keep(at, path, &text);
            return Ok(None);
        }
        let writes = self.written.len();
        let next = match self.queue.choices(self.item(at)).text(edited) {
            Ok(choice) => self.written_after_question(at, &choice)?,
            Err(error) if as_shown(&self.item(at).path, &self.item(at).case).is_err() => {
                Some(self.stale(at, &error))
            }
            Err(error) => {
                tell_error(&error);
                None
            }
        };
        if self.written.len() > writes {
            self.unsaved.remove(&at);
            remove(&path);
        } else {
            self.keep(at, path, &text);
        }
        Ok(next)
    }

    /// Keeps the file of the editor and tells where it is. A file with the text of the set, or with nothing, goes. What is no
    /// text stays where it is, and the editor begins anew.
    fn keep(&mut self, at: usize, path: PathBuf, text: &str) {
        let shown = one_line(&path.display().to_string());
        match read(&path) {
            Ok(kept) if kept.trim().is_empty() || kept.trim() == text => {
                self.unsaved.remove(&at);
                return remove(&path);
            }
            Ok(_) => {}
            Err(_) => {
                self.unsaved.remove(&at);
                if path.exists() {
                    tell(&format!("    `{shown}` is no text, and stays: `e` begins anew\n"));
                }
                return;
            }
        }
        tell(&format!("    what you wrote is kept in `{shown}`: `e` goes on with it\n"));
        self.unsaved.insert(at, path);
    }
}

/// A new file with this text, which stays until it is removed.
fn begun(text: &str) -> Result<PathBuf, CommandError> {
    let written = || -> io::Result<PathBuf> {
        let file = tempfile::Builder::new().prefix("evalset-").suffix("-case.json").tempfile()?;
        fs::write(file.path(), format!("{text}\n"))?;
        Ok(file.keep()?.1)
    };
    written().map_err(|error| {
        let help = "free space in the temporary folder, or name another one: `TMPDIR`";
        CommandError::new(format!("cannot write a temporary file: {error}"), help)
    })
}

fn read(path: &Path) -> Result<String, CommandError> {
    fs::read_to_string(path).map_err(|error| {
        let help = "set `EDITOR` to a program that writes the file that it is given";
        CommandError::new(format!("the editor left no text: {error}"), help)
    })
}

fn remove(path: &Path) {
    // A file that is left over does no harm.
    let _ = fs::remove_file(path);
}
