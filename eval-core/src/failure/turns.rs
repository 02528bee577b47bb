//! The turns that a failure shows: turns below a threshold or without a score, and the turn that ended in an
//! error.

use eval_format::Invocation;
use eval_format::expect::{Rules, TurnRules};
use eval_format::metric::Subject;
use eval_support::message::cut;
use eval_support::untrusted::{MARK, below_headline, headline, marked, name, quoted};
use eval_support::words::count;

use super::lines::{MAX_HEADLINE_CHARS, line};
use super::{differ, reads_expectations, trajectory};
use crate::metric::{FINAL_SESSION_STATE_MATCH, Score};
use crate::report::{CaseReport, MetricOutcome, MetricReport, RunReport, ScoredMetric, short};
use crate::score::align::comparison;
use crate::transcript::TurnRecord;

/// The most lines that all turns take together. The first turn is always shown.
const MAX_LINES: usize = 24;
const MAX_TEXT_LINES: usize = 4;
const MAX_TEXT_CHARS: usize = 240;
const MAX_NOTES: usize = 4;

/// Describes the first run that failed. Several runs of a case usually fail alike.
pub(super) fn write(out: &mut String, report: &CaseReport) {
    let is_bad = |run: &&RunReport| run.error.is_some() || !at_fault(report, run).is_empty();
    let Some(run) = report.runs.iter().find(is_bad) else { return };
    let of_runs = match report.run_count() {
        1 => String::new(),
        runs => format!("run {} of {runs}, ", run.number),
    };
    let bad = at_fault(report, run);
    if let Some(error) = &run.error {
        let is_below = error.turn.and_then(|turn| turn.checked_sub(1)).is_some_and(|at| bad.contains(&at));
        if error.breaks() || !is_below {
            broken(out, report, run, &of_runs);
        }
        message(out, &error.message);
        if error.breaks() {
            return;
        }
    }
    let before = out.lines().count();
    for (shown, at) in bad.iter().enumerate() {
        let whole = out.len();
        turn(out, report, run, *at, &of_runs);
        if shown > 0 && out.lines().count() - before > MAX_LINES {
            out.truncate(whole);
            line(out, &format!("\n... and {} that miss a threshold", count(bad.len() - shown, "more turn")));
            break;
        }
    }
    for (metric, score) in failing_scores(report, run, None) {
        let is_state = metric.name == FINAL_SESSION_STATE_MATCH;
        notes(out, if is_state { "session state" } else { &metric.name }, score);
    }
}

/// The turns, from 0, in which a failed metric misses its threshold or has no score; the last turn if only a
/// score of the whole run does.
fn at_fault(report: &CaseReport, run: &RunReport) -> Vec<usize> {
    let turns = run.transcript.turns.len();
    let below: Vec<usize> =
        (0..turns).filter(|at| failing_scores(report, run, Some(*at)).next().is_some()).collect();
    let whole_run = failing_scores(report, run, None).next().is_some();
    if below.is_empty() && whole_run && turns > 0 { vec![turns - 1] } else { below }
}

/// The scores that make the case fail: of one turn, or of the run as a whole if `turn` is `None`.
fn failing_scores<'a>(
    report: &'a CaseReport,
    run: &'a RunReport,
    turn: Option<usize>,
) -> impl Iterator<Item = (&'a MetricReport, &'a Score)> {
    report.metrics.iter().filter_map(move |metric| {
        let scored = run.metric(&metric.name)?;
        let MetricOutcome::Scored(scores) = &scored.outcome else { return None };
        let at = match turn {
            None if scores.is_whole_run() => 0,
            Some(at) if !scores.is_whole_run() => at,
            _ => return None,
        };
        let (score, verdict) = (scores.scores().get(at)?, scored.turns.get(at)?);
        // If runs are decided one by one, a metric that passes overall may still have failed this run.
        let counts = metric.verdict.fails() || report.passed_runs.is_some();
        (verdict.fails() && counts).then_some((metric, score))
    })
}

