//! The model of the page. Texts are plain: [`text`](super::text()) and [`line`](super::line) made them safe to read.

use serde::Serialize;

use super::details::{CaseDetails, Command};
use super::plot::{Histogram, PassRate, Scatter, Spark};

#[derive(Clone, Debug, Default)]
pub struct PageModel {
    pub headline: Headline,
    /// The changes since the run before; `None` if there is none of the same sets.
    pub compared: Option<Compared>,
    /// The categories since a baseline; `None` without one, and while tests run.
    pub baseline: Option<SinceBaseline>,
    pub counts: Vec<Count>,
    pub about: String,
    pub facts: Vec<Fact>,
    /// The facts that identify the run at a glance.
    pub glance: Vec<Fact>,
    /// The commands that run again what did not pass, each with what it does; empty if the one before says it.
    pub rerun: Vec<Command>,
    /// The pass rate, pass@k and the usage, each in a sentence.
    pub numbers: Vec<String>,
    pub notes: Vec<String>,
    pub histograms: Vec<Histogram>,
    /// The pass rate of the last runs; `None` if there is no run before this one.
    pub pass_rate: Option<PassRate>,
    pub scatters: Vec<Scatter>,
    /// The cases. Cases that need attention come first.
    pub cases: Vec<CaseRow>,
}

const MAX_OPEN_PLOTS: usize = 4;

/// The script and the styles of the page have this number too.
const ROWS_OF_PART: usize = 50;

impl PageModel {
    /// The plots of metrics that are visible at first, and the others. If there are many plots, the others
    /// are the plots of metrics that failed no case.
    pub fn plots(&self) -> (&[Histogram], &[Histogram]) {
        let failing = self.histograms.iter().filter(|plot| plot.below > 0).count();
        let first = if self.histograms.len() <= MAX_OPEN_PLOTS { MAX_OPEN_PLOTS } else { failing.max(1) };
        self.histograms.split_at(first.min(self.histograms.len()))
    }

    /// The rows in the parts of the table. A browser lays out only the parts in sight.
    pub fn parts(&self) -> std::slice::Chunks<'_, CaseRow> {
        self.cases.chunks(ROWS_OF_PART)
    }

    pub fn has_costs(&self) -> bool {
        self.cases.iter().any(|case| case.cost.is_some())
    }

    /// Whether there are runs before this one to compare it with.
    pub fn has_history(&self) -> bool {
        self.cases.iter().any(|case| case.spark.is_some())
    }

    /// Whether cases have a category since a baseline.
    pub fn has_categories(&self) -> bool {
        self.cases.iter().any(|case| case.category.is_some())
    }

    pub fn title(&self) -> String {
        format!("{} · cargo evalset", self.headline.text)
    }

    /// Whether the notes are shown at once: few short ones leave the first rows in sight.
    pub fn has_few_notes(&self) -> bool {
        self.notes.iter().map(|note| note.chars().count()).sum::<usize>() <= MAX_OPEN_NOTE_CHARS
    }
}

const MAX_OPEN_NOTE_CHARS: usize = 160;

/// The state of the run in words, for the top of the page.
#[derive(Clone, Debug, Default)]
pub struct Headline {
    /// The outcome in a word: `failed`, `running`.
    pub outcome: &'static str,
    pub tone: Tone,
    /// `3 failed, 1 error, 24 passed`.
    pub text: String,
    /// The reason why the run is not measured, or what it does not cover.
    pub cause: Option<String>,
    /// `None` if the run has ended.
    pub progress: Option<Progress>,
}

/// Cases with a verdict, of all cases of a run in progress.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    pub decided: usize,
    pub of: usize,
    pub text: String,
}

/// The colour and the sign of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    Bad,
    #[default]
    Unsure,
    Good,
    Working,
}

