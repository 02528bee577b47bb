//! The table of metrics.

use eval_format::compat::NotCompared;
use eval_support::message::cut;
use eval_support::untrusted::{headline, name};
use eval_support::words::count;

use crate::report::{CaseReport, MetricReport, short};
use crate::verdict::Verdict;

/// Writes a row for each metric that decides, then one line with the informational metrics, and one with the
/// expectations of the case that no metric reads.
pub(super) fn write(out: &mut String, report: &CaseReport) {
    let rows: Vec<[String; 4]> = report
        .metrics
        .iter()
        .filter(|metric| metric.verdict != Verdict::Informational)
        .map(|metric| row(metric, report.run_count()))
        .collect();
    let header = ["metric", "score", "threshold", "verdict"].map(str::to_owned);
    let mut widths = [0; 4];
    for row in rows.iter().chain([&header]) {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    for [metric, score, threshold, verdict] in std::iter::once(&header).chain(&rows) {
        out.push_str(&format!(
            "\n  {metric:0$}  {score:1$}  {threshold:2$}  {verdict}",
            widths[0], widths[1], widths[2]
        ));
    }
    let informational: Vec<String> = report
        .metrics
        .iter()
        .filter(|metric| metric.verdict == Verdict::Informational)
        .filter_map(|metric| Some(format!("{} {}", name(&metric.name), short(metric.score?, None))))
        .collect();
    if !informational.is_empty() {
        out.push_str(&format!("\n  for information: {}", informational.join(", ")));
    }
    let not_compared = not_compared(report);
    if !not_compared.is_empty() {
        out.push_str(&format!("\n  not compared: {not_compared}"));
    }
}

fn not_compared(report: &CaseReport) -> NotCompared {
    let criteria =
        report.metrics.iter().filter_map(|metric| Some((metric.name.as_str(), metric.criterion.as_ref()?)));
    let scored = report.runs.iter().flat_map(|run| &run.metrics);
    let own: Vec<&str> = scored.filter(|metric| metric.custom).map(|metric| metric.name.as_str()).collect();
    NotCompared::of(criteria, &own, [&report.case])
}

fn row(metric: &MetricReport, runs: usize) -> [String; 4] {
    let score = match metric.score {
        Some(score) if metric.scored < metric.total => {
            let score = short(score, metric.bound());
            format!("{score} ({}/{})", metric.scored, count(metric.total, "turn"))
        }
        Some(score) => short(score, metric.bound()),
        None => "-".to_owned(),
    };
    let threshold = metric.bound().map_or_else(|| "-".to_owned(), |bound| bound.to_string());
    let mut verdict = metric.verdict.to_string();
    if let Some(passed) = metric.passed_runs {
        verdict.push_str(&format!(" ({passed}/{})", count(runs, "run")));
    }
    if let Some(loosened) = metric.loosened_text() {
        verdict.push_str(&format!("  {loosened}"));
    }
    if let (Verdict::Skipped(reason) | Verdict::NotEvaluated(reason), true) =
        (&metric.verdict, metric.scored == 0)
    {
        verdict.push_str(&format!(": {}", name(&cut(&headline(reason), 80))));
    }
    [name(&metric.name).into_owned(), score, threshold, verdict]
}
