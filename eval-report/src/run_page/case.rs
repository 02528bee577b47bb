//! The details of a case.

use std::collections::BTreeSet;

use eval_core::__private::NO_GOLDEN;
use eval_core::metric::arithmetic::values_equal;
use eval_core::report::{MetricOutcome, MetricReport, Role, RunError};
use eval_format::metric::metric;
use eval_format::options::{PassRule, TurnAggregation};
use eval_format::{EvalCase, Map, Value};
use eval_support::{untrusted, words};

use super::difference;
use super::judged::judges;
use super::miss::Miss;
use super::next::{self, CauseFacts};
use super::outcomes::Outcomes;
use super::refusal;
use super::scores::{ScoresByTurn, needed, shown};
use super::turn::{CallComparison, mark_unreached, not_played, turn};
use super::wording::time_limit;
use crate::journal::Evaluation;
use crate::page::{
    Budget, CallState, CaseDetails, CaseHistory, Earlier, MetricLine, Run, StateRow, Turn, line, text,
};
use crate::recorded::{Cases, RunResults, State, TestResult, headline, near};
use crate::summary_text;

/// State of a page for all of its cases: the sets that were read, and the bytes left for images.
#[derive(Debug, Default)]
pub(super) struct PageState {
    pub(super) files: Cases,
    budget: Budget,
}

pub(super) fn details(
    results: &RunResults<'_>,
    test: &TestResult<'_>,
    shared: &mut PageState,
) -> CaseDetails {
    let started = &test.attempt.started;
    let decided = test.attempt.decided.as_ref();
    let (case, doubt) = match shared.files.find(started) {
        Ok(found) => {
            let edited = "The case was edited since it ran. What it expected then is in no record: what is shown as expected \
                          is what it expects now.";
            (Some(found.case), found.is_edited.then(|| edited.to_owned()))
        }
        Err(error) => (None, Some(line(&format!("What was expected is not known here: {}.", error.why)))),
    };
    let known = ScoresByTurn::new(test, case.as_ref());
    let comparison = CallComparison::new(test).under(case.as_ref().filter(|_| !started.literal));
    let evaluations = test.attempt.evaluations.iter();
    let mut runs: Vec<Run> =
        evaluations.map(|it| run(it, &known, &comparison, case.as_ref(), &shared.budget)).collect();
    let miss = Miss::of_test(test, case.as_ref());
    let seen = CauseFacts {
        outcomes: Outcomes::new(&runs, test.runs.total),
        unanswered: runs.iter().flat_map(|run| &run.turns).find_map(unanswered),
        miss: miss.as_ref(),
        lacks_fault: test.attempt.evaluations.iter().any(|it| {
            it.passed == Some(false) && it.ran.transcript.error.as_ref().is_some_and(|error| error.is_failure)
        }),
        refuses: refusal::is_new(test, case.as_ref()),
    };
    let next = next::next(results, test, &seen);
    // The difference of a failed run is shown even if another run's error decided the case.
    let has_ended = matches!(test.state, State::Failed | State::Error | State::NotEvaluated);
    let is_compared = has_ended || test.runs.are_flaky();
    let differs = is_compared.then(|| difference::of_test(test, case.as_ref(), &runs)).flatten();
    let differs = differs.or_else(|| miss.as_ref().map(|miss| line(&miss.said())));
    let reason = test.reason().filter(|_| test.state != State::Passed);
    let reason = reason.map(|reason| line(&next::told(test, &reason)));
    for (run, evaluation) in runs.iter_mut().zip(&test.attempt.evaluations) {
        let miss = Miss::of_run(evaluation, case.as_ref()).map(|miss| line(&miss.said()));
        run.headline_has_error = !test.is_in_progress && miss.is_some() && miss == differs;
    }
    let (word, _) = summary_text::word(test);
    CaseDetails {
        name: line(&test.name),
        state: match word {
            "FLAKY" => "flaky",
            "IN WORK" => "working",
            _ => test.state.name(),
        },
        word,
        reason,
        in_work: None,
        differs,
        place: test.location().map(|location| line(&format!("{}:{}", location.file, location.line))),
        facts: facts(test),
        next,
        doubt,
        notes: decided.iter().flat_map(|decided| &decided.notes).map(|note| line(note)).collect(),
        metrics: test.metrics().iter().map(|report| metric_line(test, report)).collect(),
        earlier: test.earlier().iter().map(earlier).collect(),
        since: None,
        history: CaseHistory::default(),
        runs,
        printed: decided.and_then(|decided| decided.failure.as_deref()).map(text),
    }
}

