//! The listing for people.

use super::listed::{ListedCase, ListedSet, Listing};
use crate::edited::origin;
use crate::output::foreign::one_line;
use crate::output::style::{BOLD, WARNING, styled};
use crate::output::words::count;

/// A column is at most so wide. Longer ids push the rest of their line.
const WIDEST: usize = 40;

pub(super) fn text(listing: &Listing) -> String {
    let mut text = String::new();
    for set in &listing.sets {
        set_text(set, &mut text);
    }
    for error in &listing.errors {
        text.push_str(&error.shown());
        text.push('\n');
    }
    let cases = listing.sets.iter().map(|set| set.all).sum();
    let drafts = match listing.sets.iter().map(|set| set.drafts).sum() {
        0 => String::new(),
        drafts => format!(", {}", styled(WARNING, &count(drafts, "draft"))),
    };
    text + &format!("{}, {}{drafts}\n", count(listing.sets.len(), "set"), count(cases, "case"))
}

fn set_text(set: &ListedSet, text: &mut String) {
    let (file, id) = (one_line(&set.file), one_line(&set.eval_set_id));
    text.push_str(&format!("{}  {id}\n", styled(BOLD, &file)));
    let ids: Vec<String> = set.cases.iter().map(|case| one_line(&case.eval_id)).collect();
    let width = ids.iter().map(|id| id.chars().count()).max().unwrap_or_default().min(WIDEST);
    for (id, case) in ids.iter().zip(&set.cases) {
        text.push_str(format!("  {id:width$}  {}", case_text(case)).trim_end());
        text.push('\n');
    }
}

fn case_text(case: &ListedCase) -> String {
    let turns = if case.scenario { "scenario".to_owned() } else { count(case.turns, "turn") };
    let tools: Vec<String> = case.tools.iter().map(|tool| one_line(tool)).collect();
    let draft = case.draft.as_ref().map(|mark| format!("  {} {}", styled(WARNING, "draft"), origin(mark)));
    format!("{turns:8}  {}{}", tools.join(", "), draft.unwrap_or_default())
}
