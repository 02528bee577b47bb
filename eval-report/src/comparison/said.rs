//! A comparison as text for people and for pull requests.

use eval_support::untrusted::{annotation, markdown as escaped, one_line};
use eval_support::words::count;

use super::category::Category;
use super::compared::{ComparedCase, Comparison};
use super::gated::{Gated, change, row, shown as p_value};
use super::pair::metrics_that_fell;
use crate::decide::gate::GateVerdict;
use crate::decide::usage::Usage;
use crate::output::{BOLD, ERROR, GOOD, WARNING, styled};

/// The most cases of a category that are listed by name.
const MAX_LISTED: usize = 20;

/// The verdict of a gate, its reasons, and the cases that changed.
pub fn gate_text(gated: &Gated) -> String {
    let style = match gated.verdict {
        GateVerdict::Pass => GOOD,
        GateVerdict::Regression => ERROR,
        _ => WARNING,
    };
    let mut text = String::new();
    let mut reasons = gated.reasons.iter().map(|reason| one_line(reason));
    let first = reasons.next().unwrap_or_default();
    text += &format!("{} {}  {first}\n", styled(BOLD, "Gate"), styled(style, gated.word()));
    for reason in reasons.chain(gated.power_text().filter(|_| gated.verdict == GateVerdict::Pass)) {
        text += &format!("  {reason}\n");
    }
    for note in &gated.notes {
        text += &format!("  {}: {}\n", styled(WARNING, "note"), one_line(note));
    }
    text + &categories(&gated.comparison)
}

/// The tokens and calls of the cases, where they have any: `tokens  1.21 times as many in the median of 20 cases (more: p = 0.003)`.
fn usage(comparison: &Comparison) -> String {
    let mut text = String::new();
    for (name, usage) in [("tokens", comparison.tokens), ("tool calls", comparison.calls)] {
        let Some(Usage { cases, ratio, p_of_more, p_of_less }) = usage else { continue };
        let (word, p) = if p_of_more <= p_of_less { ("more", p_of_more) } else { ("less", p_of_less) };
        let shown =
            if p <= 0.05 { format!("{word}: p = {}", p_value(p)) } else { "no change is shown".to_owned() };
        text += &format!(
            "{name}  {ratio:.2} times as many in the median of {} ({shown})\n",
            count(cases, "case")
        );
    }
    text
}

/// The categories with their cases.
pub fn categories(comparison: &Comparison) -> String {
    let mut text = String::from("\n");
    let counted = comparison.counted();
    let chips: Vec<String> =
        counted.iter().map(|(category, cases)| format!("{} {cases}", category.words())).collect();
    text += &format!("{}\n", chips.join(" | "));
    text += &usage(comparison);
    for (category, rows) in listed(comparison) {
        text += &format!("\n{}\n", styled(BOLD, category.words()));
        text.extend(rows.iter().map(|row| format!("  {row}\n")));
    }
    text
}

/// The cases that changed, by category: the first ones of each, and how many more there are.
fn listed(comparison: &Comparison) -> impl Iterator<Item = (Category, Vec<String>)> {
    let changed = comparison.counted().into_iter().filter(|(category, _)| *category != Category::Same);
    changed.map(|(category, cases)| {
        let mut rows: Vec<String> = comparison.of(category).take(MAX_LISTED).map(row).collect();
        rows.extend(
            cases.checked_sub(MAX_LISTED).filter(|more| *more > 0).map(|more| format!("and {more} more")),
        );
        (category, rows)
    })
}

/// The verdict as Markdown, for a comment on a pull request. Its first line is a mark by which a script finds the comment again.
pub fn markdown(gated: &Gated) -> String {
    let mut text = format!("<!-- evalset-gate -->\n## Gate: {}\n\n", gated.word());
    for reason in &gated.reasons {
        text += &format!("{}\n\n", escaped(&one_line(reason)));
    }
    if let Some(power) = gated.power_text() {
        text += &format!("{power}\n\n");
    }
    for note in &gated.notes {
        text += &format!("Note: {}\n\n", escaped(&one_line(note)));
    }
    text += "| category | cases |\n| --- | --- |\n";
    for (category, cases) in gated.comparison.counted() {
        text += &format!("| {} | {cases} |\n", category.words());
    }
    for (category, rows) in listed(&gated.comparison) {
        text += &format!("\n**{}**\n\n", category.words());
        text.extend(rows.iter().map(|row| format!("- {}\n", escaped(row))));
    }
    text
}

/// A warning of GitHub Actions on the set of each case that may be worse. A comparison decides nothing, so none is an error.
pub fn annotations(comparison: &Comparison) -> String {
    let worse = [Category::Regressed, Category::NewlyFailing, Category::ErrorNow, Category::OnlyBefore];
    let cases = worse.into_iter().flat_map(|category| comparison.of(category).take(MAX_LISTED));
    let of_case = |case: &ComparedCase| {
        let title = format!("{}: {}", case.category.words(), case.key);
        let fell = metrics_that_fell(&case.metrics).map(|fell| format!("; {fell}")).unwrap_or_default();
        annotation("warning", &[("file", &*case.key.set), ("title", &*title)], &(change(case) + &fell))
    };
    cases.map(of_case).collect()
}
