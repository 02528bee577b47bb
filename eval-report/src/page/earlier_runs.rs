//! The model of a case beside runs before: its baseline, and its history.

use serde::Serialize;

/// A case beside its line of a baseline.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CaseSince {
    /// The category in words: `newly failing`.
    pub category: &'static str,
    /// The passes before: `9/9 +1 error`. `-` for a side without the case.
    pub before: String,
    pub now: String,
    /// The probability of a change as large as this one in either direction, if nothing changed.
    pub p: Option<String>,
    /// The reason why the passes cannot be compared, or the metrics that fewer runs passed.
    pub why: Option<String>,
    /// The medians of a run before, and now.
    pub tokens: [Option<String>; 2],
    pub calls: [Option<String>; 2],
    /// The metrics of either side; empty if only one side has the case.
    pub metrics: Vec<MetricSince>,
    /// The origin of the line: the commit, the day and the runs. A baseline holds no transcripts.
    pub from: Option<String>,
}

/// A metric on both sides.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MetricSince {
    pub name: String,
    /// The runs that passed it before: `10/10`; `None` if it decided nothing.
    pub before: Option<String>,
    pub now: Option<String>,
    /// The mean scores.
    pub scores: [Option<String>; 2],
    pub incomparable: Option<String>,
}

/// The results of a case in the runs before, as far as the case was the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CaseHistory {
    /// The runs in which the case had this meaning, the newest first.
    pub runs: Vec<PastRun>,
    /// The number of runs in which it had another meaning.
    pub others: usize,
}

/// A run in which the case was the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PastRun {
    pub id: String,
    /// The time at which it began.
    pub when: String,
    /// The class of the state.
    pub state: &'static str,
    /// The runs that passed: `2/3`.
    pub passed: String,
}
