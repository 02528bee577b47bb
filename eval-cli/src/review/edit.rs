//! An edit of a case that was shown: its bytes before and after, written only if the case is still the same.

use std::path::{Path, PathBuf};

use eval_format::{EvalCase, SetEditor};
use eval_support::hash::content_hash;
use eval_support::untrusted::one_line;
use eval_support::words::count;
use similar::{DiffTag, TextDiff};

use crate::drafts::take_out;
use crate::edited::{self, open, put_back, refused};
use crate::output::CommandError;

/// A change of a case in its file.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// Other expectations, rules or criteria of a golden.
    Revise(Box<EvalCase>),
    /// A draft becomes a golden.
    Accept,
    /// A draft goes, and a golden that it replaces is back.
    Reject,
    /// Another text of the case.
    Text(String),
}

impl Action {
    fn apply(&self, editor: &mut SetEditor, path: &Path, eval_id: &str) -> Result<(), CommandError> {
        let done = match self {
            Self::Revise(case) => editor.revise(case),
            Self::Accept => editor.accept(eval_id),
            Self::Reject => take_out(editor, eval_id).map(drop),
            Self::Text(text) => editor.set_case_text(eval_id, text),
        };
        done.map_err(|error| refused(path, &error))
    }
}

/// An action on a case with the bytes that it changes.
#[derive(Clone, Debug)]
pub(crate) struct Edit {
    path: PathBuf,
    eval_id: String,
    action: Action,
    /// The text of the case before; what is written has to begin with it.
    case_before: String,
    /// The text of the case afterwards; `None` if it is gone.
    case_after: Option<String>,
    before: String,
    after: String,
}

/// Changed lines of a file. A line has no end of line.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Hunk {
    /// The first of the lines, from 1, in the file before.
    pub(crate) line: usize,
    pub(crate) removed: Vec<String>,
    pub(crate) added: Vec<String>,
}

/// A file as it was before it was written, to put it back.
#[derive(Debug)]
pub(crate) struct Written {
    path: PathBuf,
    before: String,
    after: String,
}

impl Edit {
    /// The edit of a case as the file has it now. `case` is the case that is meant: if the file has another one, that is an error.
    pub(crate) fn new(path: &Path, case: &EvalCase, action: Action) -> Result<Self, CommandError> {
        let mut editor = as_shown(path, case)?;
        let eval_id = case.eval_id.clone();
        let text_of = |editor: &SetEditor| editor.case_text(&eval_id).map(str::to_owned);
        let case_before = text_of(&editor).unwrap_or_default();
        let before = editor.text();
        action.apply(&mut editor, path, &eval_id)?;
        if let Action::Revise(wanted) = &action
            && editor.case(&eval_id).is_none_or(|written| {
                eval_format::Meaning::from_case(written) != eval_format::Meaning::from_case(wanted)
            })
        {
            let message = format!("`{}` cannot hold what happened in `{}`", shown(path), one_line(&eval_id));
            return Err(CommandError::new(message, "edit the case by hand"));
        }
        let case_after = text_of(&editor);
        Ok(Self {
            path: path.to_owned(),
            eval_id,
            action,
            case_before,
            case_after,
            before,
            after: editor.text(),
        })
    }

    /// The file of the set.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn eval_id(&self) -> &str {
        &self.eval_id
    }

    /// The case afterwards, as a reader reads it; `None` if it is gone.
    pub(crate) fn case_after(&self) -> Option<EvalCase> {
        EvalCase::parse(self.case_after.as_deref()?).ok()
    }

    /// The size of the file before and after, in bytes.
    pub(crate) fn sizes(&self) -> (usize, usize) {
        (self.before.len(), self.after.len())
    }

    /// A hash of what is shown: the text of the case before and after, and the warnings. Edits of other cases do not change it.
    pub(crate) fn hash<'w>(&'w self, warnings: impl IntoIterator<Item = &'w str>) -> String {
        let after = self.case_after.as_deref().unwrap_or_default();
        let texts = [self.case_before.as_str(), after].into_iter().chain(warnings);
        let all: Vec<u8> = texts.flat_map(|text| text.bytes().chain([0])).collect();
        format!("{:016x}", content_hash(&all))
    }

    /// The lines of the file that change.
    pub(crate) fn hunks(&self) -> Vec<Hunk> {
        let (old, new): (Vec<&str>, Vec<&str>) = (lines(&self.before), lines(&self.after));
        let diff = TextDiff::from_slices(&old, &new);
        let changes = diff.ops().iter().filter(|op| op.tag() != DiffTag::Equal);
        let plain = |lines: &[&str]| {
            lines.iter().map(|line| line.trim_end_matches(['\r', '\n']).to_owned()).collect()
        };
        let hunk = |op: &similar::DiffOp| Hunk {
            line: op.old_range().start + 1,
            removed: plain(&old[op.old_range()]),
            added: plain(&new[op.new_range()]),
        };
        changes.map(hunk).collect()
    }

    /// Writes the edit, if the case still has the bytes that were shown and gets the bytes that were shown.
    pub(crate) fn write(&self) -> Result<Written, CommandError> {
        let stale = || changed_meanwhile(&self.path, &self.eval_id);
        edited::edit(&self.path, |editor| {
            if editor.case_text(&self.eval_id) != Some(&self.case_before) {
                return Err(stale());
            }
            let before = editor.text();
            self.action.apply(editor, &self.path, &self.eval_id)?;
            if editor.case_text(&self.eval_id) != self.case_after.as_deref() {
                return Err(stale());
            }
            Ok(Written { path: self.path.clone(), before, after: editor.text() })
        })
    }
}

