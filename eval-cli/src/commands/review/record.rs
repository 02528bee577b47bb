//! The whole record of a case: all that happened in its runs, and their scores.

use eval_core::agent::Event;
use eval_core::report::{MetricOutcome, ScoredMetric, short};
use eval_format::{Criterion, Value};
use eval_report::journal::Evaluation;
use eval_support::untrusted::{one_line, quoted};
use eval_support::words::count;

use crate::recorded::{State, TestResult};
use crate::review::judge_lines;

/// The column of each text of a conversation.
const SAID_COLUMN: usize = 16;

/// All runs of the tests of a case.
pub(super) fn text(tests: &[&TestResult<'_>]) -> String {
    let all: Vec<&Evaluation> = tests.iter().flat_map(|test| &test.attempt.evaluations).collect();
    let mut text = String::new();
    for (number, evaluation) in (1..).zip(&all) {
        let verdict = match evaluation.passed {
            Some(true) => "passed",
            Some(false) => "failed",
            None => "no verdict",
        };
        text += &format!("    run {number} of {}: {verdict}\n", all.len());
        let transcript = &evaluation.ran.transcript;
        for (number, turn) in (1..).zip(&transcript.turns) {
            text += &format!("      turn {number}\n");
            text += &line("user", &turn.invocation.user_text());
            text.extend(turn.events.iter().filter(|event| !event.partial).map(of_event));
        }
        text.extend(transcript.error.iter().map(|error| line("error", &error.to_string())));
        text.extend(transcript.notes.iter().map(|note| line("note", note)));
        text.extend(evaluation.scored.iter().flat_map(|scored| &scored.metrics).map(of_metric));
    }
    if all.is_empty() {
        text += &format!("    no run of {} ended\n", count(tests.len(), "test"));
    }
    text
}

fn of_event(event: &Event) -> String {
    let parts = event.content.iter().flat_map(eval_format::Content::parts);
    let of_part = |part: &eval_format::Part| {
        let call = part.function_call.as_ref().map(|call| line("call", &call.to_string()));
        let response = part.function_response.as_ref().map(|response| {
            let name = one_line(response.name.as_deref().unwrap_or("(no name)"));
            let what = Value::from(response.response.clone().unwrap_or_default());
            line("response", &format!("{name}: {what}"))
        });
        let said = part.text.as_ref().map(|said| line(&one_line(&event.author), said));
        call.into_iter().chain(response).chain(said).collect::<String>()
    };
    parts.map(of_part).collect()
}

/// The score of a run, its verdict, and what judges answered.
fn of_metric(metric: &ScoredMetric) -> String {
    let score = match &metric.outcome {
        MetricOutcome::Scored(scores) => scores.overall(),
        _ => None,
    };
    let bound = metric.criterion.as_ref().map(Criterion::bound);
    let score = score.map(|score| format!(" {}", short(score, bound))).unwrap_or_default();
    // A metric without a threshold informs, and has no verdict.
    let verdict = bound.map(|_| State::from_verdict(&metric.verdict).name().replace('_', " "));
    let verdict = verdict.map(|verdict| format!(": {verdict}")).unwrap_or_default();
    let mut text = format!("      {:8}  {}{score}{verdict}\n", "score", one_line(&metric.name));
    text.extend(judge_lines(metric).iter().map(|said| line("judge", said)));
    text
}

fn line(what: &str, said: &str) -> String {
    format!("      {what:8}  {}\n", quoted(said, SAID_COLUMN))
}
