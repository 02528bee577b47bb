//! The output of commands that add drafts to a set, for people and for programs.

use eval_agents::draft::Draft;
use eval_support::command;
use eval_support::shell;
use eval_support::untrusted::{lines_below, one_line};
use eval_support::words::{count, them};
use serde::Serialize;
use serde_json::{Value, json};

use super::set::{Destination, Written};
use crate::files::unpassable;
use crate::output::{Answer, BOLD, CommandError, Format, GOOD, Outcome, WARNING, styled};

/// The drafts that a command added to a set.
#[derive(Debug)]
pub(crate) struct Added<'a> {
    /// The command: `import`.
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
    /// Whether the set was written.
    written: bool,
    drafts: Vec<Value>,
    equal: usize,
    left_out: &'a [String],
    failures: &'a [String],
}

impl Added<'_> {
    pub(crate) fn answer(&self, format: Format) -> Result<Answer, CommandError> {
        match format {
            Format::Human => Ok(Answer::new(self.outcome(), self.text())),
            Format::Json => Answer::results(self.command, self.outcome(), &self.document()),
        }
    }

    fn outcome(&self) -> Outcome {
        if self.failures.is_empty() { Outcome::Passed } else { Outcome::Unmeasurable }
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
        for draft in self.drafts {
            text.push_str(&shown_draft(draft));
        }
        if self.equal > 0 {
            let is = if self.equal == 1 { "is" } else { "are" };
            text.push_str(&format!("{} {is} there already\n", count(self.equal, "equal conversation")));
        }
        for what in self.left_out {
            text.push_str(&format!("{}  {}\n", styled(WARNING, "left out"), one_line(what)));
        }
        for why in self.failures {
            text.push_str(&format!("{}  {}\n", styled(WARNING, "not recorded"), lines_below(why, 2)));
        }
        text.push_str(&self.unpassable());
        if self.preview.is_none() && !self.drafts.is_empty() {
            let set = shell::word(&self.destination.shown());
            text.push_str(&format!(
                "tests refuse drafts; review {} and accept what is right: `{} accept {}`\n",
                them(self.drafts.len()),
                command::name(),
                one_line(&set)
            ));
        }
        text
    }

    /// The first draft that no agent can pass, and how many more there are.
    fn unpassable(&self) -> String {
        let cases: Vec<_> = self.drafts.iter().map(|draft| draft.case.clone()).collect();
        let found = unpassable(&self.destination.path, &[], &cases);
        let Some(first) = found.first() else { return String::new() };
        let more = match found.len() - 1 {
            0 => String::new(),
            more => format!(" ({} like it)", count(more, "more draft")),
        };
        format!("{}  {}{more}\n", styled(WARNING, "cannot pass"), one_line(&first.to_string()))
    }

    /// The change as a unified diff.
    fn diff(&self, written: &Written) -> String {
        let name = self.destination.shown();
        let diff = similar::TextDiff::from_lines(&written.before, &written.after);
        let text = diff.unified_diff().context_radius(3).header(&name, &name).to_string();
        if text.is_empty() { text } else { text + "\n" }
    }

    fn document(&self) -> Document<'_> {
        Document {
            set: self.destination.shown(),
            written: self.preview.is_none() && !self.drafts.is_empty(),
            drafts: self.drafts.iter().map(entry).collect(),
            equal: self.equal,
            left_out: self.left_out,
            failures: self.failures,
        }
    }
}

/// `sunny  2 turns, 1 call, from session.json`, and remarks for its reviewer.
fn shown_draft(draft: &Draft) -> String {
    let calls: usize = draft.case.conversation.iter().map(|turn| turn.tool_calls().count()).sum();
    let turns = count(draft.case.conversation.len(), "turn");
    let id = styled(BOLD, &one_line(&draft.case.eval_id));
    let from = one_line(&draft.origin.from);
    let mut text = format!("  {id}  {turns}, {}, from {from}\n", count(calls, "call"));
    let mut list = |what: &str, items: Vec<String>| {
        for item in items {
            text.push_str(&format!("    {what:<8}  {}\n", one_line(&item)));
        }
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
