//! ADK's `RubricScore`: what a judge found on one rubric.

use std::collections::HashMap;

use eval_format::{Map, Value};

use super::null::or_null;
use eval_core::metric::RubricScore;
use eval_core::metric::arithmetic::mean;

/// What stands for the reasons of several turns.
const TOGETHER: &str = "the mean over the turns, which have the reasons";

/// The rubrics of a turn; `null` where it was not judged by any.
pub(super) fn of_turn(found: &[RubricScore]) -> Value {
    list(found.iter().map(|found| value(&found.rubric_id, found.rationale.as_deref(), found.score)))
}

/// Each rubric with its mean over the turns that it was judged in.
pub(super) fn together<'a>(turns: impl Iterator<Item = &'a [RubricScore]>) -> Value {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut rubrics: Vec<(&str, Vec<f64>)> = Vec::new();
    for found in turns.flatten() {
        let id = found.rubric_id.as_str();
        let at = *places.entry(id).or_insert_with(|| {
            rubrics.push((id, Vec::new()));
            rubrics.len() - 1
        });
        rubrics[at].1.extend(found.score);
    }
    list(rubrics.iter().map(|(id, scores)| value(id, Some(TOGETHER), mean::exact(scores))))
}

fn value(id: &str, rationale: Option<&str>, score: Option<f64>) -> Value {
    Value::from(Map::from([
        ("rubric_id", Value::from(id)),
        ("rationale", or_null(rationale)),
        ("score", or_null(score)),
    ]))
}

fn list(values: impl Iterator<Item = Value>) -> Value {
    let values: Vec<Value> = values.collect();
    if values.is_empty() { Value::Null } else { Value::Array(values) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rubrics_are_put_together_by_their_ids() {
        let found = |id: &str, passed| RubricScore::new(id, passed);
        let turns = [
            vec![found("a", Some(true)).rationale("fine"), found("b", None)],
            vec![found("a", Some(false)), found("c", Some(true))],
            vec![],
        ];
        let turns: Vec<&[RubricScore]> = turns.iter().map(Vec::as_slice).collect();
        assert_eq!(
            of_turn(turns[0]).to_string(),
            r#"[{"rubric_id":"a","rationale":"fine","score":1.0},{"rubric_id":"b","rationale":null,"score":null}]"#
        );
        let scores: Vec<String> = together(turns.iter().copied())
            .as_array()
            .unwrap_or_default()
            .iter()
            .map(|rubric| format!("{} {}", rubric["rubric_id"], rubric["score"]))
            .collect();
        assert_eq!(scores, [r#""a" 0.5"#, r#""b" null"#, r#""c" 1.0"#]);
        assert!(of_turn(turns[2]).is_null() && together(std::iter::empty()).is_null());
    }
}
