//! The turns of a conversation that no run recorded, beside the turns of another one: live sessions and drafts.

use eval_core::agent::Event;
use eval_core::report::TurnRecord;
use eval_format::{Bound, Content, Criterion, Invocation, Part};

use super::turn::{Comparison, is_bad, not_played, turn};
use super::{difference, scores};
use crate::page::{Budget, Turn, TurnScore, text};

/// The turns of a conversation. `expected` has the turns that it is compared with, if there are some.
///
/// Calls are paired as the metric pairs them. Without a metric they are paired in their order, and `words` say what they are
/// compared with.
pub fn turns(
    actual: &[Invocation],
    expected: Option<&[Invocation]>,
    metric: Option<(&str, &Criterion)>,
    words: &str,
) -> Vec<Turn> {
    let comparison = metric.and_then(|(name, criterion)| Comparison::of_metric(name, Some(criterion)));
    let comparison = comparison.unwrap_or_else(|| Comparison::in_words(words));
    let budget = Budget::default();
    let played = actual.iter().enumerate().map(|(at, invocation)| {
        let record = TurnRecord { events: vec![results(invocation)], invocation: invocation.clone() };
        let wanted = expected.and_then(|turns| turns.get(at));
        let between = invocation.intermediate_texts().iter().map(|said| text(said)).collect();
        // The event says what the tools returned, and not when.
        Turn { steps: Vec::new(), between, ..turn(at, &record, wanted, &comparison, Vec::new(), &budget) }
    });
    let left = expected.unwrap_or_default().iter().skip(actual.len());
    played.chain(left.map(|turn| not_played(turn, &comparison, Vec::new(), &budget))).collect()
}

/// Adds scores to a turn. A score that failed, or that is missing, marks the turn.
pub fn add_scores(turn: &mut Turn, scores: impl IntoIterator<Item = TurnScore>) {
    turn.scores.extend(scores);
    turn.bad |= turn.scores.iter().any(is_bad);
    turn.differs |= turn.bad;
}

/// The differences between two conversations in the parts that the failed metrics look at, in a few words; `None` if there
/// are none.
pub fn differences<'m>(
    actual: &[Invocation],
    expected: &[Invocation],
    failed: impl IntoIterator<Item = (&'m str, &'m Criterion)>,
) -> Option<String> {
    difference::of_turns(actual, expected, failed)
}

/// The scores that meet a bound: `≥ 0.8`.
pub fn needed(bound: Bound) -> String {
    scores::needed(bound)
}

/// An event with the results of a turn's calls.
fn results(invocation: &Invocation) -> Event {
    let parts = invocation.tool_responses().cloned().map(Part::response);
    Event::new("agent", Content::new("model", parts.collect()))
}

#[cfg(test)]
mod tests {
    use eval_format::{FunctionCall, FunctionResponse, IntermediateData};
    use serde_json::json;

    use super::*;
    use crate::page::CallState;

    fn asked(city: &str, answer: &str) -> Invocation {
        let data = IntermediateData::Tools {
            tool_uses: vec![FunctionCall::new("f", json!({ "city": city }))],
            tool_responses: vec![FunctionResponse::new("f", json!({ "sky": "clear" }))],
            intermediate_responses: vec![("agent".to_owned(), vec![Part::text("One moment.")])],
        };
        Invocation::user("Hi").with_intermediate_data(data).response(answer)
    }

    #[test]
    fn calls_have_their_results_and_stand_beside_the_expected_ones() {
        let alone = turns(&[asked("Rome", "Yes.")], None, None, "");
        let call = &alone[0].calls[0];
        assert_eq!((call.is, call.actual.as_deref()), (CallState::Made, Some("f(city: \"Rome\")")));
        assert_eq!(call.result.as_deref(), Some(r#"{"sky":"clear"}"#));
        assert_eq!(alone[0].between, [text("One moment.")]);
        assert_eq!((alone[0].compared.as_deref(), alone[0].steps.len()), (None, 0));

        let golden = [asked("Oslo", "Yes."), asked("Rome", "No.")];
        let beside = turns(&[asked("Rome", "Yes.")], Some(&golden), None, "beside the golden ones");
        assert_eq!((beside[0].calls[0].is, beside[0].same), (CallState::Changed, true));
        assert!(beside[0].calls[0].keys.is_some());
        assert_eq!(beside[0].compared.as_deref(), Some("beside the golden ones"));
        assert!(beside.len() == 2 && !beside[1].played, "a turn that did not come");
    }

    #[test]
    fn a_score_that_failed_or_is_missing_marks_its_turn() {
        let golden = [asked("Rome", "Yes.")];
        for (state, bad) in
            [("failed", true), ("not_evaluated", true), ("passed", false), ("informational", false)]
        {
            let mut turn = turns(&golden, Some(&golden), None, "").remove(0);
            assert!(!turn.bad && !turn.differs);
            add_scores(&mut turn, [TurnScore { state, ..TurnScore::default() }]);
            assert_eq!((turn.bad, turn.differs, turn.scores.len()), (bad, bad, 1), "{state}");
        }
        let mut other = turns(&golden, Some(&[asked("Oslo", "Yes.")]), None, "").remove(0);
        add_scores(&mut other, []);
        assert!(other.differs && !other.bad, "calls that no metric looks at");
    }

    #[test]
    fn differences_are_those_that_failed_metrics_look_at() {
        let criterion = Criterion::new(1.0);
        let said = |failed: &[&str]| {
            let (actual, golden) = (asked("Rome", "No."), asked("Oslo", "Yes."));
            let failed = failed.iter().map(|name| (*name, &criterion));
            differences(&[actual], &[golden.clone(), golden], failed)
        };
        let calls = "turn 1: f `city` expected Oslo → actual Rome";
        let answer = "answer differs: expected “Yes” → actual “No”";
        let both = format!("{calls}; answer differs: “Yes” → “No”");
        for (failed, expected) in [
            (&["tool_trajectory_avg_score"][..], Some(calls.to_owned())),
            (&["response_match_score"], Some(format!("turn 1: {answer}"))),
            (&["response_match_score", "tool_trajectory_avg_score"], Some(both)),
            (&["of_users_own"], None),
            (&[], None),
        ] {
            assert_eq!(said(failed), expected, "{failed:?}");
        }
    }

    #[test]
    fn a_metric_says_how_calls_are_paired() {
        let criterion = Criterion::new(1.0);
        let metric = Some(("tool_trajectory_avg_score", &criterion));
        let golden = [asked("Rome", "Yes.")];
        let beside = turns(&golden, Some(&golden), metric, "");
        assert_eq!(beside[0].compared.as_deref(), Some("which must be the same, in the same order"));
        let other = turns(&golden, Some(&golden), Some(("response_match_score", &criterion)), "in words");
        assert_eq!(other[0].compared.as_deref(), Some("in words"));
    }
}
