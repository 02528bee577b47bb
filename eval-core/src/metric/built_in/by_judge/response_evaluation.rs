//! `response_evaluation_score` is how coherent a judge finds the answer, from 1 to 5; so is the threshold.
//!
//! Source: `ResponseEvaluator` in `response_evaluator.py` of google-adk 2.13.0 for the scale; prompt and rules are this
//! project's.

use eval_format::Invocation;

use super::judged::{about_answer, of_samples, turn_by_turn};
use crate::agent::BoxError;
use crate::judge::reply_json::the_object;
use crate::judge::{JudgeClient, JudgeError, reasoning};
use crate::metric::{Metric, MetricInput, Score, Scores};

pub(super) const NAME: &str = "response_evaluation_score";
const TEMPLATE: &str = "response_evaluation_score/2";

pub(crate) struct ResponseEvaluation;

impl Metric for ResponseEvaluation {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        let judging = input.judging();
        turn_by_turn(input, |turn, _| score_turn(&judging, turn)).await
    }
}

async fn score_turn(judging: &JudgeClient, turn: &Invocation) -> Result<Score, JudgeError> {
    let prompt = match about_answer(include_str!("response_evaluation.md"), turn) {
        Ok(prompt) => prompt,
        Err(nothing) => return Ok(nothing),
    };
    let rating = judging.rate(TEMPLATE, &prompt, |reply| rating(reply, &prompt)).await?;
    let score = Score::from(rating.mean);
    if rating.mean >= BEST {
        return Ok(score);
    }
    Ok(score.note(format!("{}{}", of_samples(&rating), reasoning(&rating.reply))))
}

const BEST: f64 = 5.0;

pub(super) fn rating(reply: &str, prompt: &str) -> Result<f64, String> {
    let object = the_object(reply, prompt, "rating")?;
    let found = object.get("rating").unwrap_or(&serde_json::Value::Null);
    let number = found.as_f64().or_else(|| found.as_str()?.trim().parse().ok());
    number
        .filter(|number| number.fract() == 0.0 && (1.0..=BEST).contains(number))
        .ok_or_else(|| format!("`rating` is {found}, not an integer from 1 to 5"))
}

#[cfg(test)]
mod tests {
    use eval_format::{Criterion, EvalCase};

    use super::*;
    use crate::metric::tests::computed::answering;
    use crate::metric::tests::judged::judged_case;

    #[test]
    fn ratings_are_integers_from_1_to_5() {
        for (reply, number) in [
            (r#"{"reasoning": "fine", "rating": 4}"#, Some(4.0)),
            (r#"{"rating": 5.0}"#, Some(5.0)),
            (r#"{"rating": "3"}"#, Some(3.0)),
            (r#"{"rating": 1} on second thought {"rating": 2}"#, None),
            (r#"{"rating": 0}"#, None),
            (r#"{"rating": 6}"#, None),
            (r#"{"rating": 3.5}"#, None),
            (r#"{"rating": "NaN"}"#, None),
            (r#"{"rating": true}"#, None),
            (r#"{"score": 5}"#, None),
            ("5", None),
        ] {
            assert_eq!(rating(reply, "").ok(), number, "{reply}");
        }
    }

    #[test]
    fn the_mean_of_the_ratings_is_the_score() {
        let replies = [r#"{"rating": 5}"#, r#"{"rating": 2, "reasoning": "jumps"}"#, r#"{"rating": 4}"#];
        let (scores, asked) = judged_case(
            &ResponseEvaluation,
            &EvalCase::new("c").turn(answering("Sun.")),
            &[answering("It is sunny.")],
            &Criterion::new(4.0).with_num_samples(3),
            &replies,
        );
        let scores = scores.unwrap();
        assert_eq!(scores.overall(), Some(11.0 / 3.0));
        assert_eq!(scores.scores()[0].notes(), ["the mean of 3 samples; the lowest says: jumps"]);
        assert_eq!(asked.iter().map(|request| request.sample).collect::<Vec<_>>(), [0, 1, 2]);
        assert!(!asked[0].prompt.contains("Sun."), "the expected answer does not matter");
    }

    #[test]
    fn ratings_that_cannot_be_read_leave_the_turn_unscored() {
        let (scores, _) = judged_case(
            &ResponseEvaluation,
            &EvalCase::new("c"),
            &[answering("a")],
            &Criterion::new(4.0).with_num_samples(1),
            &[r#"{"rating": 9}"#, r#"{"rating": 9}"#],
        );
        let reason = "two answers of `gemini-2.5-flash` could not be read; of the last, `rating` is 9, not an integer from 1 to 5\n| {\"rating\": 9}";
        assert_eq!(scores.unwrap().scores()[0].reason(), Some(reason));
    }
}
