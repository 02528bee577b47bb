//! `intermediate_response_match` is 1 for a turn in which exactly the expected texts were said before the answer, else 0.
//!
//! Source: this project. ADK keeps these texts; only its judged metrics read them, if their criteria say so.

use eval_format::{Criterion, Invocation};
use eval_support::message::cut;

use crate::metric::Score;

pub(super) const NAME: &str = "intermediate_response_match";

pub(super) fn turn(actual: &Invocation, expected: Option<&Invocation>, _: &Criterion) -> Score {
    let expected = expected.map(Invocation::intermediate_texts).unwrap_or_default();
    if expected.is_empty() {
        return Score::left_out("the turn expects no text before its answer");
    }
    let actual = actual.intermediate_texts();
    if expected == actual {
        return Score::from(true);
    }
    let at = expected.iter().zip(&actual).take_while(|(expected, actual)| expected == actual).count();
    let shown = |texts: &[String]| match texts.get(at) {
        Some(text) => format!("{:?}", cut(text, MAX_SHOWN_CHARS)),
        None => "nothing".to_owned(),
    };
    let number = at + 1;
    Score::from(false).note(format!(
        "text {number} before the answer: expected {}, said {}",
        shown(&expected),
        shown(&actual)
    ))
}

const MAX_SHOWN_CHARS: usize = 160;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::tests::computed::compare;
    use crate::metric::{Scores, of_function};
    use eval_format::Criterion;
    use serde_json::json;

    /// A turn that says these texts before its answer, as events or in the flat form.
    fn saying(texts: &[&str], events: bool) -> Invocation {
        let data = if events {
            let events: Vec<_> = texts
                .iter()
                .map(|text| json!({"author": "a", "content": {"parts": [{"text": text}]}}))
                .collect();
            json!({ "invocation_events": events })
        } else {
            let said: Vec<_> = texts.iter().map(|text| json!(["b", [{"text": text}]])).collect();
            json!({ "intermediate_responses": said })
        };
        let turn = json!({"user_content": {}, "final_response": {"parts": [{"text": "Done."}]}, "intermediate_data": data});
        Invocation::parse(&turn.to_string()).unwrap()
    }

    fn scores(expected: &[Invocation], actual: &[Invocation]) -> Scores {
        compare(&of_function(turn), expected, actual, &Criterion::new(1.0))
    }

    #[test]
    fn the_texts_before_the_answer_are_the_expected_ones() {
        for (expected, actual, score) in [
            (vec!["Let me see."], vec!["Let me see."], 1.0),
            (vec!["Let me see."], vec![" Let me see.\n", " "], 1.0),
            (vec!["Let me see."], vec!["Let me think."], 0.0),
            (vec!["Let me see."], vec!["let me see."], 0.0),
            (vec!["Let me see."], vec![], 0.0),
            (vec!["Let me see."], vec!["Let me see.", "One moment."], 0.0),
            (vec!["a", "b"], vec!["b", "a"], 0.0),
            (vec!["a", "b"], vec!["a", "b"], 1.0),
        ] {
            for (e, a) in [(false, true), (true, true), (false, false)] {
                let found = scores(&[saying(&expected, e)], &[saying(&actual, a)]);
                assert_eq!(found.overall(), Some(score), "{expected:?} {actual:?}");
                assert_eq!(found.scores()[0].notes().is_empty(), score > 0.5);
            }
        }
    }

    #[test]
    fn turns_that_expect_no_text_stay_out_of_the_mean() {
        let (said, silent) = (saying(&["a"], true), saying(&[], true));
        let found = scores(&[said.clone(), silent.clone()], &[said.clone(), said.clone()]);
        assert_eq!(found.overall(), Some(1.0));
        assert_eq!(found.scores()[1], Score::left_out("the turn expects no text before its answer"));
        assert_eq!(scores(&[said.clone(), silent], &[saying(&["b"], true), said]).overall(), Some(0.0));
    }

    #[test]
    fn a_failure_shows_the_first_text_that_differs() {
        let note = |expected: &[&str], actual: &[&str]| {
            scores(&[saying(expected, true)], &[saying(actual, true)]).scores()[0].notes()[0].clone()
        };
        let what = "before the answer";
        assert_eq!(note(&["a", "b"], &["a", "c"]), format!("text 2 {what}: expected \"b\", said \"c\""));
        assert_eq!(note(&["a"], &[]), format!("text 1 {what}: expected \"a\", said nothing"));
        assert_eq!(note(&["a"], &["a", "b"]), format!("text 2 {what}: expected nothing, said \"b\""));
    }
}
