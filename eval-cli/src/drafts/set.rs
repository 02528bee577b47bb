//! The set that drafts are written into.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use eval_agents::draft::{Draft, NewCases, new_cases};
use eval_core::format::EvalCase;
use eval_format::SetEditor;
use eval_format::conventions::{FileKind, SET_NAMES, SET_SUFFIX, file_stem};
use eval_support::shell;
use eval_support::untrusted::one_line;

use crate::edited::{edit, open, refused};
use crate::files::create;
use crate::output::CommandError;

/// A set to which drafts are added. It need not exist yet.
#[derive(Debug)]
pub(crate) struct Destination {
    pub(crate) path: PathBuf,
}

/// The cases that were written, or would be.
#[derive(Debug, Default)]
pub(crate) struct Written {
    pub(crate) new: NewCases,
    /// The text of the set before and after.
    pub(crate) before: String,
    pub(crate) after: String,
}

impl Destination {
    /// A destination. Fails if its name cannot be the name of a set, or if the existing file is no set.
    pub(crate) fn new(path: &Path) -> Result<Self, CommandError> {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if FileKind::from_name(name) != Some(FileKind::Set) {
            let stem = name.strip_suffix(".json").unwrap_or(name);
            let near = path.with_file_name(format!("{stem}{SET_SUFFIX}"));
            return Err(CommandError::new(
                format!(
                    "`{}` is no name of an eval set: those are {SET_NAMES}",
                    one_line(&path.display().to_string())
                ),
                format!("write `-o {}`", shell::word(&near.display().to_string())),
            ));
        }
        let destination = Self { path: path.to_owned() };
        if destination.exists() {
            // Checked before an agent runs, since its answers cost money and would be lost.
            open(path)?;
        }
        Ok(destination)
    }

    /// The path, as it is shown.
    pub(crate) fn shown(&self) -> String {
        self.path.display().to_string()
    }

    fn exists(&self) -> bool {
        fs::symlink_metadata(&self.path).is_ok()
    }

    fn empty(&self) -> SetEditor {
        SetEditor::create(file_stem(&self.shown()))
    }

    /// Adds drafts, each under a free id. Drafts whose conversation is in the set already are skipped.
    pub(crate) fn add(&self, drafts: Vec<Draft>) -> Result<Written, CommandError> {
        if !self.exists() {
            let written = self.added(&mut self.empty(), drafts.clone())?;
            if written.new.drafts.is_empty() {
                return Ok(written);
            }
            if let Some(folder) = self.path.parent() {
                fs::create_dir_all(folder).map_err(|error| self.unwritten(&error))?;
            }
            match create(&self.path, &written.after) {
                // Another process has made it meanwhile.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                created => return created.map(|()| written).map_err(|error| self.unwritten(&error)),
            }
        }
        edit(&self.path, |editor| self.added(editor, drafts))
    }

    /// The change that adding the drafts would make.
    pub(crate) fn preview(&self, drafts: Vec<Draft>) -> Result<Written, CommandError> {
        let (is_new, mut editor) =
            if self.exists() { (false, open(&self.path)?) } else { (true, self.empty()) };
        let mut written = self.added(&mut editor, drafts)?;
        if is_new {
            written.before.clear();
        }
        Ok(written)
    }

    fn added(&self, editor: &mut SetEditor, drafts: Vec<Draft>) -> Result<Written, CommandError> {
        let before = editor.text();
        let existing: Vec<EvalCase> = editor.cases().cloned().collect();
        let new = new_cases(drafts, &existing);
        for draft in &new.drafts {
            editor.add_case(&draft.marked()).map_err(|error| refused(&self.path, &error))?;
        }
        Ok(Written { new, before, after: editor.text() })
    }

    fn unwritten(&self, error: &std::io::Error) -> CommandError {
        let help = "give this user permission to write to the folder";
        CommandError::new(format!("cannot write `{}`: {error}", one_line(&self.shown())), help)
    }
}
