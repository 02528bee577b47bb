//! The model of the page. Texts are plain: [`text`](super::text()) and [`line`](super::line) made them safe to read.

use serde::Serialize;

use super::Text;
use super::diff::Piece;
use super::plot::{Histogram, PassRate, Scatter, Spark};

#[derive(Clone, Debug, Default)]
pub struct PageModel {
    pub title: String,
    /// The outcome in a word: `failed`.
    pub outcome: String,
    pub reason: String,
    pub counts: Vec<Count>,
    pub about: String,
    pub facts: Vec<Fact>,
    /// The facts that identify the run at a glance.
    pub glance: Vec<Fact>,
    pub rerun: Vec<String>,
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

impl PageModel {
    /// The plots of metrics that are visible at first, and the others. If there are many plots, the others
    /// are the plots of metrics that failed no case.
    pub fn plots(&self) -> (&[Histogram], &[Histogram]) {
        let failing = self.histograms.iter().filter(|plot| plot.below > 0).count();
        let first = if self.histograms.len() <= MAX_OPEN_PLOTS { MAX_OPEN_PLOTS } else { failing.max(1) };
        self.histograms.split_at(first.min(self.histograms.len()))
    }

    pub fn has_costs(&self) -> bool {
        self.cases.iter().any(|case| case.cost.is_some())
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct Count {
    /// The filter's name in the script: `failed`.
    pub filter: &'static str,
    pub name: &'static str,
    pub cases: usize,
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
    /// The filters that show it, separated by spaces.
    pub filters: String,
    /// Runs that passed, of all runs.
    pub runs: String,
    /// A remark on the runs: `flaky`.
    pub of_runs: Option<String>,
    pub pills: Vec<Pill>,
    pub tokens: Option<String>,
    /// In the currency of the prices; `None` without prices.
    pub cost: Option<String>,
    pub time: Option<String>,
    pub spark: Option<Spark>,
    pub details: CaseDetails,
}

#[derive(Clone, Debug, Serialize)]
pub struct Pill {
    pub name: String,
    pub state: &'static str,
    pub score: String,
}

/// The details of a case. They are embedded as JSON; the script shows them when the case is opened.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CaseDetails {
    pub name: String,
    /// The class of its state: `failed`.
    pub state: &'static str,
    pub word: &'static str,
    pub reason: Option<String>,
    pub facts: Vec<(&'static str, String)>,
    pub rerun: Option<String>,
    /// A doubt about the comparison: the case was edited, or its file is not here.
    pub doubt: Option<String>,
    pub notes: Vec<String>,
    pub metrics: Vec<MetricLine>,
    pub earlier: Vec<Earlier>,
    pub runs: Vec<Run>,
    pub printed: Option<Text>,
}

#[derive(Clone, Debug, Serialize)]
pub struct MetricLine {
    pub name: String,
    pub state: &'static str,
    pub score: Option<String>,
    pub threshold: Option<String>,
    /// `2 of 3 turns`.
    pub scored: String,
    pub reason: Option<String>,
    pub criterion: Vec<(String, String)>,
    pub notes: Vec<String>,
    /// An explanation for people who do not know the metric.
    pub about: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Earlier {
    pub attempt: u32,
    pub state: &'static str,
    pub reason: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Run {
    pub number: usize,
    pub state: &'static str,
    pub error: Option<Text>,
    pub tokens: Option<String>,
    pub scores: Vec<RunScore>,
    pub turns: Vec<Turn>,
    pub state_rows: Vec<StateRow>,
    pub judges: Vec<Judge>,
}

#[derive(Clone, Debug, Serialize)]
pub struct RunScore {
    pub metric: String,
    pub state: &'static str,
    pub score: Option<String>,
    pub threshold: Option<String>,
    pub reason: Option<String>,
    /// The remarks on a score of the run as a whole.
    pub whole: Option<TurnScore>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct Turn {
    /// `false` if the run ended before it.
    pub played: bool,
    pub user: Text,
    /// The comparison of the calls, in words; `None` if no turn was expected.
    pub compared: Option<String>,
    pub calls: Vec<Call>,
    pub expected: Option<Text>,
    pub actual: Option<Text>,
    /// Whether the answer is the expected one. The shown texts may be masked or truncated.
    pub same: bool,
    /// Both answers in pieces, if they differ.
    pub pieces: Option<(Vec<Piece>, Vec<Piece>)>,
    pub scores: Vec<TurnScore>,
    /// `1.2 s in all, 0.9 s in the model`.
    pub took: Option<String>,
    pub steps: Vec<Step>,
    pub more_steps: usize,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct Call {
    /// `same`, `changed`, `missing`, `extra`, or `made` if nothing is expected.
    pub is: &'static str,
    pub expected: Option<String>,
    pub actual: Option<String>,
    pub result: Option<String>,
    pub pieces: Option<(Vec<Piece>, Vec<Piece>)>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct TurnScore {
    pub metric: String,
    pub state: &'static str,
    pub score: Option<String>,
    pub threshold: Option<String>,
    pub reason: Option<String>,
    pub notes: Vec<Text>,
    pub rubrics: Vec<JudgedRubric>,
}

#[derive(Clone, Debug, Serialize)]
pub struct JudgedRubric {
    pub id: String,
    pub score: Option<f64>,
    pub text: Option<Text>,
    pub rationale: Option<Text>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Step {
    /// Seconds since the turn began.
    pub at: f64,
    /// The time at which work on the event began, and who worked: `model`, `tool`.
    pub from: f64,
    pub by: &'static str,
    pub author: String,
    pub what: &'static str,
    pub text: String,
    pub tokens: Option<String>,
    pub model: Option<String>,
}

/// A key of the session state that changed, or that has an expected value.
#[derive(Clone, Debug, Serialize)]
pub struct StateRow {
    pub key: String,
    pub before: Option<String>,
    pub after: Option<String>,
    pub expected: Option<String>,
    pub differs: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct Judge {
    /// The metric, or `playing the user`.
    pub purpose: String,
    pub model: String,
    /// `3 questions, 1 from the recording, 1 without an answer`.
    pub asked: String,
    pub questions: Vec<Question>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Question {
    pub template: Option<String>,
    pub prompt: Text,
    pub answers: Vec<Text>,
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
    fn a_fact_of_several_lines_is_wide() {
        let is_wide = |value: Option<&str>| Fact { name: "Sets", value: value.map(str::to_owned) }.is_wide();
        assert_eq!((is_wide(Some("a\nb")), is_wide(Some("a")), is_wide(None)), (true, false, false));
    }
}
