//! The verdict that the runs of a record would get with a changed case. No agent runs, and no judge is asked.

use std::collections::BTreeSet;

use eval_core::report::{CaseReport, RunReport, Verdict, short};
use eval_format::EvalCase;
use eval_format::metric::{MetricInfo, Need, metric};
use eval_support::words::{code_list, count};
use serde::Serialize;

use crate::output::runtime;
use crate::recorded::{Found, TestResult};
use crate::rescoring::{Now, Selection, forecast};

/// The outcome of scoring the record again.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Forecast {
    pub(crate) passed: usize,
    pub(crate) runs: usize,
    /// The metrics that would still fail, with their scores: `safety_v1 0.0`.
    pub(crate) still_fails: Vec<String>,
    /// The metrics whose judge has not seen what is expected now.
    pub(crate) unseen: Vec<String>,
}

impl Forecast {
    /// The forecast for a changed case; `None` if the record cannot be scored again.
    pub(crate) fn of(case: &EvalCase, test: &TestResult<'_>, found: &Found) -> Option<Self> {
        let asks_judge = |name: &str| metric(name).is_some_and(|info| info.needs.contains(&Need::Judge));
        let names: Vec<&str> = test.deciding().map(|report| report.name.as_str()).collect();
        let (judged, lexical): (Vec<&str>, Vec<&str>) = names.iter().partition(|name| asks_judge(name));
        let selection = Selection {
            metrics: Some(lexical.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>()),
            config: None,
            judge: None,
            literal: test.attempt.started.literal,
        };
        let has_scores = |name: &&str| {
            let scored = test.attempt.evaluations.iter().filter_map(|it| it.scored.as_ref());
            scored.flat_map(|it| &it.metrics).all(|it| it.name != **name || it.outcome.name() != "skipped")
        };
        // A judge whose scores are not recorded would be asked.
        if !judged.iter().all(has_scores) {
            return None;
        }
        let runtime = runtime("metrics").ok()?;
        let Now::Scored(report) = runtime.block_on(forecast(case, test, &selection, found)) else {
            return None;
        };
        let answers = |case: &EvalCase| -> Vec<_> {
            case.conversation.iter().map(|turn| turn.final_response.clone()).collect()
        };
        let is_other = answers(case) != answers(&found.case);
        let reads = |name: &str| metric(name).is_some_and(MetricInfo::reads_expected_answer);
        let unseen = judged.iter().filter(|name| is_other && reads(name)).map(|name| (*name).to_owned());
        Some(Self::from_report(&report, unseen.collect()))
    }

    fn from_report(report: &CaseReport, unseen: Vec<String>) -> Self {
        let is_seen = |name: &str| !unseen.iter().any(|it| it == name);
        let passed = |run: &&RunReport| {
            let deciding = run.metrics.iter().filter(|it| it.criterion.is_some() && is_seen(&it.name));
            run.error.is_none() && Verdict::run_passed(deciding.map(|it| &it.verdict)) == Some(true)
        };
        let failing = report.metrics.iter().filter(|it| {
            it.criterion.is_some()
                && is_seen(&it.name)
                && !matches!(it.verdict, Verdict::Passed | Verdict::Skipped(_))
        });
        let still_fails = failing.map(|it| match it.score {
            Some(score) => format!("{} {}", it.name, short(score, it.bound())),
            None => it.name.clone(),
        });
        Self {
            passed: report.runs.iter().filter(passed).count(),
            runs: report.runs.len(),
            still_fails: still_fails.collect(),
            unseen,
        }
    }

    /// The forecast in words.
    pub(crate) fn said(&self) -> String {
        let runs = count(self.runs, "run");
        let mut said = match self.still_fails.as_slice() {
            [] if self.passed == self.runs => format!("would pass all of {runs} of this record"),
            [] => format!("would pass {} of {runs} of this record", self.passed),
            names => format!("will still fail: {}", names.join(", ")),
        };
        if !self.unseen.is_empty() {
            said += &format!(
                "; {} has not judged this pair: the recording has no vote for it, and `EVALSET_JUDGE=record` asks",
                code_list(&self.unseen)
            );
        }
        said
    }
}
