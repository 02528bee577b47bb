//! A comparison as text for people and for pull requests.

use std::fmt;

use eval_support::secrets::mask;
use eval_support::untrusted::{annotation, markdown as escaped, one_line};
use eval_support::words::count;

use super::category::{Category, METRIC_FELL};
use super::compared::{ComparedCase, Comparison};
use super::gated::{Gated, change, row, shown as p_value};
use super::pair::metrics_that_fell;
use crate::decide::exact::SIGNIFICANCE_LEVEL;
use crate::decide::gate::GateVerdict;
use crate::decide::usage::UsageRatio;
use crate::output::{BOLD, ERROR, GOOD, WARNING, styled};

/// The most cases of a category that are listed by name.
const MAX_LISTED: usize = 20;

/// The text of `cargo evalset gate`.
impl fmt::Display for Gated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&anstream::adapter::strip_str(&mask(&gate_text(self))), f)
    }
}

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

/// A line for each of tokens and calls, where cases have any: `tokens  1.21 times as many in the median of 20 cases (p = 0.006, two-sided)`.
pub(super) fn usage(comparison: &Comparison) -> impl Iterator<Item = String> {
    let both = [("tokens", comparison.tokens), ("tool calls", comparison.calls)];
    both.into_iter().filter_map(|(name, usage)| {
        let (usage, p) = usage.map(|usage| (usage, usage.p()))?;
        let shown = if p <= SIGNIFICANCE_LEVEL {
            format!("p = {}, two-sided", p_value(p))
        } else {
            "no change is shown".to_owned()
        };
        let UsageRatio { cases, ratio, .. } = usage;
        Some(format!("{name}  {ratio:.2} times as many in the median of {} ({shown})", count(cases, "case")))
    })
}

/// `regressed 1 | same 19`.
pub(super) fn chips(comparison: &Comparison) -> String {
    let counted = comparison.counted();
    let chips: Vec<String> =
        counted.iter().map(|(category, cases)| format!("{} {cases}", category.words())).collect();
    chips.join(" | ")
}

/// The categories with their cases.
fn categories(comparison: &Comparison) -> String {
    let mut text = format!("\n{}\n", chips(comparison));
    text.extend(usage(comparison).map(|line| format!("{line}\n")));
    for (heading, cases, more) in listed(comparison) {
        text += &format!("\n{}\n", styled(BOLD, heading));
        text.extend(cases.into_iter().map(row).chain(more).map(|row| format!("  {row}\n")));
    }
    text
}

/// The cases that changed, below their headings: the first ones of each, and how many more there are.
pub(super) fn listed(
    comparison: &Comparison,
) -> impl Iterator<Item = (&'static str, Vec<&ComparedCase>, Option<String>)> {
    let changed = comparison.counted().into_keys().filter(|category| *category != Category::Same);
    let of_category = |category: Category| (category.words(), comparison.of(category).collect());
    let fell: Vec<_> = comparison.cases.iter().filter(|case| case.is_same_but_for_a_metric()).collect();
    let groups = changed.map(of_category).chain([(METRIC_FELL, fell)]);
    groups.filter(|(_, cases)| !cases.is_empty()).map(|(heading, mut cases)| {
        let more = cases.len().checked_sub(MAX_LISTED).filter(|more| *more > 0);
        cases.truncate(MAX_LISTED);
        (heading, cases, more.map(|more| format!("and {more} more")))
    })
}

/// The numbers of cases by category, as a table.
pub(super) fn counts_as_markdown(comparison: &Comparison) -> String {
    let counted = comparison.counted();
    let rows = counted.iter().map(|(category, cases)| format!("| {} | {cases} |\n", category.words()));
    format!("| category | cases |\n| --- | --- |\n{}", rows.collect::<String>())
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
    text += &counts_as_markdown(&gated.comparison);
    for (heading, cases, more) in listed(&gated.comparison) {
        text += &format!("\n**{heading}**\n\n");
        text.extend(cases.into_iter().map(row).chain(more).map(|row| format!("- {}\n", escaped(&row))));
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
