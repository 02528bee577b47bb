//! Answers of judges, for a reviewer: by whom a run failed, and whether the samples of a question agreed.

use eval_core::report::{ScoredMetric, Verdict};
use eval_report::run_page::split_vote;
use eval_support::untrusted::{excerpt_line, one_line};
use eval_support::words::count;

use crate::recorded::TestResult;

/// The longest answer of a judge that is shown, in characters.
const ANSWER_CHARS: usize = 160;

/// The answers of judges by which the first failing run failed.
pub(super) fn judged(test: &TestResult<'_>) -> Vec<String> {
    let run = test.attempt.evaluations.iter().find(|it| it.passed == Some(false));
    let metrics = run.and_then(|run| run.scored.as_ref()).into_iter().flat_map(|it| &it.metrics);
    metrics.filter(|it| it.verdict == Verdict::Failed).flat_map(judge_lines).collect()
}

/// The judges of a metric, each with its model and whether it was replayed, and a line for each answer. A question whose samples do
/// not agree has a line that says so.
pub(crate) fn judge_lines(metric: &ScoredMetric) -> Vec<String> {
    let mut lines = Vec::new();
    for used in &metric.judge {
        let replayed = match used.replayed {
            Some(replayed) if replayed == used.asked => ", replayed",
            Some(0) | None => "",
            Some(_) => ", some replayed",
        };
        let asked = count(used.asked, "sample");
        lines.push(format!("{} asked {}: {asked}{replayed}", metric.name, one_line(&used.model)));
        for question in &used.questions {
            lines.extend(split_vote(question).map(|tally| format!("a split vote: {tally}")));
            lines.extend(question.answers.iter().map(|answer| excerpt_line(answer, ANSWER_CHARS).noted()));
        }
    }
    lines
}
