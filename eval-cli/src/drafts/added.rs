//! Adding drafts to a set, and the output of commands that do, for people and for programs.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use eval_agents::draft::{Draft, NewCases, new_cases};
use eval_core::format::EvalCase;
use eval_format::SetEditor;
use eval_format::conventions::file_stem;
use eval_support::command;
use eval_support::shell;
use eval_support::untrusted::{lines_below, one_line};
use eval_support::words::{count, them};
use serde::Serialize;
use serde_json::{Value, json};

use crate::edited::{edit, open, refused};
use crate::files::{check_replaceable, check_set_name, create, unpassable, unwritten};
use crate::output::{Answer, BOLD, CommandError, Format, GOOD, Outcome, WARNING, styled};

#[derive(Debug)]
pub(crate) struct Added<'a> {
    pub(crate) command: &'static str,
    pub(crate) destination: &'a Destination,
    pub(crate) drafts: &'a [Draft],
    /// The number of conversations that the set has already.
    pub(crate) equal: usize,
    /// A note on each part of the sources that did not become a draft.
    pub(crate) left_out: &'a [String],
    /// The errors of conversations that were not recorded. Others may have been added.
    pub(crate) failures: &'a [String],
    /// The change that would be made. `None` if the set was to be written.
    pub(crate) preview: Option<&'a Written>,
}

/// The output of `--format json`. Fields may be added; no field is removed or changes its meaning.
#[derive(Debug, Serialize)]
struct Document<'a> {
    set: String,
    written: bool,
    drafts: Vec<Value>,
    equal: usize,
    left_out: &'a [String],
    failures: &'a [String],
}

impl Added<'_> {
    pub(crate) fn answer(&self, format: Format) -> Result<Answer, CommandError> {
        let outcome = if self.failures.is_empty() { Outcome::Passed } else { Outcome::Unmeasurable };
        if format == Format::Human {
            return Ok(Answer::new(outcome, self.text()));
        }
        let document = Document {
            set: self.destination.shown(),
            written: self.preview.is_none() && !self.drafts.is_empty(),
            drafts: self.drafts.iter().map(entry).collect(),
            equal: self.equal,
            left_out: self.left_out,
            failures: self.failures,
        };
        Answer::results(self.command, outcome, &document)
    }

    fn text(&self) -> String {
        let mut text = String::new();
        if let Some(written) = self.preview {
            text.push_str(&self.diff(written));
        }
        let shown = one_line(&self.destination.shown());
        let drafts = count(self.drafts.len(), "draft");
        let head = match (self.preview, self.drafts.len()) {
            (_, 0) => format!("nothing is added to `{shown}`\n"),
            (Some(_), _) => format!("would add {drafts} to `{shown}`\n"),
            (None, _) => format!("{} {drafts} to `{shown}`\n", styled(GOOD, "added")),
        };
        text.push_str(&head);
        text.extend(self.drafts.iter().map(shown_draft));
        if self.equal > 0 {
            let is = if self.equal == 1 { "is" } else { "are" };
            text.push_str(&format!("{} {is} there already\n", count(self.equal, "equal conversation")));
        }
        let remark = |what: &str, said: String| format!("{}  {said}\n", styled(WARNING, what));
        text.extend(self.left_out.iter().map(|what| remark("left out", one_line(what))));
        text.extend(self.failures.iter().map(|why| remark("not recorded", lines_below(why, 2))));
        text.push_str(&self.unpassable());
        if self.preview.is_none() && !self.drafts.is_empty() {
            text.push_str(&to_review(&self.destination.shown(), self.drafts.len()));
        }
        text
    }

    fn unpassable(&self) -> String {
        let cases: Vec<_> = self.drafts.iter().map(|draft| draft.case.clone()).collect();
        cannot_pass(&self.destination.path, &cases)
    }

    fn diff(&self, written: &Written) -> String {
        let name = self.destination.shown();
        let diff = similar::TextDiff::from_lines(&written.before, &written.after);
        let text = diff.unified_diff().context_radius(3).header(&name, &name).to_string();
        if text.is_empty() { text } else { text + "\n" }
    }
}

