//! A line of a baseline: the runs of one case.

use std::collections::BTreeMap;
use std::fmt;

use eval_support::untrusted::one_line;
use eval_support::words::count;
use serde::{Deserialize, Serialize};

use crate::decide::gate::CaseRuns;
use crate::statistics::PassCount;

/// The most runs of which a line has scores, tokens, seconds and calls.
pub(super) const MAX_LISTED_RUNS: usize = 20;

/// The most runs of a case. What is above was written by hand.
const MAX_RUNS: usize = 1_000_000;

/// The identity of a case. Lines of a baseline are sorted by it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The file of the set, relative to the workspace.
    pub set: String,
    /// The id of the case.
    pub case: String,
    /// The label of its runs. For a test of the attribute, its function: `package::binary::function`. Else empty.
    pub variant: String,
}

/// `evals/desk.evalset.json:refund`, as commands name a case.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&one_line(&format!("{}:{}", self.set, self.case)))?;
        if self.variant.is_empty() { Ok(()) } else { write!(f, " [{}]", one_line(&self.variant)) }
    }
}

/// The runs of one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// [`Key::set`].
    pub set: String,
    /// [`Key::case`].
    pub case: String,
    /// [`Key::variant`].
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub variant: String,
    /// [`Meaning::asks`](eval_format::Meaning::asks) of the case.
    pub asks: String,
    /// [`Meaning::expects`](eval_format::Meaning::expects) of the case.
    pub expects: String,
    /// The number of runs, those without a verdict too.
    pub runs: usize,
    /// The runs that passed every metric that decides.
    pub passed: usize,
    /// The runs without a verdict.
    pub errors: usize,
    /// The rule that combined the runs to the verdict of the case.
    pub pass: String,
    /// The rule that combined the turns of a run.
    pub gate: String,
    /// Whether the rules of the case were left out: `--literal`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub literal: bool,
    /// The source of answers to the calls of the agent: [`Started::tools`](eval_core::journal::Started::tools).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<String>,
    /// The metrics that decide.
    pub metrics: BTreeMap<String, MetricLine>,
    /// The tokens of each run, as far as the agent reports them.
    pub tokens: Vec<Option<i64>>,
    /// The seconds that the turns of each run took.
    pub seconds: Vec<f64>,
    /// The tool calls of each run.
    pub calls: Vec<usize>,
    /// The origin of the runs.
    pub from: Provenance,
    /// Whether the case failed in a test run, by its own rule. It is not in the file: what was blessed is accepted.
    #[serde(skip)]
    pub failed: bool,
}

/// A metric that decides, over the runs of a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MetricLine {
    /// A hash of the criterion: threshold and options.
    pub criterion: String,
    /// The models of the judge and the versions of its prompts; absent if no judge was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
    /// The number of its arithmetic: [`MetricInfo::arithmetic`](eval_format::metric::MetricInfo::arithmetic). Not written if it is 1.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub arithmetic: u32,
    /// Whether the lower score is the better one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_most: bool,
    /// The runs that passed it.
    pub passed: usize,
    /// The score of each run: the mean of its turns. Null without a score.
    pub scores: Vec<Option<f64>>,
}

/// Journals and baselines that name no number of an arithmetic have the first one.
pub(super) fn first() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_first(number: &u32) -> bool {
    *number == first()
}

/// The origin of runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The version of evalset that ran the cases.
    pub evalset: String,
    /// The commit that was checked out; null if it is not known.
    pub commit: Option<String>,
    /// Whether tracked files differed from that commit; null if it is not known.
    pub dirty: Option<bool>,
    /// The ids of the test runs.
    pub runs: Vec<String>,
    /// The models that the agent reports.
    pub models: Vec<String>,
    /// The day on which the last of the runs began: `2026-11-23`.
    pub at: String,
}

impl Line {
    /// The identity of its case.
    pub fn key(&self) -> Key {
        Key { set: self.set.clone(), case: self.case.clone(), variant: self.variant.clone() }
    }

    /// The runs as a gate counts them.
    #[doc(hidden)]
    pub fn case_runs(&self) -> CaseRuns {
        CaseRuns { judged: self.with_verdict(), errors: self.errors }
    }

    /// The passes of the runs with a verdict.
    pub fn with_verdict(&self) -> PassCount {
        PassCount::new(self.passed, self.runs.saturating_sub(self.errors)).unwrap_or_default()
    }

    /// A mistake in its numbers; `None` if they agree.
    pub(super) fn mistake(&self) -> Option<String> {
        if !(1..=MAX_RUNS).contains(&self.runs) {
            return Some(format!("{} runs, and a case has 1 to {MAX_RUNS}", self.runs));
        }
        if self.passed.checked_add(self.errors).is_none_or(|decided| decided > self.runs) {
            let Self { runs, passed, errors, .. } = self;
            return Some(format!("{passed} runs passed and {errors} had no verdict, of {runs}"));
        }
        let over = |(_, metric): &(&String, &MetricLine)| metric.passed > self.runs;
        if let Some((name, metric)) = self.metrics.iter().find(over) {
            return Some(format!("`{}` passed in {} of {} runs", one_line(name), metric.passed, self.runs));
        }
        let listed = |metric: &MetricLine| metric.scores.len();
        let lacks = |(_, metric): &(&String, &MetricLine)| listed(metric) < self.passed.min(MAX_LISTED_RUNS);
        if let Some((name, metric)) = self.metrics.iter().find(lacks) {
            let (name, scores) = (one_line(name), count(listed(metric), "score"));
            return Some(format!("{} runs passed, and `{name}` lists {scores}", self.passed));
        }
        // A run in which a metric has no score may pass without it.
        let is_whole =
            |metric: &MetricLine| listed(metric) == self.runs && metric.scores.iter().all(Option::is_some);
        let under = |(_, metric): &(&String, &MetricLine)| is_whole(metric) && metric.passed < self.passed;
        if let Some((name, metric)) = self.metrics.iter().find(under) {
            return Some(format!(
                "{} runs passed, and `{}` in {} of them",
                self.passed,
                one_line(name),
                metric.passed
            ));
        }
        // A run fails if a metric does.
        let failed = self.runs - self.passed - self.errors;
        let by_metrics = self.metrics.values().map(|metric| self.runs - metric.passed).sum::<usize>();
        if self.metrics.values().all(is_whole) && failed > by_metrics {
            return Some(format!("{} failed, and a metric in {by_metrics} of them", count(failed, "run")));
        }
        let lists =
            [("tokens", self.tokens.len()), ("seconds", self.seconds.len()), ("calls", self.calls.len())];
        let scores = self.metrics.values().map(|metric| ("scores", metric.scores.len()));
        if let Some((name, listed)) = lists.into_iter().chain(scores).find(|(_, listed)| *listed > self.runs)
        {
            return Some(format!("`{name}` lists {listed} runs of {}", self.runs));
        }
        if self.metrics.is_empty() && self.runs > self.errors {
            return Some("no metric decided, and runs have a verdict".to_owned());
        }
        None
    }
}