impl Tone {
    /// The class of its colour.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bad => "bad",
            Self::Unsure => "unsure",
            Self::Good => "good",
            Self::Working => "working",
        }
    }

    /// An icon for the tab of the browser: a disc of its colour with its sign.
    pub fn icon(self) -> String {
        let (colour, sign) = match self {
            Self::Bad => ("b3261e", "M5 5l6 6M11 5l-6 6"),
            Self::Unsure => ("6b3fa0", "M8 4v5M8 11v1"),
            Self::Good => ("146c2e", "M4 8l3 3 5-6"),
            Self::Working => ("535c68", "M8 4v4l3 2"),
        };
        format!(
            "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Ccircle cx='8' cy='8' r='8' \
             fill='%23{colour}'/%3E%3Cpath d='{sign}' fill='none' stroke='white' stroke-width='2'/%3E%3C/svg%3E"
        )
    }
}

/// The changes since the run before.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The kinds of changes, each with its number of cases.
    pub changes: Vec<Count>,
    /// The time of the run before.
    pub since: String,
}

/// The cases of a run beside a baseline.
#[derive(Clone, Debug, Default)]
pub struct SinceBaseline {
    /// The baseline, with the commit, the day and the runs of its cases.
    pub name: String,
    /// The categories that have cases of the run.
    pub changes: Vec<Count>,
    /// Sentences: the drops that are shown, and what a reader has to know about the baseline.
    pub said: Vec<String>,
    /// The cases of the baseline that did not run.
    pub left: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Count {
    /// The filter's name in the script: `failed`.
    pub filter: &'static str,
    pub name: &'static str,
    pub cases: usize,
    /// The cases that are counted here a second time, as they have a state too: `of the failed`.
    pub of: Option<&'static str>,
}

/// A fact about the run; without a value if the journal does not record it.
#[derive(Clone, Debug)]
pub struct Fact {
    pub name: &'static str,
    pub value: Option<String>,
}

impl Fact {
    pub fn is_wide(&self) -> bool {
        self.value.as_ref().is_some_and(|value| value.contains('\n'))
    }
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct CaseRow {
    /// The name of the case in links.
    pub anchor: String,
    /// The place of the case in the journal.
    pub at: usize,
    /// The filters that show it, separated by spaces.
    pub filters: String,
    /// The most urgent cases have the lowest number.
    pub urgency: u8,
    /// The differences from the expectations, or the reason for the state.
    pub why: Option<String>,
    /// The name of the cause, which other cases can have too; `None` for cases that need no attention.
    pub cause: Option<String>,
    /// The change since the run before, and when it passed last: `new failure, last passed 2026-11-20 02:31:07 UTC`.
    pub since: Option<String>,
    /// The category since the baseline: `newly failing`. `None` without a baseline.
    pub category: Option<&'static str>,
    /// The category with the passes before and now, if it is worth a line: `fell since the baseline: 10/10 → 8/10`.
    pub against: Option<String>,
    pub set: String,
    /// A tag a line.
    pub tags: String,
    /// Runs that passed, of all runs.
    pub runs: String,
    /// A remark on the runs: `flaky`.
    pub of_runs: Option<String>,
    /// The points of the case that may vary, and the number of them that a run needed: `2 of 3 needed`. `None` for a case
    /// without such points.
    pub loosened: Option<String>,
    /// The metrics that did not pass.
    pub pills: Vec<Pill>,
    /// The other metrics.
    pub others: Vec<Pill>,
    /// The mean of the scores that decide.
    pub score: Option<f64>,
    pub tokens: Option<String>,
    /// In the currency of the prices; `None` without prices.
    pub cost: Option<String>,
    /// The cost as a number, to sort by.
    pub money: Option<f64>,
    pub time: Option<String>,
    /// The time in seconds, to sort by.
    pub seconds: Option<f64>,
    pub spark: Option<Spark>,
    pub details: CaseDetails,
}

impl CaseRow {
    /// The first metric that did not pass.
    pub fn metric(&self) -> &str {
        self.pills.first().map_or("", |pill| &pill.name)
    }

    /// The other metrics in words: `1 more metric`, `2 metrics passed`.
    pub fn others_folded(&self) -> String {
        let all_passed = self.others.iter().all(|pill| pill.state == "passed");
        let count = self.others.len();
        let metrics = if count == 1 { "metric" } else { "metrics" };
        if self.pills.is_empty() && all_passed {
            format!("{count} {metrics} passed")
        } else {
            format!("{count} more {metrics}")
        }
    }
}

/// The style of a piece of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum As {
    Text,
    /// A name between backticks.
    Code,
    /// A text between “ and ”, without them. Its direction is its own, so that it turns no words around it.
    Quote,
    /// The arrow from what was expected to what is actual.
    Arrow,
    /// The word golden, where a call has no golden response.
    Golden,
}

impl As {
    pub(super) fn is_code(self) -> bool {
        self == Self::Code
    }

