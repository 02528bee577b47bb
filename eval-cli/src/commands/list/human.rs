//! The listing for people.

use eval_support::untrusted::one_line;
use eval_support::words::count;

use super::listed::{ListedCase, ListedSet, Listing};
use crate::edited::origin;
use crate::output::style::{BOLD, WARNING, styled};

/// A column is at most so wide. What is longer pushes the rest of its line.
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
    if set.cases.is_empty() {
        let none = if set.all == 0 { "no cases" } else { "no drafts" };
        text.push_str(&format!("  {none}\n"));
    }
    let rows: Vec<[String; 3]> = set.cases.iter().map(row).collect();
    let widths = [0, 1, 2].map(|column| {
        let of_cells = rows.iter().map(|row| row[column].chars().count());
        of_cells.max().unwrap_or_default().min(WIDEST)
    });
    for (row, case) in rows.iter().zip(&set.cases) {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths).filter(|(_, width)| *width > 0) {
            line.push_str(&format!("  {cell:width$}"));
        }
        if let Some(mark) = &case.draft {
            line.push_str(&format!("  {} {}", styled(WARNING, "draft"), origin(mark)));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

/// The id, the turns and the tools of a case.
fn row(case: &ListedCase) -> [String; 3] {
    let turns = if case.scenario { "scenario".to_owned() } else { count(case.turns, "turn") };
    let tools: Vec<String> = case.tools.iter().map(|tool| one_line(tool)).collect();
    [one_line(&case.eval_id), turns, tools.join(", ")]
}