/// The calls of the turns of a case that passes, with the rules that were applied. Runs of a case usually need the same
/// ones, so the first run with rules is shown.
pub(super) fn loosened(out: &mut String, report: &CaseReport) {
    let is_loosened = |metric: &&ScoredMetric| metric.loosened().next().is_some();
    let found = report.runs.iter().find_map(|run| Some((run, run.metrics.iter().find(is_loosened)?)));
    let (Some((run, scored)), Ok(rules)) = (found, Rules::of(&report.case)) else { return };
    let (Some(metric), MetricOutcome::Scored(scores)) = (report.metric(&scored.name), &scored.outcome) else {
        return;
    };
    for (at, (score, record)) in scores.scores().iter().zip(&run.transcript.turns).enumerate() {
        if score.loosened().is_empty() {
            continue;
        }
        line(out, &format!("\nloosened in turn {} of {}", at + 1, run.transcript.turns.len()));
        let how = comparison(&metric.name, metric.criterion.as_ref()).unwrap_or_default();
        let literal = score.literal().map_or_else(|| "-".to_owned(), |score| short(score, metric.bound()));
        let text = format!("{}, literally {literal}", scored_text(metric, score));
        let expected = report.case.conversation.get(at);
        trajectory::write(out, &text, expected, &record.invocation, how, Some(rules.turn(at)));
        let unneeded = score.loosened().iter().filter(|point| !point.needed);
        let unneeded: Vec<String> = unneeded.map(|point| format!("`{}`", point.name())).collect();
        if !unneeded.is_empty() {
            line(out, &format!("    not needed: {}", name(&unneeded.join(", "))));
        }
    }
}

fn turn(out: &mut String, report: &CaseReport, run: &RunReport, at: usize, of_runs: &str) {
    let turns = run.transcript.turns.len();
    let actual = &run.transcript.turns[at].invocation;
    let expected = report.case.conversation.get(at);
    line(
        out,
        &format!("\n{of_runs}turn {} of {turns}: {:?}", at + 1, cut(&actual.user_text(), MAX_TEXT_CHARS)),
    );
    let failing: Vec<(&MetricReport, &Score)> = failing_scores(report, run, Some(at)).collect();
    let mut shown: Vec<Block> = Vec::new();
    let rules = Rules::of(&report.case).ok();
    for (metric, score) in &failing {
        let block = Block::of(metric);
        if !shown.contains(&block) {
            let alike = failing.iter().filter(|(metric, _)| Block::of(metric) == block);
            let scored: Vec<String> = alike.map(|(metric, score)| scored_text(metric, score)).collect();
            let rules = rules.as_ref().filter(|_| score.is_ruled()).map(|rules| rules.turn(at));
            block.write(out, &scored.join(", "), metric, (expected, actual), rules);
            shown.push(block);
        }
        notes(out, &metric.name, score);
    }
}

/// The part of a turn that is shown for a failed metric. Metrics that compare the same part share a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    /// Expected and actual calls.
    Calls,
    ActualCalls,
    /// The answer alone: the notes of the score say what it lacks.
    Answer,
    /// The score alone: its notes say what differs.
    Notes(&'static str),
    /// Expected and actual answer. Most custom metrics look at the answer.
    Responses,
}

impl Block {
    fn of(metric: &MetricReport) -> Self {
        match eval_format::metric::metric(&metric.name).map(|info| info.compares) {
            Some(Subject::ToolCalls(_)) => Self::Calls,
            Some(Subject::ActualCalls) => Self::ActualCalls,
            Some(Subject::Demands) => Self::Answer,
            Some(Subject::ToolResponses) => Self::Notes("tool responses"),
            Some(Subject::IntermediateResponses) => Self::Notes("texts before the answer"),
            _ => Self::Responses,
        }
    }

    /// Writes the block. Calls are compared as its first metric compares them.
    fn write(
        self,
        out: &mut String,
        scored: &str,
        first: &MetricReport,
        (expected, actual): (Option<&Invocation>, &Invocation),
        rules: Option<&TurnRules>,
    ) {
        match self {
            Self::Calls => {
                let how = comparison(&first.name, first.criterion.as_ref()).unwrap_or_default();
                trajectory::write(out, scored, expected, actual, how, rules);
            }
            Self::ActualCalls => trajectory::list(out, scored, actual),
            Self::Answer => responses(out, scored, None, actual),
            Self::Notes(what) => line(out, &format!("  {what}: {scored}")),
            Self::Responses => {
                // An answer that the metric does not read would mislead.
                let compared = expected.filter(|_| reads_expectations(&first.name));
                responses(out, scored, compared, actual);
            }
        }
    }
}

fn scored_text(metric: &MetricReport, score: &Score) -> String {
    match score.value() {
        Some(value) => format!("{} {}", name(&metric.name), short(value, metric.bound())),
        None => format!("{} has no score", name(&metric.name)),
    }
}