    pub(super) fn is_quote(self) -> bool {
        self == Self::Quote
    }

    /// The title that explains it.
    pub(super) fn title(self) -> Option<&'static str> {
        match self {
            Self::Arrow => Some("left: expected, right: actual"),
            Self::Golden => Some("the response that the case has for a call"),
            _ => None,
        }
    }
}

/// The pieces of a line. The script of the page cuts in the same way.
pub(super) fn pieces(line: &str) -> Vec<(&str, As)> {
    let (mut found, mut begin, mut at) = (Vec::new(), 0, 0);
    while let Some(open) = line[at..].find(['`', '“']).map(|open| at + open) {
        let is_code = line[open..].starts_with('`');
        let inside = open + if is_code { 1 } else { '“'.len_utf8() };
        let end = line[inside..].find(if is_code { '`' } else { '”' }).map(|end| inside + end);
        match end {
            Some(end) if is_code && end > inside => {
                found.push((&line[begin..open], As::Text));
                found.push((&line[inside..end], As::Code));
                (begin, at) = (end + 1, end + 1);
            }
            // The marks stay with the words around them.
            Some(end) if !is_code => {
                found.push((&line[begin..inside], As::Text));
                found.push((&line[inside..end], As::Quote));
                (begin, at) = (end, end);
            }
            _ => at = inside,
        }
    }
    found.push((&line[begin..], As::Text));
    let mut all = Vec::new();
    for (piece, shown) in found {
        match shown {
            As::Text => explained(piece, is_compared(line), &mut all),
            _ => all.push((piece, shown)),
        }
    }
    all.retain(|(piece, _)| !piece.is_empty());
    all
}

/// Whether the arrows of a line lead from what was expected to what is actual.
fn is_compared(line: &str) -> bool {
    line.contains(" → actual ") || line.contains("expected → actual: ")
}

const NO_GOLDEN: &str = "no golden response ";

/// Cuts out the arrows, and the word golden, which have titles.
fn explained<'l>(mut text: &'l str, is_compared: bool, all: &mut Vec<(&'l str, As)>) {
    loop {
        let arrow = text.find('→').filter(|_| is_compared).map(|at| (at, '→'.len_utf8(), As::Arrow));
        let golden = text.find(NO_GOLDEN).map(|at| (at + "no ".len(), "golden".len(), As::Golden));
        let Some((at, length, shown)) = [arrow, golden].into_iter().flatten().min_by_key(|(at, ..)| *at)
        else {
            all.push((text, As::Text));
            return;
        };
        all.push((&text[..at], As::Text));
        all.push((&text[at..at + length], shown));
        text = &text[at + length..];
    }
}

/// The parts of a quote in which two texts are: `午[後→前]から` has `後` of the expected one and `前` of the other.
/// The text before, both parts, and the text behind them; `None` if the quote has no such place.
pub(super) fn inside(quote: &str) -> Option<[&str; 4]> {
    let (before, rest) = quote.split_once('[')?;
    let (both, after) = rest.split_once(']')?;
    let (one, other) = both.split_once('→')?;
    Some([before, one, other, after])
}

#[derive(Clone, Debug, Serialize)]
pub struct Pill {
    pub name: String,
    pub state: &'static str,
    pub score: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plots_of_metrics_that_failed_cases_are_in_sight() {
        let plots = |below: &[usize]| {
            let plot = |below: &usize| {
                let bound = Some(eval_format::Bound::at_least(0.5));
                let failing = (0..*below).map(|_| (0.1, bound));
                Histogram::new("m".to_owned(), &failing.chain([(0.9, bound)]).collect::<Vec<_>>())
                    .expect("a plot")
            };
            let model = PageModel { histograms: below.iter().map(plot).collect(), ..PageModel::default() };
            let (first, others) = model.plots();
            (first.len(), others.len())
        };
        for (below, expected) in [
            (&[][..], (0, 0)),
            (&[2, 1, 0], (3, 0)),
            (&[0, 0, 0, 0], (4, 0)),
            (&[2, 1, 0, 0, 0], (2, 3)),
            (&[0, 0, 0, 0, 0], (1, 4)),
            (&[1, 1, 1, 1, 1, 1], (6, 0)),
        ] {
            assert_eq!(plots(below), expected, "{below:?}");
        }
    }

