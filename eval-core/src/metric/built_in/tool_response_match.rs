//! `tool_response_match` is 1 for a turn whose tools returned what the case expects, else 0.
//!
//! Source: this project. ADK keeps `tool_responses` and never compares them.

use eval_format::expect::{Relation, TurnRules};
use eval_format::{Criterion, FunctionResponse, Invocation};
use eval_support::message::cut;

use crate::agent::BoxError;
use crate::metric::loosened::LoosenedPoint;
use crate::metric::{Metric, MetricInput, Score, Scores};
use crate::score::responses::{Answered, Came, came};

pub(super) const NAME: &str = "tool_response_match";

pub(crate) struct ToolResponseMatch;

impl Metric for ToolResponseMatch {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        Ok(input.score_turns(&|at, actual, expected| {
            let literal = turn(actual, expected, input.criterion);
            match (input.rules, expected) {
                (Some(rules), Some(golden)) if literal.why_left_out().is_none() => {
                    under_rules(literal, rules.turn(at), actual, golden)
                }
                _ => literal,
            }
        }))
    }
}

/// The score under the rules of a turn for responses. A response takes the place that it has without rules, and a rule says
/// whether it may be another one there.
fn under_rules(literal: Score, rules: &TurnRules, actual: &Invocation, golden: &Invocation) -> Score {
    let positions: Vec<&FunctionResponse> = golden.tool_responses().collect();
    if !(0..positions.len()).any(|at| rules.has_response_rules(at)) {
        return literal;
    }
    let (expected, made) = (Answered::in_turn(golden), Answered::in_turn(actual));
    let mut points = Vec::new();
    let mut notes = literal.notes().iter();
    let mut score = Score::from(true);
    let mut fails = false;
    for (expected, came) in expected.iter().zip(came(&expected, &made)) {
        if came == Came::AsExpected {
            continue;
        }
        // Each response that did not come as expected has one note.
        let note = notes.next();
        let at = positions.iter().position(|response| std::ptr::eq(*response, expected.response));
        let relation = match (at, came) {
            (Some(at), Came::Otherwise(a)) => {
                Some(rules.compare_responses(at, expected.response, made[a].response))
            }
            _ => None,
        };
        if let Some(Relation::Loosened(found)) = relation {
            points.extend(found.into_iter().map(|point| LoosenedPoint {
                call: expected.tool().map(str::to_owned),
                path: Some(point.path),
                matcher: point.matcher.to_string(),
                needed: point.needed,
            }));
            continue;
        }
        fails = true;
        score = note.into_iter().cloned().fold(score, Score::note);
        if let Some(Relation::Mismatch(reasons)) =
            relation.filter(|_| at.is_some_and(|at| rules.has_response_rules(at)))
        {
            score = reasons.iter().fold(score, |score, reason| score.note(reason.to_string()));
        }
    }
    let number = literal.value();
    let notes = score.notes().to_vec();
    let score = notes.into_iter().fold(Score::from(!fails), Score::note);
    score.with_loosened(points, number)
}

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
    use crate::metric::of_function;
    use crate::metric::tests::computed::compare;
    use crate::metric::tests::computed::score_case;
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
    fn a_rule_says_what_a_response_may_be() {
        use eval_format::EvalCase;
        use eval_format::expect::{Expect, Matcher, TurnExpect};

        let golden = tools(&[("price", r#"{"result": 42, "at": "2026-11-22"}"#), ("log", r#"{"ok": true}"#)]);
        let rules = TurnExpect::default().response("price", "result", Matcher::within(1.0));
        let rules = rules.response("price", "at", Matcher::Date);
        let case = EvalCase::new("c").turn(golden).with_expect(Expect::default().turn(1, rules));
        let score = |price: &str| {
            let actual = [tools(&[("price", price), ("log", r#"{"ok": true}"#)])];
            score_case(&ToolResponseMatch, &case, &actual, &Criterion::new(1.0)).scores()[0].clone()
        };
        let found = score(r#"{"result": 42.5, "at": "2026-11-23"}"#);
        assert_eq!((found.value(), found.literal(), found.loosened().len()), (Some(1.0), Some(0.0), 2));
        let found = score(r#"{"result": 42, "at": "2026-11-22"}"#);
        assert_eq!((found.value(), found.literal()), (Some(1.0), Some(1.0)));
        let found = score(r#"{"result": 44, "at": "2026-11-23"}"#);
        assert_eq!(found.value(), Some(0.0));
        assert!(found.notes().iter().any(|note| note.starts_with("`result` is 44")), "{:?}", found.notes());
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
