//! What the page shows. Texts are plain: [`text`](super::text()) and [`line`](super::line) made them safe to read.

use serde::Serialize;

use super::diff::Piece;
use super::plot::{Histogram, PassRate, Spark};
use super::scatter::Scatter;
use super::text::Text;

/// Everything that the page shows.
#[derive(Clone, Debug, Default)]
pub(crate) struct PageModel {
    /// The title of the window.
    pub(crate) title: String,
    /// The outcome in a word: `failed`.
    pub(crate) outcome: String,
    /// The counts that explain the outcome, in a sentence.
    pub(crate) reason: String,
    /// How many cases are in each state.
    pub(crate) counts: Vec<Count>,
    /// Which run it is, in a line.
    pub(crate) about: String,
    /// What is known of the run.
    pub(crate) facts: Vec<Fact>,
    /// Those that tell at a glance which run it is.
    pub(crate) glance: Vec<Fact>,
    /// The commands that run again what did not pass.
    pub(crate) rerun: Vec<String>,
    /// The pass rate, pass@k and the usage, each in a sentence.
    pub(crate) numbers: Vec<String>,
    /// What limits the numbers.
    pub(crate) notes: Vec<String>,
    /// A plot for each metric with a threshold.
    pub(crate) histograms: Vec<Histogram>,
    /// The pass rate of the last runs; `None` if there is no run before this one.
    pub(crate) pass_rate: Option<PassRate>,
    /// Time and cost against the score.
    pub(crate) scatters: Vec<Scatter>,
    /// The cases, what needs attention first.
    pub(crate) cases: Vec<CaseRow>,
}

/// Plots of metrics that are shown without being asked for.
const FIRST_PLOTS: usize = 4;

impl PageModel {
    /// The plots of metrics that are in sight, and the others: those that failed no case, if there are many.
    pub(crate) fn plots(&self) -> (&[Histogram], &[Histogram]) {
        let failing = self.histograms.iter().filter(|plot| plot.below > 0).count();
        let first = if self.histograms.len() <= FIRST_PLOTS { FIRST_PLOTS } else { failing.max(1) };
        self.histograms.split_at(first.min(self.histograms.len()))
    }

    /// Whether it is known of a case what it cost.
    pub(crate) fn has_costs(&self) -> bool {
        self.cases.iter().any(|case| case.cost.is_some())
    }
}

/// A filter, and how many cases it shows.
#[derive(Clone, Debug)]
pub(crate) struct Count {
    /// What the script knows it by: `failed`.
    pub(crate) filter: &'static str,
    /// Its name on the page.
    pub(crate) name: &'static str,
    pub(crate) cases: usize,
}

/// Something about the run; without a value if the journal does not record it.
#[derive(Clone, Debug)]
pub(crate) struct Fact {
    pub(crate) name: &'static str,
    pub(crate) value: Option<String>,
}

impl Fact {
    /// Whether it has several lines.
    pub(crate) fn is_wide(&self) -> bool {
        self.value.as_ref().is_some_and(|value| value.contains('\n'))
    }
}

/// A row of the table.
#[derive(Clone, Debug, Default)]
pub(crate) struct CaseRow {
    /// The name of the case in links.
    pub(crate) anchor: String,
    pub(crate) name: String,
    /// The class of its state: `failed`.
    pub(crate) state: &'static str,
    /// The state in a word: `FAIL`.
    pub(crate) word: &'static str,
    /// The filters that show it, separated by spaces.
    pub(crate) filters: String,
    /// Why it has its state.
    pub(crate) reason: Option<String>,
    /// Runs that passed, of all runs.
    pub(crate) runs: String,
    /// What more there is to say of them: `flaky`.
    pub(crate) of_runs: Option<String>,
    pub(crate) pills: Vec<Pill>,
    pub(crate) tokens: Option<String>,
    /// In the currency of the prices; `None` without prices.
    pub(crate) cost: Option<String>,
    pub(crate) time: Option<String>,
    pub(crate) spark: Option<Spark>,
    pub(crate) details: CaseDetails,
}

/// A metric in a row.
#[derive(Clone, Debug)]
pub(crate) struct Pill {
    pub(crate) name: String,
    /// The class of its verdict.
    pub(crate) state: &'static str,
    /// The score, or a word for why there is none.
    pub(crate) score: String,
}

/// What is known of a case. It is embedded as JSON; the script shows it when the case is opened.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct CaseDetails {
    pub(crate) name: String,
    pub(crate) state: &'static str,
    pub(crate) word: &'static str,
    pub(crate) reason: Option<String>,
    /// The set, the package and so on.
    pub(crate) facts: Vec<(&'static str, String)>,
    /// The command that runs it again.
    pub(crate) rerun: Option<String>,
    /// What the reader has to know of the comparison: the case was edited, or its file is not here.
    pub(crate) doubt: Option<String>,
    pub(crate) notes: Vec<String>,
    pub(crate) metrics: Vec<MetricLine>,
    pub(crate) earlier: Vec<Earlier>,
    pub(crate) runs: Vec<Run>,
    /// What the test printed.
    pub(crate) printed: Option<Text>,
}

