//! The turns of a conversation that no run recorded, beside the turns of another one: live sessions and drafts.

use eval_core::agent::Event;
use eval_core::report::TurnRecord;
use eval_format::{Bound, Content, Criterion, Invocation, Part};

use super::scores;
use super::turn::{Comparison, not_played, turn};
use crate::page::{Budget, Turn, text};

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
        assert_eq!((call.is, call.actual.as_deref()), ("made", Some("f(city: \"Rome\")")));
        assert_eq!(call.result.as_deref(), Some(r#"{"sky":"clear"}"#));
        assert_eq!(alone[0].between, [text("One moment.")]);
        assert_eq!((alone[0].compared.as_deref(), alone[0].steps.len()), (None, 0));

        let golden = [asked("Oslo", "Yes."), asked("Rome", "No.")];
        let beside = turns(&[asked("Rome", "Yes.")], Some(&golden), None, "beside the golden ones");
        assert_eq!((beside[0].calls[0].is, beside[0].same), ("changed", true));
        assert!(beside[0].calls[0].keys.is_some());
        assert_eq!(beside[0].compared.as_deref(), Some("beside the golden ones"));
        assert!(beside.len() == 2 && !beside[1].played, "a turn that did not come");
    }

    #[test]
    fn a_metric_says_how_calls_are_paired() {
        let criterion = Criterion::new(1.0);
        let metric = Some(("tool_trajectory_avg_score", &criterion));
        let golden = [asked("Rome", "Yes.")];
        let beside = turns(&golden, Some(&golden), metric, "");
        assert_eq!(beside[0].compared.as_deref(), Some("expected: the same, in the same order"));
        let other = turns(&golden, Some(&golden), Some(("response_match_score", &criterion)), "in words");
        assert_eq!(other[0].compared.as_deref(), Some("in words"));
    }
}