/// The line that says how drafts become goldens. `named` names their set, or them.
pub(crate) fn to_review(named: &str, drafts: usize) -> String {
    let (named, them, command) = (one_line(&shell::word(named)), them(drafts), command::name());
    format!(
        "tests refuse drafts; review {them}: `{command} review {named}`, or accept what is right: `{command} accept {named}`\n"
    )
}

/// The warning about drafts that no agent can pass; empty if there are none.
pub(crate) fn cannot_pass(set: &Path, drafts: &[EvalCase]) -> String {
    let found = unpassable(set, &[], drafts);
    let Some(first) = found.first() else { return String::new() };
    let more = match found.len() - 1 {
        0 => String::new(),
        more => format!(" ({} like it)", count(more, "more draft")),
    };
    format!("{}  {}{more}\n", styled(WARNING, "cannot pass"), one_line(&first.to_string()))
}

/// `sunny  2 turns, 1 call, from session.json`, and remarks for its reviewer.
fn shown_draft(draft: &Draft) -> String {
    let calls: usize = draft.case.conversation.iter().map(|turn| turn.tool_calls().count()).sum();
    let turns = count(draft.case.conversation.len(), "turn");
    let id = styled(BOLD, &one_line(&draft.case.eval_id));
    let from = one_line(&draft.origin.from);
    let mut text = format!("  {id}  {turns}, {}, from {from}\n", count(calls, "call"));
    let mut list = |what: &str, items: Vec<String>| {
        text.extend(items.iter().map(|item| format!("    {what:<8}  {}\n", one_line(item))));
    };
    list("masked", draft.masked.iter().map(ToString::to_string).collect());
    list("volatile", draft.volatile.iter().map(ToString::to_string).collect());
    list("varied", draft.varied.clone());
    list("gap", draft.gaps.clone());
    text
}

fn entry(draft: &Draft) -> Value {
    let calls: usize = draft.case.conversation.iter().map(|turn| turn.tool_calls().count()).sum();
    json!({
        "eval_id": draft.case.eval_id,
        "turns": draft.case.conversation.len(),
        "calls": calls,
        "draft": draft.marked().draft().map(Value::from),
    })
}

/// The name of a file that no other program makes.
const UNUSED_NAME: &str = ".evalset-unused";

/// A set to which drafts are added. It need not exist yet.
#[derive(Debug)]
pub(crate) struct Destination {
    pub(crate) path: PathBuf,
}

/// The cases that were written, or would be.
#[derive(Debug, Default)]
pub(crate) struct Written {
    pub(crate) new: NewCases,
    pub(crate) before: String,
    pub(crate) after: String,
}

impl Destination {
    /// A destination. Fails if its name cannot be the name of a set, or if the existing file is no set.
    pub(crate) fn new(path: &Path) -> Result<Self, CommandError> {
        check_set_name(path, |near| format!("write `-o {near}`"))?;
        let destination = Self { path: path.to_owned() };
        if destination.exists() {
            // Checked before an agent runs, since its answers cost money and would be lost.
            open(path)?;
        }
        Ok(destination)
    }

    pub(crate) fn shown(&self) -> String {
        self.path.display().to_string()
    }

    /// Fails if the set cannot be written, as far as this can be checked without writing.
    pub(crate) fn check_writable(&self) -> Result<(), CommandError> {
        // Missing folders are made later.
        let is_there = |folder: &&Path| folder.as_os_str().is_empty() || folder.symlink_metadata().is_ok();
        let folder = self.path.ancestors().skip(1).find(is_there).unwrap_or(Path::new(""));
        let file = if self.exists() { self.path.clone() } else { folder.join(UNUSED_NAME) };
        check_replaceable(&file).map_err(|error| self.unwritten(&error))
    }

    pub(crate) fn exists(&self) -> bool {
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
        unwritten(&self.shown(), error)
    }
}
