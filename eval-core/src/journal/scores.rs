//! Scores and verdicts.

use eval_format::{Criterion, Gate, Pass};

use super::line::Line;
#[cfg(feature = "reports")]
use super::shape::read_fields;
use super::shape::{fields, key};
use super::to_json::{Object, ToJson, write_list};
use crate::judge_outcome::{JudgeQuestion, JudgeUse};
use crate::metric::{RubricScore, Score, Scores};
use crate::report::{MetricOutcome, MetricReport};
use crate::score::mean;
use crate::verdict::Verdict;

fields!(JudgeUse { model, asked, failed, replayed, usage, questions });
fields!(JudgeQuestion { template, prompt, answers });
fields!(RubricScore { rubric_id, score, rationale });
fields!(Criterion from default { threshold, options });
#[cfg(feature = "reports")]
read_fields!(MetricReport having [] { name, criterion, score, scored, total, passed_runs, verdict, notes });

impl ToJson for MetricReport {
    fn write(&self, out: &mut Line) {
        let mut object = Object::open(out);
        // All metrics without a criterion are ADK's informational ones.
        metric_name(&mut object, &self.name, self.criterion.is_none());
        object.field(key!("criterion"), &self.criterion);
        object.field(key!("score"), &self.score);
        object.field(key!("scored"), &self.scored);
        object.field(key!("total"), &self.total);
        object.field(key!("passed_runs"), &self.passed_runs);
        object.field(key!("verdict"), &self.verdict);
        object.field(key!("notes"), &self.notes);
        object.close();
    }
}

/// Adds the name of a metric. ADK's and ours need no escapes, and no secret is looked for in them.
pub(super) fn metric_name(object: &mut Object<'_>, name: &str, is_built_in: bool) {
    let out = object.key(key!("name"));
    if is_built_in { out.word(name) } else { out.text(name) }
}

/// A score without notes and rubrics is a number.
impl ToJson for Score {
    fn write(&self, out: &mut Line) {
        if let (Some(value), [], []) = (self.value(), self.notes(), self.rubrics()) {
            return value.write(out);
        }
        let mut object = Object::open(out);
        match (self.value(), self.why_left_out()) {
            (Some(value), _) => object.field(key!("value"), &value),
            (None, Some(reason)) => object.text(key!("left_out"), reason),
            (None, None) => object.text(key!("not_evaluated"), self.reason().unwrap_or_default()),
        }
        object.list(key!("notes"), self.notes());
        object.list(key!("rubrics"), self.rubrics());
        object.close();
    }
}

/// Scores whose overall score is their mean are a list.
impl ToJson for Scores {
    fn write(&self, out: &mut Line) {
        if has_usual_overall(self) {
            return write_list(self.scores(), out, Score::write);
        }
        let mut object = Object::open(out);
        object.field(key!("overall"), &self.overall());
        object.field(key!("whole_run"), &self.is_whole_run());
        object.list(key!("scores"), self.scores());
        object.close();
    }
}

/// Whether the overall score is the one that a reader computes from the list alone.
fn has_usual_overall(scores: &Scores) -> bool {
    let usual = match scores.scores() {
        [only] => only.value(),
        many => mean::naive(&many.iter().filter_map(Score::value).collect::<Vec<f64>>()),
    };
    // The sum of -0 and nothing is +0.
    let is_same =
        |one: f64, other: f64| one.to_bits() == other.to_bits() && (one != 0.0 || one.is_sign_positive());
    !scores.is_whole_run()
        && match (usual, scores.overall()) {
            (Some(usual), Some(overall)) => is_same(usual, overall),
            (usual, overall) => usual.is_none() && overall.is_none(),
        }
}

impl ToJson for MetricOutcome {
    fn write(&self, out: &mut Line) {
        let mut object = Object::open(out);
        match self {
            Self::Scored(scores) => scores.write(object.key(key!("scored"))),
            Self::Skipped(reason) => object.text(key!("skipped"), reason),
            Self::Unjudged(reason) => object.text(key!("unjudged"), reason),
            Self::Error { role, message } => {
                object.text(key!("error"), message);
                object.field(key!("role"), role);
            }
        }
        object.close();
    }
}

/// A verdict without a reason is a word.
impl ToJson for Verdict {
    fn write(&self, out: &mut Line) {
        let word = self.name();
        let Some(reason) = self.reason() else { return out.word(word) };
        let mut object = Object::open(out);
        object.key(key!("is")).word(word);
        object.text(key!("reason"), reason);
        if let Self::Error { role, .. } = self {
            object.field(key!("role"), role);
        }
        object.close();
    }
}

/// As in the attribute: `mean`, `at_least(2)`.
impl ToJson for Pass {
    fn write(&self, out: &mut Line) {
        out.word(&self.to_string());
    }
}

/// As in the attribute: `mean`, `every_turn`.
impl ToJson for Gate {
    fn write(&self, out: &mut Line) {
        out.word(&self.to_string());
    }
}

#[cfg(feature = "reports")]
mod reading {
    use std::str::FromStr;

    use eval_format::Value;
    use eval_format::options::ParseOptionError;

    use super::super::from_json::{Fields, FromJson, Misread, misread};
    use super::{Gate, MetricOutcome, Pass, RubricScore, Score, Scores, Verdict};
    use crate::verdict::Role;

    impl FromJson for Score {
        fn read(value: Value) -> Result<Self, Misread> {
            if let Some(value) = value.as_f64() {
                return Ok(Self::from(value));
            }
            let mut fields = Fields::of(value)?;
            let score = match (fields.take("value")?, fields.take::<Option<String>>("left_out")?) {
                (Some(value), _) => <Self as From<f64>>::from(value),
                (None, Some(reason)) => Self::left_out(reason),
                (None, None) => Self::not_evaluated(fields.take::<String>("not_evaluated")?),
            };
            let notes: Vec<String> = fields.take("notes")?;
            let rubrics: Vec<RubricScore> = fields.take("rubrics")?;
            Ok(notes.into_iter().fold(score, Self::note).with_rubrics(rubrics))
        }
    }