    #[test]
    fn names_between_backticks_are_code_and_quotes_are_apart() {
        use As::{Arrow, Code, Golden, Quote, Text};
        for (line, parts) in [
            ("f `a` 1 → 2", &[("f ", Text), ("a", Code), (" 1 → 2", Text)][..]),
            ("`a` missing", &[("a", Code), (" missing", Text)]),
            ("one ` alone", &[("one ` alone", Text)]),
            ("``a` b", &[("`", Text), ("a", Code), (" b", Text)]),
            ("plain", &[("plain", Text)]),
            (
                "“الأربعاء” → “x `y`”",
                &[("“", Text), ("الأربعاء", Quote), ("” → “", Text), ("x `y`", Quote), ("”", Text)],
            ),
            ("an “open one", &[("an “open one", Text)]),
            (
                "`n` expected 3 → actual 2, 1 → 0",
                &[
                    ("n", Code),
                    (" expected 3 ", Text),
                    ("→", Arrow),
                    (" actual 2, 1 ", Text),
                    ("→", Arrow),
                    (" 0", Text),
                ],
            ),
            ("no golden response for f", &[("no ", Text), ("golden", Golden), (" response for f", Text)]),
        ] {
            assert_eq!(pieces(line), parts);
        }
        assert!(Arrow.title().is_some() && Golden.title().is_some() && Text.title().is_none());
        assert_eq!(inside("は午[後→前]から"), Some(["は午", "後", "前", "から"]));
        assert_eq!([inside("sunny"), inside("[a] → b")], [None, None]);
    }

    #[test]
    fn a_page_names_its_state_in_its_title_and_icon() {
        let headline = Headline { text: "3 failed".to_owned(), tone: Tone::Bad, ..Headline::default() };
        assert_eq!(PageModel { headline, ..PageModel::default() }.title(), "3 failed · cargo evalset");
        let icons = [Tone::Bad, Tone::Unsure, Tone::Good, Tone::Working].map(Tone::icon);
        for (at, icon) in icons.iter().enumerate() {
            assert!(
                icon.starts_with("data:image/svg+xml,%3Csvg ") && !icon.contains(['"', '<', '#']),
                "{icon}"
            );
            assert!(!icons[..at].contains(icon), "each state has its own");
        }
        let notes = |chars: usize| {
            PageModel { notes: vec!["x".repeat(chars)], ..PageModel::default() }.has_few_notes()
        };
        assert_eq!([notes(MAX_OPEN_NOTE_CHARS), notes(MAX_OPEN_NOTE_CHARS + 1)], [true, false]);
    }

    #[test]
    fn the_metrics_that_are_folded_are_counted_in_words() {
        let pill = |state| Pill { name: "m".to_owned(), state, score: "1.0".to_owned() };
        for (pills, others, said) in [
            (vec![pill("failed")], vec![pill("passed")], "1 more metric"),
            (vec![pill("failed")], vec![pill("passed"), pill("passed")], "2 more metrics"),
            (vec![], vec![pill("passed"), pill("passed")], "2 metrics passed"),
            (vec![], vec![pill("passed"), pill("skipped")], "2 more metrics"),
        ] {
            assert_eq!(CaseRow { pills, others, ..CaseRow::default() }.others_folded(), said);
        }
    }

    #[test]
    fn a_fact_of_several_lines_is_wide() {
        let is_wide = |value: Option<&str>| Fact { name: "Sets", value: value.map(str::to_owned) }.is_wide();
        assert_eq!((is_wide(Some("a\nb")), is_wide(Some("a")), is_wide(None)), (true, false, false));
    }
}
