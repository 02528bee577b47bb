//! A run of a case.

use std::collections::BTreeSet;

use eval_core::metric::arithmetic::values_equal;
use eval_format::{EvalCase, Map, Value};
use eval_support::words;

use super::scores::{self, Known};
use super::turn::{Comparison, not_played, turn};
use crate::journal::Evaluation;
use crate::page::{Run, StateRow, line, text};

pub(super) fn run(
    evaluation: &Evaluation,
    known: &Known,
    comparison: &Comparison,
    case: Option<&EvalCase>,
) -> Run {
    let transcript = &evaluation.ran.transcript;
    let turns = transcript.turns.iter().enumerate().map(|(at, record)| {
        let expected = case.and_then(|case| case.conversation.get(at));
        turn(record, expected, comparison, known.of_turn(evaluation, at))
    });
    let expected = case.map(|case| case.conversation.as_slice()).unwrap_or_default();
    let left = expected.iter().enumerate().skip(transcript.turns.len());
    let left = left.map(|(at, expected)| {
        let scores = known.of_turn(evaluation, at).into_iter().filter(|score| score.score.is_some());
        not_played(expected, comparison, scores.collect())
    });
    let state = match (evaluation.passed, &transcript.error) {
        (_, Some(_)) => "error",
        (Some(true), None) => "passed",
        (Some(false), None) => "failed",
        (None, None) => "not_evaluated",
    };
    Run {
        number: evaluation.ran.run,
        state,
        error: transcript.error.as_ref().map(|error| text(&error.to_string())),
        tokens: evaluation.ran.tokens.map(|tokens| words::tokens(tokens.into())),
        scores: known.of_run(evaluation),
        turns: turns.chain(left).collect(),
        state_rows: state_rows(
            &transcript.session.state,
            &transcript.state,
            case.map(|case| &case.final_session_state),
        ),
        judges: scores::judges(evaluation),
    }
}

/// The keys that changed, and those of which something is expected.
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