fn responses(out: &mut String, scored: &str, expected: Option<&Invocation>, actual: &Invocation) {
    let text = |text: &str| {
        if text.is_empty() { "(nothing)".to_owned() } else { quoted(&excerpt(text), 14) }
    };
    line(out, &format!("  response: {scored}"));
    if let Some(expected) = expected {
        line(out, &format!("    expected  {}", text(&expected.response_text())));
    }
    line(out, &format!("    actual    {}", text(&actual.response_text())));
    if let Some(how) = expected.and_then(|it| differ::texts(&it.response_text(), &actual.response_text())) {
        line(out, &format!("    differs   {}", how.trim_start()));
    }
}

fn excerpt(text: &str) -> String {
    let Some((end, _)) = text.match_indices('\n').nth(MAX_TEXT_LINES - 1) else {
        return cut(text, MAX_TEXT_CHARS);
    };
    // The rest begins with the break of the last line shown, so its first line is empty. Blank lines at the
    // end do not count.
    let more = text[end..].trim_end().lines().count().saturating_sub(1);
    let shown = cut(&text[..end], MAX_TEXT_CHARS);
    if more == 0 { shown } else { format!("{shown}\n... ({})", count(more, "more line")) }
}

fn notes(out: &mut String, what: &str, score: &Score) {
    let what = name(what);
    for note in score.notes().iter().take(MAX_NOTES) {
        line(out, &format!("  {what}: {}", quoted(&excerpt(note), 4)));
    }
    if score.notes().len() > MAX_NOTES {
        line(out, &format!("  {what}: ... and {} more", score.notes().len() - MAX_NOTES));
    }
    if let Some(reason) = score.reason() {
        line(out, &format!("  {what}: no score: {}", name(&headline(reason))));
        further(out, below_headline(reason).lines());
    }
}

/// The lines of an error that do not fit into the headline.
fn message(out: &mut String, message: &str) {
    if message.lines().count() <= 1 && message.chars().count() <= MAX_HEADLINE_CHARS {
        return;
    }
    line(out, "  error");
    further(out, message.lines());
}

fn further<'t>(out: &mut String, lines: impl Iterator<Item = &'t str> + Clone) {
    let left_out = MAX_ERROR_LINES..lines.clone().count().saturating_sub(MAX_ERROR_LINES);
    for (at, text) in lines.enumerate().filter(|(at, _)| *at == left_out.start || !left_out.contains(at)) {
        if left_out.contains(&at) {
            line(out, &format!("    ... ({})", count(left_out.len(), "line")));
            continue;
        }
        let text = cut(text, MAX_ERROR_CHARS);
        // The texts of judges in an error have the mark already.
        let text = text.strip_prefix(MARK).unwrap_or(&text);
        line(out, &format!("    {}", marked(text, 4)));
    }
}

/// The lines of an error that are shown of its beginning, and of its end: a traceback has its reason in the last one.
const MAX_ERROR_LINES: usize = 10;
const MAX_ERROR_CHARS: usize = 2000;
const MAX_EVENTS: usize = 12;

/// A run that ended in an error: what it did in its last turn.
fn broken(out: &mut String, report: &CaseReport, run: &RunReport, of_runs: &str) {
    // The number of turns of a scenario is not known beforehand.
    let is_scenario = report.case.conversation_scenario.is_some();
    let planned = if is_scenario { String::new() } else { format!(" of {}", report.case.conversation.len()) };
    let turns = &run.transcript.turns;
    let of_error = run.error.as_ref().and_then(|error| error.turn);
    let at = of_error.filter(|turn| (1..=turns.len()).contains(turn)).unwrap_or(turns.len());
    let Some(TurnRecord { events, invocation, .. }) = at.checked_sub(1).and_then(|at| turns.get(at)) else {
        line(out, &format!("\n{of_runs}no turn{planned} was played"));
        return;
    };
    line(out, &format!("\n{of_runs}turn {at}{planned}: {:?}", cut(&invocation.user_text(), MAX_TEXT_CHARS)));
    if events.is_empty() {
        line(out, "  nothing was recorded: what an agent records before it fails is shown here");
    }
    if events.len() > MAX_EVENTS {
        line(out, &format!("  ... {} before", count(events.len() - MAX_EVENTS, "event")));
    }
    for event in events.iter().skip(events.len().saturating_sub(MAX_EVENTS)) {
        let summary = cut(&super::lines::summary(event), MAX_TEXT_CHARS);
        line(out, &format!("  {:>8.3} s  {}", event.at.as_secs_f64(), name(&summary)));
    }
}
