//! Scores and verdicts.

use eval_format::{Criterion, PassRule, TurnAggregation};
use serde_core::de::Error as _;
use serde_core::{Deserialize as _, Deserializer};

use super::fields::{fields, words};
use super::line::{Field, Line};
use crate::judge_outcome::{JudgeQuestion, JudgeUse};
use crate::metric::{LoosenedPoint, Loosening, RubricScore, Score, Scores};
use crate::report::{MetricOutcome, MetricReport, ScoredMetric};
use crate::verdict::{Role, TurnVerdict, Verdict};

fields!(JudgeUse from default { model, asked, failed, replayed, usage, questions });
fields!(JudgeQuestion from default { template, prompt, answers });
fields!(RubricScore from default { rubric_id, score, rationale });
fields!(Criterion from default { threshold, options });
fields!(LoosenedPoint from default { call, path, matcher, needed });
fields!(Loosening from default { points, needed, literal_score });
fields!(MetricReport { name, verdict } { criterion, score, scored, total, passed_runs, loosened, arithmetic, notes });
// The criterion is recorded once, with the verdict on the case.
fields!(ScoredMetric { name, verdict, outcome } { custom, judge, turns } { criterion });
fields!(Scores {} { scores, overall, whole_run });
words!(TurnVerdict {
    Passed = "passed",
    Failed = "failed",
    NotEvaluated = "not_evaluated",
    Informational = "informational",
});

/// A score: one of the first three fields, with its notes and rubrics.
#[derive(Default, PartialEq)]
struct ScoreForm {
    value: Option<f64>,
    left_out: Option<String>,
    not_evaluated: Option<String>,
    notes: Vec<String>,
    rubrics: Vec<RubricScore>,
    loosened: Vec<LoosenedPoint>,
    /// The score without the rules at these points.
    literal: Option<f64>,
}

fields!(ScoreForm from default { value, left_out, not_evaluated, notes, rubrics, loosened, literal });

impl Field for Score {
    fn write(&self, line: &mut Line) {
        let form = ScoreForm {
            value: self.value(),
            left_out: self.why_left_out().map(str::to_owned),
            not_evaluated: self.reason().map(str::to_owned),
            notes: self.notes().to_vec(),
            rubrics: self.rubrics().to_vec(),
            loosened: self.loosened().to_vec(),
            literal: self.literal().filter(|_| self.is_ruled()),
        };
        form.write(line);
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let ScoreForm { value, left_out, not_evaluated, notes, rubrics, loosened, literal } =
            ScoreForm::read(from)?;
        let score = match (value, left_out, not_evaluated) {
            (Some(value), None, None) => Self::from(value),
            (None, Some(reason), None) => Self::left_out(reason),
            (None, None, Some(reason)) => Self::not_evaluated(reason),
            _ => return Err(D::Error::custom("a score has a value, or one reason why it has none")),
        };
        let score = notes.into_iter().fold(score, Self::note).with_rubrics(rubrics);
        let is_ruled = literal.is_some() || !loosened.is_empty();
        Ok(if is_ruled { score.with_loosened(loosened, literal) } else { score })
    }
}

/// The outcome of a metric: one of the first four fields, and the role of an error.
#[derive(Default, PartialEq)]
struct OutcomeForm {
    scored: Option<Scores>,
    skipped: Option<String>,
    unjudged: Option<String>,
    error: Option<String>,
    role: Option<Role>,
}

fields!(OutcomeForm from default { scored, skipped, unjudged, error, role });

impl Field for MetricOutcome {
    fn write(&self, line: &mut Line) {
        line.add("{");
        match self {
            Self::Scored(scores) => line.field("scored", scores),
            Self::Skipped(reason) => line.field("skipped", reason),
            Self::Unjudged(reason) => line.field("unjudged", reason),
            Self::Error { role, message } => {
                line.field("error", message);
                line.field("role", role);
            }
        }
        line.add("}");
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(match OutcomeForm::read(from)? {
            OutcomeForm { scored: Some(scores), .. } => Self::Scored(scores),
            OutcomeForm { skipped: Some(reason), .. } => Self::Skipped(reason),
            OutcomeForm { unjudged: Some(reason), .. } => Self::Unjudged(reason),
            OutcomeForm { error: Some(message), role: Some(role), .. } => Self::Error { role, message },
            _ => return Err(D::Error::custom("neither scores nor the reason why there are none")),
        })
    }
}

/// A verdict: its name, and its reason if it has one.
#[derive(PartialEq)]
struct VerdictForm {
    is: String,
    reason: Option<String>,
    role: Option<Role>,
}

