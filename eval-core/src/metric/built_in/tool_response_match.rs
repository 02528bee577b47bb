//! `tool_response_match` is 1 for a turn whose tools returned what the case expects, else 0.
//!
//! Source: this project. ADK keeps `tool_responses` and never compares them.

use eval_format::{Criterion, Invocation};
use eval_support::message::cut;

use crate::metric::Score;
use crate::score::responses::{Answered, Came, came};

pub(super) const NAME: &str = "tool_response_match";

pub(super) fn turn(actual: &Invocation, expected: Option<&Invocation>, _: &Criterion) -> Score {
    let expected = expected.map(Answered::in_turn).unwrap_or_default();
    if expected.is_empty() {
        return Score::left_out("the turn expects no tool response");
    }
    let actual = Answered::in_turn(actual);
    let outcomes = came(&expected, &actual);
    let score = Score::from(outcomes.iter().all(|came| *came == Came::AsExpected));
    expected.iter().zip(&outcomes).fold(score, |score, (expected, came)| match came {
        Came::AsExpected => score,
        Came::Otherwise(at) => score.note(format!(
            "`{}`: expected {}, returned {}",
            called(expected),
            returned(expected),
            returned(&actual[*at])
        )),
        Came::NotAtAll => {
            score.note(format!("`{}`: expected {}, no response", called(expected), returned(expected)))
        }
    })
}

/// The call as a failure shows it; the tool if the call is not known.
fn called(answered: &Answered<'_>) -> String {
    let call = answered.call.map(ToString::to_string);
    let shown = call.unwrap_or_else(|| answered.tool().unwrap_or("(no name)").to_owned());
    cut(&shown.replace('\n', " "), SHOWN)
}

fn returned(answered: &Answered<'_>) -> String {
    let value = answered.response.response.clone().unwrap_or_default();
    cut(&eval_format::Value::Object(value).to_string(), SHOWN)
}

const SHOWN: usize = 160;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::tests::computed::compare;
    use crate::metric::{Scores, of_function};
    use eval_format::Criterion;

    /// A turn in the flat form: tools with what they return.
    fn tools(returned: &[(&str, &str)]) -> Invocation {
        let calls: Vec<String> =
            returned.iter().map(|(name, _)| format!(r#"{{"name": "{name}", "args": {{}}}}"#)).collect();
        let responses: Vec<String> = returned
            .iter()
            .map(|(name, value)| format!(r#"{{"name": "{name}", "response": {value}}}"#))
            .collect();
        let text = format!(
            r#"{{"user_content": {{}}, "intermediate_data": {{"tool_uses": [{}], "tool_responses": [{}]}}}}"#,
            calls.join(", "),
            responses.join(", ")
        );
        Invocation::parse(&text).unwrap()
    }

    fn scores(expected: &[Invocation], actual: &[Invocation]) -> Scores {
        compare(&of_function(turn), expected, actual, &Criterion::new(1.0))
    }

    #[test]
    fn each_expected_response_must_come() {
        let right = ("price", r#"{"result": 42}"#);
        let wrong = ("price", r#"{"result": "DB is down"}"#);
        for (expected, actual, score) in [
            (vec![right], vec![right], 1.0),
            (vec![right], vec![wrong], 0.0),
            (vec![right], vec![], 0.0),
            (vec![right], vec![("log", "{}"), wrong, right], 1.0),
            (vec![right, right], vec![right], 0.0),
            (vec![("price", "{}")], vec![("price", "{}")], 1.0),
            (vec![("price", "{}")], vec![right], 0.0),
            (vec![("price", r#"{"result": 42.0}"#)], vec![right], 1.0),
        ] {
            let found = scores(&[tools(&expected)], &[tools(&actual)]);
            assert_eq!(found.overall(), Some(score), "{expected:?} {actual:?}");
            assert_eq!(found.scores()[0].notes().is_empty(), score > 0.5);
        }
    }

    #[test]
    fn turns_that_expect_no_response_stay_out_of_the_mean() {
        let right = tools(&[("price", r#"{"result": 42}"#)]);
        let wrong = tools(&[("price", r#"{"result": 0}"#)]);
        let silent = Invocation::user("q");
        let found = scores(
            &[right.clone(), silent.clone(), right.clone()],
            &[wrong.clone(), wrong.clone(), right.clone()],
        );
        assert_eq!(found.overall(), Some(0.5));
        assert_eq!(found.scores()[1], Score::left_out("the turn expects no tool response"));
        let found = scores(&[silent.clone(), right.clone()], &[right.clone(), right]);
        assert_eq!(found.overall(), Some(1.0));
        assert_eq!(scores(&[], &[wrong]).overall(), None);
    }

    #[test]
    fn a_failure_names_the_call_and_both_values() {
        let right = tools(&[("price", r#"{"result": 42}"#)]);
        let wrong = tools(&[("price", r#"{"result": "DB is down"}"#)]);
        let notes = |actual| scores(std::slice::from_ref(&right), &[actual]).scores()[0].notes().to_vec();
        assert_eq!(notes(wrong), [r#"`price()`: expected {"result":42}, returned {"result":"DB is down"}"#]);
        assert_eq!(notes(Invocation::user("q")), [r#"`price()`: expected {"result":42}, no response"#]);
    }
}
