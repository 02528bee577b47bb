//! The report on an eval set, or on several.

use std::fmt;

use eval_support::secrets::mask;
use eval_support::words::count;

use super::case_report::CaseReport;
use super::metric_report::{MetricReport, short};
use crate::verdict::Verdict;

/// The report on an eval set or on several: the cases in the order of the files.
///
/// ```
/// use eval_core::{EvalCase, EvalRunner, EvalSet, Invocation, Replay};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let set = EvalSet::new("weather").case(EvalCase::new("sunny").turn(Invocation::user("Paris?").response("Sunny.")));
/// let report = EvalRunner::new().run_set(&set, || Replay::new([["Sunny."]]), 1).await?;
///
/// assert!(report.all_passed());
/// assert_eq!(report.summary().pass_rate(), Some(1.0));
/// # Ok(()) }
/// ```
///
/// `Display` prints a line per case, then each failed case as [`CaseReport`] prints it, then the counts. The
/// crate `eval-report` prints it as JSON and in the formats of other tools (`Export`).
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use = "failed cases fail nothing by themselves: look at `all_passed()`"]
pub struct EvalReport {
    /// The cases, in order.
    pub cases: Vec<CaseReport>,
}

/// The numbers of cases by verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// All cases.
    pub total: usize,
    /// Cases that passed.
    pub passed: usize,
    /// Cases with a score below a threshold.
    pub failed: usize,
    /// Cases that neither passed nor failed: errors, and metrics that were not evaluated.
    pub errors: usize,
    /// Cases in which nothing could be checked without a judge, if `EVALSET_MISSING_JUDGE=skip` allows that.
    pub skipped: usize,
}

impl Summary {
    /// The share of passed cases among the cases that were not skipped, 0 to 1; `None` if there are none. It
    /// is 1 exactly if [`EvalReport::all_passed`] is true.
    #[expect(clippy::cast_precision_loss, reason = "counts of cases are far below 2^53")]
    pub fn pass_rate(&self) -> Option<f64> {
        let checked = self.total.saturating_sub(self.skipped);
        (checked > 0).then(|| self.passed as f64 / checked as f64)
    }
}

impl EvalReport {
    /// The numbers of cases by verdict.
    pub fn summary(&self) -> Summary {
        let mut summary = Summary { total: self.cases.len(), ..Summary::default() };
        for case in &self.cases {
            match case.verdict {
                Verdict::Passed => summary.passed += 1,
                Verdict::Failed => summary.failed += 1,
                Verdict::Skipped(_) => summary.skipped += 1,
                _ => summary.errors += 1,
            }
        }
        summary
    }

    /// Whether at least one case passed and every other case passed or was skipped for lack of a judge.
    pub fn all_passed(&self) -> bool {
        self.cases.iter().any(|case| case.verdict.passed()) && self.failures().next().is_none()
    }

    /// The cases that neither passed nor were skipped.
    pub fn failures(&self) -> impl Iterator<Item = &CaseReport> {
        self.cases.iter().filter(|case| !matches!(case.verdict, Verdict::Passed | Verdict::Skipped(_)))
    }

    fn write(&self, f: &mut impl fmt::Write) -> fmt::Result {
        for case in &self.cases {
            let scores: Vec<String> = case
                .metrics
                .iter()
                .filter(|metric| metric.criterion.is_some())
                .map(|metric| format!("{} {}", metric.name, result(metric, case.run_count())))
                .collect();
            let set = case.eval_set_id.as_ref().map(|id| format!("{id}/")).unwrap_or_default();
            let label = case.label.as_ref().map(|label| format!(" [{label}]")).unwrap_or_default();
            let scores = scores.join("  ");
            writeln!(f, "{:>13} {set}{}{label}  {scores}", case.verdict.to_string(), case.eval_id())?;
        }
        for case in self.failures() {
            writeln!(f, "\n{case}")?;
        }
        let Summary { total, passed, failed, errors, skipped } = self.summary();
        write!(f, "{}: {passed} passed, {failed} failed, {errors} without a verdict", count(total, "case"))?;
        if skipped > 0 {
            write!(f, ", {skipped} skipped")?;
        }
        Ok(())
    }
}

impl fmt::Display for EvalReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.write(&mut text)?;
        f.write_str(&mask(&text))
    }
}

/// The score of a metric, and in how many runs it reached its threshold if runs are decided one by one; its verdict if
/// it was skipped or has no score.
fn result(metric: &MetricReport, runs: usize) -> String {
    let score = metric.score.filter(|_| !matches!(metric.verdict, Verdict::Skipped(_)));
    match (score, metric.bound(), metric.passed_runs) {
        (Some(score), Some(bound), Some(passed)) => {
            let score = short(score, Some(bound));
            format!("{score} ({bound} {} in {passed} of {})", bound.reached(), count(runs, "run"))
        }
        (Some(score), bound, _) => short(score, bound),
        (None, ..) => metric.verdict.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use eval_format::{Criterion, EvalCase};

    use super::*;
    use crate::verdict::Role;

    fn report(verdict: Verdict) -> CaseReport {
        CaseReport::of_verdict(EvalCase::new("c"), verdict)
    }

    #[test]
    fn a_line_names_the_set_of_a_case_that_has_one() {
        let of_set = CaseReport { eval_set_id: Some("s".to_owned()), ..report(Verdict::Passed) };
        let text = EvalReport { cases: vec![of_set, report(Verdict::Passed)] }.to_string();
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        assert_eq!(lines, ["passed s/c", "passed c", "2 cases: 2 passed, 0 failed, 0 without a verdict"]);
    }

    #[test]
    fn a_score_is_shown_with_what_it_was_decided_by_and_a_skip_as_one() {
        let metric = |name: &str, verdict, passed_runs| MetricReport {
            name: name.to_owned(),
            criterion: Some(Criterion::new(0.8)),
            score: Some(0.33),
            scored: 3,
            total: 3,
            passed_runs,
            loosened: None,
            arithmetic: None,
            verdict,
            notes: Vec::new(),
        };
        let skipped = metric("safety_v1", Verdict::Skipped("no judge".to_owned()), None);
        let metrics =
            vec![metric("one", Verdict::Passed, Some(1)), skipped, metric("mean", Verdict::Failed, None)];
        let labelled = CaseReport { metrics, label: Some("b".to_owned()), ..report(Verdict::Passed) };
        let text = EvalReport { cases: vec![labelled] }.to_string();
        let expected = "passed c [b]  one 0.33 (0.8 reached in 1 of 0 runs)  safety_v1 skipped  mean 0.33";
        assert_eq!(text.lines().next().map(str::trim), Some(expected));
    }

    #[test]
    fn a_report_has_passed_only_if_a_case_did_and_no_other_failed() {
        let skipped = || Verdict::Skipped("no judge".to_owned());
        for (verdicts, passed) in [
            (vec![], false),
            (vec![skipped()], false),
            (vec![Verdict::Informational], false),
            (vec![Verdict::Passed], true),
            (vec![Verdict::Passed, skipped()], true),
            (vec![Verdict::Passed, Verdict::Failed], false),
            (vec![Verdict::Passed, Verdict::Informational], false),
            (vec![Verdict::Passed, Verdict::NotEvaluated(String::new())], false),
            (vec![Verdict::Passed, Verdict::error(Role::Harness, "stale")], false),
        ] {
            let report = EvalReport { cases: verdicts.iter().cloned().map(report).collect() };
            assert_eq!(report.all_passed(), passed, "{verdicts:?}");
            assert_eq!(report.summary().pass_rate() == Some(1.0), passed, "{verdicts:?}");
        }
    }
}
