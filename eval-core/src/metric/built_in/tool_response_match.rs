//! `tool_response_match` is 1 for a turn whose tools returned what the case expects, else 0.
//!
//! Source: this project. ADK keeps `tool_responses` and never compares them.

use std::collections::HashMap;

use eval_format::expect::{Point, Relation, TurnRules};
use eval_format::{Criterion, FunctionResponse, Invocation};
use eval_support::message::cut;

use crate::agent::BoxError;
use crate::metric::loosened::LoosenedPoint;
use crate::metric::{Metric, MetricInput, Score, Scores};
use crate::score::responses::{Answered, Came, came};
use crate::score::ruled::numbered;

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
    let responses: Vec<&FunctionResponse> = golden.tool_responses().collect();
    if !(0..responses.len()).any(|at| rules.has_response_rules(at)) {
        return literal;
    }
    let names = numbered(responses.iter().map(|response| response.name.as_deref().unwrap_or_default()));
    let place: HashMap<*const FunctionResponse, usize> =
        responses.iter().enumerate().map(|(at, response)| (std::ptr::from_ref(*response), at)).collect();
    let (expected, made) = (Answered::in_turn(golden), Answered::in_turn(actual));
    let mut points = Vec::new();
    // Each response that did not come as expected has one note.
    let mut literal_notes = literal.notes().iter();
    let mut notes = Vec::new();
    for (expected, came) in expected.iter().zip(came(&expected, &made)) {
        let note = if came == Came::AsExpected { None } else { literal_notes.next().cloned() };
        let at = place.get(&std::ptr::from_ref(expected.response)).copied();
        let Some(at) = at.filter(|at| rules.has_response_rules(*at)) else {
            notes.extend(note);
            continue;
        };
        let all = |needed| rules.response_points(at).into_iter().map(move |point| (point, needed));
        let applied: Vec<(Point, bool)> = match came {
            Came::AsExpected => all(false).collect(),
            // A response that did not come needs no rule, as a call that was not made.
            Came::NotAtAll => {
                notes.extend(note);
                Vec::new()
            }
            Came::Otherwise(a) => match rules.compare_responses(at, expected.response, made[a].response) {
                Relation::Equal => all(false).collect(),
                Relation::Loosened(found) => {
                    let needed: Vec<bool> = found.iter().map(|point| point.needed).collect();
                    found.into_iter().zip(needed).collect()
                }
                Relation::Mismatch(reasons) => {
                    notes.extend(note);
                    notes.extend(reasons.iter().map(ToString::to_string));
                    all(true).collect()
                }
                Relation::TooLarge => {
                    return Score::not_evaluated(format!(
                        "a list in the response of `{}` is too long to be paired under the rules of `_expect`",
                        names[at]
                    ));
                }
            },
        };
        points.extend(applied.iter().map(|(point, needed)| LoosenedPoint::of(&names[at], point, *needed)));
    }
    let number = literal.value();
    let score = Score::from(notes.is_empty());
    notes.into_iter().fold(score, Score::note).with_loosened(points, number)
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
    cut(&shown.replace('\n', " "), MAX_SHOWN_CHARS)
}

fn returned(answered: &Answered<'_>) -> String {
    let value = answered.response.response.clone().unwrap_or_default();
    cut(&eval_format::Value::Object(value).to_string(), MAX_SHOWN_CHARS)
}

const MAX_SHOWN_CHARS: usize = 160;

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
        let needed: Vec<bool> = found.loosened().iter().map(|point| point.needed).collect();
        assert_eq!(needed, [false, false]);
        let found = score(r#"{"result": 44, "at": "2026-11-23"}"#);
        assert_eq!(found.value(), Some(0.0));
        assert!(found.notes().iter().any(|note| note.starts_with("`result` is 44")), "{:?}", found.notes());
    }

    #[test]
    fn a_list_that_is_too_long_to_be_paired_is_not_evaluated() {
        use eval_format::EvalCase;
        use eval_format::expect::{Expect, Matcher, TurnExpect};

        let list =
            |from: usize| format!(r#"{{"items": {:?}}}"#, (from..from + 3_000).collect::<Vec<usize>>());
        let rules = TurnExpect::default().response("price", "items", Matcher::Unordered);
        let case = EvalCase::new("c")
            .turn(tools(&[("price", &list(0))]))
            .with_expect(Expect::default().turn(1, rules));
        let score = |from: usize| {
            let actual = [tools(&[("price", &list(from))])];
            score_case(&ToolResponseMatch, &case, &actual, &Criterion::new(1.0)).scores()[0].clone()
        };
        let reason =
            "a list in the response of `price` is too long to be paired under the rules of `_expect`";
        assert_eq!(score(1), Score::not_evaluated(reason));
        assert_eq!(score(0).value(), Some(1.0), "what is equal needs no pairs");
    }

    #[test]
    fn points_of_responses_have_the_names_of_the_notation() {
        use eval_format::EvalCase;
        use eval_format::expect::{Expect, Matcher, TurnExpect};

        let golden = tools(&[("price", r#"{"n": 1}"#), ("price", r#"{"n": 2}"#)]);
        let rules = TurnExpect::default().response("price#*", "n", Matcher::within(0.5));
        let case = EvalCase::new("c").turn(golden).with_expect(Expect::default().turn(1, rules));
        let actual = [tools(&[("price", r#"{"n": 1}"#), ("price", r#"{"n": 2.5}"#)])];
        let found = score_case(&ToolResponseMatch, &case, &actual, &Criterion::new(1.0));
        let points = found.scores()[0].loosened().iter().map(|point| (point.name(), point.needed));
        let expected = [(r#"price#1 n: {"within":0.5}"#, false), (r#"price#2 n: {"within":0.5}"#, true)];
        assert_eq!(points.collect::<Vec<_>>(), expected.map(|(name, needed)| (name.to_owned(), needed)));
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
