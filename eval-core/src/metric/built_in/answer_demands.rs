//! `answer_demands` is 1 for a turn whose answer fulfils each demand of the case's key `_expect`, else 0.
//!
//! Source: this project.

use crate::agent::BoxError;
use crate::metric::{Metric, MetricInput, Score, Scores};

pub(crate) const NAME: &str = "answer_demands";

pub(crate) struct AnswerDemands;

impl Metric for AnswerDemands {
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        Ok(input.score_turns(&|at, actual, _| {
            let demands =
                input.demands.map(|rules| rules.turn(at).demands()).filter(|demands| !demands.is_empty());
            let Some(demands) = demands else {
                return Score::left_out("the turn has no demands on its answer");
            };
            let unfulfilled = demands.check(&actual.response_text());
            let score = Score::from(unfulfilled.is_empty());
            unfulfilled.iter().fold(score, |score, lacks| score.note(format!("the answer {lacks}")))
        }))
    }
}

#[cfg(test)]
mod tests {
    use eval_format::expect::{Demands, Expect, TurnExpect};
    use eval_format::{Criterion, EvalCase, Invocation};

    use super::*;
    use crate::metric::tests::computed::score_case;

    #[test]
    fn an_answer_fulfils_each_demand_and_turns_without_any_are_left_out() {
        let demands = Demands::default().contains("Canada").contains("Kenya").number(6.0);
        let case = EvalCase::new("c")
            .turn(Invocation::user("hello"))
            .turn(Invocation::user("which?"))
            .with_expect(Expect::default().turn(2, TurnExpect::default().answer(demands)));
        let said = |answer: &str| [Invocation::user("hello"), Invocation::user("which?").response(answer)];
        let score = |answer| score_case(&AnswerDemands, &case, &said(answer), &Criterion::new(1.0));
        let full = score("6 countries: CANADA, Kenya ..");
        assert_eq!((full.overall(), full.scores()[0].value()), (Some(1.0), None));
        let none = score("Canada and 7 others");
        assert_eq!(none.overall(), Some(0.0));
        let notes = none.scores()[1].notes();
        assert_eq!(notes.len(), 2, "{notes:?}");
        assert_eq!(notes[0], r#"the answer lacks "Kenya""#);
        assert!(notes[1].starts_with("the answer has no number 6"), "{notes:?}");
    }
}