/// The set of a case. If its file has another case now, that is an error.
pub(crate) fn as_shown(path: &Path, case: &EvalCase) -> Result<SetEditor, CommandError> {
    let editor = open(path)?;
    if editor.case(&case.eval_id) == Some(case) {
        Ok(editor)
    } else {
        Err(changed_meanwhile(path, &case.eval_id))
    }
}

impl Written {
    /// Puts the file back, if nothing else changed it since.
    pub(crate) fn undo(&self) -> Result<(), CommandError> {
        if put_back(&self.path, &self.after, &self.before)? {
            return Ok(());
        }
        let message = format!("`{}` was changed since, and is not put back", shown(&self.path));
        Err(CommandError::new(message, "take the change back by hand, or from git"))
    }
}

/// The lines of a text, with their ends.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn shown(path: &Path) -> String {
    one_line(&path.display().to_string())
}

fn changed_meanwhile(path: &Path, eval_id: &str) -> CommandError {
    let message = format!("`{}`: the case `{}` was changed meanwhile", shown(path), one_line(eval_id));
    CommandError::new(message, "look at it again: `cargo evalset review --list`")
}

/// The longest line that is shown whole, in characters, and what is shown around a change of a longer one.
const WHOLE_LINE_CHARS: usize = 160;
const AROUND_CHARS: usize = 40;

impl Edit {
    /// The change for people: `@@ line 6, 1711 -> 1736 bytes`, then the lines. All bytes that change are shown, of long lines
    /// little of what stays.
    pub(crate) fn shown(&self) -> String {
        let hunks = self.hunks();
        let (before, after) = self.sizes();
        let mut text = String::new();
        for (at, hunk) in hunks.iter().enumerate() {
            text += &format!("@@ line {}", hunk.line);
            if at == 0 {
                let lines = hunks.iter().map(|hunk| hunk.removed.len().max(hunk.added.len())).sum();
                text += &format!(", {before} -> {after} bytes, {}", count(lines, "line"));
            }
            text.push('\n');
            if let ([old], [new]) = (hunk.removed.as_slice(), hunk.added.as_slice()) {
                let (old, new) = around(old, new);
                text += &format!("- {}\n+ {}\n", one_line(&old), one_line(&new));
                continue;
            }
            for (sign, lines) in [('-', &hunk.removed), ('+', &hunk.added)] {
                for line in lines {
                    text += &format!("{sign} {}\n", one_line(line.trim_start()));
                }
            }
        }
        text
    }
}