/// The tool of a call in a turn that came to no end.
fn unanswered(turn: &Turn) -> Option<&str> {
    turn.calls.iter().find(|call| call.is == CallState::Unanswered).map(|call| call.name.as_str())
}

fn facts(test: &TestResult<'_>) -> Vec<(&'static str, String)> {
    let started = &test.attempt.started;
    let literal = "literally, as ADK does: what the case loosens is passed over";
    let facts = [
        ("Set", started.eval_set_id.as_deref().map(line)),
        ("Case", Some(line(&started.eval_id))),
        ("Tags", (!started.tags.is_empty()).then(|| line(&started.tags.join(", ")))),
        ("File", test.location().map(|location| line(&location.to_string()))),
        ("Label", started.label.as_deref().map(line)),
        ("Hash of its messages", Some(line(&started.asks))),
        ("Hash of its expectations", Some(line(&started.expects))),
        ("Package", test.test.package().map(line)),
        ("Test binary", test.test.binary().filter(|_| !started.of_program).map(line)),
        ("It passes if", Some(passes_if(started.pass, started.gate, test.runs.total.max(1)))),
        ("Calls are judged", started.literal.then(|| literal.to_owned())),
        ("Record", Some(line(&near(&test.attempt.file).display().to_string()))),
    ];
    facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// The rule by which turns and runs decide, with the options that say so.
fn passes_if(pass: PassRule, gate: TurnAggregation, runs: usize) -> String {
    let is_mean = gate == TurnAggregation::Mean;
    let said = match (pass.needed(runs), is_mean) {
        (None, _) if runs > 1 && is_mean => {
            "the mean over all turns of all runs meets each threshold".to_owned()
        }
        (None, true) => "the mean over its turns meets each threshold".to_owned(),
        (None, false) if runs > 1 => "each turn of each run meets each threshold".to_owned(),
        (None, false) => "each turn meets each threshold".to_owned(),
        (Some(needed), _) => {
            let least = if needed < runs { "at least " } else { "" };
            let how = if is_mean { "by the mean over its turns" } else { "if each of its turns does" };
            format!("{least}{needed} of {} pass; a run passes {how}", words::count(runs, "run"))
        }
    };
    format!("{said} (pass = {pass}, gate = {gate})")
}

/// The part of a test that a metric scored: `2 of 3 turns`. `None` if nothing was scored.
fn scored(test: &TestResult<'_>, report: &MetricReport) -> Option<String> {
    let of_runs =
        test.attempt.evaluations.iter().filter_map(|it| it.scored.as_ref()).flat_map(|it| &it.metrics);
    let is_whole = of_runs
        .filter(|metric| metric.name == report.name)
        .any(|metric| matches!(&metric.outcome, MetricOutcome::Scored(scores) if scores.is_whole_run()));
    let total = words::count(report.total, if is_whole { "run" } else { "turn" });
    (report.total > 0).then(|| format!("{} of {total}", report.scored))
}

fn metric_line(test: &TestResult<'_>, report: &MetricReport) -> MetricLine {
    let options = report.criterion.iter().flat_map(|criterion| criterion.options.iter());
    MetricLine {
        name: line(&report.name),
        state: report.verdict.name(),
        score: report.score.map(|score| shown(&report.name, score, report.bound())),
        threshold: report.bound().map(needed),
        scored: scored(test, report),
        reason: report.verdict.reason().map(|reason| line(&untrusted::headline(reason))),
        criterion: options.map(|(key, value)| (line(key), line(&value.to_string()))).collect(),
        notes: report.notes.iter().cloned().chain(report.loosened_text()).map(|note| line(&note)).collect(),
        about: metric(&report.name).map(|info| info.summary.to_owned()),
    }
}

fn earlier(attempt: &crate::journal::Attempt) -> Earlier {
    Earlier {
        attempt: attempt.started.attempt,
        state: State::of_attempt(attempt).name(),
        reason: attempt.decided.as_ref().and_then(headline).map(|reason| line(&reason)),
    }
}

pub(super) fn run(
    evaluation: &Evaluation,
    known: &ScoresByTurn,
    comparison: &CallComparison,
    case: Option<&EvalCase>,
    budget: &Budget,
) -> Run {
    let transcript = &evaluation.ran.transcript;
    // A run that came to its end can fail with an error, too.
    let error = transcript.error.as_ref().filter(|error| !error.is_failure);
    let ended_at = error.and_then(|_| transcript.turns.len().checked_sub(1));
    let turns = transcript.turns.iter().enumerate().map(|(at, record)| {
        let expected = case.and_then(|case| case.conversation.get(at));
        let mut turn = turn(at, record, expected, comparison, known.of_turn(evaluation, at), budget);
        if ended_at == Some(at) {
            mark_unreached(&mut turn);
        }
        if let Some(error) = error.filter(|error| error.turn == Some(at + 1)) {
            broke(&mut turn, error);
        }
        turn
    });
    let expected = case.map(|case| case.conversation.as_slice()).unwrap_or_default();
    let left = expected.iter().enumerate().skip(transcript.turns.len());
    let left = left.map(|(at, expected)| {
        let scores = known.of_turn(evaluation, at).into_iter().filter(|score| score.score.is_some());
        not_played(expected, comparison, scores.collect(), budget)
    });
    let state = match (evaluation.passed, error) {
        (_, Some(_)) => "error",
        (Some(true), None) => "passed",
        (Some(false), None) => "failed",
        (None, None) => "not_evaluated",
    };
    Run {
        number: evaluation.ran.run,
        state,
        error: transcript.error.as_ref().map(|error| text(&error.to_string())),
        headline_has_error: false,
        tokens: evaluation.ran.tokens.map(|tokens| words::tokens(tokens.into())),
        scores: known.of_run(evaluation),
        differences: 0,
        turns: turns.chain(left).collect(),
        state_rows: state_rows(
            &transcript.session.state,
            &transcript.state,
            case.map(|case| &case.final_session_state),
        ),
        judges: judges(evaluation, known),
    }
    .counted()
}

/// Marks the turn in which a run ended, and the calls without a result when its time limit ended it.
fn broke(turn: &mut Turn, error: &RunError) {
    turn.broke = true;
    turn.differs = true;
    let made = || turn.calls.iter().filter(|call| call.actual.is_some());
    // An agent that records no responses at all says nothing about its tools.
    let records = made().count() == 1 || made().any(|call| call.result.is_some());
    let is_late = records && time_limit(&error.message).is_some();
    for call in turn.calls.iter_mut().filter(|call| call.actual.is_some()) {
        match &call.result {
            None if is_late => call.is = CallState::Unanswered,
            // The message has been told as the end of the run.
            Some(result) if error.role == Role::Tools && result.contains(NO_GOLDEN) => {
                call.result = None;
                call.note = Some("no golden response for this call".to_owned());
            }
            _ => {}
        }
    }
}

fn state_rows(before: &Map, after: &Map, expected: Option<&Map>) -> Vec<StateRow> {
    let of_expected = expected.iter().flat_map(|map| map.keys());
    let keys: BTreeSet<&str> = before.keys().chain(after.keys()).chain(of_expected).collect();
    let rows = keys.into_iter().filter_map(|key| {
        let (before, after) = (before.get(key), after.get(key));
        let expected = expected.and_then(|map| map.get(key));
        let shown = |value: Option<&Value>| value.map(|value| line(&value.to_string()));
        (before != after || expected.is_some()).then(|| StateRow {
            key: line(key),
            before: shown(before),
            after: shown(after),
            expected: shown(expected),
            // As `final_session_state_match` compares.
            differs: expected.is_some_and(|wanted| after.is_none_or(|found| !values_equal(wanted, found))),
        })
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Call;
    use CallState::{Missing, Same, Unanswered, Unreached};

    #[test]
    fn the_turn_that_ended_a_run_is_marked_and_its_open_calls_too() {
        let call = |name: &str, result: Option<&str>| Call {
            is: Same,
            name: name.to_owned(),
            actual: Some(format!("{name}()")),
            result: result.map(str::to_owned),
            ..Call::default()
        };
        let late = "timed out after 3s (`timeout` sets the limit)";
        let miss = "no golden answers g(x: 1) in turn 1";
        let told = format!("{{\"error\":\"{miss}\"}}");
        for (role, message, calls, said) in [
            (Role::Agent, late, vec![call("f", Some("{}")), call("g", None)], vec![Same, Unanswered]),
            (Role::Agent, late, vec![call("g", None)], vec![Unanswered]),
            // No response of any call was recorded.
            (Role::Agent, late, vec![call("f", None), call("g", None)], vec![Same, Same]),
            (Role::Agent, "gone", vec![call("f", Some("{}")), call("g", None)], vec![Same, Same]),
            (Role::Tools, miss, vec![call("g", Some(&told))], vec![Same]),
        ] {
            let mut turn = Turn { calls, ..Turn::default() };
            broke(&mut turn, &RunError::new(role, Some(1), message));
            assert!(turn.broke && turn.differs);
            assert_eq!(turn.calls.iter().map(|call| call.is).collect::<Vec<_>>(), said, "{message}");
            assert!(turn.calls.iter().all(|call| call.result.as_deref() != Some(&told)));
        }
    }

    #[test]
    fn a_turn_that_lacks_only_what_its_run_did_not_come_to_does_not_differ() {
        for (same, differs) in [(true, false), (false, true)] {
            let call = Call { is: Missing, ..Call::default() };
            let mut turn = Turn {
                played: true,
                expected: Some(text("Sunny.")),
                same,
                calls: vec![call],
                ..Turn::default()
            };
            turn.differs = true;
            mark_unreached(&mut turn);
            let turn = Run::of_turns(vec![turn]).turns.remove(0);
            assert_eq!((turn.calls[0].is, turn.differs, turn.differences > 0), (Unreached, differs, differs));
        }
    }

    #[test]
    fn what_decides_a_case_is_said_in_words() {
        use PassRule::{All, AtLeast, Mean};
        let every = TurnAggregation::EveryTurn;
        for (pass, gate, runs, said) in [
            (
                Mean,
                TurnAggregation::Mean,
                1,
                "the mean over its turns meets each threshold (pass = mean, gate = mean)",
            ),
            (
                Mean,
                TurnAggregation::Mean,
                5,
                "the mean over all turns of all runs meets each threshold (pass = mean, gate = mean)",
            ),
            (Mean, every, 1, "each turn meets each threshold (pass = mean, gate = every_turn)"),
            (
                AtLeast(4),
                TurnAggregation::Mean,
                5,
                "at least 4 of 5 runs pass; a run passes by the mean over its turns (pass = at_least(4), gate = mean)",
            ),
            (
                All,
                every,
                5,
                "5 of 5 runs pass; a run passes if each of its turns does (pass = all, gate = every_turn)",
            ),
        ] {
            assert_eq!(passes_if(pass, gate, runs), said);
        }
    }

    #[test]
    fn state_that_changed_or_was_expected_is_shown_with_whether_it_is_as_expected() {
        let map = |text: &str| Value::parse(text).unwrap().as_object().unwrap().clone();
        let rows = |before: &str, after: &str, expected: Option<&str>| {
            let rows = state_rows(&map(before), &map(after), expected.map(map).as_ref());
            let shown = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
            let row = |row: StateRow| {
                let [before, after, expected] = [row.before, row.after, row.expected].map(shown);
                format!(
                    "{}: {before} {after} {expected}{}",
                    row.key,
                    if row.differs { " differs" } else { "" }
                )
            };
            rows.into_iter().map(row).collect::<Vec<_>>()
        };
        assert_eq!(
            rows(r#"{"a": 1, "b": 1, "c": 1}"#, r#"{"a": 1, "b": 2, "d": 3}"#, None),
            ["b: 1 2 -", "c: 1 - -", "d: - 3 -"]
        );
        assert_eq!(
            rows(r#"{"a": 1, "b": 1}"#, r#"{"a": 1.0, "b": 2}"#, Some(r#"{"a": 1, "b": 1, "x": 0}"#)),
            ["a: 1 1.0 1", "b: 1 2 1 differs", "x: - - 0 differs"]
        );
        assert_eq!(rows(r#"{"a": 1}"#, r#"{"a": 1}"#, Some(r#"{"a": 1}"#)), ["a: 1 1 1"]);
    }
}