    impl FromJson for Scores {
        fn read(value: Value) -> Result<Self, Misread> {
            if value.as_array().is_some() {
                return Ok(Vec::<Score>::read(value)?.into_iter().collect());
            }
            let mut fields = Fields::of(value)?;
            let overall: Option<f64> = fields.take("overall")?;
            let is_whole_run: bool = fields.take("whole_run")?;
            let mut all: Vec<Score> = fields.take("scores")?;
            let scores = match (is_whole_run, all.pop()) {
                (true, Some(only)) if all.is_empty() => Self::whole_run(only),
                (true, _) => return Err("a whole run has one score".to_owned()),
                (false, last) => all.into_iter().chain(last).collect(),
            };
            Ok(scores.with_overall(overall))
        }
    }

    impl FromJson for MetricOutcome {
        fn read(value: Value) -> Result<Self, Misread> {
            let mut fields = Fields::of(value)?;
            if let Some(scores) = fields.take("scored")? {
                return Ok(Self::Scored(scores));
            }
            if let Some(reason) = fields.take("skipped")? {
                return Ok(Self::Skipped(reason));
            }
            if let Some(reason) = fields.take("unjudged")? {
                return Ok(Self::Unjudged(reason));
            }
            let Some(message) = fields.take("error")? else {
                return Err("neither scores nor the reason why there are none".to_owned());
            };
            Ok(Self::Error { role: fields.take("role")?, message })
        }
    }

    impl FromJson for Verdict {
        fn read(value: Value) -> Result<Self, Misread> {
            let (is, reason, role): (String, String, Option<Role>) = match value {
                Value::String(word) => (word, String::new(), None),
                value => {
                    let mut fields = Fields::of(value)?;
                    (fields.take("is")?, fields.take("reason")?, fields.take("role")?)
                }
            };
            Self::named(&is, reason, role).ok_or_else(|| format!("`{is}` is no verdict"))
        }
    }

    impl FromJson for Pass {
        fn read(value: Value) -> Result<Self, Misread> {
            word(&value)
        }
    }

    impl FromJson for Gate {
        fn read(value: Value) -> Result<Self, Misread> {
            word(&value)
        }
    }

    /// A word of the attribute.
    fn word<T: FromStr<Err = ParseOptionError>>(value: &Value) -> Result<T, Misread> {
        let word = value.as_str().ok_or_else(|| misread("a string", value))?;
        word.parse().map_err(|error: ParseOptionError| error.to_string())
    }
}

#[cfg(all(test, feature = "reports"))]
mod tests {
    use eval_format::Value;

    use super::super::from_json::FromJson;
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
        let mut line = Line::new();
        scores.write(&mut line);
        let line = String::from_utf8(line.into_bytes()).unwrap();
        assert_eq!(Scores::read(Value::parse(&line).unwrap()).unwrap(), scores, "{line}");
    }

    fn written(value: &impl ToJson) -> String {
        let mut line = Line::new();
        value.write(&mut line);
        String::from_utf8(line.into_bytes()).unwrap()
    }

    #[test]
    fn scores_are_a_list_where_that_tells_their_overall_score() {
        let of = |values: &[f64]| values.iter().map(|value| Score::from(*value)).collect::<Scores>();
        let unknown = || [Score::not_evaluated("x")].into_iter().collect::<Scores>();
        for (scores, is_list) in [
            (of(&[]), true),
            (of(&[0.5, 1.0]), true),
            (of(&[0.0]), true),
            (of(&[-0.5]), true),
            (of(&[0.5, 1.0]).with_overall(Some(0.9)), false),
            (of(&[0.5, 1.0]).with_overall(None), false),
            (of(&[-0.0]).with_overall(Some(-0.0)), false),
            (of(&[]).with_overall(Some(1.0)), false),
            (unknown(), true),
            (unknown().with_overall(Some(0.0)), false),
            (Scores::whole_run(0.5), false),
            (Scores::whole_run(Score::not_evaluated("x")), false),
        ] {
            let line = written(&scores);
            assert_eq!(line.starts_with('['), is_list, "{line}");
            let read = Scores::read(Value::parse(&line).unwrap()).unwrap();
            // Values compare `-0.0` and `0.0` as equal, texts do not.
            assert_eq!(format!("{read:?}"), format!("{scores:?}"), "{line}");
        }
    }

    #[test]
    fn a_whole_run_has_one_score() {
        for scores in ["[]", "[1.0,0.5]"] {
            let value = Value::parse(&format!(r#"{{"whole_run":true,"scores":{scores}}}"#)).unwrap();
            assert_eq!(Scores::read(value).unwrap_err(), "a whole run has one score");
        }
    }

    #[test]
    fn names_of_built_in_metrics_need_no_escapes() {
        for metric in eval_format::metric::METRICS {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
            assert!(metric.name.chars().all(is_plain), "{}", metric.name);
        }
    }

    #[test]
    fn what_is_no_verdict_is_not_read_as_one() {
        for (text, why) in [
            (r#""fine""#, "`fine` is no verdict"),
            (r#"{"is":"error","reason":"x"}"#, "`error` is no verdict"),
        ] {
            let error = Verdict::read(Value::parse(text).unwrap()).unwrap_err();
            assert_eq!(error, why);
        }
        let nothing = MetricOutcome::read(Value::parse("{}").unwrap()).unwrap_err();
        assert_eq!(nothing, "neither scores nor the reason why there are none");
    }
}