/// Two versions of a line. Of long ones, the beginning and the end that they share are cut.
fn around(old: &str, new: &str) -> (String, String) {
    if old.chars().count().max(new.chars().count()) <= WHOLE_LINE_CHARS {
        let indent = |line: &str| line.len() - line.trim_start().len();
        return match (indent(old), indent(new)) {
            (one, other) if one == other => (old[one..].to_owned(), new[one..].to_owned()),
            _ => (old.to_owned(), new.to_owned()),
        };
    }
    let (one, other): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
    let same = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    let shorter = one.len().min(other.len()) - same;
    let behind = one.iter().rev().zip(other.iter().rev()).take(shorter);
    let behind = behind.take_while(|(one, other)| one == other).count();
    let (from, more) = (same.saturating_sub(AROUND_CHARS), behind.min(AROUND_CHARS));
    let part = |line: &[char]| {
        let end = line.len() - behind + more;
        let (begin, rest) = (if from > 0 { ".. " } else { "" }, if end < line.len() { " .." } else { "" });
        format!("{begin}{}{rest}", line[from..end].iter().collect::<String>())
    };
    (part(&one), part(&other))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const SET: &str = r#"{"eval_set_id": "s", "eval_cases": [
  {"eval_id": "a", "conversation": [{"user_content": {"parts": [{"text": "Hi"}]}, "final_response": {"parts": [{"text": "Old."}]}}]},
  {"eval_id": "b", "conversation": [{"user_content": {"parts": [{"text": "Bye"}]}}], "_draft": {"from": "x"}}
]}
"#;

    fn set() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s.evalset.json");
        fs::write(&path, SET).expect("a set");
        (folder, path)
    }

    fn case(path: &Path, id: &str) -> EvalCase {
        open(path).expect("a set").case(id).expect("it is there").clone()
    }

    fn new_answer(path: &Path) -> Edit {
        let old = case(path, "a");
        let mut new = old.clone();
        let answer = new.conversation[0].final_response.as_mut().and_then(|answer| answer.parts.as_mut());
        answer.expect("an answer")[0].text = Some("New.".to_owned());
        Edit::new(path, &old, Action::Revise(Box::new(new))).expect("it can be written")
    }

    #[test]
    fn what_is_shown_is_written_and_can_be_taken_back() {
        let (_folder, path) = set();
        let edit = new_answer(&path);
        assert_eq!(edit.hunks().len(), 1);
        assert_eq!(edit.sizes(), (SET.len(), SET.len()));
        assert!(edit.shown().starts_with("@@ line 2, "), "{}", edit.shown());
        assert!(edit.shown().contains("\"Old.\"") && edit.shown().contains("\"New.\""), "{}", edit.shown());
        let written = edit.write().expect("it is as shown");
        assert_eq!(fs::read_to_string(&path).expect("a set"), SET.replace("Old.", "New."));
        edit.write().expect_err("it is written already, and not as shown");
        written.undo().expect("nothing changed it since");
        assert_eq!(fs::read_to_string(&path).expect("a set"), SET);
    }

    #[test]
    fn a_case_that_was_changed_since_it_was_shown_is_not_written() {
        let (_folder, path) = set();
        let edit = new_answer(&path);
        let other = SET.replace("Old.", "Other.");
        fs::write(&path, &other).expect("a set");
        let error = edit.write().expect_err("it is another one");
        assert!(error.message.ends_with("the case `a` was changed meanwhile"), "{}", error.message);
        assert_eq!(fs::read_to_string(&path).expect("a set"), other);
        // Another case of the set may be another one.
        let other = SET.replace("Bye", "Good bye");
        fs::write(&path, &other).expect("a set");
        let written = edit.write().expect("the case is as shown");
        assert_eq!(fs::read_to_string(&path).expect("a set"), other.replace("Old.", "New."));
        fs::write(&path, SET).expect("a set");
        assert!(written.undo().is_err(), "it was changed since");
        assert_eq!(fs::read_to_string(&path).expect("a set"), SET);
    }

    #[test]
    fn drafts_are_accepted_and_rejected_by_their_bytes() {
        let (_folder, path) = set();
        let draft = case(&path, "b");
        let reject = Edit::new(&path, &draft, Action::Reject).expect("it is a draft");
        assert_eq!(reject.case_after(), None);
        let written = reject.write().expect("it is as shown");
        assert!(!fs::read_to_string(&path).expect("a set").contains("Bye"));
        written.undo().expect("nothing changed it since");
        let accept = Edit::new(&path, &draft, Action::Accept).expect("it is a draft");
        accept.write().expect("it is as shown");
        assert_eq!(
            fs::read_to_string(&path).expect("a set"),
            SET.replace(r#", "_draft": {"from": "x"}"#, "")
        );
        assert_ne!(reject.hash([]), accept.hash([]));
        assert_ne!(accept.hash([]), accept.hash(["a date"]), "a warning that was not shown is not accepted");
    }

    #[test]
    fn all_changed_bytes_of_a_long_line_are_shown() {
        let (long, end) = ("a".repeat(300), "z".repeat(300));
        let (old, new) = around(&format!("{long}old{end}"), &format!("{long}a new one{end}"));
        let (before, after) = ("a".repeat(AROUND_CHARS), "z".repeat(AROUND_CHARS));
        assert_eq!(old, format!(".. {before}old{after} .."));
        assert_eq!(new, format!(".. {before}a new one{after} .."));
        assert_eq!(around("  a", "  b"), ("a".to_owned(), "b".to_owned()));
    }
}