/// A metric over all runs of a case.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct MetricLine {
    pub(crate) name: String,
    pub(crate) state: &'static str,
    pub(crate) score: Option<f64>,
    pub(crate) threshold: Option<f64>,
    /// `2 of 3 turns`.
    pub(crate) scored: String,
    pub(crate) reason: Option<String>,
    pub(crate) criterion: Vec<(String, String)>,
    pub(crate) notes: Vec<String>,
    /// For people who do not know the metric.
    pub(crate) about: Option<String>,
}

/// An attempt before the one that counts.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Earlier {
    pub(crate) attempt: u32,
    pub(crate) state: &'static str,
    pub(crate) reason: Option<String>,
}

/// A run of a case.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Run {
    pub(crate) number: usize,
    /// The class of its verdict.
    pub(crate) state: &'static str,
    pub(crate) error: Option<Text>,
    pub(crate) tokens: Option<String>,
    /// Each metric on this run.
    pub(crate) scores: Vec<RunScore>,
    pub(crate) turns: Vec<Turn>,
    pub(crate) state_rows: Vec<StateRow>,
    pub(crate) judges: Vec<Judge>,
}

/// A metric on a run.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RunScore {
    pub(crate) metric: String,
    pub(crate) score: Option<f64>,
    pub(crate) threshold: Option<f64>,
    /// Why there is no score.
    pub(crate) reason: Option<String>,
    /// The remarks on a score of the run as a whole.
    pub(crate) whole: Option<TurnScore>,
}

/// A turn of a run, beside what was expected of it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Turn {
    /// `false` if the run ended before it.
    pub(crate) played: bool,
    pub(crate) user: Text,
    /// How the calls are compared; `None` if no metric of the case does.
    pub(crate) compared: Option<String>,
    pub(crate) calls: Vec<Call>,
    pub(crate) expected: Option<Text>,
    pub(crate) actual: Option<Text>,
    /// Whether the answer is the expected one, whatever is shown of them.
    pub(crate) same: bool,
    /// Both answers in pieces, if they differ.
    pub(crate) pieces: Option<(Vec<Piece>, Vec<Piece>)>,
    pub(crate) scores: Vec<TurnScore>,
    /// `1.2 s in all, 0.9 s in the model`.
    pub(crate) took: Option<String>,
    pub(crate) steps: Vec<Step>,
    /// Steps that are not shown.
    pub(crate) more_steps: usize,
}

/// An expected call beside an actual one.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Call {
    /// `same`, `changed`, `missing`, `extra`, or `made` if nothing is expected.
    pub(crate) is: &'static str,
    pub(crate) expected: Option<String>,
    pub(crate) actual: Option<String>,
    pub(crate) result: Option<String>,
    /// Both calls in pieces, if they differ.
    pub(crate) pieces: Option<(Vec<Piece>, Vec<Piece>)>,
}

/// A metric on a turn.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TurnScore {
    pub(crate) metric: String,
    pub(crate) score: Option<f64>,
    pub(crate) threshold: Option<f64>,
    pub(crate) reason: Option<String>,
    pub(crate) notes: Vec<Text>,
    pub(crate) rubrics: Vec<JudgedRubric>,
}

/// What a judge found of a rubric.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct JudgedRubric {
    pub(crate) id: String,
    pub(crate) score: Option<f64>,
    pub(crate) text: Option<Text>,
    pub(crate) rationale: Option<Text>,
}

/// An event of a turn.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Step {
    /// Seconds since the turn began.
    pub(crate) at: f64,
    /// Since when what led to it took place, and who was at work: `model`, `tool`.
    pub(crate) from: f64,
    pub(crate) by: &'static str,
    pub(crate) author: String,
    pub(crate) what: &'static str,
    pub(crate) text: String,
    pub(crate) tokens: Option<String>,
    pub(crate) model: Option<String>,
}

/// A key of the session state that changed, or of which something was expected.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct StateRow {
    pub(crate) key: String,
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
    pub(crate) expected: Option<String>,
    /// Whether it is not as expected.
    pub(crate) differs: bool,
}

/// What a judge was asked in a run.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Judge {
    /// The metric, or that it played the user.
    pub(crate) purpose: String,
    pub(crate) model: String,
    /// `3 questions, 1 from the recording, 1 without an answer`.
    pub(crate) asked: String,
    pub(crate) questions: Vec<Question>,
}

/// A prompt, and what came back.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Question {
    /// The name of the prompt, if it has one.
    pub(crate) template: Option<String>,
    pub(crate) prompt: Text,
    pub(crate) answers: Vec<Text>,
}
