//! `final_session_state_match` is the share of the expected keys of the session state that end with an equal value.
//!
//! Source: this project. ADK reads the field and never compares it.

use std::collections::HashMap;

use eval_format::Value;

use crate::agent::BoxError;
use crate::metric::{Metric, MetricInput, Score, Scores};
use crate::score::equality::values_equal;

pub(crate) const NAME: &str = "final_session_state_match";

pub(crate) struct FinalSessionStateMatch;

impl Metric for FinalSessionStateMatch {
    #[expect(clippy::cast_precision_loss, reason = "a state has far fewer than 2^53 keys")]
    async fn score(&self, input: MetricInput<'_>) -> Result<Scores, BoxError> {
        let expected = &input.case.final_session_state;
        // A table, as a file may hold any number of expected keys, each of which is looked up.
        let state: HashMap<&str, &Value> = input.state.iter().collect();
        let mut equal = 0;
        let mut notes = Vec::new();
        for (key, wanted) in expected {
            match state.get(key) {
                Some(found) if values_equal(wanted, found) => equal += 1,
                Some(found) => notes.push(format!("`{key}`: expected {wanted}, found {found}")),
                None => notes.push(format!("`{key}`: expected {wanted}, not in the state")),
            }
        }
        let score = Score::from(f64::from(equal) / expected.len().max(1) as f64);
        Ok(Scores::whole_run(notes.into_iter().fold(score, Score::note)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::tests::computed::score_state;
    use eval_format::{EvalCase, Map};
    use serde_json::json;

    #[test]
    fn each_expected_key_must_be_equal_and_others_may_be_there() {
        let map = |value: serde_json::Value| Value::from(value).as_object().cloned().unwrap_or_default();
        let case = EvalCase::new("c").final_state(map(json!({ "a": 1, "b": {"x": true} })));
        let check = |state: Map| score_state(&FinalSessionStateMatch, &case, &state).scores()[0].clone();
        assert_eq!(check(map(json!({ "b": {"x": 1}, "a": 1.0, "more": null }))).value(), Some(1.0));
        let half = check(map(json!({ "a": 2 })));
        assert_eq!(half.value(), Some(0.0));
        assert_eq!(
            half.notes(),
            ["`a`: expected 1, found 2", r#"`b`: expected {"x":true}, not in the state"#]
        );
        assert_eq!(check(map(json!({ "a": 1 }))).value(), Some(0.5));
    }
}