fields!(VerdictForm { is } { reason, role });

impl Field for Verdict {
    fn write(&self, line: &mut Line) {
        let role = if let Self::Error { role, .. } = self { Some(*role) } else { None };
        let form = VerdictForm { is: self.name().to_owned(), reason: self.reason().map(str::to_owned), role };
        form.write(line);
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let VerdictForm { is, reason, role } = VerdictForm::read(from)?;
        let reason = reason.unwrap_or_default();
        Ok(match (is.as_str(), role) {
            ("passed", _) => Self::Passed,
            ("failed", _) => Self::Failed,
            ("not_evaluated", _) => Self::NotEvaluated(reason),
            ("skipped", _) => Self::Skipped(reason),
            ("informational", _) => Self::Informational,
            ("error", Some(role)) => Self::Error { role, message: reason },
            ("error", None) => return Err(D::Error::custom("an error has a role")),
            (other, _) => return Err(D::Error::custom(format_args!("unknown verdict `{other}`"))),
        })
    }
}

/// Words as in the attribute: `mean`, `at_least(2)`, `every_turn`.
macro_rules! options {
    ($($kind:ty),*) => {
        $(impl Field for $kind {
            fn write(&self, line: &mut Line) {
                line.word(&self.to_string());
            }

            fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                String::deserialize(from)?.parse().map_err(D::Error::custom)
            }
        })*
    };
}

options!(PassRule, TurnAggregation);

#[cfg(test)]
mod tests {
    use super::super::field::Of;
    use super::super::field::tests::{again, text_of};
    use super::*;

    #[test]
    fn a_turn_that_is_left_out_is_told_from_one_that_was_not_evaluated() {
        let scores: Scores = [
            Score::from(0.5),
            Score::left_out("nothing is expected").note("a note"),
            Score::not_evaluated("no answer"),
        ]
        .into_iter()
        .collect();
        assert_eq!(again(&scores), scores);
        for scores in [
            [Score::from(0.5)].into_iter().collect::<Scores>().with_overall(Some(-0.0)),
            std::iter::empty().collect(),
            Scores::whole_run(Score::not_evaluated("x")),
        ] {
            // Values compare `-0.0` and `0.0` as equal, texts do not.
            assert_eq!(format!("{:?}", again(&scores)), format!("{scores:?}"), "{}", text_of(&scores));
        }
    }

    #[test]
    fn loosened_points_come_back_with_the_literal_score() {
        let point = LoosenedPoint {
            call: Some("search#2".to_owned()),
            path: Some("q".to_owned()),
            matcher: r#"{"contains":"visa"}"#.to_owned(),
            needed: true,
        };
        let order = LoosenedPoint { matcher: "order: any".to_owned(), ..LoosenedPoint::default() };
        for literal in [Some(0.0), None] {
            let score = Score::from(1.0).with_loosened(vec![point.clone(), order.clone()], literal);
            assert_eq!(again(&score), score, "{}", text_of(&score));
        }
        let unapplied = Score::from(0.0).with_loosened(Vec::new(), Some(0.0));
        assert_eq!(again(&unapplied), unapplied);
        // A score without rules is written as before.
        assert_eq!(text_of(&Score::from(1.0)), r#"{"value":1.0}"#);
        let scores: Scores = [
            Score::from(1.0).with_loosened(vec![point.clone()], Some(0.0)),
            Score::from(1.0),
            Score::left_out("nothing is expected"),
        ]
        .into_iter()
        .collect();
        let other: Scores =
            [Score::from(0.0).with_loosened(vec![point, order], Some(0.0))].into_iter().collect();
        let found = Loosening::of(&[&scores, &other]).unwrap();
        assert_eq!((found.points, found.needed, found.literal_score), (2, 1, Some(1.0 / 3.0)));
        assert_eq!(again(&found), found);
    }

    #[test]
    fn what_is_no_verdict_is_not_read_as_one() {
        fn why<T: Field>(text: &str) -> String {
            serde_json::from_str::<Of<T>>(text).err().unwrap().to_string()
        }
        assert!(why::<Verdict>(r#"{"is":"fine"}"#).starts_with("unknown verdict `fine`"));
        assert!(why::<Verdict>(r#"{"is":"error","reason":"x"}"#).starts_with("an error has a role"));
        assert!(why::<MetricOutcome>("{}").starts_with("neither scores nor the reason why there are none"));
        assert!(why::<Score>(r#"{"value":1.0,"left_out":"x"}"#).starts_with("a score has a value, or"));
        assert!(why::<Score>("{}").starts_with("a score has a value, or"));
    }
}
